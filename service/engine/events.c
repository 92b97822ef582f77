/* Inputs of the ResourceManager, the nodes and the readiness checks. Containers, nodes and exit
 * statuses are theirs; names of recovered instances and diagnostics are the applications'. */
#include "service/engine/engine.h"

#include "service/engine/ends.h"
#include "service/engine/nodes.h"
#include "service/engine/policy.h"
#include "service/engine/requests.h"
#include "service/engine/settle.h"
#include "service/engine/states.h"

#define RETELL_MS 1000

/* The component of a request that is not outstanding (any more): its id may be the component's
 * own (policy-common.c), or its priority tells. NULL: neither does. */
static struct svc_comp *component_of(const struct svc_engine *e, int64_t request, int32_t priority)
{
    if (request >= 1 && (uint64_t)request <= e->n_comps)
        return e->comps[request - 1];
    for (size_t i = 0; i < e->n_comps; i++)
        if (e->policy->priority(e->comps[i], false) == priority ||
            e->policy->priority(e->comps[i], true) == priority)
            return e->comps[i];
    return NULL;
}

static void give(struct svc_inst *i, const struct svc_allocated *a, int event)
{
    struct svc_engine *e = i->comp->engine;
    bool target = a->target;

    i->has_container = true;
    i->container.inst = i;
    svc_container_add(e, &i->container, &a->container, svc_node_get(e, a->node.host), a->node.port);
    (void)svc_instance_event(i, event, &target);
}

static enum svc_placement placement_of(const struct svc_request *r, const struct svc_node *n)
{
    if (!r)
        return SVC_UNALLOCATED;
    if (r->escalated)
        return SVC_ESCALATED;
    return r->entry && r->entry->node == n ? SVC_PLACED : SVC_OPEN;
}

static void answered(struct svc_request *r, const struct svc_node *n)
{
    struct svc_entry *wished = r->entry;
    struct svc_comp *c = r->comp;

    svc_request_subtract(r, r->count ? 1 : 0);
    if (r->count)
        return;
    svc_request_free(r);
    if (wished && wished->node != n)
        c->engine->policy->unused(c, wished);
}

/* The request that it answers, and its component; NULL: unknown. */
static struct svc_request *request_of(const struct svc_engine *e, const struct svc_allocated *a,
                                      struct svc_comp **ret_comp)
{
    bool unknown = a->request == SVC_REQUEST_UNKNOWN;
    struct svc_request *r;

    if (e->policy->match) {
        r = e->policy->match(e, a);
        *ret_comp = r ? r->comp : NULL;
        return r;
    }
    r = unknown ? NULL : svc_request_find(e, a->request);
    *ret_comp = r ? r->comp : component_of(e, a->request, a->priority);
    return !r && *ret_comp && unknown ? (*ret_comp)->request : r;
}

static void allocated(struct svc_engine *e, const struct svc_allocated *a)
{
    struct svc_comp *c;
    struct svc_request *r = request_of(e, a, &c);
    struct svc_node *n = svc_node_get(e, a->node.host);
    enum svc_placement placement = placement_of(r, n);
    struct svc_inst *i = r ? r->inst : NULL;

    if (r)
        answered(r, n);
    if (!i)
        i = c && !e->ending ? c->lists[SVC_PENDING].head : NULL;
    if (c)
        svc_dirty(c);
    if (!i || a->refused || !e->policy->accepts(c, n)) {
        if (i)
            e->policy->hold(c, i, 1, SVC_HOLD_REFUSED);
        svc_release_surplus(e, c, a, SVC_OP_RELEASE);
        return;
    }
    c->rejections = 0;
    i->placement = (uint8_t)placement;
    give(i, a, SVC_INSTANCE_EV_ALLOCATED);
}

void svc_engine_allocated(struct svc_engine *e, int64_t now, const struct svc_allocated *a)
{
    svc_begin(e, now);
    if (e->unregistered || svc_container_find(e, &a->container))
        return;
    allocated(e, a);
    svc_settle(e);
}

/* The instance that a container of a previous attempt may belong to again; NULL: none. */
static struct svc_inst *home_of(struct svc_engine *e, const struct svc_allocated *a,
                                const char *instance)
{
    struct svc_request *r;
    struct svc_comp *c;
    uint32_t number;

    if (*instance) {
        c = svc_name_split(e, instance, &number);
        if (!c)
            return NULL;
        return e->started ? svc_inst_named(e, instance) : svc_inst_at(c, number);
    }
    if (!e->policy->anonymous)
        return NULL;
    r = svc_request_find(e, a->request);
    c = r ? r->comp : component_of(e, a->request, a->priority);
    if (c && c->lists[SVC_PENDING].head)
        return c->lists[SVC_PENDING].head;
    return c && !e->started ? svc_inst_new(c) : NULL;
}

void svc_engine_recovered(struct svc_engine *e, int64_t now, const struct svc_allocated *a,
                          const char *instance)
{
    struct svc_container *known;
    struct svc_inst *i;

    svc_begin(e, now);
    known = svc_container_find(e, &a->container);
    if (known)
        known->port = a->node.port;
    if (e->unregistered || known)
        return;
    i = e->ending ? NULL : home_of(e, a, instance);
    if (i && (i->list == SVC_PENDING || i->list == SVC_AWAITED)) {
        i->placement = SVC_UNALLOCATED;
        give(i, a, SVC_INSTANCE_EV_RECOVERED);
        e->open_due = true;
    } else {
        svc_release_surplus(e, NULL, a, e->policy->stops_strangers ? SVC_OP_STOP : SVC_OP_RELEASE)
            ->kept = true;
    }
    svc_settle(e);
}

void svc_engine_expected(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                         const char *instance)
{
    struct svc_comp *c;
    struct svc_inst *i;
    uint32_t number;

    svc_begin(e, now);
    c = svc_name_split(e, instance, &number);
    if (e->started || !c || svc_container_find(e, &id))
        return;
    i = svc_inst_at(c, number);
    if (i && i->list == SVC_PENDING)
        svc_move(i, SVC_AWAITED);
    svc_settle(e);
}

void svc_engine_unexpected(struct svc_engine *e, int64_t now, const char *instance)
{
    struct svc_inst *i;

    svc_begin(e, now);
    i = svc_inst_named(e, instance);
    if (e->unregistered || !i || i->list != SVC_AWAITED)
        return;
    svc_move(i, SVC_PENDING);
    svc_dirty(i->comp);
    svc_settle(e);
}

/* The instance of an event; NULL: its container is gone, or surplus. Begins the input. */
static struct svc_inst *instance_of(struct svc_engine *e, int64_t now,
                                    const struct yarn_container_id *id)
{
    struct svc_container *c;

    svc_begin(e, now);
    c = e->unregistered ? NULL : svc_container_find(e, id);
    return c ? c->inst : NULL;
}

static bool reinitializes(const struct svc_inst *i)
{
    return i->state == SVC_INSTANCE_UPGRADING || i->state == SVC_INSTANCE_CANCEL_UPGRADING;
}

void svc_engine_started(struct svc_engine *e, int64_t now, struct yarn_container_id id)
{
    struct svc_inst *i = instance_of(e, now, &id);

    if (!i || i->state != SVC_INSTANCE_LAUNCHING)
        return;
    (void)svc_instance_event(i, SVC_INSTANCE_EV_START, NULL);
    svc_settle(e);
}

void svc_engine_start_failed(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                             const char *why)
{
    struct svc_inst *i = instance_of(e, now, &id);

    if (!i || i->state != SVC_INSTANCE_LAUNCHING)
        return;
    svc_start_failed(i, why);
    svc_settle(e);
}

void svc_engine_reinitialized(struct svc_engine *e, int64_t now, struct yarn_container_id id)
{
    struct svc_inst *i = instance_of(e, now, &id);

    if (!i || !reinitializes(i))
        return;
    (void)svc_instance_event(i, SVC_INSTANCE_EV_START, NULL);
    svc_settle(e);
}

void svc_engine_reinit_failed(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                              const char *why)
{
    struct svc_inst *i = instance_of(e, now, &id);

    if (!i || !reinitializes(i))
        return;
    svc_set_text(&i->diagnostics, why);
    (void)svc_instance_event(i, SVC_INSTANCE_EV_REINIT_FAILED, NULL);
    svc_settle(e);
}

void svc_engine_ready(struct svc_engine *e, int64_t now, struct yarn_container_id id, bool ready)
{
    struct svc_inst *i = instance_of(e, now, &id);

    if (!i)
        return;
    (void)svc_instance_event(
        i, ready ? SVC_INSTANCE_EV_BECOME_READY : SVC_INSTANCE_EV_BECOME_NOT_READY, NULL);
    svc_settle(e);
}

/* It may have been allocated and have ended before the engine got it: its request is answered for
 * the ResourceManager, and outstanding here. Requests are emitted again, with what is outstanding,
 * a second later: once for many such ends, and not across allocations on their way. */
static void unknown_completed(struct svc_engine *e)
{
    e->unknown_completed++;
    if (e->request_list && !e->retell.place)
        svc_timer_arm(&e->timers, &e->retell, SVC_TIMER_RETELL, e->now + RETELL_MS);
}

void svc_engine_completed(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                          int32_t exit_status, const char *diagnostics)
{
    struct svc_container *c;

    svc_begin(e, now);
    if (e->unregistered)
        return;
    c = svc_container_find(e, &id);
    if (c && c->inst)
        svc_container_ended(c->inst, exit_status, diagnostics);
    else if (c)
        svc_container_remove(e, c);
    else
        unknown_completed(e);
    svc_settle(e);
}

/* ---- the ResourceManager and nodes -----------------------------------------------------------*/

void svc_engine_rejected(struct svc_engine *e, int64_t now, int64_t request, int64_t count,
                         const char *why)
{
    struct svc_request *r;
    struct svc_inst *i;
    struct svc_comp *c;

    svc_begin(e, now);
    r = svc_request_find(e, request);
    if (e->unregistered || !r || !r->count)
        return;
    c = r->comp;
    i = r->inst;
    count = count <= 0 ? r->count : SV_MIN(count, r->count);
    svc_set_text(&c->reason, why);
    svc_request_subtract(r, count);
    if (!r->count)
        svc_request_free(r);
    e->policy->hold(c, i, count, SVC_HOLD_REJECTED);
    svc_settle(e);
}

void svc_engine_node(struct svc_engine *e, int64_t now, const struct yarn_node_id *node,
                     bool usable)
{
    bool first = !e->nodes_known;

    svc_begin(e, now);
    e->nodes_known = true;
    if (e->unregistered || (!svc_node_set_usable(e, node, usable) && !first))
        return;
    for (size_t i = 0; i < e->n_comps; i++) {
        struct svc_comp *c = e->comps[i];

        e->policy->node_usable(c);
        if ((int64_t)c->lists[SVC_PENDING].n > c->requested + c->held)
            svc_dirty(c);
    }
    svc_settle(e);
}

void svc_engine_resync(struct svc_engine *e, int64_t now)
{
    svc_begin(e, now);
    if (e->unregistered)
        return;
    e->resyncs++;
    e->resyncing = e->tell_ends = true;
    e->lost_resync = e->resyncs;
    svc_nodes_tell(e);
    svc_timer_arm(&e->timers, &e->lost_end, SVC_TIMER_LOST, e->now + e->limits.lost_ms);
    svc_settle(e);
}
