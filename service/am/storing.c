/* Keeps what the next attempt of the master needs: the definition with its counts, the journal of
 * names; and the plans that the engine refers to. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/oom.h"
#include "registry/registry.h"
#include "service/am/master-internal.h"

void svc_master_need(int r)
{
    if (r == -ENOMEM)
        sv_out_of_memory();
}

void svc_master_turn(struct svc_master *m)
{
    (void)sd_event_source_set_enabled(m->turn, SD_EVENT_ONESHOT); /* exists, ignoring */
}

/* Records of a service that has ended are removed first, unless the registry is away. */
void svc_master_maybe_exit(struct svc_master *m)
{
    if (m->ended && m->stores == 0 && (!m->unregistered || !m->registry || reg_idle(m->registry)))
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

    while (m->jobs == 0 && !m->pending && !m->journaled && (p = m->dropped)) {
        m->dropped = p->next;
        svc_plan_free(p);
    }
}

/* ---- Files ---- */

static void on_journal(int status, const struct sv_error *err, void *userdata)
{
    struct svc_master *m = userdata;

    m->stores--;
    m->storing_journal = false;
    if (m->pending || m->journal_stale)
        svc_master_turn(m);
    if (m->upgrade.noting && !m->upgrade.reading && m->upgrade.call)
        svc_client_am_upgraded(SV_TAKE(m->upgrade.call), 0, NULL);
    if (status < 0)
        sv_log_warning("%s: a restarted master will not know the names of its containers",
                       err->text);
    svc_master_maybe_exit(m);
}

/* A container of an earlier attempt that was not handed back yet keeps its name, until the engine
 * gives the name to another one. */
static void forget_replaced(struct svc_master *m)
{
    struct svc_container *c, *next;
    struct svc_instance_view v;

    HASH_ITER (hh, m->expected.table, c, next) {
        if (svc_engine_find(m->engine, c->instance, &v) == 0 && v.has_container)
            svc_containers_remove(&m->expected, c->id);
    }
}

static enum svc_journal_upgrade upgrade_of(const struct svc_master *m)
{
    return !svc_engine_target(m->engine)                         ? SVC_NO_UPGRADE
           : svc_engine_state(m->engine) == SVC_CANCEL_UPGRADING ? SVC_UPGRADE_CANCELLED
           : m->upgrade.express                                  ? SVC_UPGRADE_EXPRESS
           : m->upgrade.auto_finalize                            ? SVC_UPGRADE_AUTO_FINALIZE
                                                                 : SVC_UPGRADE_MANUAL;
}

void svc_master_journal_changed(struct svc_master *m)
{
    m->journal_stale = true;
    svc_master_turn(m);
}

void svc_master_store_journal(struct svc_master *m)
{
    const struct svc_definition *target = svc_engine_target(m->engine);
    struct svc_journal_head head = { .app = cli_am_attempt(m->yarn).app,
                                     .upgrade = upgrade_of(m),
                                     .number = m->upgrade.number };
    struct sv_buf b = SV_BUF_INIT(SVC_JOURNAL_MAX);
    int r;

    (void)snprintf(head.version, sizeof(head.version), "%s", target ? target->version : "");
    forget_replaced(m);
    r = svc_journal_print(&head, &m->containers, &m->expected, &b);
    if (r == 0)
        r = svc_work_replace(m->work, SVC_JOURNAL_FILE, &b, on_journal, m);
    svc_master_need(r);
    if (r == 0)
        m->stores++;
    m->storing_journal = r == 0;
    m->journal_stale = false;
    m->upgrade.noting = !m->upgrade.reading;
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

/* The engine reports each name once. */
static void add_decommissioned(struct svc_plan *p, struct svc_component *c, const char *instance)
{
    const struct svc_component *resolved = svc_component_named(p->resolved, c->name);
    struct svc_component_plan *plan = resolved ? svc_plan_component(p, resolved) : NULL;
    size_t room = plan ? plan->decommissioned_room : 0, more = SV_MAX(2 * c->n_decommissioned, 16);

    if (c->n_decommissioned >= room) { /* the reader's list has no room */
        const char **list = sv_newn(p->arena, const char *, more);

        if (!list)
            sv_out_of_memory();
        if (c->n_decommissioned > 0)
            memcpy(list, c->decommissioned, c->n_decommissioned * sizeof(*list));
        c->decommissioned = list;
        if (plan)
            plan->decommissioned_room = more;
    }
    c->decommissioned[c->n_decommissioned] = sv_arena_strdup(p->arena, instance);
    if (!c->decommissioned[c->n_decommissioned++])
        sv_out_of_memory();
}

void svc_master_persist(struct svc_master *m, const struct svc_op *op)
{
    struct svc_component *c = stored_component(m->plan, op->component->name);

    if (!c)
        return;
    c->count = op->count;
    if (op->instance)
        add_decommissioned(m->plan, c, op->instance);
    m->store_again |= !m->stored_by_caller;
}

/* The API finds the application by it. The definition may have been read before it was stored
 * with the id, and that of an upgrade has none. */
void svc_master_identify(struct svc_master *m)
{
    struct svc_definition *d = m->plan->stored;
    char id[YARN_ID_TEXT_MAX];

    (void)yarn_app_id_text(cli_am_attempt(m->yarn).app, id);
    if (d->id && !strcmp(d->id, id))
        return;
    d->id = sv_arena_strdup(m->plan->arena, id);
    if (!d->id)
        sv_out_of_memory();
}

/* A new version does not give names back. */
static void keep_decommissioned(const struct svc_plan *from, struct svc_plan *to)
{
    for (size_t i = 0; i < from->stored->n_components; i++) {
        const struct svc_component *old = &from->stored->components[i];
        struct svc_component *c = stored_component(to, old->name);

        for (size_t k = 0; c && k < old->n_decommissioned; k++)
            add_decommissioned(to, c, old->decommissioned[k]);
    }
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
    svc_master_journal_changed(m);
    svc_master_identify(m);
    keep_decommissioned(m->old, m->plan);
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
