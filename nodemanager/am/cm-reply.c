/* See cm-reply.h. */
#include "nodemanager/am/cm-reply.h"

#include <errno.h>
#include <string.h>

int nm_cm_caller(struct ipc_call *call, struct yarn_nm_token *ret)
{
    const struct ipc_peer *p = ipc_call_peer(call);
    char attempt[YARN_ID_TEXT_MAX];
    struct sv_error err;

    if (!p->token || yarn_nm_token_decode(p->token_id, p->token_id_len, ret, &err) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Invalid NMToken");
        return -EACCES;
    }
    yarn_attempt_id_text(ret->attempt, attempt);
    if (strcmp(attempt, p->user) != 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Expected applicationAttemptId: %sFound: %s",
                      p->user, attempt);
        return -EACCES;
    }
    return 0;
}

void nm_cm_out_of_memory(struct ipc_call *call)
{
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "NodeManager: out of memory");
}

Hadoop__Yarn__ContainerExceptionMapProto *nm_cm_failed_id(struct sv_arena *a,
                                                          Hadoop__Yarn__ContainerIdProto *id,
                                                          const char *java_class,
                                                          const char *message)
{
    Hadoop__Yarn__ContainerExceptionMapProto *m =
        sv_new(a, Hadoop__Yarn__ContainerExceptionMapProto);
    Hadoop__Yarn__SerializedExceptionProto *e = sv_new(a, Hadoop__Yarn__SerializedExceptionProto);

    if (!m || !e)
        return NULL;
    hadoop__yarn__container_exception_map_proto__init(m);
    hadoop__yarn__serialized_exception_proto__init(e);
    m->container_id = id;
    m->exception = e;
    e->message = sv_arena_strdup(a, message);
    e->trace = sv_arena_printf(a, "%s: %s\n", java_class, message);
    e->class_name = (char *)(uintptr_t)java_class;
    return m->container_id && e->message && e->trace ? m : NULL;
}

Hadoop__Yarn__ContainerExceptionMapProto *nm_cm_failed_row(struct sv_arena *a,
                                                           struct yarn_container_id id,
                                                           const char *java_class,
                                                           const char *message)
{
    return nm_cm_failed_id(a, yarn_container_id_to(a, id), java_class, message);
}
