/* Timers that are due. */
#include <inttypes.h>
#include <stdio.h>

#include "service/engine/ends.h"
#include "service/engine/nodes.h"
#include "service/engine/policy.h"
#include "service/engine/settle.h"
#include "service/engine/states.h"
#include "wire/exit-status.h"

static void end_window(struct svc_engine *e)
{
    for (size_t i = 0; i < e->n_comps; i++)
        e->comps[i]->failed_recently = 0;
    svc_nodes_forgive(e);
    svc_timer_arm(&e->timers, &e->window_end, SVC_TIMER_WINDOW,
                  e->now + e->limits.failure_window_ms);
}

/* Containers that were not handed back are replaced. */
static void end_recovery(struct svc_engine *e)
{
    for (size_t i = 0; i < e->n_comps; i++) {
        struct svc_list *l = &e->comps[i]->lists[SVC_AWAITED];

        for (; l->head && e->budget; e->budget--)
            svc_move(l->head, SVC_PENDING);
        if (l->head) {
            svc_timer_arm(&e->timers, &e->recovery_end, SVC_TIMER_RECOVERY, e->now);
            return;
        }
    }
}

/* The ResourceManager restarted, was told again of the release, and says nothing: it does not know
 * the container any more. */
static void end_lost(struct svc_engine *e)
{
    static const char why[] = "released; the restarted ResourceManager does not know it";
    struct svc_container *s, *s_next;
    struct svc_inst *i, *next;

    for (size_t k = 0; k < 2 * e->n_comps; k++)
        DL_FOREACH_SAFE (e->comps[k / 2]->lists[k % 2 ? SVC_RELEASING : SVC_RESTARTING].head, i,
                         next)
            if (i->container.first_told < e->lost_resync)
                svc_container_ended(i, YARN_EXIT_ABORTED, why);
    DL_FOREACH_SAFE (e->surplus, s, s_next)
        if (s->first_told < e->lost_resync)
            svc_container_remove(e, s);
}

static void below_health(struct svc_comp *c)
{
    const struct svc_options *o = svc_options_of(c);
    char why[256];

    (void)snprintf(
        why, sizeof(why),
        "component %s: less than %d %% of its instances were ready for more than %" PRId64 " s",
        c->name, (int)o->health_percent, o->health_window_ms / 1000);
    (void)svc_component_event(c, SVC_COMPONENT_EV_FAIL);
    svc_end(c->engine, SVC_EV_FAIL, why);
}

static void retry(struct svc_comp *c)
{
    c->held = 0;
    svc_dirty(c);
}

static void fire(struct svc_engine *e, struct svc_timer *t)
{
    switch (t->kind) {
    case SVC_TIMER_TURN:
        break; /* svc_settle() goes on */
    case SVC_TIMER_RETELL:
        e->resyncs++;
        e->resyncing = true;
        break;
    case SVC_TIMER_WINDOW:
        end_window(e);
        break;
    case SVC_TIMER_RECOVERY:
        end_recovery(e);
        break;
    case SVC_TIMER_STOP:
        e->stop_over = true;
        break;
    case SVC_TIMER_LOST:
        end_lost(e);
        break;
    case SVC_TIMER_RETRY:
        retry(SVC_TIMER_OWNER(t, struct svc_comp, retry));
        break;
    case SVC_TIMER_HEALTH:
        below_health(SVC_TIMER_OWNER(t, struct svc_comp, health));
        break;
    case SVC_TIMER_ESCALATE:
        e->policy->escalate(SVC_TIMER_OWNER(t, struct svc_request, escalate));
        break;
    default:
        e->policy->due(e, t);
        break;
    }
}

void svc_engine_timer(struct svc_engine *e, int64_t now)
{
    struct svc_timer *t;

    svc_begin(e, now);
    if (e->unregistered)
        return;
    e->armed = INT64_MAX;
    while (e->budget && (t = svc_timer_take(&e->timers, e->now))) {
        e->budget--;
        fire(e, t);
    }
    svc_settle(e);
}

int64_t svc_engine_due(const struct svc_engine *e)
{
    return svc_timers_due(&e->timers);
}
