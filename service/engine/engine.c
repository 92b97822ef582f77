/* The engine's life and its inputs; what happens to containers is in events.c, upgrades are in
 * upgrade.c, views in views.c. Hostile: none; names and counts are a user's. */
#include "service/engine/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "service/engine/components.h"
#include "service/engine/definition-diff.h"
#include "service/engine/ends.h"
#include "service/engine/nodes.h"
#include "service/engine/policy.h"
#include "service/engine/requests.h"
#include "service/engine/settle.h"
#include "service/engine/states.h"
#include "service/engine/versions.h"

int svc_engine_new(const struct svc_setup *setup, struct svc_engine **ret, struct sv_error *err)
{
    struct svc_engine *e;
    int r = svc_components_check(setup->definition, err);

    if (r < 0)
        return r;
    e = calloc(1, sizeof(*e));
    if (!e)
        sv_out_of_memory();
    e->policy = setup->policy;
    e->limits = setup->limits;
    e->definition = setup->definition;
    e->state = SVC_ACCEPTED;
    e->armed = INT64_MAX;
    e->now = INT64_MIN;
    e->random = setup->seed;
    if (e->policy->setup)
        e->policy->setup(e, setup);
    svc_hold_definition(e, setup->definition);
    svc_components_add(e, setup->definition, setup->options);
    *ret = e;
    return 0;
}

struct svc_engine *svc_engine_free(struct svc_engine *e)
{
    struct svc_container *s, *next;

    if (!e)
        return NULL;
    svc_requests_free(e);
    HASH_CLEAR(hh, e->containers);
    DL_FOREACH_SAFE (e->surplus, s, next)
        free(s);
    svc_bury(e);
    svc_components_free(e);
    if (e->policy->free)
        e->policy->free(e);
    svc_nodes_free(e);
    svc_timers_free(&e->timers);
    svc_ops_free(&e->ops);
    free(e->held);
    free(e->diagnostics);
    free(e);
    return NULL;
}

const struct svc_op *svc_engine_ops(struct svc_engine *e, size_t *ret_n)
{
    *ret_n = e->ops.read ? 0 : e->ops.n;
    e->ops.read = true;
    return e->ops.list;
}

/* ---- start, desired counts, stop -------------------------------------------------------------*/

void svc_engine_start(struct svc_engine *e, int64_t now)
{
    svc_begin(e, now);
    if (e->started || !svc_service_event(e, SVC_EV_START, NULL))
        return;
    e->started = true;
    e->started_at = e->now;
    e->open_due = true;
    for (size_t i = 0; i < e->n_comps; i++) {
        struct svc_comp *c = e->comps[i];

        c->ready_for_dependents = e->policy->is_ready(c);
        svc_dirty(c);
        if (c->lists[SVC_AWAITED].n && !e->recovery_end.place)
            svc_timer_arm(&e->timers, &e->recovery_end, SVC_TIMER_RECOVERY,
                          e->now + e->limits.recovery_ms);
    }
    if (e->limits.failure_window_ms > 0)
        svc_timer_arm(&e->timers, &e->window_end, SVC_TIMER_WINDOW,
                      e->now + e->limits.failure_window_ms);
    svc_settle(e);
}

static int refuse_if_busy(const struct svc_engine *e, struct sv_error *err)
{
    if (e->ending)
        return sv_error_set(err, -EBUSY, "service %s: it ends; start it again first",
                            e->definition->name);
    if (e->next)
        return sv_error_set(
            err, -EBUSY, "service %s: it is upgraded to version %s; finalize or cancel that first",
            e->definition->name, e->next->version);
    return 0;
}

/* Checks that `count` more than the sum of all targets but `c`'s is within the bound. */
static int check_count(const struct svc_engine *e, const struct svc_comp *c, int64_t count,
                       struct sv_error *err)
{
    int64_t others = 0;

    for (size_t i = 0; i < e->n_comps; i++)
        others += e->comps[i] == c ? 0 : e->comps[i]->target;
    if (count >= 0 && count <= SVC_INSTANCES_MAX - others)
        return 0;
    return sv_error_set(err, -EINVAL,
                        "components.%s.number_of_containers: %" PRId64 ": 0 to %" PRId64
                        " are allowed, %d of all components together",
                        c->name, count, SVC_INSTANCES_MAX - others, SVC_INSTANCES_MAX);
}

static void persist(struct svc_comp *c, const char *decommissioned)
{
    struct svc_op *op = svc_op_add(&c->engine->ops, SVC_OP_PERSIST);

    op->component = c->spec[c->version].component;
    op->count = c->target;
    op->instance = decommissioned ? svc_op_text(&c->engine->ops, decommissioned) : NULL;
}

static void set_target(struct svc_comp *c, int64_t count)
{
    c->failed_recently = 0; /* Slider's and Apache's: a flex is a new start for failure counts */
    if (c->target == count)
        return;
    c->target = count;
    persist(c, NULL);
    svc_dirty(c);
}

int svc_engine_flex(struct svc_engine *e, int64_t now, const char *component, int64_t count,
                    struct sv_error *err)
{
    struct svc_comp *c;
    int r;

    svc_begin(e, now);
    c = svc_comp_named(e, component);
    if (!c)
        return sv_error_set(err, -ENOENT, "service %s: no component \"%s\"", e->definition->name,
                            component);
    r = check_count(e, c, count, err);
    if (r >= 0 && (count != c->target || e->ending))
        r = refuse_if_busy(e, err);
    if (r < 0)
        return r;
    if (count != c->target)
        set_target(c, count);
    svc_settle(e);
    return 0;
}

int svc_engine_spec(struct svc_engine *e, int64_t now, const struct svc_definition *d,
                    const struct svc_options *options, struct sv_error *err)
{
    size_t had = e->n_comps, at;
    int r;

    svc_begin(e, now);
    r = svc_components_check(d, err);
    if (r >= 0)
        r = refuse_if_busy(e, err);
    for (size_t i = 0, n = had; r >= 0 && i < d->n_components; i++)
        if (!svc_comp_named(e, d->components[i].name) && ++n > SVC_COMPONENTS_MAX)
            r = sv_error_set(err, -EINVAL,
                             "components: with those that the service had before, more than %d",
                             SVC_COMPONENTS_MAX);
    if (r < 0)
        return r;
    for (size_t i = 0; i < had; i++) {
        struct svc_comp *c = e->comps[i];
        const struct svc_component *to = svc_component_in(d, c->name, &at);

        if (to)
            c->spec[c->version] = (struct svc_spec){ to, svc_options_at(options, at) };
        set_target(c, to ? to->count : 0);
    }
    svc_hold_definition(e, d);
    e->definition = d;
    svc_components_add(e, d, options);
    for (size_t i = had; i < e->n_comps; i++)
        persist(e->comps[i], NULL);
    e->open_due = true;
    svc_drop_definitions(e);
    svc_settle(e);
    return 0;
}

void svc_engine_stop(struct svc_engine *e, int64_t now, const char *diagnostics)
{
    svc_begin(e, now);
    svc_end(e, SVC_EV_STOP, diagnostics);
    svc_settle(e);
}

/* ---- one instance ----------------------------------------------------------------------------*/

int svc_engine_kill(struct svc_engine *e, int64_t now, const char *instance, struct sv_error *err)
{
    struct svc_inst *i;

    svc_begin(e, now);
    i = svc_inst_named(e, instance);
    if (!i)
        return sv_error_set(err, -ENOENT, "service %s: no instance \"%s\"", e->definition->name,
                            instance);
    if (!i->has_container)
        return sv_error_set(err, -ESRCH, "instance %s: it has no container", instance);
    i->killed = true;
    if (i->state != SVC_INSTANCE_STOPPING)
        (void)svc_instance_event(i, SVC_INSTANCE_EV_DESTROY, NULL);
    svc_settle(e);
    return 0;
}

int svc_engine_decommission(struct svc_engine *e, int64_t now, const char *instance,
                            struct sv_error *err)
{
    struct svc_inst *i;
    struct svc_comp *c;
    uint32_t number;

    svc_begin(e, now);
    c = svc_name_split(e, instance, &number);
    if (!c || number >= c->numbers.end)
        return sv_error_set(err, -ENOENT, "service %s: no instance \"%s\" ever",
                            e->definition->name, instance);
    if (svc_number_is_retired(&c->numbers, number))
        return 0;
    if (e->ending)
        return refuse_if_busy(e, err);
    svc_number_retire(&c->numbers, number);
    i = c->slots[number];
    if (i && svc_is_wanted(i)) {
        c->target = SV_MAX(c->target - 1, 0);
        svc_instance_retire(i);
    }
    persist(c, instance);
    svc_settle(e);
    return 0;
}
