/* Keeps what the next attempt of the master needs: the definition with its counts, the journal of
 * names; and the plans that the engine refers to. */
#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/oom.h"
#include "service/am/journal.h"
#include "service/am/master-internal.h"

void svc_master_need(int r)
{
    if (r == -ENOMEM)
        sv_out_of_memory();
}

void svc_master_maybe_exit(struct svc_master *m)
{
    if (m->ended && m->stores == 0)
        (void)sd_event_exit(m->event, m->exit_code); /* the loop runs, ignoring */
}

/* ---- Plans ---- */

struct svc_component_plan *svc_master_plan_of(const struct svc_master *m,
                                              const struct svc_component *c)
{
    const struct svc_plan *all[] = { m->plan, m->next, m->old };
    struct svc_component_plan *p = NULL;

    for (size_t i = 0; !p && i < SV_ARRAY_LEN(all); i++)
        p = all[i] ? svc_plan_component(all[i], c) : NULL;
    return p;
}

void svc_master_free_dropped(struct svc_master *m)
{
    struct svc_plan *p;

    while (m->jobs == 0 && !m->pending && (p = m->dropped)) {
        m->dropped = p->next;
        svc_plan_free(p);
    }
}

/* ---- Files ---- */

static void on_journal(int status, const struct sv_error *err, void *userdata)
{
    struct svc_master *m = userdata;

    m->stores--;
    if (status < 0)
        sv_log_warning("%s: a restarted master will not know the names of its containers",
                       err->text);
    svc_master_maybe_exit(m);
}

void svc_master_store_journal(struct svc_master *m)
{
    struct sv_buf b = SV_BUF_INIT(SVC_JOURNAL_MAX);
    int r = svc_journal_print(&m->containers, cli_am_attempt(m->yarn).app, &b);

    if (r == 0)
        r = svc_work_replace(m->work, SVC_JOURNAL_FILE, &b, on_journal, m);
    svc_master_need(r);
    if (r == 0)
        m->stores++;
    sv_buf_free(&b);
}

static void on_stored(int status, const struct sv_error *err, void *userdata)
{
    struct svc_master *m = userdata;

    m->stores--;
    if (status < 0)
        sv_log_err("the definition was not stored, a restarted master will not know the last "
                   "change: %s",
                   err->text);
    svc_master_maybe_exit(m);
}

static void store_definition(struct svc_master *m)
{
    struct sv_buf b = SV_BUF_INIT(0);
    _cleanup_free_ char *text = NULL;
    int r = svc_definition_print(m->plan->stored, &text);

    if (r == 0)
        r = sv_buf_put_str(&b, text);
    if (r == 0)
        r = svc_work_replace(m->work, m->definition_file, &b, on_stored, m);
    svc_master_need(r);
    if (r == 0)
        m->stores++;
    sv_buf_free(&b);
}

static struct svc_component *stored_component(const struct svc_plan *p, const char *name)
{
    for (size_t i = 0; i < p->stored->n_components; i++)
        if (strcmp(p->stored->components[i].name, name) == 0)
            return &p->stored->components[i];
    return NULL;
}

static void add_decommissioned(struct svc_plan *p, struct svc_component *c, const char *instance)
{
    const char **list = sv_newn(p->arena, const char *, c->n_decommissioned + 1);

    for (size_t i = 0; i < c->n_decommissioned; i++)
        if (strcmp(c->decommissioned[i], instance) == 0)
            return;
    if (!list)
        sv_out_of_memory();
    memcpy(list, c->decommissioned, c->n_decommissioned * sizeof(*list));
    list[c->n_decommissioned] = sv_arena_strdup(p->arena, instance);
    if (!list[c->n_decommissioned])
        sv_out_of_memory();
    c->decommissioned = list;
    c->n_decommissioned++;
}

void svc_master_persist(struct svc_master *m, const struct svc_op *op)
{
    struct svc_component *c = stored_component(m->plan, op->component->name);

    if (!c)
        return;
    c->count = op->count;
    if (op->instance) {
        add_decommissioned(m->plan, c, op->instance);
        svc_master_need(svc_status_definition(m->status, m->plan->stored));
    }
    m->store_again |= !m->stored_by_caller;
}

/* The target of an upgrade becomes what runs and what is stored. */
void svc_master_finalize(struct svc_master *m, const struct svc_op *op)
{
    struct svc_component_view v;

    if (!op->definition || !m->next || op->definition != m->next->resolved)
        return;
    m->old = m->plan; /* until DROP */
    m->plan = m->next;
    m->next = NULL;
    m->version = m->plan->stored->version;
    for (size_t i = 0; i < svc_engine_components(m->engine); i++) {
        struct svc_component *c;

        svc_engine_component(m->engine, i, &v);
        c = stored_component(m->plan, v.component->name);
        if (c)
            c->count = v.desired;
    }
    svc_master_need(svc_status_definition(m->status, m->plan->stored));
    m->store_again = true;
}

void svc_master_drop(struct svc_master *m, const struct svc_op *op)
{
    struct svc_plan **held[] = { &m->next, &m->old };

    for (size_t i = 0; i < SV_ARRAY_LEN(held); i++) {
        struct svc_plan *p = *held[i];

        if (!p || p->resolved != op->definition)
            continue;
        *held[i] = NULL;
        p->next = m->dropped;
        m->dropped = p;
    }
    svc_master_free_dropped(m);
}

void svc_master_store(struct svc_master *m)
{
    if (m->store_again)
        store_definition(m);
    m->store_again = false;
}
