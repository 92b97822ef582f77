/* Periodic work of the ResourceManager's timer; see periodic.h. */
#include "rm-lite/periodic.h"

#include "common/loop-guard.h"
#include "rm-lite/core/history.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/nodes/nodes-list.h"
#include "rm-lite/requests/rm-app-manager.h"
#include "rm-lite/scheduler/record.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/security/delegation.h"
#include "rm-lite/security/token-renewer.h"
#include "rm-lite/store/store-history.h"
#include "rm-lite/store/store.h"
#include "wire/exit-status.h"

#define TICK_MS 200
#define SOON_MS 1

static void expire_nodes(struct rm *rm, int64_t now, int64_t *left)
{
    struct rm_node *n, *tmp;

    HASH_ITER (hh, rm->nodes, n, tmp) {
        struct rm_node_usage use = { .containers = 0 };

        if (now - n->seen_ms < rm->conf.nm_expiry_ms)
            continue;
        if (*left <= 0)
            return;
        sv_log_warning("node %s: no heartbeat for %lld ms: LOST", n->key,
                       (long long)(now - n->seen_ms));
        (void)rm_sched_node_usage(rm->sched, &n->id, &use); /* not there: none, ignoring */
        *left -= 1 + use.containers;
        rm_node_post(n, RM_NODE_EV_EXPIRE);
    }
}

/* True if the next turn has more to end. */
static bool expire(struct rm *rm, int64_t now)
{
    int64_t left = RM_EXPIRE_TURN;
    struct rm_app *app;

    for (struct rm_container *c = rm->expiring; c && c->expires_ms <= now && left > 0;
         c = c->x_next, left--)
        rm_container_post_exit(c, RM_CON_EV_EXPIRE, YARN_EXIT_ABORTED,
                               "Container expired since it was unused");
    DL_FOREACH (rm->app_list, app) {
        struct rm_attempt *att = app->current;

        if (left > 0 && att &&
            (att->state == RM_ATT_ST_LAUNCHED || att->state == RM_ATT_ST_RUNNING ||
             att->state == RM_ATT_ST_FINISHING) &&
            now - att->seen_ms >= rm->conf.am_expiry_ms) {
            left -= 1 + app->n_live;
            rm_attempt_post(att, RM_ATT_EV_EXPIRE, NULL);
        }
    }
    expire_nodes(rm, now, &left);
    return left <= 0;
}

static void rate(struct rm_counters *c, int64_t now)
{
    int64_t ms = now - c->rated_ms;

    if (ms < 1000)
        return;
    c->allocated_per_s = (c->allocated - c->allocated_before) * 1000 / ms;
    c->allocated_before = c->allocated;
    c->rated_ms = now;
}

bool rm_periodic_run(struct rm *rm)
{
    SV_DISPATCH_BATCH(rm->dispatcher);
    struct sv_error err = { 0 };
    int r = rm_secrets_tick(rm->secrets, sv_now_ms(), &err);
    bool more;

    if (r > 0)
        r = rm_store_keys(rm->store, rm->secrets, &err);
    if (r < 0)
        sv_log_err("%s; keeping the old token keys", err.text);
    rm_delegation_tick(rm);
    rm_token_renewer_tick(rm);
    more = expire(rm, sv_now_ms());
    rate(&rm->counters, sv_now_ms());
    rm_history_tick(rm, sv_now_ms());
    rm_nodes_list_forget(rm, sv_now_ms());
    rm_lifetime_enforce(rm, sv_wall_ms());
    rm_preempt_tick(rm, sv_now_ms());
    if (rm->hold_until_ms && sv_now_ms() >= rm->hold_until_ms) {
        rm->hold_until_ms = 0;
        rm_request_pass(rm);
    }
    rm_store_node_count(rm);
    sv_dispatcher_run(rm->dispatcher); /* eviction needs the ends of applications */
    rm_app_evict(rm);
    rm_store_history_prune(rm, sv_wall_ms());
    rm_record_flush(rm->record);
    return more;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm *rm = userdata;
    bool more = rm_periodic_run(rm);

    (void)usec;
    (void)sd_event_source_set_time_relative(source, (more ? SOON_MS : TICK_MS) * 1000);
    (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
    return 0;
}

int rm_periodic_start(struct rm *rm, struct sv_error *err)
{
    int r = sd_event_add_time_relative(rm->event, &rm->tick, CLOCK_MONOTONIC, TICK_MS * 1000, 50000,
                                       on_tick, rm);

    return r < 0 ? sv_error_errno(err, r, "timer") : 0;
}
