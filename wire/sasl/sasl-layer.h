/* Protection of a connection after SASL, as each mechanism has it: integrity or privacy of
 * DIGEST-MD5 (digest-layer.h) or of GSSAPI (gssapi-layer.h).
 *
 * A layer numbers its messages in each direction: they must be unwrapped once each, in the order of
 * wrapping. Anything else is an error after which the connection must be closed. */
#ifndef SELVEDGE_WIRE_SASL_SASL_LAYER_H
#define SELVEDGE_WIRE_SASL_SASL_LAYER_H

#include "common/base.h"

#define SASL_LAYER_MAXBUF 65536u    /* announced value, that of Java's mechanisms */
#define SASL_LAYER_MAXBUF_MIN 1024u /* a peer with less is rejected */

struct sasl_layer;

struct sasl_layer_functions {
    size_t (*size)(const struct sasl_layer *l, size_t n);
    int (*wrap)(struct sasl_layer *l, const uint8_t *p, size_t n, uint8_t *out);
    int (*unwrap)(struct sasl_layer *l, uint8_t *p, size_t n, uint8_t **ret, size_t *ret_len);
    void (*free)(struct sasl_layer *l);
};

/* The first member of a mechanism's own layer. */
struct sasl_layer {
    const struct sasl_layer_functions *f;
    size_t max_input;
};

/* Maximum input of one ipc_sasl_layer_wrap. */
static inline size_t ipc_sasl_layer_max_input(const struct sasl_layer *l)
{
    return l->max_input;
}

/* Wrapped size of n bytes; 0 = the mechanism fails. */
static inline size_t ipc_sasl_layer_size(const struct sasl_layer *l, size_t n)
{
    return l->f->size(l, n);
}

/* Writes exactly ipc_sasl_layer_size(n) bytes. -EIO, -EOVERFLOW (2^32 messages): close. */
static inline _must_use_ int ipc_sasl_layer_wrap(struct sasl_layer *l, const uint8_t *p, size_t n,
                                                 uint8_t *out)
{
    return l->f->wrap(l, p, n, out);
}

/* Unwraps in place: *ret lies in p. -EBADMSG: malformed, forged, replayed or lost. */
static inline _must_use_ int ipc_sasl_layer_unwrap(struct sasl_layer *l, uint8_t *p, size_t n,
                                                   uint8_t **ret, size_t *ret_len)
{
    return l->f->unwrap(l, p, n, ret, ret_len);
}

static inline struct sasl_layer *ipc_sasl_layer_free(struct sasl_layer *l)
{
    if (l)
        l->f->free(l);
    return NULL;
}

static inline void sasl_layer_freep(struct sasl_layer **l)
{
    *l = ipc_sasl_layer_free(*l);
}

#endif
