/* Memory and refusals of answers; see answer.h. */
#include "rm-lite/requests/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/oom.h"
#include "wire/ipc/methods.h"

struct sv_arena *rm_answer_arena(void)
{
    return sv_arena_new(256u << 20);
}

void rm_answer_no_memory(struct ipc_call *call)
{
    ipc_call_fail(call, JAVA_IO_EXCEPTION, "the ResourceManager has no memory for this request");
}

void rm_answer_io_error(struct ipc_call *call, const char *fmt, ...)
{
    char text[SV_ERROR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, JAVA_IO_EXCEPTION ": %s", text);
}

void rm_answer_remember(const ProtobufCMessage *answer, uint8_t **bytes, size_t *len)
{
    size_t n = protobuf_c_message_get_packed_size(answer);

    if (!*bytes || n != *len) { /* most answers to one node are equally long */
        free(*bytes);
        *bytes = malloc(SV_MAX(n, (size_t)1));
        if (!*bytes)
            sv_out_of_memory();
    }
    *len = protobuf_c_message_pack(answer, *bytes);
}
