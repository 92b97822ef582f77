/* See am-placement.h. Hadoop: DisabledPlacementProcessor, SchedulerPlacementProcessor,
 * PlacementConstraintProcessor. */
#include "rm-lite/am/am-placement.h"

#include <errno.h>
#include <utlist.h>

#include "common/log.h"
#include "rm-lite/am/am-capability.h"
#include "rm-lite/core/context.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/scheduler/resource-types.h"
#include "wire/frame.h"
#include "wire/ipc/methods.h"

#define HANDLER "yarn.resourcemanager.placement-constraints.handler"
#define REASON(x) HADOOP__YARN__REJECTION_REASON_PROTO__RRP_COULD_NOT_##x

typedef Hadoop__Yarn__SchedulingRequestProto SchedulingRequest;
typedef Hadoop__Yarn__RejectedSchedulingRequestProto Rejected;

static bool disabled(struct ipc_call *call, const struct rm_attempt *att, const char *what,
                     const char *request, const char *operation)
{
    if (att->rm->conf.placement != RM_PLACEMENT_DISABLED)
        return false;
    sv_log_warning("%s: %s refused: it has %s", att->id_str, operation, what);
    ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                  "Found non empty %s in %s for application=%s, but the configured " HANDLER
                  " cannot handle placement constraints. Rejecting this %s operation",
                  what, request, att->id_str, operation);
    return true;
}

bool rm_am_register_constraints(struct ipc_call *call, struct rm_attempt *att,
                                const Hadoop__Yarn__RegisterApplicationMasterRequestProto *q)
{
    struct rm_sched_event ev = { .type = RM_SCHED_CONSTRAINTS,
                                 .constraints = { .app = att->app->id,
                                                  .entries = q->placement_constraints,
                                                  .n_entries = q->n_placement_constraints } };
    struct sv_error err = { 0 };

    if (q->n_placement_constraints == 0)
        return true;
    if (disabled(call, att, "placement constraints map", "RegisterApplicationMasterRequest",
                 "registerApplicationMaster"))
        return false;
    if (rm_schedule(att->rm, &ev, &err) >= 0)
        return true;
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s: %s", att->id_str, err.text);
    return false;
}

/* ----------------------------------------------------------------- the requests */

/* Hadoop's scheduler says the same of a request that it does not take. */
static int invalid(struct ipc_call *call, const struct rm_attempt *att, const char *why)
{
    ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                  "org.apache.hadoop.yarn.exceptions.SchedulerInvalidResourceRequestException: "
                  "AppId=%s. Exception message:%s",
                  att->app->id_str, why);
    return -EINVAL;
}

static int read_one(struct ipc_call *call, const struct rm_attempt *att, const SchedulingRequest *m,
                    SchedulingRequest **ret)
{
    struct sv_arena *a = ipc_call_arena(call);
    SchedulingRequest *copy = sv_arena_memdup(a, m, sizeof(*m));
    Hadoop__Yarn__ResourceSizingProto *sizing;
    struct rm_res cap;
    int r;

    if (!m->resourcesizing || !m->resourcesizing->resources)
        return invalid(call, att,
                       "No ResourceSizing found in the scheduling request, please double check");
    if (m->executiontype &&
        m->executiontype->execution_type != HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED)
        return invalid(call, att, "Only GUARANTEED execution type is supported.");
    r = rm_am_capability(call, att, m->resourcesizing->resources, &cap);
    if (r < 0)
        return r;
    sizing = sv_arena_memdup(a, m->resourcesizing, sizeof(*sizing));
    if (!copy || !sizing || !(sizing->resources = rm_res_to(a, cap))) {
        rm_answer_no_memory(call);
        return -ENOMEM;
    }
    copy->resourcesizing = sizing;
    *ret = copy;
    return 0;
}

int rm_am_scheduling_requests(struct ipc_call *call, const struct rm_attempt *att,
                              const Hadoop__Yarn__AllocateRequestProto *q, struct rm_ev_ask *ev)
{
    size_t n = q->n_scheduling_requests;
    SchedulingRequest **list;

    if (att->rm->conf.placement == RM_PLACEMENT_PROCESSOR)
        ev->attempts = (int32_t)att->rm->conf.placement_attempts;
    if (n == 0)
        return 0;
    if (disabled(call, att, "SchedulingRequest", "AllocateRequest", "allocate"))
        return -EOPNOTSUPP;
    list = sv_newn(ipc_call_arena(call), SchedulingRequest *, n);
    if (!list) {
        rm_answer_no_memory(call);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        int r = read_one(call, att, q->scheduling_requests[i], &list[i]);

        if (r < 0)
            return r;
    }
    ev->requests = list;
    ev->n_requests = n;
    return 0;
}

/* ----------------------------------------------------------------- the rejected */

static Rejected *rejected(struct sv_arena *a, const struct rm_unplaced *u)
{
    Rejected *m = sv_new(a, Rejected);
    ProtobufCMessage *request;

    if (!m || ipc_unpack(a, &hadoop__yarn__scheduling_request_proto__descriptor, u->request, u->len,
                         &request) < 0)
        return NULL;
    hadoop__yarn__rejected_scheduling_request_proto__init(m);
    m->reason = u->fitted ? REASON(SCHEDULE_ON_NODE) : REASON(PLACE_ON_NODE);
    m->request = (SchedulingRequest *)request;
    m->request->resourcesizing->has_numallocations = true;
    m->request->resourcesizing->numallocations = u->count;
    return m;
}

bool rm_am_pull_rejected(struct sv_arena *a, struct rm_attempt *att,
                         Hadoop__Yarn__AllocateResponseProto *resp)
{
    struct rm_unplaced *u, *tmp;
    size_t n = 0;

    if (!att->unplaced)
        return true;
    DL_COUNT(att->unplaced, u, n);
    resp->rejected_scheduling_requests = RM_ANSWER_ARRAY(a, Rejected, n);
    if (!resp->rejected_scheduling_requests)
        return false;
    DL_FOREACH_SAFE (att->unplaced, u, tmp) {
        Rejected *m = rejected(a, u);

        if (!m)
            return false;
        resp->rejected_scheduling_requests[resp->n_rejected_scheduling_requests++] = m;
        DL_DELETE(att->unplaced, u);
        free(u);
    }
    return true;
}
