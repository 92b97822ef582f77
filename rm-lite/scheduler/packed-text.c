/* See packed-text.h. */
#include "rm-lite/scheduler/packed-text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/frame.h"

char *rm_packed_text(const ProtobufCMessage *m)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = protobuf_c_message_get_packed_size(m);
    _cleanup_free_ uint8_t *bytes = malloc(n + 1);
    char *text = bytes ? malloc(2 * n + 1) : NULL;

    if (!text)
        return NULL;
    (void)protobuf_c_message_pack(m, bytes);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = hex[bytes[i] >> 4];
        text[2 * i + 1] = hex[bytes[i] & 15];
    }
    text[2 * n] = 0;
    return text;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int rm_packed_parse(struct sv_arena *a, const char *text, const ProtobufCMessageDescriptor *d,
                    ProtobufCMessage **ret)
{
    size_t n = strlen(text) / 2;
    uint8_t *bytes = sv_arena_alloc(a, n + 1);

    if (!bytes || text[2 * n])
        return -EBADMSG;
    for (size_t i = 0; i < n; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return -EBADMSG;
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    return ipc_unpack(a, d, bytes, n, ret) < 0 ? -EBADMSG : 0;
}
