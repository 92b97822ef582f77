/* See am-capability.h. */
#include "rm-lite/am/am-capability.h"

#include <errno.h>

#include "rm-lite/core/rm-app.h"
#include "rm-lite/requests/rm-app-manager.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"
#include "wire/ipc/methods.h"

int rm_am_capability(struct ipc_call *call, const struct rm_attempt *att,
                     const Hadoop__Yarn__ResourceProto *m, struct rm_res *ret)
{
    char unknown[RM_TYPE_NAME_MAX];
    struct sv_error err = { 0 };
    struct rm_res cap;

    if (rm_res_from(m, &cap) < 0) {
        ipc_call_fail(call, JAVA_INVALID_RESOURCE_REQUEST,
                      "Invalid resource request: capability is negative or out of range");
        return -EINVAL;
    }
    rm_res_unknown(m, unknown, sizeof(unknown));
    if (*unknown) {
        ipc_call_fail(call, JAVA_INVALID_RESOURCE_REQUEST,
                      "Invalid resource request: resource type %s is not known to this "
                      "ResourceManager; add it to yarn.resource-types",
                      unknown);
        return -EINVAL;
    }
    if (rm_sched_normalize(att->rm->sched, att->app->queue, &cap) < 0) {
        rm_invalid_resource(cap, rm_sched_max_allocation(att->rm->sched, att->app->queue), &err);
        ipc_call_fail(call, JAVA_INVALID_RESOURCE_REQUEST, "%s", err.text);
        return -ERANGE;
    }
    *ret = cap;
    return 0;
}
