/* See am-unsupported.h. */
#include "rm-lite/am/am-unsupported.h"

#include "common/log.h"
#include "rm-lite/core/context.h"
#include "wire/ipc/methods.h"

#define HANDLER "yarn.resourcemanager.placement-constraints.handler"

static bool refuse(struct ipc_call *call, const struct rm_attempt *att, const char *what,
                   const char *request, const char *operation)
{
    sv_log_warning("%s: %s refused: it has %s", att->id_str, operation, what);
    ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                  "Found non empty %s in %s for application=%s, but the configured " HANDLER
                  " cannot handle placement constraints. Rejecting this %s operation",
                  what, request, att->id_str, operation);
    return false;
}

bool rm_am_no_scheduling_requests(struct ipc_call *call, const struct rm_attempt *att, size_t n)
{
    return n == 0 || refuse(call, att, "SchedulingRequest", "AllocateRequest", "allocate");
}

bool rm_am_no_placement_constraints(struct ipc_call *call, const struct rm_attempt *att, size_t n)
{
    return n == 0 || refuse(call, att, "placement constraints map",
                            "RegisterApplicationMasterRequest", "registerApplicationMaster");
}
