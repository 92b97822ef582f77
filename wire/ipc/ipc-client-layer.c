/* The IPC client behind a SASL layer (`hadoop.rpc.protection` integrity or privacy): every packet
 * is sent in WRAP messages. Hostile: unwrapped bytes; a forged, lost or repeated message closes the
 * connection. */
#include <errno.h>
#include <string.h>

#include "wire/frame.h"
#include "wire/ipc/ipc-client-conn.h"

#define LAYER_AHEAD (256u << 10) /* limit of wrapped unsent bytes */

/* Appends n bytes as WRAP messages. */
static int layer_put(struct ipc_client *c, const uint8_t *p, size_t n, struct sv_buf *out)
{
    Hadoop__Common__RpcRequestHeaderProto h = ipc_client_header(c, IPC_CALL_SASL);
    while (n > 0) {
        size_t part = SV_MIN(n, ipc_sasl_layer_max_input(c->layer));
        uint8_t *token;
        int r = ipc_frame_put_wrap(out, &h.base, ipc_sasl_layer_size(c->layer, part), &token);
        if (r >= 0)
            r = ipc_sasl_layer_wrap(c->layer, p, part, token);
        if (r < 0)
            return r;
        p += part;
        n -= part;
    }
    return 0;
}

int ipc_client_layer_cover(struct ipc_client *c)
{
    if (!c->layer)
        return 0;
    _cleanup_buf_ struct sv_buf plain = c->out;
    c->out = SV_BUF_INIT(2 * (size_t)IPC_FRAME_MAX);
    return layer_put(c, plain.data + plain.pos, sv_buf_left(&plain), &c->out);
}

int ipc_client_layer_calls(struct ipc_client *c)
{
    while (c->layer && c->state == CLIENT_READY && c->unsent &&
           sv_buf_left(&c->out) < LAYER_AHEAD) {
        struct client_call *call = c->unsent;
        int r = layer_put(c, call->frame.data, call->frame.len, &c->out);
        if (r < 0)
            return r;
        ipc_client_sent(c, call);
    }
    return 0;
}

int ipc_client_layer_read(struct ipc_client *c, struct sv_arena *a, const uint8_t *p, size_t n)
{
    ProtobufCMessage *base;
    uint8_t *plain;
    size_t len;
    if (ipc_unpack(a, &hadoop__common__rpc_sasl_proto__descriptor, p, n, &base) < 0)
        return -EBADMSG;
    const Hadoop__Common__RpcSaslProto *m = (const void *)base;
    if (m->state != IPC_SASL_STATE(WRAP) || !m->has_token)
        return -EBADMSG;
    int r = ipc_sasl_layer_unwrap(c->layer, m->token.data, m->token.len, &plain, &len);
    return r < 0 ? r : sv_buf_put(&c->inner, plain, len);
}
