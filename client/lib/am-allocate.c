/* Request and response of an ApplicationMaster's heartbeat. Responses come from the
 * ResourceManager, which is trusted; an unusable entry is skipped. */
#include <errno.h>
#include <string.h>

#include "client/lib/am-internal.h"

/* ---- Request ---- */

bool cli_am_has_pending(const struct cli_am *am)
{
    return am->dirty_asks || am->dirty_names || am->releases || am->wanted_updates || am->new_url;
}

static int add_url(struct cli_am *am, struct sv_arena *a, Hadoop__Yarn__AllocateRequestProto *m)
{
    if (!am->new_url)
        return 0;
    m->tracking_url = sv_arena_strdup(a, am->new_url);
    return m->tracking_url ? 0 : -ENOMEM;
}

int cli_am_make_request(struct cli_am *am)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__AllocateRequestProto *m =
        a ? sv_new(a, Hadoop__Yarn__AllocateRequestProto) : NULL;

    if (!m)
        return -ENOMEM;
    hadoop__yarn__allocate_request_proto__init(m);
    m->has_response_id = m->has_progress = true;
    m->response_id = am->response_id;
    m->progress = am->progress;
    if (cli_am_add_asks(am, a, m) < 0 || cli_am_add_releases(am, a, m) < 0 ||
        cli_am_add_blacklist(am, a, m) < 0 || cli_am_add_updates(am, a, m) < 0 ||
        add_url(am, a, m) < 0)
        return -ENOMEM;
    am->request_arena = SV_TAKE(a);
    am->request = m;
    cli_am_asks_taken(am);
    cli_am_releases_taken(am);
    cli_am_blacklist_taken(am);
    cli_am_updates_taken(am);
    free(am->new_url);
    am->new_url = NULL;
    return 0;
}

/* ---- Response ---- */

void cli_am_take_nm_tokens(struct cli_am *am, Hadoop__Yarn__NMTokenProto *const *tokens, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = n ? sv_arena_new(0) : NULL;
    struct yarn_token token;
    struct yarn_node_id node;

    for (size_t i = 0; a && i < n; i++)
        if (yarn_node_id_from(tokens[i]->nodeid, &node) == 0 && tokens[i]->token &&
            yarn_token_from(tokens[i]->token, a, &token) == 0)
            if (cli_nodes_token(am->nodes, &node, &token) < 0)
                continue; /* a start on that node will fail for lack of the token */
}

static void take_own_token(struct cli_am *am, const Hadoop__Yarn__AllocateResponseProto *m)
{
    _cleanup_arena_ struct sv_arena *a = m->am_rm_token ? sv_arena_new(0) : NULL;

    if (!a || yarn_token_from(m->am_rm_token, a, &am->new_token) < 0)
        return;
    sv_arena_free(am->new_token_arena);
    am->new_token_arena = SV_TAKE(a);
}

void cli_am_take_previous(struct cli_am *am, Hadoop__Yarn__ContainerProto *const *list, size_t n)
{
    struct am_container *c;

    /* A program without the callback does not know of them: they are not its own. */
    for (size_t i = 0; am->ops.recovered && i < n && am->phase != OVER; i++) {
        if (cli_am_hold(am, list[i], false, &c) < 0)
            continue; /* known already, or unusable */
        c->started = true;
        am->ops.recovered(am, &c->allocation, am->userdata);
    }
}

static void take_allocated(struct cli_am *am, const Hadoop__Yarn__ContainerProto *m)
{
    struct am_container *c;

    if (cli_am_hold(am, m, true, &c) < 0)
        return; /* unusable or already known: the ResourceManager reclaims it when it expires */
    cli_am_ask_answered(am, c->allocation.priority, c->allocation.request_id, 1);
    if (am->ops.allocated)
        am->ops.allocated(am, &c->allocation, am->userdata);
}

static void take_rejected(struct cli_am *am, const Hadoop__Yarn__RejectedSchedulingRequestProto *m)
{
    const Hadoop__Yarn__SchedulingRequestProto *q = m->request;
    const struct cli_rejection told = {
        .request_id = q->allocationrequestid,
        .priority = q->priority ? q->priority->priority : 0,
        .count = q->resourcesizing ? q->resourcesizing->numallocations : 0,
        .reason = (enum cli_rejection_reason)m->reason,
    };

    cli_am_ask_answered(am, told.priority, told.request_id, SV_MAX(told.count, 0));
    if (am->ops.rejected)
        am->ops.rejected(am, &told, am->userdata);
}

/* Every heartbeat repeats what is still wanted. */
static void take_preempted(struct cli_am *am, Hadoop__Yarn__PreemptionContainerProto *const *list,
                           size_t n, bool strict)
{
    for (size_t i = 0; i < n && am->phase != OVER; i++) {
        struct yarn_container_id id;
        struct am_container *c =
            yarn_container_id_from(list[i]->id, &id) == 0 ? cli_am_find(am, id) : NULL;

        if (!c || c->preempted >= (strict ? PREEMPTED_STRICTLY : PREEMPTED))
            continue;
        c->preempted = strict ? PREEMPTED_STRICTLY : PREEMPTED;
        if (am->ops.preempted)
            am->ops.preempted(am, id, strict, am->userdata);
    }
}

static void take_preemption(struct cli_am *am, const Hadoop__Yarn__PreemptionMessageProto *m)
{
    if (m && m->strictcontract)
        take_preempted(am, m->strictcontract->container, m->strictcontract->n_container, true);
    if (m && m->contract)
        take_preempted(am, m->contract->container, m->contract->n_container, false);
}

static void take_completed(struct cli_am *am, const Hadoop__Yarn__ContainerStatusProto *m)
{
    struct yarn_container_id id;

    if (yarn_container_id_from(m->container_id, &id) == 0 && cli_am_end(am, id) &&
        am->ops.completed)
        am->ops.completed(am, id, m->exit_status, cli_text(m->diagnostics), am->userdata);
}

/* Hadoop before 3.1 sends states alone. */
static enum cli_node_change change_of(const Hadoop__Yarn__NodeReportProto *m)
{
    if (m->has_node_update_type)
        return m->node_update_type == HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_USABLE
                   ? CLI_NODE_USABLE
               : m->node_update_type == HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_UNUSABLE
                   ? CLI_NODE_UNUSABLE
                   : CLI_NODE_DECOMMISSIONING;
    return m->node_state == HADOOP__YARN__NODE_STATE_PROTO__NS_RUNNING ||
                   m->node_state == HADOOP__YARN__NODE_STATE_PROTO__NS_NEW
               ? CLI_NODE_USABLE
           : m->node_state == HADOOP__YARN__NODE_STATE_PROTO__NS_DECOMMISSIONING
               ? CLI_NODE_DECOMMISSIONING
               : CLI_NODE_UNUSABLE;
}

static void take_node(struct cli_am *am, const Hadoop__Yarn__NodeReportProto *m)
{
    struct cli_node_update told = {
        .change = change_of(m),
        .http_address = cli_text(m->httpaddress),
        .rack = cli_text(m->rackname),
        .state = cli_enum_name(&hadoop__yarn__node_state_proto__descriptor, m->node_state, "NS_"),
        .health_report = cli_text(m->health_report),
    };

    if (!am->ops.node || yarn_node_id_from(m->nodeid, &told.id) < 0)
        return;
    if (yarn_resource_from(m->capability, &told.capability) < 0)
        told.capability = (struct yarn_resource){ 0 };
    am->ops.node(am, &told, am->userdata);
}

/* Nodes first: what follows may depend on them. Ends last: a container may be allocated and end in
 * one answer. */
void cli_am_take_answer(struct cli_am *am, const Hadoop__Yarn__AllocateResponseProto *m)
{
    take_own_token(am, m);
    cli_am_take_nm_tokens(am, m->nm_tokens, m->n_nm_tokens);
    if (yarn_resource_from(m->limit, &am->headroom) < 0)
        am->headroom = (struct yarn_resource){ 0 };
    am->cluster_nodes = m->num_cluster_nodes;
    for (size_t i = 0; i < m->n_updated_nodes && am->phase != OVER; i++)
        take_node(am, m->updated_nodes[i]);
    cli_am_take_previous(am, m->containers_from_previous_attempts,
                         m->n_containers_from_previous_attempts);
    for (size_t i = 0; i < m->n_allocated_containers && am->phase != OVER; i++)
        take_allocated(am, m->allocated_containers[i]);
    for (size_t i = 0; i < m->n_rejected_scheduling_requests && am->phase != OVER; i++)
        take_rejected(am, m->rejected_scheduling_requests[i]);
    for (size_t i = 0; i < m->n_updated_containers && am->phase != OVER; i++)
        cli_am_take_updated(am, m->updated_containers[i]);
    for (size_t i = 0; i < m->n_update_errors && am->phase != OVER; i++)
        cli_am_take_update_error(am, m->update_errors[i]);
    take_preemption(am, m->preempt);
    for (size_t i = 0; i < m->n_completed_container_statuses && am->phase != OVER; i++)
        take_completed(am, m->completed_container_statuses[i]);
}
