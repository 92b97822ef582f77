/* Inputs of upgrades. A component that is upgraded has two versions (struct svc_comp, spec[]): what
 * starts now is of the new one, running instances follow one by one. */
#include <errno.h>
#include <string.h>

#include "service/engine/components.h"
#include "service/engine/definition-diff.h"
#include "service/engine/drive.h"
#include "service/engine/settle.h"
#include "service/engine/states.h"
#include "service/engine/versions.h"

static int check(const struct svc_engine *e, const struct svc_definition *d, struct sv_error *err)
{
    int r;

    if (e->state != SVC_STARTED && e->state != SVC_STABLE)
        return sv_error_set(err, -EBUSY,
                            "service %s is %s: only a STARTED or STABLE one can be upgraded",
                            d->name, svc_service_state_text((enum svc_service_state)e->state));
    r = svc_components_check(d, err);
    if (r >= 0)
        r = svc_upgrade_is_supported(e->definition, d, err);
    return r;
}

/* Components whose instances are to end (restart policies NEVER and ON_FAILURE) are not upgraded:
 * what starts after the upgrade is of the new version. */
static void set_next(struct svc_comp *c, const struct svc_definition *d,
                     const struct svc_options *options)
{
    const struct svc_component *to;
    size_t at;

    to = svc_component_in(d, c->name, &at);
    if (!to)
        return; /* of a definition before, with no instances */
    c->next = (struct svc_spec){ to, svc_options_at(options, at) };
    if (to->restart == SVC_RESTART_ALWAYS &&
        svc_component_needs_upgrade(c->spec[c->version].component, to))
        c->spec[!c->version] = c->next;
}

int svc_engine_upgrade(struct svc_engine *e, int64_t now, const struct svc_definition *d,
                       const struct svc_options *options, bool auto_finalize, bool express,
                       struct sv_error *err)
{
    struct svc_upgrade_step step = { .auto_finalize = auto_finalize, .express = express };
    int r;

    svc_begin(e, now);
    r = check(e, d, err);
    if (r < 0)
        return r;
    e->next = d;
    svc_hold_definition(e, d);
    (void)svc_service_event(e, SVC_EV_UPGRADE, &step);
    for (size_t i = 0; i < e->n_comps; i++) {
        set_next(e->comps[i], d, options);
        if (svc_is_affected(e->comps[i]))
            (void)svc_component_event(e->comps[i], SVC_COMPONENT_EV_UPGRADE);
    }
    svc_settle(e);
    return 0;
}

static int refuse_idle(const struct svc_engine *e, struct sv_error *err)
{
    return sv_error_set(err, -EBUSY, "service %s is %s: there is no upgrade", e->definition->name,
                        svc_service_state_text((enum svc_service_state)e->state));
}

static bool upgrades(const struct svc_engine *e)
{
    return e->next && !e->ending && e->state != SVC_CANCEL_UPGRADING;
}

void svc_engine_upgraded(struct svc_engine *e, int64_t now, const char *instance)
{
    struct svc_inst *i;

    svc_begin(e, now);
    i = svc_inst_named(e, instance);
    if (!i || !upgrades(e) || !i->comp->upgrading || i->versions != &i->comp->at[!i->comp->version])
        return;
    if (svc_instance_event(i, SVC_INSTANCE_EV_UPGRADED, NULL))
        svc_settle(e);
}

int svc_engine_upgrade_instance(struct svc_engine *e, int64_t now, const char *instance,
                                struct sv_error *err)
{
    struct svc_inst *i;

    svc_begin(e, now);
    i = svc_inst_named(e, instance);
    if (!i)
        return sv_error_set(err, -ENOENT, "service %s: no instance \"%s\"", e->definition->name,
                            instance);
    if (!upgrades(e))
        return refuse_idle(e, err);
    if (i->state != SVC_INSTANCE_FAILED_UPGRADE && (!i->versions || i->version == i->comp->version))
        return i->versions ? sv_error_set(err, -EALREADY, "instance %s has version %s", instance,
                                          e->next->version)
                           : sv_error_set(err, -EAGAIN,
                                          "instance %s has no container: it starts "
                                          "with the new version",
                                          instance);
    (void)svc_instance_event(i, SVC_INSTANCE_EV_UPGRADE, NULL);
    svc_settle(e);
    return 0;
}

int svc_engine_upgrade_component(struct svc_engine *e, int64_t now, const char *component,
                                 struct sv_error *err)
{
    struct svc_comp *c;

    svc_begin(e, now);
    c = svc_comp_named(e, component);
    if (!c)
        return sv_error_set(err, -ENOENT, "service %s: no component \"%s\"", e->definition->name,
                            component);
    if (!upgrades(e))
        return refuse_idle(e, err);
    if (!c->upgrading)
        return sv_error_set(err, -EALREADY, "component %s needs no upgrade", component);
    c->driven = true;
    svc_dirty(c);
    svc_settle(e);
    return 0;
}

int svc_engine_cancel_upgrade(struct svc_engine *e, int64_t now, struct sv_error *err)
{
    svc_begin(e, now);
    if (!svc_cancel_upgrade(e))
        return refuse_idle(e, err);
    svc_settle(e);
    return 0;
}

int svc_engine_finalize(struct svc_engine *e, int64_t now, struct sv_error *err)
{
    svc_begin(e, now);
    if (e->state != SVC_UPGRADING)
        return refuse_idle(e, err);
    for (size_t i = 0; i < e->n_comps; i++) {
        const struct svc_comp *c = e->comps[i];

        if (!svc_is_settled(c))
            return sv_error_set(err, -EBUSY,
                                "component %s is not STABLE: %zu of its instances have the old "
                                "version, %zu failed to upgrade",
                                c->name, c->at[!c->version].n, c->failed_upgrade.n);
    }
    (void)svc_service_event(e, SVC_EV_FINALIZE, NULL);
    svc_settle(e);
    return 0;
}
