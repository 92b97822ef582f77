/* libFuzzer target: headers before a call's parameter. The bytes are the payload of a frame: as a
 * server reads it (request header, then connection context, SASL step or request header of the
 * call) and as a client does (response header, SASL step). With a length prefix they are also
 * extracted from a stream. */
#include <stdlib.h>
#include <string.h>

#include "proto/rpc.pb-c.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ProtobufCMessageDescriptor *const firsts[] = {
    &hadoop__common__rpc_request_header_proto__descriptor,
    &hadoop__common__rpc_response_header_proto__descriptor,
};
static const ProtobufCMessageDescriptor *const seconds[] = {
    &hadoop__common__ipc_connection_context_proto__descriptor,
    &hadoop__common__rpc_sasl_proto__descriptor,
    &hadoop__common__request_header_proto__descriptor,
};

static bool next(struct sv_buf *b, const ProtobufCMessageDescriptor *d)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const uint8_t *p;
    ProtobufCMessage *m;
    size_t n;
    if (!a || ipc_delimited_get(b, &p, &n) < 0 || ipc_unpack(a, d, p, n, &m) < 0)
        return false;
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0); /* encoded again it is one complete frame */
    const uint8_t *frame;
    size_t len, used;
    if (ipc_frame_put_message(&out, m, NULL) < 0 ||
        ipc_frame_next(out.data, out.len, out.len, &frame, &len, &used) != 1 || used != out.len)
        abort();
    return true;
}

static void inside(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(firsts); i++)
        for (size_t k = 0; k < SV_ARRAY_LEN(seconds); k++) {
            struct sv_buf b = SV_BUF_VIEW(p, n);
            if (!next(&b, firsts[i]))
                break;
            (void)next(&b, seconds[k]);
            if (b.pos > n)
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *frame;
    size_t len, used, at = 0;
    inside(data, size);
    while (at < size && ipc_frame_next(data + at, size - at, 1 << 16, &frame, &len, &used) == 1) {
        if (used != len + 4 || used > size - at || frame != data + at + 4)
            abort();
        inside(frame, len);
        at += used;
    }
    return 0;
}
