/* Memory and refusals of answers; see answer.h. */
#include "rm-lite/requests/answer.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/error.h"
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
