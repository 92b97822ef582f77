/* Decisions of the scheduler as events; see scheduling.h. */
#include "rm-lite/fsm/scheduling.h"

#include <string.h>

#include "common/loop-guard.h"
#include "common/str.h"
#include "rm-lite/core/history.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/queue-keys.h"
#include "rm-lite/scheduler/record.h"
#include "wire/exit-status.h"

#define ROUND_TURN_MS 5
/* As clients in services.c: a long allocation pass takes turns with them and never delays a
 * heartbeat. */
#define PASS_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 20)

static void on_allocated(struct rm *rm, const struct rm_decision *d)
{
    struct rm_attempt *att = rm_attempt_find(rm, d->container.attempt);
    struct rm_node *node = rm_node_find(rm, &d->node);
    struct rm_container *c;

    if (!att || !node) { /* cannot happen: the scheduler knows only added ones */
        struct rm_sched_event ev = { .type = RM_SCHED_CONTAINER_DONE,
                                     .container_done = { .container = d->container } };

        (void)rm_schedule(rm, &ev, NULL);
        return;
    }
    c = rm_container_new(att, node, d->container, d->resource, d->priority, d->allocation_id);
    sv_histogram_add(&rm->counters.waits, d->waited_ms);
    rm_history_waited(rm, c->app->counters->key, d->waited_ms);
    rm_container_set_tags(c, d->tags, sv_strv_len((char *const *)(uintptr_t)d->tags));
    DL_APPEND2(att->fresh, c, f_prev, f_next);
    c->in_fresh = true;
    rm_container_post(c, RM_CON_EV_START);
    if (!att->has_master && !att->app->unmanaged)
        rm_attempt_post_allocated(att, c);
}

static void decide(struct rm *rm, const struct rm_decision *d)
{
    struct rm_app *app = rm_app_find(rm, d->app);
    struct rm_container *c;

    switch (d->type) {
    case RM_DECIDE_APP_ACCEPTED:
        if (app)
            rm_app_post(app, RM_APP_EV_ACCEPTED, NULL);
        break;
    case RM_DECIDE_APP_REJECTED:
        if (app)
            rm_app_post(app, RM_APP_EV_REJECTED, d->text);
        break;
    case RM_DECIDE_ATTEMPT_ADDED:
        if (app && app->current)
            rm_attempt_post(app->current, RM_ATT_EV_ADDED, NULL);
        break;
    case RM_DECIDE_ALLOCATED:
        on_allocated(rm, d);
        break;
    case RM_DECIDE_UPDATED:
        c = rm_container_find(rm, d->container);
        if (c)
            rm_container_post_size(c, RM_CON_EV_CHANGE_RESOURCE, d->resource, 0);
        break;
    case RM_DECIDE_ORPHANED:
        c = rm_container_find(rm, d->container);
        if (c)
            rm_container_post_exit(c, RM_CON_EV_KILL, YARN_EXIT_ABORTED,
                                   "Container of a completed application");
        break;
    case RM_DECIDE_PREEMPT:
        c = rm_container_find(rm, d->container);
        if (c)
            rm_container_announce_preemption(c);
        break;
    case RM_DECIDE_PREEMPTED:
        c = rm_container_find(rm, d->container);
        if (!c)
            break;
        sv_log(SV_LOG_NOTICE, c->id_str, "%s: preempted, %s is above its guarantee", c->id_str,
               c->app->queue);
        rm_container_post_exit(c, RM_CON_EV_KILL, YARN_EXIT_PREEMPTED,
                               "Container preempted by scheduler");
        break;
    case RM_DECIDE_UNPLACED:
        if (app && app->current)
            rm_attempt_unplaced(app->current, d->request, d->request_len, d->count, d->fitted);
        break;
    case RM_DECIDE_LOST:     /* rm-node-fsm.c posts the ends of its containers */
    case RM_DECIDE_RESERVED: /* internal to the scheduler */
    case RM_DECIDE_UNRESERVED:
        break;
    }
}

static int apply(struct rm *rm, const struct rm_sched_event *ev, size_t *ret_n,
                 struct sv_error *err)
{
    SV_DISPATCH_BATCH(rm->dispatcher); /* no event runs before every decision is posted */
    const struct rm_decision *d;
    int64_t now = sv_now_ms();
    int r = rm_sched_handle(rm->sched, ev, now, &d, ret_n, err);

    if (rm->record)
        rm_record_event(rm->record, ev, now, r, d, *ret_n);
    rm_sched_health_note(rm, ev, d, *ret_n);
    /* on_allocated calls rm_schedule, which overwrites the list, only in the case that cannot
     * happen. */
    for (size_t i = 0; i < *ret_n; i++)
        decide(rm, &d[i]);
    return r;
}

int rm_schedule(struct rm *rm, const struct rm_sched_event *ev, struct sv_error *err)
{
    size_t n = 0;

    return apply(rm, ev, &n, err);
}

void rm_preempt_tick(struct rm *rm, int64_t now_ms)
{
    struct rm_sched_event ev = { .type = RM_SCHED_PREEMPT };
    int64_t every = rm_sched_preempt_interval(rm->sched);
    struct sv_error err = { 0 };

    if (every == 0 || now_ms < rm->preempt_at_ms || now_ms < rm->hold_until_ms)
        return;
    rm->preempt_at_ms = now_ms + every;
    if (rm_schedule(rm, &ev, &err) < 0) /* without memory the next pass retries, ignoring */
        sv_log_warning("preemption: %s", err.text[0] ? err.text : "no memory for a round");
}

static void log_note(const char *text, void *userdata)
{
    (void)userdata;
    sv_log_warning("%s", text);
}

void rm_log_queue_keys(struct rm *rm, struct sv_conf *conf)
{
    rm_queue_keys_notes(conf, rm->sched, log_note, NULL);
}

void rm_request_pass(struct rm *rm)
{
    rm->pass_requested = true;
}

static void run_turn(struct rm *rm);

static int on_next_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);

    (void)source;
    run_turn(rm);
    return 0;
}

static void continue_later(struct rm *rm)
{
    int r = 0;

    if (!rm->pass_source) {
        r = sd_event_add_defer(rm->event, &rm->pass_source, on_next_turn, rm);
        if (r >= 0)
            r = sd_event_source_set_priority(rm->pass_source, PASS_PRIORITY);
    }
    if (r >= 0)
        r = sd_event_source_set_enabled(rm->pass_source, SD_EVENT_ONESHOT);
    if (r < 0) /* the heartbeats of the nodes allocate the rest, ignoring */
        sv_log_warning("allocation pass: cannot go on in the next turn: %s", strerror(-r));
}

/* One turn of a pass: at most RM_TURN_DECISIONS decisions or ROUND_TURN_MS. */
static void run_turn(struct rm *rm)
{
    struct rm_sched_event ev = { .type = RM_SCHED_PASS,
                                 .pass = { .window_ms = rm->conf.heartbeat_ms * 2,
                                           .max_decisions = RM_TURN_DECISIONS } };
    int64_t end = sv_now_ms() + ROUND_TURN_MS;

    while (rm_sched_pass_waiting(rm->sched)) {
        size_t n = 0;

        (void)apply(rm, &ev, &n, NULL); /* it has no node or application to lack, ignoring */
        if (n + RM_VISIT_DECISIONS > ev.pass.max_decisions || sv_now_ms() >= end) {
            if (rm_sched_pass_waiting(rm->sched))
                continue_later(rm);
            return;
        }
        ev.pass.max_decisions -= n;
    }
}

void rm_run_requested_pass(struct rm *rm)
{
    if (!rm->pass_requested)
        return;
    rm->pass_requested = false;
    if (rm->conf.schedule_on_ask && sv_now_ms() >= rm->hold_until_ms)
        run_turn(rm);
}
