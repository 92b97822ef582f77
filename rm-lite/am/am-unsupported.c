/* See am-unsupported.h. */
#include "rm-lite/am/am-unsupported.h"

#include "common/log.h"
#include "rm-lite/core/context.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/requests/answer.h"
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

/* Hadoop's RMServerUtils has the first two texts; an unknown container has the version -1. */
static const char *update_error(const struct rm_attempt *att,
                                const Hadoop__Yarn__UpdateContainerRequestProto *q,
                                int32_t *ret_version)
{
    struct yarn_container_id id;
    const struct rm_container *c = NULL;

    if (yarn_container_id_from(q->container_id, &id) >= 0)
        c = rm_container_find(att->rm, id);
    *ret_version = -1;
    if (!c || c->app != att->app)
        return "INVALID_CONTAINER_ID";
    *ret_version = 0;
    if (q->container_version != 0) /* no container has been updated */
        return "INCORRECT_CONTAINER_VERSION_ERROR";
    return "UPDATE_NOT_SUPPORTED: this ResourceManager does not change the resource or the "
           "execution type of a running container";
}

bool rm_am_update_errors(struct sv_arena *a, const struct rm_attempt *att,
                         const Hadoop__Yarn__AllocateRequestProto *q,
                         Hadoop__Yarn__AllocateResponseProto *resp)
{
    if (!q->n_update_requests)
        return true;
    resp->update_errors =
        RM_ANSWER_ARRAY(a, Hadoop__Yarn__UpdateContainerErrorProto, q->n_update_requests);
    if (!resp->update_errors)
        return false;
    for (size_t i = 0; i < q->n_update_requests; i++) {
        Hadoop__Yarn__UpdateContainerErrorProto *m =
            sv_new(a, Hadoop__Yarn__UpdateContainerErrorProto);

        if (!m)
            return false;
        hadoop__yarn__update_container_error_proto__init(m);
        m->reason = sv_arena_strdup(
            a, update_error(att, q->update_requests[i], &m->current_container_version));
        m->update_request = q->update_requests[i]; /* lives as long as the call */
        m->has_current_container_version = true;
        if (!m->reason)
            return false;
        resp->update_errors[resp->n_update_errors++] = m;
    }
    return true;
}
