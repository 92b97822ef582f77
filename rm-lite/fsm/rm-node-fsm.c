/* RMNode's state machine: one NodeManager as the ResourceManager knows it.
 *
 * Events come from resource-tracker-service.c, the liveliness check and the operator's lists. */
#include "rm-lite/core/fsm-step.h"
#include "rm-lite/core/node-updates.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/store/store.h"
#include "wire/exit-status.h"

#define LOST_NODE "Container released on a *lost* node"

static const char *const state_names[RM_NODE_STATES] = {
    "",     "NEW",      "RUNNING", "UNHEALTHY", "DECOMMISSIONING", "DECOMMISSIONED",
    "LOST", "REBOOTED", "SHUTDOWN"
};
static const char *const event_names[RM_NODE_EVENTS] = { "",
                                                         "STARTED",
                                                         "STATUS_UPDATE",
                                                         "DECOMMISSION",
                                                         "GRACEFUL_DECOMMISSION",
                                                         "RECOMMISSION",
                                                         "EXPIRE",
                                                         "REBOOTING",
                                                         "SHUTDOWN",
                                                         "RECONNECTED",
                                                         "RESOURCE_UPDATE",
                                                         "CLEANUP_APP",
                                                         "CLEANUP_CONTAINER",
                                                         "FINISHED_CONTAINERS_PULLED_BY_AM" };

/* ------------------------------------------------------------------ actions */

static void join(struct rm_node *n)
{
    struct rm_sched_event ev = { .type = RM_SCHED_NODE_ADDED,
                                 .node_added = {
                                     .node = &n->id, .rack = n->rack, .total = n->total } };

    if (n->in_sched)
        return;
    n->in_sched = rm_schedule(n->rm, &ev, NULL) >= 0;
}

/* Removes the node from the scheduler and kills its containers for their applications. */
static void leave(struct rm_node *n)
{
    struct rm_sched_event ev = { .type = RM_SCHED_NODE_REMOVED,
                                 .node_removed = { .node = &n->id } };
    struct rm_container *c;

    if (n->in_sched) {
        n->in_sched = false;
        /* A container that no ApplicationMaster has seen is requested again, elsewhere. */
        DL_FOREACH2(n->containers, c, n_next)
        if (c->state == RM_CON_ST_ALLOCATED) {
            struct rm_sched_event back = { .type = RM_SCHED_CONTAINER_DONE,
                                           .container_done = { .container = c->id,
                                                               .put_ask_back = true } };

            (void)rm_schedule(n->rm, &back, NULL); /* absent: nothing to put back */
        }
        (void)rm_schedule(n->rm, &ev, NULL); /* present, ignoring */
    }
    DL_FOREACH2(n->containers, c, n_next)
    rm_container_post_exit(c, RM_CON_EV_KILL, YARN_EXIT_ABORTED, LOST_NODE);
}

static int on_started(void *object, int event, void *arg)
{
    struct rm_node *n = object;
    const struct rm_node_health *p = ((const struct sv_event *)arg)->payload;

    (void)event;
    if (!p->healthy)
        return RM_NODE_ST_UNHEALTHY;
    join(n);
    rm_node_updated(n);
    return RM_NODE_ST_RUNNING;
}

static int on_status(void *object, int event, void *arg)
{
    struct rm_node *n = object;
    const struct rm_node_health *p = ((const struct sv_event *)arg)->payload;

    (void)event;
    if (n->state == RM_NODE_ST_RUNNING && !p->healthy) {
        sv_log_warning("node %s: unhealthy: %s", n->key, n->health ? n->health : "");
        leave(n);
        rm_node_updated(n);
        return RM_NODE_ST_UNHEALTHY;
    }
    if (n->state == RM_NODE_ST_UNHEALTHY && p->healthy) {
        join(n);
        rm_node_updated(n);
        return RM_NODE_ST_RUNNING;
    }
    return n->state;
}

static void no_longer_drains(struct rm_node *n)
{
    if (!rm_set_has(n->rm->draining, n->key))
        return;
    rm_set_remove(&n->rm->draining, n->key);
    rm_store_drained(n->rm, n->key);
}

/* Moves the node to the inactive table; from now on its RPCs are answered RESYNC or SHUTDOWN. */
static int deactivate(struct rm_node *n, int state)
{
    struct rm_node *old = rm_node_find_inactive(n->rm, n->key);

    n->state = state;
    if (state == RM_NODE_ST_DECOMMISSIONED) /* a LOST node drains on when it returns */
        no_longer_drains(n);
    leave(n);
    rm_node_updated(n);
    rm_node_clear_lists(n);
    rm_node_leave(n->rm, n);
    if (old) {
        HASH_DEL(n->rm->inactive_nodes, old);
        rm_node_updates_forget(old);
        rm_node_recount(old, false);
        HASH_ADD_STR(n->rm->dead_nodes, key, old); /* freed when the queue is empty */
    }
    HASH_ADD_STR(n->rm->inactive_nodes, key, n);
    sv_log_notice("node %s: %s", n->key, state_names[state]);
    return state;
}

static int on_deactivate(void *object, int event, void *arg)
{
    static const int to[RM_NODE_EVENTS] = {
        [RM_NODE_EV_DECOMMISSION] = RM_NODE_ST_DECOMMISSIONED,
        [RM_NODE_EV_EXPIRE] = RM_NODE_ST_LOST,
        [RM_NODE_EV_REBOOTING] = RM_NODE_ST_REBOOTED,
        [RM_NODE_EV_SHUTDOWN] = RM_NODE_ST_SHUTDOWN,
    };

    (void)arg;
    return deactivate(object, to[event]);
}

static void schedulable(struct rm_node *n, bool yes)
{
    struct rm_sched_event ev = { .type = RM_SCHED_NODE_SCHEDULABLE,
                                 .node_schedulable = { .node = &n->id, .schedulable = yes } };

    if (n->in_sched)
        (void)rm_schedule(n->rm, &ev, NULL); /* present, ignoring */
}

static int on_graceful(void *object, int event, void *arg)
{
    struct rm_node *n = object;
    const struct rm_node_grace *p = ((const struct sv_event *)arg)->payload;
    int64_t deadline = p->timeout_ms < 0 ? 0 : sv_wall_ms() + p->timeout_ms;

    (void)event;
    n->decommission_deadline_ms = p->timeout_ms < 0 ? 0 : sv_now_ms() + p->timeout_ms;
    rm_set_add(&n->rm->draining, n->key)->number = deadline;
    rm_store_drain(n->rm, n->key, deadline);
    schedulable(n, false);
    rm_node_updated(n);
    return RM_NODE_ST_DECOMMISSIONING;
}

static int on_recommission(void *object, int event, void *arg)
{
    struct rm_node *n = object;

    (void)event;
    (void)arg;
    n->decommission_deadline_ms = 0;
    no_longer_drains(n);
    schedulable(n, true);
    return RM_NODE_ST_RUNNING;
}

/* Decommissions the node once it runs nothing, or after its timeout. */
static int on_decommissioning_status(void *object, int event, void *arg)
{
    struct rm_node *n = object;

    (void)event;
    (void)arg;
    if ((!n->containers && !n->apps) ||
        (n->decommission_deadline_ms && sv_now_ms() >= n->decommission_deadline_ms))
        return deactivate(n, RM_NODE_ST_DECOMMISSIONED);
    return RM_NODE_ST_DECOMMISSIONING;
}

static int on_resource(void *object, int event, void *arg)
{
    struct rm_node *n = object;
    struct rm_sched_event ev = { .type = RM_SCHED_NODE_RESIZED,
                                 .node_resized = { .node = &n->id, .total = n->total } };

    (void)event;
    (void)arg;
    if (n->in_sched)
        (void)rm_schedule(n->rm, &ev, NULL); /* present, ignoring */
    return n->state;
}

/* -------------------------------------------------------------------- table */

#define N RM_NODE_EVENTS
#define AT(s, e) [(s)*N + (e)]
#define STAY(s, e) AT(s, e) = { NULL, s, { 0 } }
#define LISTS(s)                                                                                   \
    STAY(s, RM_NODE_EV_CLEANUP_APP), STAY(s, RM_NODE_EV_CLEANUP_CONTAINER),                        \
        STAY(s, RM_NODE_EV_PULLED_BY_AM),                                                          \
        AT(s, RM_NODE_EV_RESOURCE_UPDATE) = { on_resource, s, { 0 } }
#define LEAVES(s)                                                                                  \
    AT(s, RM_NODE_EV_EXPIRE) = { on_deactivate, RM_NODE_ST_LOST, { 0 } },                          \
          AT(s, RM_NODE_EV_REBOOTING) = { on_deactivate, RM_NODE_ST_REBOOTED, { 0 } },             \
          AT(s, RM_NODE_EV_SHUTDOWN) = { on_deactivate, RM_NODE_ST_SHUTDOWN, { 0 } },              \
          AT(s, RM_NODE_EV_DECOMMISSION) = { on_deactivate, RM_NODE_ST_DECOMMISSIONED, { 0 } }
#define INACTIVE(s)                                                                                \
    STAY(s, RM_NODE_EV_PULLED_BY_AM), STAY(s, RM_NODE_EV_CLEANUP_APP),                             \
        STAY(s, RM_NODE_EV_CLEANUP_CONTAINER), STAY(s, RM_NODE_EV_STATUS_UPDATE),                  \
        STAY(s, RM_NODE_EV_EXPIRE), STAY(s, RM_NODE_EV_DECOMMISSION),                              \
        STAY(s, RM_NODE_EV_SHUTDOWN), STAY(s, RM_NODE_EV_REBOOTING)

static const struct sv_fsm_cell cells[RM_NODE_STATES * N] = {
    AT(RM_NODE_ST_NEW,
       RM_NODE_EV_STARTED) = { on_started, RM_NODE_ST_RUNNING, { RM_NODE_ST_UNHEALTHY } },
    AT(RM_NODE_ST_NEW,
       RM_NODE_EV_DECOMMISSION) = { on_deactivate, RM_NODE_ST_DECOMMISSIONED, { 0 } },

    AT(RM_NODE_ST_RUNNING,
       RM_NODE_EV_STATUS_UPDATE) = { on_status, RM_NODE_ST_RUNNING, { RM_NODE_ST_UNHEALTHY } },
    AT(RM_NODE_ST_RUNNING,
       RM_NODE_EV_GRACEFUL) = { on_graceful, RM_NODE_ST_DECOMMISSIONING, { 0 } },
    STAY(RM_NODE_ST_RUNNING, RM_NODE_EV_RECONNECTED),
    STAY(RM_NODE_ST_RUNNING, RM_NODE_EV_RECOMMISSION),
    LISTS(RM_NODE_ST_RUNNING),
    LEAVES(RM_NODE_ST_RUNNING),

    AT(RM_NODE_ST_UNHEALTHY,
       RM_NODE_EV_STATUS_UPDATE) = { on_status, RM_NODE_ST_UNHEALTHY, { RM_NODE_ST_RUNNING } },
    AT(RM_NODE_ST_UNHEALTHY,
       RM_NODE_EV_GRACEFUL) = { on_graceful, RM_NODE_ST_DECOMMISSIONING, { 0 } },
    STAY(RM_NODE_ST_UNHEALTHY, RM_NODE_EV_RECONNECTED),
    LISTS(RM_NODE_ST_UNHEALTHY),
    LEAVES(RM_NODE_ST_UNHEALTHY),

    AT(RM_NODE_ST_DECOMMISSIONING, RM_NODE_EV_STATUS_UPDATE) = { on_decommissioning_status,
                                                                 RM_NODE_ST_DECOMMISSIONING,
                                                                 { RM_NODE_ST_DECOMMISSIONED } },
    AT(RM_NODE_ST_DECOMMISSIONING,
       RM_NODE_EV_GRACEFUL) = { on_graceful, RM_NODE_ST_DECOMMISSIONING, { 0 } },
    AT(RM_NODE_ST_DECOMMISSIONING,
       RM_NODE_EV_RECOMMISSION) = { on_recommission, RM_NODE_ST_RUNNING, { 0 } },
    AT(RM_NODE_ST_DECOMMISSIONING, RM_NODE_EV_RECONNECTED) = { on_decommissioning_status,
                                                               RM_NODE_ST_DECOMMISSIONING,
                                                               { RM_NODE_ST_DECOMMISSIONED } },
    LISTS(RM_NODE_ST_DECOMMISSIONING),
    LEAVES(RM_NODE_ST_DECOMMISSIONING),

    INACTIVE(RM_NODE_ST_DECOMMISSIONED),
    INACTIVE(RM_NODE_ST_LOST),
    INACTIVE(RM_NODE_ST_REBOOTED),
    INACTIVE(RM_NODE_ST_SHUTDOWN),
};
_Static_assert(sizeof(cells) / sizeof(cells[0]) == (size_t)RM_NODE_STATES * RM_NODE_EVENTS,
               "RMNode table");

const struct sv_fsm rm_node_fsm = {
    .name = "RMNode",
    .n_states = RM_NODE_STATES,
    .n_events = RM_NODE_EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = cells,
};

void rm_node_handle(const struct sv_event *event, void *userdata)
{
    struct rm_node *n = event->object;
    int before = n->state;

    (void)userdata;
    rm_fsm_step(&rm_node_fsm, n->key, &n->state, event);
    n->rm->counters.changes += n->state != before;
    if (n->counted >= 0)
        rm_node_recount(n, true);
}
