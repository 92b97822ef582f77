/* libFuzzer target: a message accepted by wire/depth.c is safe to unpack.
 *
 * The first byte chooses a message type, the rest are its bytes. Accepted input must unpack within
 * the arena or be rejected by protobuf-c, and must be accepted again when packed again. Read by
 * wire/pieces.c, it is the same message. */
#include <stdio.h>

#include "common/arena.h"
#include "wire/depth.h"
#include "wire/ipc/methods.h"
#include "wire/pieces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DESCRIPTORS(name, request, response) &request##__descriptor, &response##__descriptor,

static const ProtobufCMessageDescriptor *const types[] = {
    &hadoop__yarn__serialized_exception_proto__descriptor,
    &hadoop__yarn__placement_constraint_proto__descriptor,
    &hadoop__common__rpc_request_header_proto__descriptor,
    &hadoop__common__rpc_response_header_proto__descriptor,
    &hadoop__common__rpc_sasl_proto__descriptor,
    &hadoop__common__ipc_connection_context_proto__descriptor,
    &hadoop__common__request_header_proto__descriptor,
    &hadoop__common__credentials_proto__descriptor,
    &hadoop__yarn__container_token_identifier_proto__descriptor,
    &hadoop__yarn__nmtoken_identifier_proto__descriptor,
    &hadoop__yarn__amrmtoken_identifier_proto__descriptor,
    YARN_RESOURCE_TRACKER_METHODS(DESCRIPTORS) YARN_CONTAINER_MANAGEMENT_METHODS(DESCRIPTORS)
        YARN_APPLICATION_MASTER_METHODS(DESCRIPTORS) YARN_APPLICATION_CLIENT_METHODS(DESCRIPTORS)
            YARN_ADMIN_METHODS(DESCRIPTORS)
};

static void expect(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz-depth: %s\n", what);
        abort();
    }
}

/* Read a member at a time, the message is the same. */
static void check_pieces(const ProtobufCMessageDescriptor *d, const uint8_t *p, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *whole, *read = NULL;
    struct ipc_reading *reading;
    int r = IPC_PIECES_MORE;

    expect(a && ipc_reading_new(a, d, p, n, &reading) == 0, "no arena");
    while (r == IPC_PIECES_MORE) {
        int64_t left = 1;

        r = ipc_reading_run(reading, &left, &read);
    }
    ipc_reading_end(reading);
    if (r == 0 && ipc_unpack(a, d, p, n, &whole) == 0)
        expect(protobuf_c_message_get_packed_size(read) ==
                   protobuf_c_message_get_packed_size(whole),
               "another message a member at a time");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ProtobufCMessageDescriptor *d;
    _cleanup_arena_ struct sv_arena *a = NULL;
    ProtobufCMessage *m;
    uint8_t *again;
    size_t n;

    if (size == 0)
        return 0;
    d = types[data[0] % SV_ARRAY_LEN(types)];
    check_pieces(d, data + 1, size - 1);
    if (ipc_depth_check(data + 1, size - 1, d, IPC_DEPTH_MAX) < 0)
        return 0;
    a = sv_arena_new(0);
    expect(a, "no arena");
    m = protobuf_c_message_unpack(d, sv_arena_protobuf(a), size - 1, data + 1);
    if (!m)
        return 0;
    n = protobuf_c_message_get_packed_size(m);
    again = malloc(n ? n : 1);
    expect(again && protobuf_c_message_pack(m, again) == n, "packs to another size");
    expect(ipc_depth_check(again, n, d, IPC_DEPTH_MAX) == 0, "not accepted when packed again");
    free(again);
    return 0;
}
