/* Lines of `selvedge-gss --check`, for `selvedge doctor` and for people. One finding is one line:
 *
 *   STATE tab AREA tab TEXT tab REMEDY
 *
 * STATE is ok, note, weak or bad; REMEDY may be empty. Whatever is not printable ASCII is a `?`: a
 * text of a KDC or of a file makes no second line and no second field. */
#ifndef SELVEDGE_GSS_FINDINGS_H
#define SELVEDGE_GSS_FINDINGS_H

#include "common/base.h"

enum sgss_finding { SGSS_FINE, SGSS_NOTE, SGSS_WEAK, SGSS_BAD };

/* AREA */
#define SGSS_AREA_CONF "krb5.conf"
#define SGSS_AREA_KDC "KDC"
#define SGSS_AREA_KEYTAB "keytab"

/* Writes a line to standard output at once: a check that hangs has said what it found before.
 * `remedy`: the action to take; NULL: none. */
void sgss_find(enum sgss_finding state, const char *area, const char *remedy, const char *fmt, ...)
    _printf_(4, 5);

#endif
