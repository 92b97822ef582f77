/* See versions.h. */
#include "service/engine/versions.h"

void svc_hold_definition(struct svc_engine *e, const struct svc_definition *d)
{
    for (size_t i = 0; i < e->n_held; i++)
        if (e->held[i] == d)
            return;
    e->held = reallocarray(e->held, e->n_held + 1, sizeof(*e->held));
    if (!e->held)
        sv_out_of_memory();
    e->held[e->n_held++] = d;
}

static bool points_into(const struct svc_component *c, const struct svc_definition *d)
{
    return c >= d->components && c < d->components + d->n_components;
}

static bool is_used(const struct svc_engine *e, const struct svc_definition *d)
{
    if (d == e->definition || d == e->next)
        return true;
    for (size_t i = 0; i < e->n_comps; i++)
        for (int v = 0; v < 2; v++)
            if (points_into(e->comps[i]->spec[v].component, d))
                return true;
    return false;
}

void svc_drop_definitions(struct svc_engine *e)
{
    size_t kept = 0;

    for (size_t i = 0; i < e->n_held; i++)
        if (is_used(e, e->held[i]))
            e->held[kept++] = e->held[i];
        else
            svc_op_add(&e->ops, SVC_OP_DROP)->definition = e->held[i];
    e->n_held = kept;
}

bool svc_upgrade_is_done(const struct svc_engine *e)
{
    for (size_t i = 0; i < e->n_comps; i++)
        if (!svc_is_settled(e->comps[i]))
            return false;
    return true;
}

void svc_end_upgrade(struct svc_engine *e, bool cancelled)
{
    struct svc_op *op = svc_op_add(&e->ops, SVC_OP_FINALIZE);

    op->definition = cancelled ? NULL : e->next;
    op->text = svc_op_text(&e->ops, cancelled ? e->next->version : e->definition->version);
    for (size_t i = 0; i < e->n_comps; i++) {
        struct svc_comp *c = e->comps[i];

        c->spec[!c->version] = (struct svc_spec){ 0 };
        if (!cancelled && c->next.component)
            c->spec[c->version] = c->next;
        c->next = (struct svc_spec){ 0 };
    }
    if (!cancelled)
        e->definition = e->next;
    e->next = NULL;
    e->roll_back = false;
    svc_drop_definitions(e);
}
