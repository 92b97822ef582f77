/* libFuzzer target: the parameter or the answer of any method, processed as by a server or client:
 * validate, unpack into a bounded arena, drop unknown enums. The first two bytes choose the message
 * by a hash of its name, so that seeds outlive changes of the tables; the rest are its bytes.
 * Accepted input is packed and accepted again to the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/methods.h"
#include "wire/depth.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz-methods: %s\n", what);
        abort();
    }
}

/* 16 bits of FNV-1a. */
static uint16_t hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 16777619u;
    return (uint16_t)(h ^ h >> 16);
}

static const ProtobufCMessageDescriptor *chosen(unsigned number)
{
    static uint16_t hashes[SV_ARRAY_LEN(fuzz_types)];
    if (!hashes[0])
        for (size_t i = 0; i < SV_ARRAY_LEN(hashes); i++)
            hashes[i] = hash(fuzz_types[i]->name);
    for (size_t i = 0; i < SV_ARRAY_LEN(hashes); i++)
        if (hashes[i] == number)
            return fuzz_types[i];
    return fuzz_types[number % SV_ARRAY_LEN(fuzz_types)];
}

static uint8_t *pack(struct sv_arena *a, const ProtobufCMessage *m, size_t *ret_len)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *p = sv_arena_alloc(a, n ? n : 1);
    expect(p && protobuf_c_message_pack(m, p) == n, "packs to another size");
    *ret_len = n;
    return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const ProtobufCMessageDescriptor *d = chosen(data[0] | (unsigned)data[1] << 8);
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ipc_arena_max(size - 2));
    _cleanup_arena_ struct sv_arena *spare = sv_arena_new(0);
    ProtobufCMessage *m, *again;
    size_t n, n2;
    if (!a || !spare || ipc_unpack(a, d, data + 2, size - 2, &m) < 0)
        return 0;
    expect(sv_arena_used(a) <= ipc_arena_max(size - 2), "more memory than allowed");
    uint8_t *one = pack(spare, m, &n);
    bool odd;
    expect(ipc_depth_look(one, n, d, IPC_DEPTH_MAX, SIZE_MAX, &odd) == 0 && !odd,
           "not accepted again");
    expect(ipc_unpack(spare, d, one, n, &again) == 0, "does not unpack again");
    uint8_t *two = pack(spare, again, &n2);
    expect(n == n2 && memcmp(one, two, n) == 0, "packs to other bytes");
    return 0;
}
