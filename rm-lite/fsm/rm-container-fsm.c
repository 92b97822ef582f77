/* RMContainer's state machine: one container from its allocation to its end.
 *
 * Events come from the scheduler's decisions (scheduling.c), the ApplicationMaster (pull, release),
 * the NodeManager's reports (launched, finished), the expiry check and the end of nodes or
 * attempts.
 */
#include <inttypes.h>
#include <string.h>

#include "common/oom.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/core/app-usage.h"
#include "rm-lite/core/ended-containers.h"
#include "rm-lite/core/fsm-step.h"
#include "rm-lite/core/log-status.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/text.h"
#include "rm-lite/fsm/container-update.h"
#include "rm-lite/fsm/scheduling.h"
#include "wire/exit-status.h"

static const char *const state_names[RM_CON_STATES] = { "",          "NEW",      "RESERVED",
                                                        "ALLOCATED", "ACQUIRED", "RUNNING",
                                                        "COMPLETED", "EXPIRED",  "RELEASED",
                                                        "KILLED" };
static const char *const event_names[RM_CON_EVENTS] = { "",
                                                        "START",
                                                        "RECOVER",
                                                        "RESERVED",
                                                        "ACQUIRED",
                                                        "LAUNCHED",
                                                        "CHANGE_RESOURCE",
                                                        "ACQUIRE_UPDATED_CONTAINER",
                                                        "NM_DONE_CHANGE_RESOURCE",
                                                        "FINISHED",
                                                        "RELEASED",
                                                        "EXPIRE",
                                                        "KILL" };

/* ------------------------------------------------------------------ actions */

/* True if an ApplicationMaster will pull the status: not after a failed attempt, unless the
 * application keeps containers, whose list the next attempt inherits (rm_attempt_new). */
static bool will_be_pulled(const struct rm_app *app, const struct rm_attempt *att)
{
    if (att->state == RM_ATT_ST_FAILED)
        return app->keep_containers &&
               (app->state == RM_APP_ST_ACCEPTED || app->state == RM_APP_ST_RUNNING);
    return !rm_attempt_is_final(att) && att->state != RM_ATT_ST_FINISHING && !rm_app_is_final(app);
}

/* Queues the status for the ApplicationMaster: that of the current attempt if the application keeps
 * containers across attempts. */
static void report_to_master(struct rm_container *c)
{
    struct rm_attempt *att = c->app->keep_containers ? c->app->current : c->attempt;
    struct rm_done *d;

    if (!will_be_pulled(c->app, att)) {
        if (c->node)
            rm_node_pulled(c->node, c->id); /* no ApplicationMaster will pull it */
        return;
    }
    d = calloc(1, sizeof(*d));
    if (!d)
        sv_out_of_memory();
    d->rm = c->rm;
    d->id = c->id;
    memcpy(d->id_str, c->id_str, sizeof(d->id_str));
    d->exit_status = c->exit_status;
    rm_done_set_text(d, c->diagnostics);
    d->resource = c->resource;
    d->opportunistic = c->opportunistic;
    d->node = c->node ? rm_strdup(c->node->key) : NULL;
    HASH_ADD_STR(c->rm->done, id_str, d);
    DL_APPEND(att->done, d);
}

static int end(struct rm_container *c, int state, const struct sv_event *ev)
{
    const struct rm_container_exit *exit = ev->payload;
    struct rm_sched_event done = {
        .type = RM_SCHED_CONTAINER_DONE,
        .container_done = { .container = c->id,
                            .put_ask_back = c->state == RM_CON_ST_ALLOCATED && !c->is_master }
    };

    c->finish_ms = sv_wall_ms();
    c->exit_status = exit->exit_status;
    rm_set_text(&c->diagnostics, ev->text);
    rm_app_settle(c->app);
    c->app->live = rm_res_sub(c->app->live, c->resource);
    c->app->n_live--;
    c->app->n_announced -= c->announced;
    DL_DELETE2(c->app->containers, c, p_prev, p_next);
    if (c->in_updated)
        DL_DELETE2(c->app->updated, c, u_prev, u_next);
    c->in_updated = false;
    c->rm->counters.released++;
    c->rm->counters.ended[sv_exit_end(exit->exit_status, ev->text)]++;
    rm_queue_count(c->app, RM_COUNT_RELEASED);
    if (exit->exit_status == YARN_EXIT_PREEMPTED)
        rm_app_preempted(c);
    rm_container_expiry_stop(c);
    (void)rm_schedule(c->rm, &done,
                      NULL); /* removed already if its node or attempt ended, ignoring */
    if (c->in_fresh) {
        DL_DELETE2(c->attempt->fresh, c, f_prev, f_next);
        c->in_fresh = false;
    }
    if (c->is_master) {
        rm_attempt_post_master_exit(c->attempt, exit->exit_status, ev->text);
        if (c->node)
            rm_node_pulled(c->node, c->id);
    } else if (c->state != RM_CON_ST_ALLOCATED) { /* the ApplicationMaster has received it */
        report_to_master(c);
    }
    if (state != RM_CON_ST_COMPLETED && c->node)
        rm_node_cleanup_container(c->node, c->id);
    if (c->node)
        DL_DELETE2(c->node->containers, c, n_prev, n_next);
    c->node = NULL;
    HASH_DEL(c->rm->containers, c);
    if (c->state == RM_CON_ST_ALLOCATED)                       /* nobody has received it */
        DL_APPEND2(c->rm->dead_containers, c, n_prev, n_next); /* freed when the queue is empty */
    else
        rm_ended_keep(c);
    rm_request_pass(c->rm);
    return state;
}

/* From here on it can be started: its node must be notified of the application's end. */
static int on_acquired(void *object, int event, void *arg)
{
    struct rm_container *c = object;

    (void)event;
    (void)arg;
    c->acquired_ms = sv_wall_ms();
    rm_container_expiry_start(c);
    if (c->node) {
        rm_set_add(&c->app->ran_on, c->node->key);
        rm_log_ran_on(c->app, c->node->key);
    }
    return RM_CON_ST_ACQUIRED;
}

static int on_launched(void *object, int event, void *arg)
{
    (void)event;
    (void)arg;
    rm_container_expiry_stop(object);
    return RM_CON_ST_RUNNING;
}

/* The actions of a running container: container-update.h. */
static int on_update(void *object, int event, void *arg)
{
    const struct rm_container_size *p = ((const struct sv_event *)arg)->payload;

    if (event == RM_CON_EV_CHANGE_RESOURCE)
        rm_update_changed(object, p->resource);
    else if (event == RM_CON_EV_ACQUIRE_UPDATED_CONTAINER)
        rm_update_acquired(object);
    else if (event == RM_CON_EV_NM_DONE_CHANGE_RESOURCE)
        rm_update_reported(object, p->resource, p->version);
    else /* RM_CON_EV_EXPIRE */
        rm_update_expired(object);
    return RM_CON_ST_RUNNING;
}

static int on_recover(void *object, int event, void *arg)
{
    const struct sv_event *ev = arg;
    const struct rm_container_exit *p = ev->payload;

    (void)event;
    if (p->wire_state == HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE)
        return end(object, RM_CON_ST_COMPLETED, ev);
    return RM_CON_ST_RUNNING;
}

static int on_end(void *object, int event, void *arg)
{
    static const int to[RM_CON_EVENTS] = {
        [RM_CON_EV_FINISHED] = RM_CON_ST_COMPLETED,
        [RM_CON_EV_RELEASED] = RM_CON_ST_RELEASED,
        [RM_CON_EV_EXPIRE] = RM_CON_ST_EXPIRED,
        [RM_CON_EV_KILL] = RM_CON_ST_KILLED,
    };

    return end(object, to[event], arg);
}

/* -------------------------------------------------------------------- table */

#define N RM_CON_EVENTS
#define AT(s, e) [(s)*N + (e)]
#define STAY(s, e) AT(s, e) = { NULL, s, { 0 } }
#define NO_UPDATE(s)                                                                               \
    STAY(s, RM_CON_EV_CHANGE_RESOURCE), STAY(s, RM_CON_EV_ACQUIRE_UPDATED_CONTAINER),              \
        STAY(s, RM_CON_EV_NM_DONE_CHANGE_RESOURCE)
#define ABSORB(s)                                                                                  \
    NO_UPDATE(s), STAY(s, RM_CON_EV_ACQUIRED), STAY(s, RM_CON_EV_LAUNCHED),                        \
        STAY(s, RM_CON_EV_FINISHED), STAY(s, RM_CON_EV_RELEASED), STAY(s, RM_CON_EV_EXPIRE),       \
        STAY(s, RM_CON_EV_KILL)

static const struct sv_fsm_cell cells[RM_CON_STATES * N] = {
    AT(RM_CON_ST_NEW, RM_CON_EV_START) = { NULL, RM_CON_ST_ALLOCATED, { 0 } },
    AT(RM_CON_ST_NEW, RM_CON_EV_RESERVED) = { NULL, RM_CON_ST_RESERVED, { 0 } },
    AT(RM_CON_ST_NEW, RM_CON_EV_KILL) = { on_end, RM_CON_ST_KILLED, { 0 } },
    AT(RM_CON_ST_NEW,
       RM_CON_EV_RECOVER) = { on_recover, RM_CON_ST_RUNNING, { RM_CON_ST_COMPLETED } },

    AT(RM_CON_ST_RESERVED, RM_CON_EV_START) = { NULL, RM_CON_ST_ALLOCATED, { 0 } },
    STAY(RM_CON_ST_RESERVED, RM_CON_EV_RESERVED),
    AT(RM_CON_ST_RESERVED, RM_CON_EV_KILL) = { on_end, RM_CON_ST_KILLED, { 0 } },
    AT(RM_CON_ST_RESERVED, RM_CON_EV_RELEASED) = { on_end, RM_CON_ST_RELEASED, { 0 } },

    AT(RM_CON_ST_ALLOCATED, RM_CON_EV_ACQUIRED) = { on_acquired, RM_CON_ST_ACQUIRED, { 0 } },
    AT(RM_CON_ST_ALLOCATED, RM_CON_EV_EXPIRE) = { on_end, RM_CON_ST_EXPIRED, { 0 } },
    AT(RM_CON_ST_ALLOCATED, RM_CON_EV_KILL) = { on_end, RM_CON_ST_KILLED, { 0 } },
    AT(RM_CON_ST_ALLOCATED, RM_CON_EV_RELEASED) = { on_end, RM_CON_ST_RELEASED, { 0 } },

    NO_UPDATE(RM_CON_ST_ACQUIRED),
    AT(RM_CON_ST_ACQUIRED, RM_CON_EV_LAUNCHED) = { on_launched, RM_CON_ST_RUNNING, { 0 } },
    AT(RM_CON_ST_ACQUIRED, RM_CON_EV_FINISHED) = { on_end, RM_CON_ST_COMPLETED, { 0 } },
    AT(RM_CON_ST_ACQUIRED, RM_CON_EV_RELEASED) = { on_end, RM_CON_ST_RELEASED, { 0 } },
    AT(RM_CON_ST_ACQUIRED, RM_CON_EV_EXPIRE) = { on_end, RM_CON_ST_EXPIRED, { 0 } },
    AT(RM_CON_ST_ACQUIRED, RM_CON_EV_KILL) = { on_end, RM_CON_ST_KILLED, { 0 } },

    STAY(RM_CON_ST_RUNNING, RM_CON_EV_LAUNCHED),
    AT(RM_CON_ST_RUNNING, RM_CON_EV_CHANGE_RESOURCE) = { on_update, RM_CON_ST_RUNNING, { 0 } },
    AT(RM_CON_ST_RUNNING,
       RM_CON_EV_ACQUIRE_UPDATED_CONTAINER) = { on_update, RM_CON_ST_RUNNING, { 0 } },
    AT(RM_CON_ST_RUNNING,
       RM_CON_EV_NM_DONE_CHANGE_RESOURCE) = { on_update, RM_CON_ST_RUNNING, { 0 } },
    AT(RM_CON_ST_RUNNING, RM_CON_EV_EXPIRE) = { on_update, RM_CON_ST_RUNNING, { 0 } },
    AT(RM_CON_ST_RUNNING, RM_CON_EV_FINISHED) = { on_end, RM_CON_ST_COMPLETED, { 0 } },
    AT(RM_CON_ST_RUNNING, RM_CON_EV_RELEASED) = { on_end, RM_CON_ST_RELEASED, { 0 } },
    AT(RM_CON_ST_RUNNING, RM_CON_EV_KILL) = { on_end, RM_CON_ST_KILLED, { 0 } },

    ABSORB(RM_CON_ST_COMPLETED),
    ABSORB(RM_CON_ST_EXPIRED),
    ABSORB(RM_CON_ST_RELEASED),
    ABSORB(RM_CON_ST_KILLED),
};
_Static_assert(sizeof(cells) / sizeof(cells[0]) == (size_t)RM_CON_STATES * RM_CON_EVENTS,
               "RMContainer table");

const struct sv_fsm rm_container_fsm = {
    .name = "RMContainer",
    .n_states = RM_CON_STATES,
    .n_events = RM_CON_EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = cells,
};

/* The only INFO line of a container: a large cluster ends thousands a second. */
static void log_life(const struct rm_container *c)
{
    char node[300];

    sv_log(SV_LOG_INFO, c->id_str, "%s on %s: %s with exit status %d after %" PRId64 " ms",
           c->id_str, yarn_node_id_text(&c->node_id, node), state_names[c->state], c->exit_status,
           c->finish_ms > 0 ? c->finish_ms - c->created_ms : 0);
}

void rm_container_handle(const struct sv_event *event, void *userdata)
{
    struct rm_container *c = event->object;
    int before = c->state;

    (void)userdata;
    rm_fsm_step_at(SV_LOG_DEBUG, &rm_container_fsm, c->id_str, &c->state, event);
    c->rm->counters.changes += c->state != before;
    c->app->changes += c->state != before;
    if (c->state != before && c->state >= RM_CON_ST_COMPLETED)
        log_life(c);
}
