/* Memory of answers; see answer.h. Called by the four RPC services. */
#include "rm-lite/answer.h"

#include "wire/methods.h"

struct sv_arena *rm_answer_arena(void)
{
    return sv_arena_new(256u << 20);
}

void rm_answer_no_memory(struct ipc_call *call)
{
    ipc_call_fail(call, JAVA_IO_EXCEPTION, "the ResourceManager has no memory for this request");
}
