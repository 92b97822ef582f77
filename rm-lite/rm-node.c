/* RMNode: one NodeManager as the ResourceManager sees it.
 *
 * Events come from resource-tracker-service.c, the liveliness check and the operator's lists. */
#include <errno.h>
#include <string.h>

#include "rm-lite/machines.h"
#include "wire/methods.h"

#define NS(x) HADOOP__YARN__NODE_STATE_PROTO__NS_##x
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

struct rm_node *rm_node_new(struct rm *rm, const struct yarn_node_id *id)
{
    struct rm_node *n = calloc(1, sizeof(*n));

    if (!n)
        rm_out_of_memory();
    n->rm = rm;
    n->id = *id;
    yarn_node_id_text(id, n->key);
    n->state = RM_NODE_ST_NEW;
    n->rack = rm_strdup(RM_DEFAULT_RACK);
    n->seen_ms = sv_now_ms();
    HASH_ADD_STR(rm->nodes, key, n);
    return n;
}

static void clear_lists(struct rm_node *n)
{
    struct rm_cid *c, *ctmp;
    struct rm_aid *a, *atmp;

    DL_FOREACH_SAFE (n->to_cleanup, c, ctmp) {
        DL_DELETE(n->to_cleanup, c);
        free(c);
    }
    DL_FOREACH_SAFE (n->to_remove, c, ctmp) {
        DL_DELETE(n->to_remove, c);
        free(c);
    }
    DL_FOREACH_SAFE (n->apps_to_cleanup, a, atmp) {
        DL_DELETE(n->apps_to_cleanup, a);
        free(a);
    }
}

void rm_node_free(struct rm_node *n)
{
    clear_lists(n);
    rm_set_clear(&n->apps);
    free(n->rack);
    free(n->version);
    free(n->http);
    free(n->health);
    free(n->last_response);
    free(n);
}

int rm_node_wire_state(const struct rm_node *n)
{
    static const int wire[RM_NODE_STATES] = {
        NS(NEW),  NS(NEW),      NS(RUNNING), NS(UNHEALTHY), NS(DECOMMISSIONING), NS(DECOMMISSIONED),
        NS(LOST), NS(REBOOTED), NS(SHUTDOWN)
    };

    return wire[n->state];
}

bool rm_node_is_active(const struct rm_node *n)
{
    return n->state == RM_NODE_ST_RUNNING || n->state == RM_NODE_ST_UNHEALTHY ||
           n->state == RM_NODE_ST_DECOMMISSIONING;
}

static void cid_add(struct rm_cid **list, struct yarn_container_id id)
{
    struct rm_cid *c = calloc(1, sizeof(*c));

    if (!c)
        rm_out_of_memory();
    c->id = id;
    DL_APPEND(*list, c);
}

void rm_node_cleanup_container(struct rm_node *n, struct yarn_container_id id)
{
    cid_add(&n->to_cleanup, id);
}

void rm_node_pulled(struct rm_node *n, struct yarn_container_id id)
{
    cid_add(&n->to_remove, id);
}

void rm_node_cleanup_app(struct rm_node *n, struct yarn_app_id id)
{
    struct rm_aid *a;
    char text[YARN_ID_TEXT_MAX];
    struct rm_name_set *known;

    DL_FOREACH (n->apps_to_cleanup, a)
        if (yarn_app_id_cmp(a->id, id) == 0)
            return;
    a = calloc(1, sizeof(*a));
    if (!a)
        rm_out_of_memory();
    a->id = id;
    DL_APPEND(n->apps_to_cleanup, a);
    yarn_app_id_text(id, text);
    known = rm_set_get(n->apps, text);
    if (known) {
        HASH_DEL(n->apps, known);
        free(known->name);
        free(known);
    }
}

/* ------------------------------------------------------------------ actions */

static void join(struct rm_node *n)
{
    struct rm_sched_event ev = {
        .type = RM_SCHED_NODE_ADDED, .node = &n->id, .rack = n->rack, .total = n->total
    };

    if (n->in_sched)
        return;
    n->in_sched = rm_schedule(n->rm, &ev, NULL) >= 0;
}

/* Out of the scheduler: what ran there is gone for its applications. */
static void leave(struct rm_node *n)
{
    struct rm_sched_event ev = { .type = RM_SCHED_NODE_REMOVED, .node = &n->id };
    struct rm_container *c;

    if (n->in_sched) {
        n->in_sched = false;
        /* What no master has seen yet is asked for again, elsewhere. */
        DL_FOREACH2(n->containers, c, n_next)
        if (c->state == RM_CON_ST_ALLOCATED) {
            struct rm_sched_event back = { .type = RM_SCHED_CONTAINER_DONE,
                                           .container = c->id,
                                           .flag = true };

            (void)rm_schedule(n->rm, &back, NULL); /* not there: nothing to put back */
        }
        (void)rm_schedule(n->rm, &ev, NULL); /* was there, ignoring */
    }
    DL_FOREACH2(n->containers, c, n_next)
    rm_post_full(n->rm,
                 (struct rm_event){ .machine = RM_M_CONTAINER,
                                    .object = c,
                                    .event = RM_CON_EV_KILL,
                                    .exit_status = YARN_EXIT_ABORTED },
                 LOST_NODE);
}

/* Every ApplicationMaster hears of the change in its next allocate. */
static void tell_masters(struct rm_node *n)
{
    for (struct rm_app *app = n->rm->apps; app; app = app->hh.next)
        if (app->state == RM_APP_ST_RUNNING && app->current)
            rm_set_add(&app->current->node_updates, n->key);
}

static int on_started(void *object, int event, void *arg)
{
    struct rm_node *n = object;
    struct rm_event *ev = arg;

    (void)event;
    if (!ev->number)
        return RM_NODE_ST_UNHEALTHY;
    join(n);
    tell_masters(n);
    return RM_NODE_ST_RUNNING;
}

static int on_status(void *object, int event, void *arg)
{
    struct rm_node *n = object;
    struct rm_event *ev = arg;
    bool healthy = ev->number != 0;

    (void)event;
    if (n->state == RM_NODE_ST_RUNNING && !healthy) {
        sv_log_warning("node %s: unhealthy: %s", n->key, n->health ? n->health : "");
        leave(n);
        tell_masters(n);
        return RM_NODE_ST_UNHEALTHY;
    }
    if (n->state == RM_NODE_ST_UNHEALTHY && healthy) {
        join(n);
        tell_masters(n);
        return RM_NODE_ST_RUNNING;
    }
    return n->state;
}

/* Takes the node out of the active table; its RPCs are answered RESYNC or SHUTDOWN from now on. */
static int out(struct rm_node *n, int state)
{
    struct rm_node *old;

    n->state = state;
    leave(n);
    tell_masters(n);
    clear_lists(n);
    HASH_DEL(n->rm->nodes, n);
    HASH_FIND_STR(n->rm->inactive_nodes, n->key, old);
    if (old) {
        HASH_DEL(n->rm->inactive_nodes, old);
        HASH_ADD_STR(n->rm->dead_nodes, key, old); /* freed when the queue is empty */
    }
    HASH_ADD_STR(n->rm->inactive_nodes, key, n);
    sv_log_notice("node %s: %s", n->key, state_names[state]);
    return state;
}

static int on_out(void *object, int event, void *arg)
{
    static const int to[RM_NODE_EVENTS] = {
        [RM_NODE_EV_DECOMMISSION] = RM_NODE_ST_DECOMMISSIONED,
        [RM_NODE_EV_EXPIRE] = RM_NODE_ST_LOST,
        [RM_NODE_EV_REBOOTING] = RM_NODE_ST_REBOOTED,
        [RM_NODE_EV_SHUTDOWN] = RM_NODE_ST_SHUTDOWN,
    };

    (void)arg;
    return out(object, to[event]);
}

static void schedulable(struct rm_node *n, bool yes)
{
    struct rm_sched_event ev = { .type = RM_SCHED_NODE_SCHEDULABLE, .node = &n->id, .flag = yes };

    if (n->in_sched)
        (void)rm_schedule(n->rm, &ev, NULL); /* it is there, ignoring */
}

static int on_graceful(void *object, int event, void *arg)
{
    struct rm_node *n = object;
    struct rm_event *ev = arg;

    (void)event;
    n->decommission_deadline_ms = ev->number < 0 ? 0 : sv_now_ms() + ev->number;
    schedulable(n, false);
    tell_masters(n);
    return RM_NODE_ST_DECOMMISSIONING;
}

static int on_recommission(void *object, int event, void *arg)
{
    struct rm_node *n = object;

    (void)event;
    (void)arg;
    n->decommission_deadline_ms = 0;
    schedulable(n, true);
    return RM_NODE_ST_RUNNING;
}

/* Leaves once nothing runs on it, or when its time is over. */
static int on_leaving_status(void *object, int event, void *arg)
{
    struct rm_node *n = object;

    (void)event;
    (void)arg;
    if ((!n->containers && !n->apps) ||
        (n->decommission_deadline_ms && sv_now_ms() >= n->decommission_deadline_ms))
        return out(n, RM_NODE_ST_DECOMMISSIONED);
    return RM_NODE_ST_DECOMMISSIONING;
}

static int on_resource(void *object, int event, void *arg)
{
    struct rm_node *n = object;
    struct rm_sched_event ev = { .type = RM_SCHED_NODE_RESIZED, .node = &n->id, .total = n->total };

    (void)event;
    (void)arg;
    if (n->in_sched)
        (void)rm_schedule(n->rm, &ev, NULL); /* it is there, ignoring */
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
    AT(s, RM_NODE_EV_EXPIRE) = { on_out, RM_NODE_ST_LOST, { 0 } },                                 \
          AT(s, RM_NODE_EV_REBOOTING) = { on_out, RM_NODE_ST_REBOOTED, { 0 } },                    \
          AT(s, RM_NODE_EV_SHUTDOWN) = { on_out, RM_NODE_ST_SHUTDOWN, { 0 } },                     \
          AT(s, RM_NODE_EV_DECOMMISSION) = { on_out, RM_NODE_ST_DECOMMISSIONED, { 0 } }
#define INACTIVE(s)                                                                                \
    STAY(s, RM_NODE_EV_PULLED_BY_AM), STAY(s, RM_NODE_EV_CLEANUP_APP),                             \
        STAY(s, RM_NODE_EV_CLEANUP_CONTAINER), STAY(s, RM_NODE_EV_STATUS_UPDATE),                  \
        STAY(s, RM_NODE_EV_EXPIRE), STAY(s, RM_NODE_EV_DECOMMISSION),                              \
        STAY(s, RM_NODE_EV_SHUTDOWN), STAY(s, RM_NODE_EV_REBOOTING)

static const struct sv_fsm_cell cells[RM_NODE_STATES * N] = {
    AT(RM_NODE_ST_NEW,
       RM_NODE_EV_STARTED) = { on_started, RM_NODE_ST_RUNNING, { RM_NODE_ST_UNHEALTHY } },
    AT(RM_NODE_ST_NEW, RM_NODE_EV_DECOMMISSION) = { on_out, RM_NODE_ST_DECOMMISSIONED, { 0 } },

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

    AT(RM_NODE_ST_DECOMMISSIONING, RM_NODE_EV_STATUS_UPDATE) = { on_leaving_status,
                                                                 RM_NODE_ST_DECOMMISSIONING,
                                                                 { RM_NODE_ST_DECOMMISSIONED } },
    AT(RM_NODE_ST_DECOMMISSIONING,
       RM_NODE_EV_GRACEFUL) = { on_graceful, RM_NODE_ST_DECOMMISSIONING, { 0 } },
    AT(RM_NODE_ST_DECOMMISSIONING,
       RM_NODE_EV_RECOMMISSION) = { on_recommission, RM_NODE_ST_RUNNING, { 0 } },
    AT(RM_NODE_ST_DECOMMISSIONING, RM_NODE_EV_RECONNECTED) = { on_leaving_status,
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
