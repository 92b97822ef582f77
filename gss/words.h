/* Errors of libkrb5 and of its GSS mechanism as texts. The library keeps the text of a thread's
 * last failure: it must be read before the next call. */
#ifndef SELVEDGE_GSS_WORDS_H
#define SELVEDGE_GSS_WORDS_H

#include <gssapi/gssapi.h>
#include <krb5.h>

#include "common/base.h"
#include "common/error.h"

/* "fmt…: the library's text". Return `code`, which is negative. */
int sgss_krb5_error(struct sv_error *err, int code, krb5_context k, krb5_error_code why,
                    const char *fmt, ...) _printf_(5, 6);
int sgss_gss_error(struct sv_error *err, int code, OM_uint32 major, OM_uint32 minor,
                   const char *fmt, ...) _printf_(5, 6);

#endif
