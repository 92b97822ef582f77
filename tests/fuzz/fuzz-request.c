/* The helper's request decoder, and the reply and record decoders of the daemon: any bytes. Decoded
 * input must encode to the same bytes: every request has one encoding. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/helper-protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[EXE_REQUEST_SIZE];
    char text[EXE_TEXT_MAX];
    struct exe_request r;
    struct exe_reply reply;
    struct exe_record record;
    if (exe_request_decode(data, size, &r) == 0) {
        int n = exe_request_encode(&r, again, sizeof(again));
        if (n < 0 || (size_t)n != size || memcmp(again, data, size) != 0)
            abort();
        exe_app_text(&r, text);
        exe_container_text(&r, text);
    }
    if (exe_reply_decode(data, size, &reply) == 0 &&
        (const uint8_t *)reply.text + reply.text_len != data + size)
        abort();
    (void)exe_record_decode(data, size, &record);
    return 0;
}
