/* See am-preemption.h. As Hadoop's CapacityScheduler, it sends a contract that the
 * ApplicationMaster may meet with other containers of its own, and no strict one: the chosen
 * containers, and their resources as a number of smallest containers. */
#include "rm-lite/am/am-preemption.h"

#include <string.h>

#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"

/* Number of smallest containers that together hold `r`. */
static int32_t in_smallest(struct rm_res r, struct rm_res min)
{
    int64_t n = SV_MAX(min.mem > 0 ? (r.mem + min.mem - 1) / min.mem : 0,
                       min.vcores > 0 ? (r.vcores + min.vcores - 1) / min.vcores : 0);

    return (int32_t)SV_MIN(n, (int64_t)INT32_MAX);
}

static bool add_container(struct sv_arena *a, Hadoop__Yarn__PreemptionContractProto *m,
                          const struct rm_container *c)
{
    Hadoop__Yarn__PreemptionContainerProto *row = sv_new(a, Hadoop__Yarn__PreemptionContainerProto);

    if (!row)
        return false;
    hadoop__yarn__preemption_container_proto__init(row);
    row->id = yarn_container_id_to(a, c->id);
    m->container[m->n_container++] = row;
    return row->id != NULL;
}

static bool add_resources(struct sv_arena *a, Hadoop__Yarn__PreemptionContractProto *m,
                          struct rm_res sum, struct rm_res min)
{
    Hadoop__Yarn__PreemptionResourceRequestProto *row =
        sv_new(a, Hadoop__Yarn__PreemptionResourceRequestProto);
    Hadoop__Yarn__ResourceRequestProto *r = sv_new(a, Hadoop__Yarn__ResourceRequestProto);

    m->resource = RM_ANSWER_ARRAY(a, Hadoop__Yarn__PreemptionResourceRequestProto, 1);
    if (!row || !r || !m->resource)
        return false;
    hadoop__yarn__preemption_resource_request_proto__init(row);
    hadoop__yarn__resource_request_proto__init(r);
    r->priority = rm_priority_to(a, -1); /* Priority.UNDEFINED */
    r->resource_name = sv_arena_strdup(a, RM_ANY);
    r->capability = rm_res_to(a, min);
    r->has_num_containers = true;
    r->num_containers = in_smallest(sum, min);
    row->resource = r;
    m->resource[m->n_resource++] = row;
    return r->priority && r->resource_name && r->capability;
}

bool rm_am_preemption(struct sv_arena *a, struct rm_app *app,
                      Hadoop__Yarn__AllocateResponseProto *resp)
{
    Hadoop__Yarn__PreemptionMessageProto *m;
    Hadoop__Yarn__PreemptionContractProto *contract;
    struct rm_res sum = { 0, 0 };
    struct rm_container *c;

    if (app->n_announced == 0)
        return true;
    m = sv_new(a, Hadoop__Yarn__PreemptionMessageProto);
    contract = sv_new(a, Hadoop__Yarn__PreemptionContractProto);
    if (!m || !contract)
        return false;
    hadoop__yarn__preemption_message_proto__init(m);
    hadoop__yarn__preemption_contract_proto__init(contract);
    contract->container =
        RM_ANSWER_ARRAY(a, Hadoop__Yarn__PreemptionContainerProto, (size_t)app->n_announced);
    if (!contract->container)
        return false;
    DL_FOREACH2(app->containers, c, p_next)
    {
        if (!c->announced)
            continue;
        if (!add_container(a, contract, c))
            return false;
        sum = rm_res_add(sum, c->resource);
        c->announced = false;
        app->n_announced--;
    }
    m->contract = contract;
    resp->preempt = m;
    return add_resources(a, contract, sum, rm_sched_min_allocation(app->rm->sched));
}
