/* See gssapi-layer.h. Hostile: wrapped input and its order. */
#include "wire/sasl/gssapi-layer.h"

#include <errno.h>

struct gssapi_layer {
    struct sasl_layer base;
    struct gss_context *context;
    bool seal;
};

static size_t layer_size(const struct sasl_layer *base, size_t n)
{
    const struct gssapi_layer *l = (const struct gssapi_layer *)base;

    return ipc_gss_context_size(l->context, l->seal, n);
}

static int layer_wrap(struct sasl_layer *base, const uint8_t *p, size_t n, uint8_t *out)
{
    struct gssapi_layer *l = (struct gssapi_layer *)base;

    return ipc_gss_context_wrap(l->context, l->seal, p, n, out);
}

/* A message of the other quality is refused: a signed one on a private connection would be read by
 * everybody on the way. */
static int layer_unwrap(struct sasl_layer *base, uint8_t *p, size_t n, uint8_t **ret,
                        size_t *ret_len)
{
    struct gssapi_layer *l = (struct gssapi_layer *)base;
    uint8_t *plain;
    size_t len;
    bool sealed;
    int r = ipc_gss_context_unwrap(l->context, p, n, &plain, &len, &sealed);

    if (r < 0)
        return r;
    if (sealed != l->seal)
        return -EBADMSG;
    *ret = plain;
    *ret_len = len;
    return 0;
}

static void layer_free(struct sasl_layer *base)
{
    struct gssapi_layer *l = (struct gssapi_layer *)base;

    ipc_gss_context_free(l->context);
    free(l);
}

static const struct sasl_layer_functions functions = {
    .size = layer_size,
    .wrap = layer_wrap,
    .unwrap = layer_unwrap,
    .free = layer_free,
};

int ipc_gssapi_layer_new(enum ipc_qop qop, size_t peer_maxbuf, struct gss_context **g,
                         struct sasl_layer **ret)
{
    struct gssapi_layer *l;
    bool seal = qop == IPC_QOP_PRIVACY;
    size_t limit;

    if (qop == IPC_QOP_AUTH || peer_maxbuf < SASL_LAYER_MAXBUF_MIN)
        return -EINVAL;
    limit = ipc_gss_context_limit(*g, seal, SV_MIN(peer_maxbuf, (size_t)SASL_LAYER_MAXBUF));
    if (limit == 0)
        return -EINVAL;
    l = calloc(1, sizeof(*l));
    if (!l)
        return -ENOMEM;
    l->base.f = &functions;
    l->base.max_input = limit;
    l->seal = seal;
    l->context = SV_TAKE(*g);
    *ret = &l->base;
    return 0;
}
