/* SASL GSSAPI (RFC 4752) with Kerberos 5, as Hadoop uses it: both sides.
 *
 * The tokens of the GSS handshake are computed elsewhere, by a `struct gssapi_handshake` (the
 * helper selvedge-gss, gss/client.h), since they need keytabs, tickets and KDCs; what follows, the
 * choice of protection and the layer, happens here on the context that the handshake yields. */
#ifndef SELVEDGE_WIRE_SASL_GSSAPI_H
#define SELVEDGE_WIRE_SASL_GSSAPI_H

#include "common/base.h"
#include "common/error.h"
#include "wire/sasl/gss-context.h"
#include "wire/sasl/sasl.h"

#define GSSAPI_MECHANISM "GSSAPI"
#define GSSAPI_TOKEN_MAX (64u << 10) /* a ticket's authorization data may be that large */

/* The outcome of one step of a handshake. */
struct gssapi_outcome {
    /* 0; -EACCES: the peer's token or ticket is refused, and `text` may be shown to the peer; other
     * values: no fault of the peer's, `text` is for the operator. */
    int status;
    const char *text;
    const uint8_t *token; /* for the peer */
    size_t token_len;
    const uint8_t *context; /* exported; NULL: the handshake goes on */
    size_t context_len;
    const char *name;                         /* the initiator's principal, with a context */
    bool mutual, integrity, privacy, ordered; /* of the context */
};
typedef void (*gssapi_told)(const struct gssapi_outcome *o, void *userdata);

struct gssapi_handshake;
struct gssapi_handshake_functions {
    /* The peer's token, NULL at the start of an initiator. `told` is called once, from the loop,
     * never before this returns; not after `free`, nor if this fails. It may free the handshake. */
    int (*step)(struct gssapi_handshake *h, const uint8_t *p, size_t n, gssapi_told told,
                void *userdata, struct sv_error *err);
    void (*free)(struct gssapi_handshake *h);
};
/* The first member of an implementation's own struct. */
struct gssapi_handshake {
    const struct gssapi_handshake_functions *f;
};
static inline struct gssapi_handshake *ipc_gssapi_handshake_free(struct gssapi_handshake *h)
{
    if (h)
        h->f->free(h);
    return NULL;
}

/* Take the handshake on success. `qop_mask`: offered or accepted qualities; 0 = IPC_QOP_AUTH. A
 * server's user is the client's full principal. */
int ipc_gssapi_server_new(struct gssapi_handshake *h, uint32_t qop_mask, sasl_ready ready,
                          void *userdata, struct sasl_server **ret) _must_use_;
int ipc_gssapi_client_new(struct gssapi_handshake *h, uint32_t qop_mask, sasl_ready ready,
                          void *userdata, struct sasl_client **ret) _must_use_;

#endif
