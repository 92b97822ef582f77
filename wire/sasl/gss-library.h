/* The functions of MIT's libgssapi_krb5 that a daemon uses, as a table: the library is loaded with
 * the first finished Kerberos handshake, so that a node without Kerberos maps none of it
 * (docs/adr/0041-libcurl-loaded-late.md, and 0042). Tickets, keytabs and handshakes are
 * selvedge-gss's; a daemon only wraps and unwraps. */
#ifndef SELVEDGE_WIRE_SASL_GSS_LIBRARY_H
#define SELVEDGE_WIRE_SASL_GSS_LIBRARY_H

#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>

#include "common/base.h"
#include "common/error.h"

#define GSS_LIBRARY_FUNCTIONS(F)                                                                   \
    F(import_sec_context)                                                                          \
    F(delete_sec_context)                                                                          \
    F(wrap_iov)                                                                                    \
    F(wrap_iov_length)                                                                             \
    F(unwrap_iov)                                                                                  \
    F(wrap_size_limit)

/* A member is the function gss_MEMBER with its own type. */
struct gss_library {
#define GSS_LIBRARY_MEMBER(name) __typeof__(gss_##name) *name;
    GSS_LIBRARY_FUNCTIONS(GSS_LIBRARY_MEMBER)
#undef GSS_LIBRARY_MEMBER
};

/* Loads the library at the first call and keeps it; returns its functions. -ELIBACC: there is none,
 * or it is too old. */
int ipc_gss_library(const struct gss_library **ret, struct sv_error *err) _must_use_;

#endif
