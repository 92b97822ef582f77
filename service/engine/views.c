/* Views of the engine's state. */
#include <errno.h>
#include <string.h>

#include "service/engine/states.h"

static const char *const placements[] = {
    [SVC_UNALLOCATED] = "Unallocated",
    [SVC_OPEN] = "Open",
    [SVC_PLACED] = "Placed",
    [SVC_ESCALATED] = "Escalated",
};

enum svc_service_state svc_engine_state(const struct svc_engine *e)
{
    return (enum svc_service_state)e->state;
}

const char *svc_engine_diagnostics(const struct svc_engine *e)
{
    return e->diagnostics ?: "";
}

const struct svc_definition *svc_engine_target(const struct svc_engine *e)
{
    return e->next;
}

int64_t svc_engine_unknown_completed(const struct svc_engine *e)
{
    return e->unknown_completed;
}

size_t svc_engine_components(const struct svc_engine *e)
{
    return e->n_comps;
}

void svc_engine_component(const struct svc_engine *e, size_t i, struct svc_component_view *ret)
{
    const struct svc_comp *c = e->comps[i];
    int64_t pending = (int64_t)(c->lists[SVC_PENDING].n + c->lists[SVC_AWAITED].n);

    *ret = (struct svc_component_view){
        .component = c->spec[c->version].component,
        .state = (enum svc_component_state)c->state,
        .desired = c->target,
        .instances = svc_wanted(c),
        .pending = pending,
        .requested = c->requested,
        .live = (int64_t)c->lists[SVC_LIVE].n,
        .releasing = (int64_t)(c->lists[SVC_RESTARTING].n + c->lists[SVC_RELEASING].n),
        .ready = c->ready,
        .needs_upgrade = (int64_t)(c->at[!c->version].n + c->failed_upgrade.n),
        .succeeded = c->succeeded,
        .failed = c->failed,
        .started_total = c->started_total,
        .start_failed_total = c->start_failed_total,
        .completed_total = c->completed_total,
        .failed_total = c->failed_total,
        .requested_total = c->requested_total,
        .failed_recently = c->failed_recently,
        .node_failed = c->node_failed,
        .preempted = c->preempted,
        .limits_exceeded = c->limits_exceeded,
        .surplus = c->surplus,
        .anti_affine_outstanding = c->anti,
        .reason = c->reason ?: "",
    };
    if (svc_options_of(c)->placement & SVC_PLACEMENT_ANTI_AFFINITY)
        ret->anti_affine_pending = (int64_t)c->lists[SVC_PENDING].n - c->requested;
}

static void view(const struct svc_inst *i, struct svc_instance_view *ret)
{
    *ret = (struct svc_instance_view){
        .name = i->name,
        .component = svc_spec_of(i)->component,
        .state = (enum svc_instance_state)i->state,
        .has_container = i->has_container,
        .outdated = i->versions == &i->comp->at[!i->comp->version],
        .host = i->has_container ? i->container.node->host : "",
        .port = i->has_container ? i->container.port : 0,
        .created_at = i->created_at,
        .started_at = i->started_at,
        .launches = i->launches,
        .last_exit = i->last_exit,
        .placement = placements[i->placement],
        .diagnostics = i->diagnostics ?: "",
    };
    if (i->has_container)
        ret->container = svc_container_id(&i->container);
}

bool svc_engine_instance(const struct svc_engine *e, size_t component, size_t *cursor,
                         struct svc_instance_view *ret)
{
    const struct svc_comp *c = e->comps[component];

    while (*cursor < c->n_slots) {
        const struct svc_inst *i = c->slots[(*cursor)++];

        if (i) {
            view(i, ret);
            return true;
        }
    }
    return false;
}

int svc_engine_find(const struct svc_engine *e, const char *instance, struct svc_instance_view *ret)
{
    const struct svc_inst *i = svc_inst_named(e, instance);

    if (!i)
        return -ENOENT;
    view(i, ret);
    return 0;
}

int svc_engine_find_container(const struct svc_engine *e, struct yarn_container_id id,
                              struct svc_instance_view *ret)
{
    const struct svc_container *c = svc_container_find(e, &id);

    if (!c || !c->inst)
        return -ENOENT;
    view(c->inst, ret);
    return 0;
}

const char *svc_service_state_text(enum svc_service_state s)
{
    return svc_service_fsm()->state_names[s];
}

const char *svc_component_state_text(const struct svc_component_view *v)
{
    switch (v->state) {
    case SVC_COMPONENT_INIT:
    case SVC_COMPONENT_FLEXING:
        return "FLEXING";
    case SVC_COMPONENT_STABLE:
        return "STABLE";
    case SVC_COMPONENT_UPGRADING:
    case SVC_COMPONENT_CANCEL_UPGRADING:
        return v->needs_upgrade ? "NEEDS_UPGRADE" : "UPGRADING";
    case SVC_COMPONENT_SUCCEEDED:
        return "SUCCEEDED";
    default:
        return "FAILED";
    }
}

const char *svc_instance_state_text(const struct svc_instance_view *v)
{
    switch (v->state) {
    case SVC_INSTANCE_STARTED:
        return v->outdated ? "NEEDS_UPGRADE" : "RUNNING_BUT_UNREADY";
    case SVC_INSTANCE_READY:
        return v->outdated ? "NEEDS_UPGRADE" : "READY";
    case SVC_INSTANCE_UPGRADING:
    case SVC_INSTANCE_CANCEL_UPGRADING:
        return "UPGRADING";
    case SVC_INSTANCE_REINITIALIZED:
        return "RUNNING_BUT_UNREADY";
    case SVC_INSTANCE_FAILED_UPGRADE:
        return "FAILED_UPGRADE";
    case SVC_INSTANCE_STOPPING:
        return "STOPPED";
    case SVC_INSTANCE_SUCCEEDED:
        return "SUCCEEDED";
    case SVC_INSTANCE_FAILED:
        return "FAILED";
    default:
        return "";
    }
}
