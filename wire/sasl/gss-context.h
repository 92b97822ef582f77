/* An established GSS context of the mechanism krb5, imported from the exported form that
 * selvedge-gss sends: wraps and unwraps messages. The kind of protection is an argument: SASL's
 * last two messages are signed whatever follows. Hostile: wrapped messages; the exported form is
 * our helper's, which may have been taken over by a peer. */
#ifndef SELVEDGE_WIRE_SASL_GSS_CONTEXT_H
#define SELVEDGE_WIRE_SASL_GSS_CONTEXT_H

#include "common/base.h"
#include "common/error.h"

#define GSS_EXPORTED_MAX (80u << 10) /* 663 bytes as seen, and a ticket's authorization data */

struct gss_context;

/* -EBADMSG: not a context of krb5; -ELIBACC: no library. */
int ipc_gss_context_import(const uint8_t *p, size_t n, struct gss_context **ret,
                           struct sv_error *err) _must_use_;
struct gss_context *ipc_gss_context_free(struct gss_context *g); /* accepts NULL */
static inline void gss_context_freep(struct gss_context **g)
{
    *g = ipc_gss_context_free(*g);
}

/* `seal`: encrypted, else signed. Largest input whose wrapped form has at most `max` bytes; 0: none
 * has. */
size_t ipc_gss_context_limit(struct gss_context *g, bool seal, size_t max);
/* Wrapped size of n bytes; 0 = the library fails. */
size_t ipc_gss_context_size(struct gss_context *g, bool seal, size_t n);
/* Writes exactly ipc_gss_context_size() bytes. -EIO. */
int ipc_gss_context_wrap(struct gss_context *g, bool seal, const uint8_t *p, size_t n, uint8_t *out)
    _must_use_;
/* Unwraps in place: *ret lies in p. -EBADMSG: malformed, forged, replayed, lost, out of order. */
int ipc_gss_context_unwrap(struct gss_context *g, uint8_t *p, size_t n, uint8_t **ret,
                           size_t *ret_len, bool *ret_sealed) _must_use_;

#endif
