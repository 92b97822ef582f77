/* The functions of MIT's libgssapi_krb5 that programs use, as tables: the library is loaded with
 * the first finished Kerberos handshake of a daemon, or when a client looks for its user's ticket,
 * so that nobody without Kerberos maps any of it (docs/adr/0041-libcurl-loaded-late.md, 0042 and
 * 0080). A daemon's tickets, keytabs and handshakes are selvedge-gss's; it only wraps and
 * unwraps. */
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

/* Handshakes with the user's own tickets (wire/ipc/ticket.h). */
#define GSS_TICKET_FUNCTIONS(F)                                                                    \
    F(acquire_cred_from)                                                                           \
    F(inquire_cred)                                                                                \
    F(release_cred)                                                                                \
    F(import_name)                                                                                 \
    F(canonicalize_name)                                                                           \
    F(display_name)                                                                                \
    F(release_name)                                                                                \
    F(init_sec_context)                                                                            \
    F(export_sec_context)                                                                          \
    F(delete_sec_context)                                                                          \
    F(display_status)                                                                              \
    F(release_buffer)

/* A member is the function gss_MEMBER with its own type. */
#define GSS_LIBRARY_MEMBER(name) __typeof__(gss_##name) *name;
struct gss_library {
    GSS_LIBRARY_FUNCTIONS(GSS_LIBRARY_MEMBER)
};
struct gss_ticket_library {
    GSS_TICKET_FUNCTIONS(GSS_LIBRARY_MEMBER)
};
#undef GSS_LIBRARY_MEMBER

/* Loads the library at the first call and keeps it; returns its functions. -ELIBACC: there is none,
 * or it is too old. */
int ipc_gss_library(const struct gss_library **ret, struct sv_error *err) _must_use_;
int ipc_gss_ticket_library(const struct gss_ticket_library **ret, struct sv_error *err) _must_use_;

#endif
