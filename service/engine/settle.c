/* See settle.h. */
#include "service/engine/settle.h"

#include <inttypes.h>
#include <stdio.h>

#include "service/engine/drive.h"
#include "service/engine/ends.h"
#include "service/engine/policy.h"
#include "service/engine/requests.h"
#include "service/engine/states.h"

void svc_begin(struct svc_engine *e, int64_t now)
{
    if (e->ops.read) {
        svc_ops_reset(&e->ops);
        svc_bury(e);
    }
    e->now = SV_MAX(now, e->now);
    e->budget = SV_MAX(e->limits.turn, 1u);
}

/* ---- a component -----------------------------------------------------------------------------*/

/* True: it has as many instances as it should. */
static bool adjust(struct svc_comp *c)
{
    struct svc_engine *e = c->engine;
    int64_t goal = e->ending ? 0 : c->target, wanted;

    while ((wanted = svc_wanted(c)) != goal) {
        if (!e->budget)
            return false;
        e->budget--;
        if (wanted > goal)
            svc_instance_retire(e->policy->shrink(c));
        else if (!svc_inst_new(c))
            c->target = goal = wanted; /* all numbers are used up: svc_engine_flex() was asked */
    }
    return true;
}

static void request(struct svc_comp *c)
{
    struct svc_engine *e = c->engine;
    int64_t need, drop;

    if (!c->open)
        return;
    if (e->ending)
        c->held = 0;
    need = (e->ending ? 0 : (int64_t)c->lists[SVC_PENDING].n) - c->requested - c->held;
    if (need < 0) {
        drop = SV_MIN(c->held, -need);
        c->held -= drop;
        e->policy->cancel(c, -need - drop);
    } else if (need > 0) {
        e->policy->ask(c, need);
        if (!e->budget)
            svc_dirty(c);
    }
}

static void check_health(struct svc_comp *c)
{
    const struct svc_options *o = svc_options_of(c);
    struct svc_engine *e = c->engine;

    if (o->health_percent <= 0 || !e->policy->is_long_lived(c) ||
        c->ready * 100 >= o->health_percent * c->target) {
        svc_timer_disarm(&e->timers, &c->health);
        c->below_since = 0;
    } else if (!c->health.place) {
        c->below_since = SV_MAX(e->now, e->started_at + o->health_delay_ms);
        svc_timer_arm(&e->timers, &c->health, SVC_TIMER_HEALTH,
                      c->below_since + o->health_window_ms);
    }
}

static void set_flag(bool *flag, bool value, size_t *count)
{
    *count += (value ? 1 : 0) - (*flag ? 1 : 0);
    *flag = value;
}

static bool is_ok(const struct svc_comp *c)
{
    return c->state == SVC_COMPONENT_STABLE || c->state == SVC_COMPONENT_SUCCEEDED ||
           c->state == SVC_COMPONENT_FAILED;
}

static void set_flags(struct svc_comp *c)
{
    struct svc_engine *e = c->engine;
    bool complete = c->open && svc_wanted(c) == c->target && e->policy->is_complete(c);

    set_flag(&c->ok, is_ok(c), &e->n_ok);
    set_flag(&c->complete, complete, &e->n_complete);
    set_flag(&c->complete_some, complete && c->target, &e->n_complete_some);
    c->ready_for_dependents = e->policy->is_ready(c);
}

static void work_on(struct svc_comp *c)
{
    bool were = c->ready_for_dependents;

    if (!adjust(c))
        svc_dirty(c);
    svc_drive_instances(c);
    request(c);
    if (c->engine->ending)
        return;
    (void)svc_component_event(c, SVC_COMPONENT_EV_CHECK_STABLE);
    set_flags(c);
    check_health(c);
    if (c->ready_for_dependents && !were)
        c->engine->open_due = true;
}

/* ---- the service -----------------------------------------------------------------------------*/

/* A component of which a container was recovered waited before the master's end. */
static bool can_open(const struct svc_comp *c)
{
    if (c->lists[SVC_LIVE].n || c->lists[SVC_AWAITED].n)
        return true;
    for (size_t i = 0; i < c->n_dependencies; i++)
        if (!c->engine->comps[c->dependencies[i]]->ready_for_dependents)
            return false;
    return true;
}

/* A component waits for its dependencies once. A dependency that fails later does not keep the
 * failed instances of its dependents from being replaced. */
static void open_components(struct svc_engine *e)
{
    e->open_due = false;
    for (size_t i = 0; i < e->n_comps && e->n_waiting; i++) {
        struct svc_comp *c = e->order[i];

        if (c->open || !can_open(c))
            continue;
        c->open = true;
        e->n_waiting--;
        (void)svc_component_event(c, SVC_COMPONENT_EV_START);
    }
}

void svc_check_end(struct svc_engine *e)
{
    const struct svc_comp *failed = NULL, *dominant = NULL;
    char why[256];

    if (!e->n_complete_some)
        return;
    for (size_t i = 0; i < e->n_comps; i++) {
        const struct svc_comp *c = e->comps[i];

        if (c->failed && !failed)
            failed = c;
        if (c->complete_some && svc_options_of(c)->dominant && !dominant)
            dominant = c;
    }
    if (!dominant && e->n_complete < e->n_comps)
        return;
    if (dominant)
        failed = dominant->failed ? dominant : NULL;
    if (failed)
        (void)snprintf(why, sizeof(why),
                       "component %s: %" PRId64 " of %" PRId64 " instances failed", failed->name,
                       failed->failed, failed->target);
    else if (dominant)
        (void)snprintf(why, sizeof(why), "component %s ended", dominant->name);
    else
        (void)snprintf(why, sizeof(why), "all components ended");
    svc_end(e, failed ? SVC_EV_FAIL : SVC_EV_SUCCEED, why);
}

static void unregister(struct svc_engine *e)
{
    struct svc_op *op = svc_op_add(&e->ops, SVC_OP_UNREGISTER);

    op->success = e->success;
    op->text = svc_op_text(&e->ops, e->diagnostics ?: "");
    e->unregistered = true;
    svc_timers_free(&e->timers);
}

/* ---- after a resync --------------------------------------------------------------------------*/

static bool tell_list(struct svc_comp *c, enum svc_list_kind kind)
{
    struct svc_engine *e = c->engine;
    struct svc_inst *i;

    while ((i = c->lists[kind].head) && i->container.told != e->resyncs) {
        if (!e->budget)
            return false;
        e->budget--;
        i->container.told = e->resyncs;
        svc_move(i, kind);
        (void)svc_container_op(e, SVC_OP_RELEASE, &i->container);
    }
    return true;
}

static bool tell_surplus(struct svc_engine *e)
{
    struct svc_container *s;

    while ((s = e->surplus) && s->told != e->resyncs) {
        if (!e->budget)
            return false;
        e->budget--;
        s->told = e->resyncs;
        DL_DELETE(e->surplus, s);
        DL_APPEND(e->surplus, s);
        (void)svc_container_op(e, SVC_OP_RELEASE, s);
    }
    return true;
}

static bool tell_again(struct svc_engine *e)
{
    if (!svc_requests_tell(e))
        return false;
    if (!e->tell_ends)
        return true;
    for (size_t i = 0; i < e->n_comps; i++)
        if (!tell_list(e->comps[i], SVC_RESTARTING) || !tell_list(e->comps[i], SVC_RELEASING))
            return false;
    e->tell_ends = !tell_surplus(e);
    return !e->tell_ends;
}

/* ---- an input's end --------------------------------------------------------------------------*/

static void work(struct svc_engine *e)
{
    if (e->open_due)
        open_components(e);
    while (e->dirty && e->budget) {
        struct svc_comp *c = e->dirty;

        DL_DELETE2(e->dirty, c, d_prev, d_next);
        c->dirty = false;
        work_on(c);
        if (e->open_due)
            open_components(e);
    }
}

static void check_service(struct svc_engine *e)
{
    if (e->roll_back)
        (void)svc_cancel_upgrade(e);
    svc_drive_next(e);
    (void)svc_service_event(e, SVC_EV_CHECK_STABLE, NULL);
    e->policy->check_end(e);
}

static void tell_timer(struct svc_engine *e)
{
    int64_t due = svc_timers_due(&e->timers);

    if (due >= e->armed)
        return;
    e->armed = due;
    svc_op_add(&e->ops, SVC_OP_TIMER)->at = due;
}

/* Its containers are the ResourceManager's to end; instances stay as they are. */
static bool ends_at_once(const struct svc_engine *e)
{
    return e->ending && e->policy->ends_at_once;
}

void svc_settle(struct svc_engine *e)
{
    if (e->unregistered)
        return;
    if (ends_at_once(e)) {
        unregister(e);
        return;
    }
    if (e->started || e->ending) {
        if (e->resyncing)
            e->resyncing = !tell_again(e);
        do {
            work(e);
            if (!e->dirty && !e->ending)
                check_service(e);
        } while (e->dirty && e->budget && !ends_at_once(e));
        if (e->ending &&
            ((!e->n_containers && !e->dirty) || e->stop_over || e->policy->ends_at_once)) {
            unregister(e);
            return;
        }
        if ((e->dirty || e->resyncing) && !e->turn.place)
            svc_timer_arm(&e->timers, &e->turn, SVC_TIMER_TURN, e->now);
    }
    tell_timer(e);
}
