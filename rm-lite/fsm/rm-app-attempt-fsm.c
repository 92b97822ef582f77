/* RMAppAttempt's state machine: one run of an application's ApplicationMaster.
 *
 * Events come from the scheduler's decisions, the store, am-launcher.c, the ApplicationMaster
 * itself (application-master-service.c), the NodeManagers' reports and the liveliness check. */
#include <string.h>

#include "common/oom.h"
#include "common/str.h"
#include "rm-lite/core/fsm-step.h"
#include "rm-lite/core/node-updates.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/core/text.h"
#include "rm-lite/core/tracking.h"
#include "rm-lite/fsm/am-launcher.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/store/store.h"
#include "wire/exit-status.h"

#define F(x) HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_##x

static const char *const state_names[RM_ATT_STATES] = { "",
                                                        "NEW",
                                                        "SUBMITTED",
                                                        "SCHEDULED",
                                                        "ALLOCATED_SAVING",
                                                        "ALLOCATED",
                                                        "LAUNCHED_UNMANAGED_SAVING",
                                                        "LAUNCHED",
                                                        "RUNNING",
                                                        "FINAL_SAVING",
                                                        "FINISHING",
                                                        "FINISHED",
                                                        "FAILED",
                                                        "KILLED" };
static const char *const event_names[RM_ATT_EVENTS] = { "",
                                                        "START",
                                                        "RECOVER",
                                                        "KILL",
                                                        "FAIL",
                                                        "ATTEMPT_ADDED",
                                                        "CONTAINER_ALLOCATED",
                                                        "ATTEMPT_NEW_SAVED",
                                                        "LAUNCHED",
                                                        "LAUNCH_FAILED",
                                                        "REGISTERED",
                                                        "STATUS_UPDATE",
                                                        "UNREGISTERED",
                                                        "CONTAINER_FINISHED",
                                                        "EXPIRE",
                                                        "ATTEMPT_UPDATE_SAVED" };

/* ------------------------------------------------------------------ actions */

/* The ApplicationMaster's asks from the submission: exactly one "*"; the others restrict the
 * location. */
static void add_to_scheduler(struct rm_attempt *att)
{
    struct rm_app *app = att->app;
    const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx = rm_app_context(app);
    struct rm_sched_event ev = { .type = RM_SCHED_ATTEMPT_ADDED,
                                 .attempt_added = { .app = app->id, .attempt = att->id.attempt } };
    _cleanup_free_ struct rm_ask *asks =
        calloc((ctx ? ctx->n_am_container_resource_request : 0) + 1, sizeof(*asks));
    struct sv_error err = { 0 };
    size_t n = 0;
    int r;

    if (!asks)
        sv_out_of_memory();
    for (size_t i = 0; ctx && i < ctx->n_am_container_resource_request; i++) {
        Hadoop__Yarn__ResourceRequestProto *q = ctx->am_container_resource_request[i];

        if (q->resource_name && strcmp(q->resource_name, RM_ANY) != 0)
            asks[n++] = (struct rm_ask){ .priority = 0,
                                         .allocation_id = -1,
                                         .name = q->resource_name,
                                         .relax = q->relax_locality,
                                         .capability = app->am_resource,
                                         .count = 1 };
    }
    asks[n++] = (struct rm_ask){ .priority = 0,
                                 .allocation_id = -1,
                                 .name = RM_ANY,
                                 .count = 1,
                                 .capability = app->am_resource,
                                 .relax = true };
    for (size_t i = 0; ctx && i < ctx->n_am_container_resource_request; i++)
        if (sv_streq(ctx->am_container_resource_request[i]->resource_name, RM_ANY))
            asks[n - 1].relax = ctx->am_container_resource_request[i]->relax_locality;
    if (!app->unmanaged && !att->has_master) {
        ev.attempt_added.asks = asks;
        ev.attempt_added.n_asks = n;
    }
    r = rm_schedule(att->rm, &ev, &err);
    if (r < 0)
        rm_attempt_post(att, RM_ATT_EV_FAIL, err.text);
}

static int on_start(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;

    (void)event;
    (void)arg;
    att->token_live = true;
    add_to_scheduler(att);
    return RM_ATT_ST_SUBMITTED;
}

/* After a restart: the master may still run; it registers again and its node reports it. */
static int on_recover(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;

    (void)event;
    (void)arg;
    att->token_live = true;
    att->seen_ms = sv_now_ms();
    add_to_scheduler(att);
    return RM_ATT_ST_LAUNCHED;
}

static int on_added(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;

    (void)event;
    (void)arg;
    if (att->app->unmanaged) {
        rm_store_attempt_new(att->rm, att);
        rm_store_node_count(att->rm);
        return RM_ATT_ST_LAUNCHED_UNMANAGED_SAVING;
    }
    rm_request_pass(att->rm);
    return RM_ATT_ST_SCHEDULED;
}

static int on_container_allocated(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;
    const struct rm_attempt_allocated *p = ((const struct sv_event *)arg)->payload;
    struct rm_container *c = p->container;

    (void)event;
    att->master = c;
    att->has_master = true;
    att->master_id = c->id;
    att->master_node = c->node_id;
    rm_set_text(&att->master_http, c->node_http);
    c->is_master = true;
    if (c->in_fresh) {
        DL_DELETE2(att->fresh, c, f_prev, f_next);
        c->in_fresh = false;
    }
    rm_container_post(c, RM_CON_EV_ACQUIRED);
    rm_store_attempt_new(att->rm, att);
    rm_store_node_count(att->rm);
    return RM_ATT_ST_ALLOCATED_SAVING;
}

static int on_new_saved(void *object, int event, void *arg)
{
    (void)event;
    (void)arg;
    rm_launcher_launch(object);
    return RM_ATT_ST_ALLOCATED;
}

static int on_unmanaged_saved(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;

    (void)event;
    (void)arg;
    att->seen_ms = sv_now_ms();
    return RM_ATT_ST_LAUNCHED;
}

static int on_launched(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;

    (void)event;
    (void)arg;
    att->seen_ms = sv_now_ms();
    return RM_ATT_ST_LAUNCHED;
}

static int on_registered(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;

    (void)event;
    (void)arg;
    att->seen_ms = sv_now_ms();
    rm_node_updates_start(att);
    rm_app_post(att->app, RM_APP_EV_ATTEMPT_REGISTERED, NULL);
    return RM_ATT_ST_RUNNING;
}

/* Stores the final state; ATTEMPT_UPDATE_SAVED enters it. */
static int save_final(struct rm_attempt *att, int target, int final_status, const char *text)
{
    att->before = att->state;
    att->target = target;
    att->finish_ms = sv_wall_ms();
    att->final_status = final_status;
    if (text && *text)
        rm_append_text(&att->diagnostics, text);
    if (target != RM_ATT_ST_FINISHING && target != RM_ATT_ST_FINISHED) { /* no master is left */
        rm_set_text(&att->host, NULL);
        rm_set_text(&att->tracking_url, NULL); /* setTrackingUrlToRMAppPage() in Hadoop */
        att->rpc_port = -1;
    }
    rm_store_usage(att->rm, att->app);
    rm_store_attempt_final(att->rm, att);
    return RM_ATT_ST_FINAL_SAVING;
}

static int on_unregistered(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;
    const struct sv_event *ev = arg;
    const struct rm_attempt_unregistered *p = ev->payload;

    (void)event;
    att->progress = 1.0f;
    return save_final(att, att->app->unmanaged ? RM_ATT_ST_FINISHED : RM_ATT_ST_FINISHING,
                      p->final_status, ev->text);
}

static int on_kill(void *object, int event, void *arg)
{
    const struct sv_event *ev = arg;

    (void)event;
    return save_final(object, RM_ATT_ST_KILLED, F(KILLED), ev->text);
}

static int on_fail(void *object, int event, void *arg)
{
    const struct sv_event *ev = arg;

    (void)event;
    return save_final(object, RM_ATT_ST_FAILED, F(FAILED), ev->text);
}

static int on_expire(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;
    _cleanup_free_ char *text = NULL;

    (void)event;
    (void)arg;
    if (sv_asprintf(&text, "ApplicationMaster for attempt %s timed out", att->id_str) < 0)
        sv_out_of_memory();
    return save_final(att, RM_ATT_ST_FAILED, F(FAILED), text);
}

/* Only the end of the master's container is an event of its attempt; ends of the other containers
 * are reported to the ApplicationMaster (rm-container-fsm.c). */
static int32_t master_ended(struct rm_attempt *att, const struct sv_event *ev)
{
    const struct rm_attempt_master_exit *p = ev->payload;

    att->master_done = true;
    att->master = NULL;
    att->exit_status = p->exit_status;
    return p->exit_status;
}

static int on_container_finished(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;
    const struct sv_event *ev = arg;
    int32_t exit_status = master_ended(att, ev);
    _cleanup_free_ char *text = NULL;
    char url[512];

    (void)event;
    att->failure_counts = exit_status != YARN_EXIT_PREEMPTED && exit_status != YARN_EXIT_ABORTED &&
                          exit_status != YARN_EXIT_DISKS_FAILED &&
                          exit_status != YARN_EXIT_KILLED_BY_RESOURCEMANAGER;
    rm_tracking_url(att, url, sizeof(url));
    if (sv_asprintf(&text,
                    "AM Container for %s exited with  exitCode: %d\nFailing this "
                    "attempt.Diagnostics: %sFor more detailed output, check the application "
                    "tracking page: %s Then click on links to logs of each attempt.\n",
                    att->id_str, exit_status, ev->text ? ev->text : "", url) < 0)
        sv_out_of_memory();
    return save_final(att, RM_ATT_ST_FAILED, F(FAILED), text);
}

static int on_container_while_saving(void *object, int event, void *arg)
{
    (void)event;
    (void)master_ended(object, arg); /* remembered: then FINISHING is skipped */
    return RM_ATT_ST_FINAL_SAVING;
}

static int on_expire_while_saving(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;

    (void)event;
    (void)arg;
    att->master_done = true;
    return RM_ATT_ST_FINAL_SAVING;
}

static void to_app(struct rm_attempt *att, int event)
{
    rm_app_post(att->app, event, att->diagnostics);
}

/* As in Hadoop the application keeps running containers; the next master does not learn of the
 * others. */
static void end_unstarted(const struct rm_app *app)
{
    for (struct rm_container *c = app->containers; c; c = c->p_next)
        if (!c->is_master && (c->state == RM_CON_ST_ALLOCATED || c->state == RM_CON_ST_ACQUIRED))
            rm_container_post_exit(c, RM_CON_EV_KILL, YARN_EXIT_ABORTED,
                                   "Container of a completed application");
}

/* Releases all of the attempt's resources, except containers that the application keeps. */
static void base_final(struct rm_attempt *att, bool keep)
{
    struct rm_sched_event ev = { .type = RM_SCHED_ATTEMPT_REMOVED,
                                 .attempt_removed = { .app = att->app->id,
                                                      .keep_containers = keep } };

    att->token_live = false;
    (void)rm_schedule(att->rm, &ev, NULL); /* not found if it was never accepted, ignoring */
    if (keep)
        end_unstarted(att->app);
    if (att->has_master && !att->master_done)
        rm_launcher_cleanup(att);
    rm_attempt_answer_finish(att);
    rm_request_pass(att->rm);
}

static int on_update_saved(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;
    struct rm_app *app = att->app;

    (void)event;
    (void)arg;
    switch (att->target) {
    case RM_ATT_ST_FINISHING:
        to_app(att, RM_APP_EV_ATTEMPT_UNREGISTERED);
        if (!att->master_done) {
            att->seen_ms = sv_now_ms(); /* time to end by itself: one expiry interval */
            return RM_ATT_ST_FINISHING;
        }
        base_final(att, false);
        to_app(att, RM_APP_EV_ATTEMPT_FINISHED);
        return RM_ATT_ST_FINISHED;
    case RM_ATT_ST_FINISHED:
        base_final(att, false);
        to_app(att, RM_APP_EV_ATTEMPT_FINISHED);
        return RM_ATT_ST_FINISHED;
    case RM_ATT_ST_KILLED:
        base_final(att, false);
        to_app(att, RM_APP_EV_ATTEMPT_KILLED);
        return RM_ATT_ST_KILLED;
    default:
        base_final(att, app->keep_containers && app->state != RM_APP_ST_KILLING &&
                            (!att->failure_counts || att->id.attempt < app->max_attempts));
        to_app(att, RM_APP_EV_ATTEMPT_FAILED);
        return RM_ATT_ST_FAILED;
    }
}

static int on_finishing_end(void *object, int event, void *arg)
{
    struct rm_attempt *att = object;

    if (event == RM_ATT_EV_CONTAINER_FINISHED)
        (void)master_ended(att, arg);
    base_final(att, false);
    rm_app_post(att->app, RM_APP_EV_ATTEMPT_FINISHED, NULL);
    return RM_ATT_ST_FINISHED;
}

/* -------------------------------------------------------------------- table */

#define N RM_ATT_EVENTS
#define AT(s, e) [(s)*N + (e)]
#define STAY(s, e) AT(s, e) = { NULL, s, { 0 } }
#define ENDS(s)                                                                                    \
    AT(s, RM_ATT_EV_KILL) = { on_kill, RM_ATT_ST_FINAL_SAVING, { 0 } },                            \
          AT(s, RM_ATT_EV_FAIL) = { on_fail, RM_ATT_ST_FINAL_SAVING, { 0 } }
#define MASTER_ENDS(s)                                                                             \
    AT(s, RM_ATT_EV_CONTAINER_FINISHED) = { on_container_finished, RM_ATT_ST_FINAL_SAVING, { 0 } }
#define ABSORB(s)                                                                                  \
    STAY(s, RM_ATT_EV_KILL), STAY(s, RM_ATT_EV_FAIL), STAY(s, RM_ATT_EV_CONTAINER_FINISHED),       \
        STAY(s, RM_ATT_EV_EXPIRE), STAY(s, RM_ATT_EV_LAUNCHED), STAY(s, RM_ATT_EV_LAUNCH_FAILED),  \
        STAY(s, RM_ATT_EV_CONTAINER_ALLOCATED), STAY(s, RM_ATT_EV_ADDED),                          \
        STAY(s, RM_ATT_EV_NEW_SAVED), STAY(s, RM_ATT_EV_STATUS_UPDATE),                            \
        STAY(s, RM_ATT_EV_REGISTERED), STAY(s, RM_ATT_EV_UNREGISTERED)

static const struct sv_fsm_cell cells[RM_ATT_STATES * N] = {
    AT(RM_ATT_ST_NEW, RM_ATT_EV_START) = { on_start, RM_ATT_ST_SUBMITTED, { 0 } },
    AT(RM_ATT_ST_NEW, RM_ATT_EV_RECOVER) = { on_recover, RM_ATT_ST_LAUNCHED, { 0 } },
    ENDS(RM_ATT_ST_NEW),

    AT(RM_ATT_ST_SUBMITTED, RM_ATT_EV_ADDED) = { on_added,
                                                 RM_ATT_ST_SCHEDULED,
                                                 { RM_ATT_ST_LAUNCHED_UNMANAGED_SAVING } },
    ENDS(RM_ATT_ST_SUBMITTED),

    AT(RM_ATT_ST_SCHEDULED, RM_ATT_EV_CONTAINER_ALLOCATED) = { on_container_allocated,
                                                               RM_ATT_ST_ALLOCATED_SAVING,
                                                               { 0 } },
    MASTER_ENDS(RM_ATT_ST_SCHEDULED),
    ENDS(RM_ATT_ST_SCHEDULED),

    AT(RM_ATT_ST_ALLOCATED_SAVING,
       RM_ATT_EV_NEW_SAVED) = { on_new_saved, RM_ATT_ST_ALLOCATED, { 0 } },
    MASTER_ENDS(RM_ATT_ST_ALLOCATED_SAVING),
    ENDS(RM_ATT_ST_ALLOCATED_SAVING),

    AT(RM_ATT_ST_LAUNCHED_UNMANAGED_SAVING,
       RM_ATT_EV_NEW_SAVED) = { on_unmanaged_saved, RM_ATT_ST_LAUNCHED, { 0 } },
    ENDS(RM_ATT_ST_LAUNCHED_UNMANAGED_SAVING),

    AT(RM_ATT_ST_ALLOCATED, RM_ATT_EV_LAUNCHED) = { on_launched, RM_ATT_ST_LAUNCHED, { 0 } },
    AT(RM_ATT_ST_ALLOCATED, RM_ATT_EV_LAUNCH_FAILED) = { on_fail, RM_ATT_ST_FINAL_SAVING, { 0 } },
    /* A fast master registers before the NodeManager's answer has been read. */
    AT(RM_ATT_ST_ALLOCATED, RM_ATT_EV_REGISTERED) = { on_registered, RM_ATT_ST_RUNNING, { 0 } },
    MASTER_ENDS(RM_ATT_ST_ALLOCATED),
    ENDS(RM_ATT_ST_ALLOCATED),

    AT(RM_ATT_ST_LAUNCHED, RM_ATT_EV_REGISTERED) = { on_registered, RM_ATT_ST_RUNNING, { 0 } },
    AT(RM_ATT_ST_LAUNCHED, RM_ATT_EV_EXPIRE) = { on_expire, RM_ATT_ST_FINAL_SAVING, { 0 } },
    STAY(RM_ATT_ST_LAUNCHED, RM_ATT_EV_ADDED),
    MASTER_ENDS(RM_ATT_ST_LAUNCHED),
    ENDS(RM_ATT_ST_LAUNCHED),

    AT(RM_ATT_ST_RUNNING,
       RM_ATT_EV_UNREGISTERED) = { on_unregistered, RM_ATT_ST_FINAL_SAVING, { 0 } },
    AT(RM_ATT_ST_RUNNING, RM_ATT_EV_EXPIRE) = { on_expire, RM_ATT_ST_FINAL_SAVING, { 0 } },
    STAY(RM_ATT_ST_RUNNING, RM_ATT_EV_STATUS_UPDATE),
    STAY(RM_ATT_ST_RUNNING, RM_ATT_EV_LAUNCHED),
    STAY(RM_ATT_ST_RUNNING, RM_ATT_EV_ADDED),
    STAY(RM_ATT_ST_RUNNING, RM_ATT_EV_LAUNCH_FAILED),
    STAY(RM_ATT_ST_RUNNING, RM_ATT_EV_REGISTERED),
    MASTER_ENDS(RM_ATT_ST_RUNNING),
    ENDS(RM_ATT_ST_RUNNING),

    AT(RM_ATT_ST_FINAL_SAVING,
       RM_ATT_EV_UPDATE_SAVED) = { on_update_saved,
                                   RM_ATT_ST_FINISHING,
                                   { RM_ATT_ST_FINISHED, RM_ATT_ST_FAILED, RM_ATT_ST_KILLED } },
    AT(RM_ATT_ST_FINAL_SAVING,
       RM_ATT_EV_CONTAINER_FINISHED) = { on_container_while_saving, RM_ATT_ST_FINAL_SAVING, { 0 } },
    AT(RM_ATT_ST_FINAL_SAVING,
       RM_ATT_EV_EXPIRE) = { on_expire_while_saving, RM_ATT_ST_FINAL_SAVING, { 0 } },
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_KILL),
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_FAIL),
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_NEW_SAVED),
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_ADDED),
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_LAUNCHED),
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_LAUNCH_FAILED),
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_CONTAINER_ALLOCATED),
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_STATUS_UPDATE),
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_REGISTERED),
    STAY(RM_ATT_ST_FINAL_SAVING, RM_ATT_EV_UNREGISTERED),

    AT(RM_ATT_ST_FINISHING,
       RM_ATT_EV_CONTAINER_FINISHED) = { on_finishing_end, RM_ATT_ST_FINISHED, { 0 } },
    AT(RM_ATT_ST_FINISHING, RM_ATT_EV_EXPIRE) = { on_finishing_end, RM_ATT_ST_FINISHED, { 0 } },
    STAY(RM_ATT_ST_FINISHING, RM_ATT_EV_KILL),
    STAY(RM_ATT_ST_FINISHING, RM_ATT_EV_FAIL),
    STAY(RM_ATT_ST_FINISHING, RM_ATT_EV_STATUS_UPDATE),
    STAY(RM_ATT_ST_FINISHING, RM_ATT_EV_UNREGISTERED),
    STAY(RM_ATT_ST_FINISHING, RM_ATT_EV_LAUNCHED),

    ABSORB(RM_ATT_ST_FINISHED),
    ABSORB(RM_ATT_ST_FAILED),
    ABSORB(RM_ATT_ST_KILLED),
};
_Static_assert(sizeof(cells) / sizeof(cells[0]) == (size_t)RM_ATT_STATES * RM_ATT_EVENTS,
               "RMAppAttempt table");

const struct sv_fsm rm_attempt_fsm = {
    .name = "RMAppAttempt",
    .n_states = RM_ATT_STATES,
    .n_events = RM_ATT_EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = cells,
};

void rm_attempt_handle(const struct sv_event *event, void *userdata)
{
    struct rm_attempt *att = event->object;
    int before = att->state;

    (void)userdata;
    rm_fsm_step(&rm_attempt_fsm, att->id_str, &att->state, event);
    att->rm->counters.changes += att->state != before;
    att->app->changes += att->state != before;
}
