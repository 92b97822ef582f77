/* See drive.h. */
#include "service/engine/drive.h"

#include "service/engine/states.h"
#include "service/engine/versions.h"

/* Those that failed stay failed until their user decides; cancelling is his decision. */
static struct svc_inst *next_of(const struct svc_comp *c)
{
    struct svc_inst *i = c->at[!c->version].head;

    return i || !c->cancelling ? i : c->failed_upgrade.head;
}

static int event_of(const struct svc_comp *c, const struct svc_inst *i)
{
    return c->cancelling ? SVC_INSTANCE_EV_CANCEL_UPGRADE
           : i->target   ? SVC_INSTANCE_EV_UPGRADED
                         : SVC_INSTANCE_EV_UPGRADE;
}

/* Events take the instance out of the list of the other version: LAUNCHING, running and failed ones
 * have a cell for both. */
void svc_drive_instances(struct svc_comp *c)
{
    struct svc_engine *e = c->engine;
    struct svc_inst *i;

    while (c->driven && (i = next_of(c))) {
        if (!e->budget) {
            svc_dirty(c);
            return;
        }
        e->budget--;
        if (!svc_instance_event(i, event_of(c, i), NULL))
            svc_list_version(i, &c->at[c->version]);
    }
}

void svc_drive_next(struct svc_engine *e)
{
    if (e->state != SVC_EXPRESS_UPGRADING && e->state != SVC_CANCEL_UPGRADING)
        return;
    for (size_t i = 0; i < e->n_comps; i++) {
        struct svc_comp *c = e->order[i];

        if (!c->upgrading)
            continue;
        if (!c->driven) {
            c->driven = true;
            svc_dirty(c);
        }
        return;
    }
}

bool svc_cancel_upgrade(struct svc_engine *e)
{
    e->roll_back = false;
    if (!svc_service_event(e, SVC_EV_CANCEL_UPGRADE, NULL))
        return false;
    for (size_t i = 0; i < e->n_comps; i++)
        if (svc_is_affected(e->comps[i]))
            (void)svc_component_event(e->comps[i], SVC_COMPONENT_EV_CANCEL_UPGRADE);
    svc_drive_next(e);
    return true;
}
