/* RMApp's state machine: an application from submission to its end.
 *
 * Events come from client-rm-service.c (submit, kill), the scheduler's decisions (scheduling.c),
 * the store and the application's attempts. Nothing here reads from a peer. */
#include "common/oom.h"
#include "common/str.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/core/fsm-step.h"
#include "rm-lite/core/log-status.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/core/text.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/security/token-renewer.h"
#include "rm-lite/store/store-history.h"
#include "rm-lite/store/store.h"

#define F(x) HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_##x

static const char *const state_names[RM_APP_STATES] = {
    "",          "NEW",      "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINAL_SAVING",
    "FINISHING", "FINISHED", "FAILED",     "KILLING",   "KILLED"
};
static const char *const event_names[RM_APP_EVENTS] = { "",
                                                        "START",
                                                        "RECOVER",
                                                        "KILL",
                                                        "APP_NEW_SAVED",
                                                        "APP_ACCEPTED",
                                                        "APP_REJECTED",
                                                        "ATTEMPT_REGISTERED",
                                                        "ATTEMPT_UNREGISTERED",
                                                        "ATTEMPT_FINISHED",
                                                        "ATTEMPT_FAILED",
                                                        "ATTEMPT_KILLED",
                                                        "APP_UPDATE_SAVED",
                                                        "NODE_UPDATE",
                                                        "APP_RUNNING_ON_NODE" };

/* ------------------------------------------------------------------ actions */

static int save_final(struct rm_app *app, int target, int final_status, const char *diagnostics)
{
    app->before = app->state == RM_APP_ST_KILLING ? app->before : app->state;
    app->target = target;
    if (diagnostics && *diagnostics)
        rm_append_text(&app->diagnostics, diagnostics);
    app->final_status = final_status;
    if (target != RM_APP_ST_FINISHING || app->finish_ms == 0)
        app->finish_ms = sv_wall_ms();
    rm_submission_shrink(app); /* no other attempt follows */
    rm_store_usage(app->rm, app);
    rm_store_history_put(app->rm, app);
    rm_store_app_final(app->rm, app); /* answers with APP_UPDATE_SAVED */
    return RM_APP_ST_FINAL_SAVING;
}

static int on_start(void *object, int event, void *arg)
{
    struct rm_app *app = object;

    (void)event;
    (void)arg;
    rm_store_app_new(app->rm, app); /* answers with APP_NEW_SAVED */
    return RM_APP_ST_NEW_SAVING;
}

/* An unmanaged master has no container here: against the limit of masters it counts as the smallest
 * one, as in Hadoop, whatever its submission says. */
static struct rm_res counted_master(struct rm_app *app)
{
    if (app->unmanaged)
        app->am_resource = rm_sched_min_allocation(app->rm->sched);
    return app->am_resource;
}

static void to_scheduler(struct rm_app *app)
{
    struct rm_sched_event ev = { .type = RM_SCHED_APP_ADDED,
                                 .app_added = { .app = app->id,
                                                .user = app->user,
                                                .queue = app->queue,
                                                .priority = app->priority,
                                                .am_resource = counted_master(app),
                                                .recovered = app->recovered,
                                                .tags = (const char *const *)app->tags,
                                                .n_tags = sv_strv_len(app->tags) } };
    struct sv_error err = { 0 };
    int r = rm_schedule(app->rm, &ev, &err);

    if (r < 0)
        rm_app_post(app, RM_APP_EV_REJECTED, err.text);
}

static int on_new_saved(void *object, int event, void *arg)
{
    (void)event;
    (void)arg;
    to_scheduler(object);
    return RM_APP_ST_SUBMITTED;
}

static int on_rejected(void *object, int event, void *arg)
{
    const struct sv_event *ev = arg;

    (void)event;
    return save_final(object, RM_APP_ST_FAILED, F(FAILED), ev->text);
}

static void start_attempt(struct rm_app *app)
{
    int32_t n = app->current ? app->current->id.attempt + 1 : 1;

    rm_attempt_post(rm_attempt_new(app, n), RM_ATT_EV_START, NULL);
}

static int on_accepted(void *object, int event, void *arg)
{
    struct rm_app *app = object;

    (void)event;
    (void)arg;
    /* A recovered application continues with its stored attempt. */
    if (!app->current || rm_attempt_is_final(app->current))
        start_attempt(app);
    else
        rm_attempt_post(app->current, RM_ATT_EV_RECOVER, NULL);
    return RM_APP_ST_ACCEPTED;
}

static int on_recover(void *object, int event, void *arg)
{
    (void)event;
    (void)arg;
    to_scheduler(object);
    return RM_APP_ST_SUBMITTED;
}

static int on_kill_early(void *object, int event, void *arg)
{
    struct rm_app *app = object;
    const struct sv_event *ev = arg;

    (void)event;
    return save_final(app, RM_APP_ST_KILLED, F(KILLED), ev->text);
}

static int on_kill(void *object, int event, void *arg)
{
    struct rm_app *app = object;
    const struct sv_event *ev = arg;

    (void)event;
    app->before = app->state;
    rm_set_text(&app->kill_text, ev->text);
    rm_attempt_post(app->current, RM_ATT_EV_KILL, ev->text);
    return RM_APP_ST_KILLING;
}

static int on_attempt_registered(void *object, int event, void *arg)
{
    struct rm_app *app = object;

    (void)event;
    (void)arg;
    if (app->launch_ms == 0)
        app->launch_ms = sv_wall_ms();
    return RM_APP_ST_RUNNING;
}

static int count_failures(const struct rm_app *app)
{
    int64_t now = sv_wall_ms();
    int n = 0;

    for (struct rm_attempt *a = app->attempts; a; a = a->next)
        if (a->state == RM_ATT_ST_FAILED && a->failure_counts &&
            (app->validity_ms <= 0 || now - a->finish_ms < app->validity_ms))
            n++;
    return n;
}

static int on_attempt_failed(void *object, int event, void *arg)
{
    struct rm_app *app = object;
    const struct sv_event *ev = arg;
    _cleanup_free_ char *text = NULL, *window = NULL, *limit = NULL;
    const char *why = ev->text ? ev->text : "";

    (void)event;
    if (app->unmanaged) {
        if (sv_asprintf(&text,
                        "Unmanaged application %s failed due to %s. Failing the "
                        "application.",
                        app->id_str, why) < 0)
            sv_out_of_memory();
        return save_final(app, RM_APP_ST_FAILED, F(FAILED), text);
    }
    if (app->state == RM_APP_ST_KILLING) /* it failed first, but the application was killed */
        return save_final(app, RM_APP_ST_KILLED, F(KILLED), app->kill_text ? app->kill_text : why);
    if (count_failures(app) < app->max_attempts) {
        start_attempt(app);
        return RM_APP_ST_ACCEPTED;
    }
    if ((app->validity_ms > 0 &&
         sv_asprintf(&window, " in previous %lld milliseconds", (long long)app->validity_ms) < 0) ||
        (app->rm->conf.am_global_max_attempts != app->max_attempts &&
         sv_asprintf(&limit, " (global limit =%lld)",
                     (long long)app->rm->conf.am_global_max_attempts) < 0) ||
        sv_asprintf(&text, "Application %s failed %d times%s%s due to %s. Failing the application.",
                    app->id_str, app->max_attempts, window ? window : "", limit ? limit : "",
                    why) < 0)
        sv_out_of_memory();
    return save_final(app, RM_APP_ST_FAILED, F(FAILED), text);
}

static int on_attempt_finished(void *object, int event, void *arg)
{
    struct rm_app *app = object;
    const struct sv_event *ev = arg;

    (void)event;
    return save_final(app, RM_APP_ST_FINISHED, app->current->final_status, ev->text);
}

static int on_attempt_killed(void *object, int event, void *arg)
{
    struct rm_app *app = object;
    const struct sv_event *ev = arg;

    (void)event;
    return save_final(app, RM_APP_ST_KILLED, F(KILLED), app->kill_text ? app->kill_text : ev->text);
}

static int on_attempt_unregistered(void *object, int event, void *arg)
{
    struct rm_app *app = object;
    const struct sv_event *ev = arg;

    (void)event;
    return save_final(app, RM_APP_ST_FINISHING, app->current->final_status, ev->text);
}

/* At the end: notifies the nodes, removes the application from the scheduler, audits. */
static void ended(struct rm_app *app)
{
    struct rm *rm = app->rm;
    struct rm_sched_event ev = { .type = RM_SCHED_APP_REMOVED, .app_removed = { .app = app->id } };
    struct rm_name_set *it, *tmp;

    if (app->finish_ms == 0)
        app->finish_ms = sv_wall_ms();
    HASH_ITER (hh, app->ran_on, it, tmp) {
        struct rm_node *n = rm_node_find_key(rm, it->name);

        if (n)
            rm_node_cleanup_app(n, app->id);
    }
    rm_set_clear(&app->ran_on);
    rm_app_context_drop(app);
    (void)rm_schedule(rm, &ev, NULL); /* not found if it was rejected, ignoring */
    if (app->current && app->current->tracking_url)
        rm_set_text(&app->tracking_url, app->current->tracking_url);
    rm_audit_app_end(app);
    rm_token_renewer_end(app);
    rm_request_pass(rm); /* its resources are free for others */
}

static int finished(struct rm_app *app, int state)
{
    struct rm *rm = app->rm;

    app->state = state; /* read by the summary and the audit line */
    rm->n_completed++;
    rm_queue_count(app, state == RM_APP_ST_FAILED   ? RM_COUNT_FAILED
                        : state == RM_APP_ST_KILLED ? RM_COUNT_KILLED
                                                    : RM_COUNT_COMPLETED);
    rm_audit_summary(app);
    ended(app);
    return state;
}

static int on_update_saved(void *object, int event, void *arg)
{
    struct rm_app *app = object;

    (void)event;
    (void)arg;
    app->state = app->target; /* read by a pending finishApplicationMaster */
    if (app->current)
        rm_attempt_answer_finish(app->current);
    if (app->target == RM_APP_ST_FINISHING && !app->attempt_done)
        return RM_APP_ST_FINISHING;
    return finished(app, app->target == RM_APP_ST_FINISHING ? RM_APP_ST_FINISHED : app->target);
}

/* Its last containers have used something since it unregistered. */
static int on_finishing_done(void *object, int event, void *arg)
{
    int state = finished(object, RM_APP_ST_FINISHED);
    struct rm_app *app = object;

    (void)event;
    (void)arg;
    rm_store_history_put(app->rm, app);
    return state;
}

static int on_remember_done(void *object, int event, void *arg)
{
    struct rm_app *app = object;

    (void)event;
    (void)arg;
    app->attempt_done = true;
    return RM_APP_ST_FINAL_SAVING;
}

static int on_node(void *object, int event, void *arg)
{
    struct rm_app *app = object;
    const struct sv_event *ev = arg;

    (void)event;
    if (rm_app_is_final(app)) { /* the node reports an application that has ended */
        struct rm_node *n = rm_node_find_key(app->rm, ev->text);

        if (n)
            rm_node_cleanup_app(n, app->id);
    } else {
        rm_set_add(&app->ran_on, ev->text);
        rm_log_ran_on(app, ev->text);
    }
    return app->state;
}

/* -------------------------------------------------------------------- table */

#define N RM_APP_EVENTS
#define AT(s, e) [(s)*N + (e)]
#define STAY(s, e) AT(s, e) = { NULL, s, { 0 } }
#define NODES(s)                                                                                   \
    STAY(s, RM_APP_EV_NODE_UPDATE), AT(s, RM_APP_EV_RUNNING_ON_NODE) = { on_node, s, { 0 } }

static const struct sv_fsm_cell cells[RM_APP_STATES * N] = {
    AT(RM_APP_ST_NEW, RM_APP_EV_START) = { on_start, RM_APP_ST_NEW_SAVING, { 0 } },
    AT(RM_APP_ST_NEW, RM_APP_EV_RECOVER) = { on_recover, RM_APP_ST_SUBMITTED, { 0 } },
    AT(RM_APP_ST_NEW, RM_APP_EV_KILL) = { on_kill_early, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_NEW, RM_APP_EV_REJECTED) = { on_rejected, RM_APP_ST_FINAL_SAVING, { 0 } },
    STAY(RM_APP_ST_NEW, RM_APP_EV_NODE_UPDATE),

    AT(RM_APP_ST_NEW_SAVING, RM_APP_EV_NEW_SAVED) = { on_new_saved, RM_APP_ST_SUBMITTED, { 0 } },
    AT(RM_APP_ST_NEW_SAVING, RM_APP_EV_KILL) = { on_kill_early, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_NEW_SAVING, RM_APP_EV_REJECTED) = { on_rejected, RM_APP_ST_FINAL_SAVING, { 0 } },
    STAY(RM_APP_ST_NEW_SAVING, RM_APP_EV_NODE_UPDATE),

    AT(RM_APP_ST_SUBMITTED, RM_APP_EV_ACCEPTED) = { on_accepted, RM_APP_ST_ACCEPTED, { 0 } },
    AT(RM_APP_ST_SUBMITTED, RM_APP_EV_REJECTED) = { on_rejected, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_SUBMITTED, RM_APP_EV_KILL) = { on_kill_early, RM_APP_ST_FINAL_SAVING, { 0 } },
    NODES(RM_APP_ST_SUBMITTED),

    AT(RM_APP_ST_ACCEPTED,
       RM_APP_EV_ATTEMPT_REGISTERED) = { on_attempt_registered, RM_APP_ST_RUNNING, { 0 } },
    AT(RM_APP_ST_ACCEPTED, RM_APP_EV_ATTEMPT_FAILED) = { on_attempt_failed,
                                                         RM_APP_ST_ACCEPTED,
                                                         { RM_APP_ST_FINAL_SAVING } },
    AT(RM_APP_ST_ACCEPTED,
       RM_APP_EV_ATTEMPT_FINISHED) = { on_attempt_finished, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_ACCEPTED,
       RM_APP_EV_ATTEMPT_KILLED) = { on_attempt_killed, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_ACCEPTED, RM_APP_EV_KILL) = { on_kill, RM_APP_ST_KILLING, { 0 } },
    NODES(RM_APP_ST_ACCEPTED),

    AT(RM_APP_ST_RUNNING,
       RM_APP_EV_ATTEMPT_UNREGISTERED) = { on_attempt_unregistered, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_RUNNING,
       RM_APP_EV_ATTEMPT_FINISHED) = { on_attempt_finished, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_RUNNING, RM_APP_EV_ATTEMPT_FAILED) = { on_attempt_failed,
                                                        RM_APP_ST_ACCEPTED,
                                                        { RM_APP_ST_FINAL_SAVING } },
    AT(RM_APP_ST_RUNNING,
       RM_APP_EV_ATTEMPT_KILLED) = { on_attempt_killed, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_RUNNING, RM_APP_EV_KILL) = { on_kill, RM_APP_ST_KILLING, { 0 } },
    NODES(RM_APP_ST_RUNNING),

    AT(RM_APP_ST_FINAL_SAVING,
       RM_APP_EV_UPDATE_SAVED) = { on_update_saved,
                                   RM_APP_ST_FINISHED,
                                   { RM_APP_ST_FINISHING, RM_APP_ST_FAILED, RM_APP_ST_KILLED } },
    AT(RM_APP_ST_FINAL_SAVING,
       RM_APP_EV_ATTEMPT_FINISHED) = { on_remember_done, RM_APP_ST_FINAL_SAVING, { 0 } },
    STAY(RM_APP_ST_FINAL_SAVING, RM_APP_EV_KILL),
    STAY(RM_APP_ST_FINAL_SAVING, RM_APP_EV_NEW_SAVED),
    STAY(RM_APP_ST_FINAL_SAVING, RM_APP_EV_ACCEPTED),
    STAY(RM_APP_ST_FINAL_SAVING, RM_APP_EV_REJECTED),
    NODES(RM_APP_ST_FINAL_SAVING),

    AT(RM_APP_ST_FINISHING,
       RM_APP_EV_ATTEMPT_FINISHED) = { on_finishing_done, RM_APP_ST_FINISHED, { 0 } },
    STAY(RM_APP_ST_FINISHING, RM_APP_EV_KILL),
    NODES(RM_APP_ST_FINISHING),

    AT(RM_APP_ST_KILLING,
       RM_APP_EV_ATTEMPT_KILLED) = { on_attempt_killed, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_KILLING,
       RM_APP_EV_ATTEMPT_UNREGISTERED) = { on_attempt_unregistered, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_KILLING,
       RM_APP_EV_ATTEMPT_FINISHED) = { on_attempt_finished, RM_APP_ST_FINAL_SAVING, { 0 } },
    AT(RM_APP_ST_KILLING,
       RM_APP_EV_ATTEMPT_FAILED) = { on_attempt_failed, RM_APP_ST_FINAL_SAVING, { 0 } },
    STAY(RM_APP_ST_KILLING, RM_APP_EV_ATTEMPT_REGISTERED),
    STAY(RM_APP_ST_KILLING, RM_APP_EV_KILL),
    NODES(RM_APP_ST_KILLING),

    NODES(RM_APP_ST_FINISHED),
    STAY(RM_APP_ST_FINISHED, RM_APP_EV_KILL),
    STAY(RM_APP_ST_FINISHED, RM_APP_EV_ATTEMPT_FINISHED),
    NODES(RM_APP_ST_FAILED),
    STAY(RM_APP_ST_FAILED, RM_APP_EV_KILL),
    NODES(RM_APP_ST_KILLED),
    STAY(RM_APP_ST_KILLED, RM_APP_EV_KILL),
    STAY(RM_APP_ST_KILLED, RM_APP_EV_ACCEPTED),
    STAY(RM_APP_ST_KILLED, RM_APP_EV_NEW_SAVED),
    STAY(RM_APP_ST_KILLED, RM_APP_EV_REJECTED),
};
_Static_assert(sizeof(cells) / sizeof(cells[0]) == (size_t)RM_APP_STATES * RM_APP_EVENTS,
               "RMApp table");

const struct sv_fsm rm_app_fsm = {
    .name = "RMApp",
    .n_states = RM_APP_STATES,
    .n_events = RM_APP_EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = cells,
};

void rm_app_handle(const struct sv_event *event, void *userdata)
{
    struct rm_app *app = event->object;

    (void)userdata;
    rm_fsm_step(&rm_app_fsm, app->id_str, &app->state, event);
    if (app->state == app->counted)
        return;
    if (app->state == RM_APP_ST_RUNNING && !app->recovered)
        sv_histogram_add(&app->rm->counters.app_starts, sv_wall_ms() - app->start_ms);
    rm_app_recount(app);
    app->rm->counters.changes++;
    app->changes++;
}
