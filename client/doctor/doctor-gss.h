/* selvedge-gss for `selvedge doctor`, as a daemon of this configuration uses it. */
#ifndef SELVEDGE_CLIENT_DOCTOR_DOCTOR_GSS_H
#define SELVEDGE_CLIENT_DOCTOR_DOCTOR_GSS_H

#include "client/doctor/doctor.h"

/* The program, its units and socket; then krb5.conf, keytabs and KDCs by its --check, which takes
 * at most half a minute. */
void cli_doctor_gss(struct doctor *d);

/* Reports one line of `selvedge-gss --check` (gss/findings.h), which is changed; false: it is
 * none. */
bool cli_doctor_gss_line(struct doctor *d, char *line);

#endif
