/* Messages of requests for containers. */
#include <errno.h>

#include "client/lib/am-internal.h"

/* ---- Scheduling requests ---- */

static Hadoop__Yarn__ExecutionTypeRequestProto *
execution_to(struct sv_arena *a, enum cli_execution execution, bool enforce)
{
    Hadoop__Yarn__ExecutionTypeRequestProto *m = sv_new(a, Hadoop__Yarn__ExecutionTypeRequestProto);

    if (!m)
        return NULL;
    hadoop__yarn__execution_type_request_proto__init(m);
    m->has_execution_type = m->has_enforce_execution_type = true;
    m->execution_type = (Hadoop__Yarn__ExecutionTypeProto)(execution ? execution : CLI_GUARANTEED);
    m->enforce_execution_type = enforce;
    return m;
}

static Hadoop__Yarn__PriorityProto *priority_to(struct sv_arena *a, int64_t priority)
{
    Hadoop__Yarn__PriorityProto *m = sv_new(a, Hadoop__Yarn__PriorityProto);

    if (!m)
        return NULL;
    hadoop__yarn__priority_proto__init(m);
    m->has_priority = true;
    m->priority = (int32_t)priority;
    return m;
}

Hadoop__Yarn__SchedulingRequestProto *cli_am_placed_to(struct sv_arena *a,
                                                       const struct cli_scheduling_request *q)
{
    Hadoop__Yarn__SchedulingRequestProto *m = sv_new(a, Hadoop__Yarn__SchedulingRequestProto);
    Hadoop__Yarn__ResourceSizingProto *sizing = sv_new(a, Hadoop__Yarn__ResourceSizingProto);

    if (!m || !sizing)
        return NULL;
    hadoop__yarn__scheduling_request_proto__init(m);
    hadoop__yarn__resource_sizing_proto__init(sizing);
    m->has_allocationrequestid = true;
    m->allocationrequestid = q->request_id;
    m->priority = priority_to(a, q->priority);
    m->executiontype = execution_to(a, q->execution, q->enforce);
    m->allocationtags = cli_texts_to(a, q->tags, q->n_tags);
    m->n_allocationtags = q->n_tags;
    sizing->has_numallocations = true;
    sizing->numallocations = q->count;
    sizing->resources = yarn_resource_to(a, q->resource);
    m->resourcesizing = sizing;
    if (q->constraint && !(m->placementconstraint = cli_constraint_to(a, q->constraint)))
        return NULL;
    return m->priority && m->executiontype && m->allocationtags && sizing->resources ? m : NULL;
}

/* ---- Resource requests ---- */

static int add_one(struct sv_arena *a, const struct am_ask *w, const char *name, int32_t count,
                   bool relax, Hadoop__Yarn__AllocateRequestProto *m)
{
    Hadoop__Yarn__ResourceRequestProto *ask = sv_new(a, Hadoop__Yarn__ResourceRequestProto);

    if (!ask)
        return -ENOMEM;
    hadoop__yarn__resource_request_proto__init(ask);
    ask->has_num_containers = ask->has_relax_locality = ask->has_allocation_request_id = true;
    ask->priority = priority_to(a, w->key.priority);
    ask->resource_name = (char *)(uintptr_t)name;
    ask->capability = yarn_resource_to(a, w->resource);
    ask->num_containers = count;
    ask->relax_locality = relax;
    ask->allocation_request_id = w->key.request_id;
    /* As Java's clients, always: Apache's AMRMProxy sends an ask without it to no other cluster. */
    ask->execution_type_request = execution_to(a, w->execution, w->enforce);
    ask->node_label_expression = (char *)(uintptr_t)w->label;
    if (!ask->priority || !ask->capability || !ask->execution_type_request)
        return -ENOMEM;
    m->ask[m->n_ask++] = ask;
    return 0;
}

static int add_names(struct sv_arena *a, const struct am_ask *w,
                     Hadoop__Yarn__AllocateRequestProto *m)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && i < w->n_gone; i++)
        r = add_one(a, w, w->gone[i], 0, true, m);
    for (size_t i = 0; r >= 0 && i < w->n_hosts; i++)
        r = add_one(a, w, w->hosts[i], w->count, true, m);
    for (size_t i = 0; r >= 0 && i < w->n_racks; i++)
        r = add_one(a, w, w->racks[i], w->count,
                    !w->strict || cli_am_has_name(w->wanted_racks, w->n_wanted_racks, w->racks[i]),
                    m);
    return r < 0 ? r : add_one(a, w, "*", w->count, !w->strict, m);
}

int cli_am_add_asks(struct cli_am *am, struct sv_arena *a, Hadoop__Yarn__AllocateRequestProto *m)
{
    size_t names = 0, placed = 0;
    struct am_ask *w;

    DL_FOREACH (am->dirty_asks, w) {
        placed += w->placed != NULL;
        names += w->placed ? 0 : 1 + w->n_gone + w->n_hosts + w->n_racks;
    }
    m->ask = sv_newn(a, Hadoop__Yarn__ResourceRequestProto *, names + 1);
    m->scheduling_requests = sv_newn(a, Hadoop__Yarn__SchedulingRequestProto *, placed + 1);
    if (!m->ask || !m->scheduling_requests)
        return -ENOMEM;
    DL_FOREACH (am->dirty_asks, w) {
        int32_t missing = w->count - w->held;

        if (!w->placed && add_names(a, w, m) < 0)
            return -ENOMEM;
        if (!w->placed || (am->adds && missing <= 0))
            continue;
        w->placed->resourcesizing->numallocations = missing;
        m->scheduling_requests[m->n_scheduling_requests++] = w->placed;
    }
    return 0;
}
