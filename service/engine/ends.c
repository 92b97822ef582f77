/* See ends.h. */
#include "service/engine/ends.h"

#include <inttypes.h>
#include <stdio.h>

#include "service/engine/nodes.h"
#include "service/engine/policy.h"
#include "service/engine/states.h"

/* ---- the service -----------------------------------------------------------------------------*/

void svc_end(struct svc_engine *e, int event, const char *why)
{
    if (e->ending || !svc_service_event(e, event, NULL))
        return;
    e->ending = true;
    e->success = event != SVC_EV_FAIL;
    svc_set_text(&e->diagnostics, why);
    for (size_t i = 0; i < e->n_comps; i++)
        svc_dirty(e->comps[i]);
    svc_timer_arm(&e->timers, &e->stop_end, SVC_TIMER_STOP, e->now + e->limits.stop_wait_ms);
}

static void check_failures(struct svc_comp *c)
{
    const struct svc_options *o = svc_options_of(c);
    struct svc_engine *e = c->engine;
    char why[512];

    if (e->ending || o->health_percent > 0 || !e->policy->too_many_failures(c))
        return;
    (void)snprintf(why, sizeof(why),
                   "component %s: %" PRId64 " containers failed, %" PRId64
                   " are allowed; the last: %s",
                   c->name, c->failed_recently, o->failure_threshold, c->reason ?: "");
    (void)svc_component_event(c, SVC_COMPONENT_EV_FAIL);
    svc_end(e, SVC_EV_FAIL, why);
}

/* ---- failures --------------------------------------------------------------------------------*/

/* It never started, or lived too shortly to have done. */
static bool is_short_lived(const struct svc_inst *i)
{
    return i->state == SVC_INSTANCE_LAUNCHING ||
           i->comp->engine->now - i->started_at < svc_options_of(i->comp)->short_life_ms;
}

static void count_failure(struct svc_inst *i, enum svc_outcome outcome, const char *why)
{
    struct svc_comp *c = i->comp;
    const struct svc_counts *counts = &c->engine->policy->counts[outcome];
    struct svc_entry *n = svc_entry_get(c, i->container.node);

    c->preempted += outcome == SVC_OUT_PREEMPTED;
    n->preempted += outcome == SVC_OUT_PREEMPTED;
    c->node_failed += outcome == SVC_OUT_NODE;
    c->limits_exceeded += outcome == SVC_OUT_LIMITS;
    c->failed_total += counts->failed;
    c->failed_recently += counts->recently;
    if (counts->failed)
        svc_set_text(&c->reason, why);
    if (counts->recently && is_short_lived(i)) {
        c->start_failed_total++;
        n->start_failed++;
    }
    if (counts->on_node)
        svc_entry_failed(c, n);
}

void svc_start_failed(struct svc_inst *i, const char *why)
{
    svc_set_text(&i->diagnostics, why);
    count_failure(i, SVC_OUT_FAILED, why);
    if (!svc_instance_event(i, SVC_INSTANCE_EV_START_FAILED, NULL))
        return;
    i->failure_counted = true;
    check_failures(i->comp);
}

/* ---- containers ------------------------------------------------------------------------------*/

/* A container that was killed on request counts as no failure, whatever its exit status. */
void svc_container_ended(struct svc_inst *i, int32_t exit_status, const char *diagnostics)
{
    struct svc_comp *c = i->comp;
    const struct svc_policy *p = c->engine->policy;
    enum svc_outcome outcome = i->killed ? SVC_OUT_KILLED : svc_outcome_of(exit_status);
    bool removed = i->list == SVC_RELEASING, short_lived = is_short_lived(i);
    struct svc_entry *n = svc_entry_get(c, i->container.node);
    struct svc_stop_step step;
    bool relaunch;

    if (i->failure_counted)
        outcome = SVC_OUT_FAILED;
    else if (!removed && !i->killed)
        count_failure(i, outcome, diagnostics);
    c->completed_total++;
    i->last_exit = exit_status;
    if (diagnostics && *diagnostics)
        svc_set_text(&i->diagnostics, diagnostics);
    relaunch = p->relaunch(i, exit_status, &outcome);
    step = (struct svc_stop_step){ .success = outcome == SVC_OUT_SUCCESS, .relaunch = relaunch };
    if (!svc_instance_event(i, SVC_INSTANCE_EV_STOP, &step))
        return;
    p->ended(i, n, short_lived);
    if (removed)
        svc_inst_remove(i);
    check_failures(c);
}

struct svc_container *svc_release_surplus(struct svc_engine *e, struct svc_comp *c,
                                          const struct svc_allocated *allocated,
                                          enum svc_op_type how)
{
    struct svc_container *s = calloc(1, sizeof(*s));

    if (!s)
        sv_out_of_memory();
    s->told = s->first_told = e->resyncs;
    svc_container_add(e, s, &allocated->container, svc_node_get(e, allocated->node.host),
                      allocated->node.port);
    (void)svc_container_op(e, how, s);
    if (c)
        c->surplus++;
    return s;
}

/* Splitmix64. */
uint64_t svc_random(struct svc_engine *e)
{
    uint64_t z = e->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void svc_hold_back(struct svc_comp *c, struct svc_inst *i, int64_t count, enum svc_hold why)
{
    struct svc_engine *e = c->engine;
    int64_t wait = SV_MAX(e->limits.retry_min_ms, 1);

    (void)i;
    (void)why;
    c->held += count;
    svc_dirty(c);
    if (c->retry.place)
        return;
    for (uint32_t k = 0; k < c->rejections && wait < e->limits.retry_max_ms; k++)
        wait *= 2;
    wait = SV_MIN(wait, SV_MAX(e->limits.retry_max_ms, 1));
    c->rejections++;
    wait += (int64_t)(svc_random(e) % (uint64_t)(wait / 4 + 1));
    svc_timer_arm(&e->timers, &c->retry, SVC_TIMER_RETRY, e->now + wait);
}
