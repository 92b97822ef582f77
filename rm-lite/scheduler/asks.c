/* The asks of an application: rows by name inside groups of (priority, allocation id, capability).
 * Rows come from ApplicationMasters; their number is bounded by RM_MAX_ASK_ROWS. The count in an
 * ask is absolute: it replaces that of an earlier row. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>
#include <string.h>

static int growth_order(const struct rm_sched_container *a, const struct rm_sched_container *b)
{
    if (a->attempt != b->attempt)
        return a->attempt < b->attempt ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int group_order(struct rm_ask_group *a, struct rm_ask_group *b)
{
    if (!a->grows != !b->grows) /* new containers come before others grow */
        return a->grows ? 1 : -1;
    if (a->priority != b->priority) /* lower number first */
        return a->priority < b->priority ? -1 : 1;
    if (a->allocation_id != b->allocation_id)
        return a->allocation_id < b->allocation_id ? -1 : 1;
    if (a->capability.mem != b->capability.mem) /* larger first: it is harder to place */
        return a->capability.mem > b->capability.mem ? -1 : 1;
    if (a->capability.vcores != b->capability.vcores)
        return a->capability.vcores > b->capability.vcores ? -1 : 1;
    for (int i = 0; i < RM_RES_EXTRA; i++)
        if (a->capability.extra[i] != b->capability.extra[i])
            return a->capability.extra[i] > b->capability.extra[i] ? -1 : 1;
    return a->grows ? growth_order(a->grows, b->grows) : 0;
}

/* A group for new containers. */
static struct rm_ask_group *group_find(struct rm_sched_app *app, int32_t priority,
                                       int64_t allocation_id, struct rm_res cap)
{
    struct rm_ask_group *g, probe = { .key = { priority, allocation_id, cap, 0 } };

    HASH_FIND(hh, app->group_table, &probe.key, sizeof(probe.key), g);
    return g;
}

/* One request may bring thousands of new groups in any order: one sort, not an insertion in order
 * for each. */
void rm_asks_sort(struct rm_sched_app *app)
{
    if (app->groups_unsorted)
        DL_SORT(app->groups, group_order);
    app->groups_unsorted = false;
}

struct rm_ask_row *rm_asks_row(const struct rm_ask_group *g, const struct rm_label *name)
{
    struct rm_ask_row *row;

    HASH_FIND_BYHASHVALUE(hh, g->rows, name->name, name->len, name->hash, row);
    return row;
}

/* Call it after each change of g->any, g->rows or g->missed. */
static void note_general(struct rm_sched_app *app, struct rm_ask_group *g)
{
    bool general = g->any > 0 && (!g->rows || g->missed > 0);

    if (general == g->general)
        return;
    g->general = general;
    rm_app_general(app, general ? 1 : -1);
}

void rm_asks_missed(struct rm_sched_app *app, struct rm_ask_group *g)
{
    g->missed++;
    note_general(app, g);
}

static void row_drop(struct rm_sched *s, struct rm_sched_app *app, struct rm_ask_group *g,
                     struct rm_ask_row *row)
{
    HASH_DEL(g->rows, row);
    rm_place_remove(s, row);
    free(row);
    app->n_rows--;
}

/* It waits no longer; its containers may keep it. */
static void placement_ends(struct rm_sched *s, struct rm_sched_app *app, struct rm_placement *p)
{
    p->group = NULL;
    app->n_placed--;
    app->placed_cost -= p->cost;
    if (p->keyed)
        HASH_DELETE(hk, app->placed_keys, p);
    p->keyed = false;
    rm_placement_put(s, p);
}

static void group_free(struct rm_sched *s, struct rm_sched_app *app, struct rm_ask_group *g)
{
    struct rm_ask_row *row, *tmp;

    HASH_ITER (hh, g->rows, row, tmp)
        row_drop(s, app, g, row);
    g->any = 0;
    note_general(app, g);
    if (app->refused.group == g)
        app->refused.group = NULL;
    DL_DELETE(app->groups, g);
    if (g->grows)
        g->grows->growth = NULL;
    HASH_DELETE(hh, app->group_table, g);
    app->n_groups--;
    if (g->placement)
        placement_ends(s, app, g->placement);
    free(g);
}

/* Frees an empty group, unless a node is reserved for it. */
void rm_asks_collect(struct rm_sched *s, struct rm_sched_app *app, struct rm_ask_group *g)
{
    if (g->any == 0 && !g->rows && g->reserved == 0)
        group_free(s, app, g);
}

static void pend(struct rm_sched_app *app, struct rm_res cap, int64_t n)
{
    struct rm_res r = rm_res_times(cap, n);

    app->pending = rm_res_add(app->pending, r);
    app->n_pending += n;
    rm_queue_pend(app->leaf, r);
    rm_app_ready(app);
}

/* In no list and no table yet. */
static int group_new(struct rm_sched_app *app, const struct rm_ask *ask, struct rm_ask_group **ret)
{
    struct rm_ask_group *g;

    if (app->n_groups >= RM_MAX_ASK_GROUPS)
        return -E2BIG;
    g = calloc(1, sizeof(*g));
    if (!g)
        sv_out_of_memory();
    g->key.priority = g->priority = ask->priority;
    g->key.allocation_id = g->allocation_id = ask->allocation_id;
    g->capability = ask->capability;
    g->key.capability = ask->capability;
    g->any_relax = true;
    *ret = g;
    return 0;
}

static void group_enter(struct rm_sched_app *app, struct rm_ask_group *g)
{
    app->groups_unsorted |= app->groups && group_order(app->groups->prev, g) > 0;
    DL_APPEND(app->groups, g);
    HASH_ADD(hh, app->group_table, key, sizeof(g->key), g);
    app->n_groups++;
}

static int group_get(struct rm_sched_app *app, const struct rm_ask *ask, struct rm_ask_group **ret)
{
    struct rm_ask_group *g = group_find(app, ask->priority, ask->allocation_id, ask->capability);

    if (!g) {
        int r = group_new(app, ask, &g);

        if (r < 0)
            return r;
        group_enter(app, g);
    }
    *ret = g;
    return 0;
}

static int row_set(struct rm_sched *s, struct rm_sched_app *app, struct rm_ask_group *g,
                   const struct rm_ask *ask)
{
    struct rm_label name = rm_label(ask->name);
    struct rm_ask_row *row = rm_asks_row(g, &name);

    if (ask->count == 0) {
        if (row)
            row_drop(s, app, g, row);
        return 0;
    }
    if (!row) {
        if (app->n_rows >= RM_MAX_ASK_ROWS)
            return -E2BIG;
        row = calloc(1, sizeof(*row));
        if (!row)
            sv_out_of_memory();
        row->app = app;
        rm_place_add(s, &name, row);
        HASH_ADD_KEYPTR_BYHASHVALUE(hh, g->rows, row->name, name.len, name.hash, row);
        app->n_rows++;
    }
    row->count = SV_MIN(ask->count, RM_MAX_ASK_COUNT);
    row->relax = ask->relax;
    return 0;
}

/* CapacityScheduler's locality delay: a group is allocated first on the hosts that it names, on
 * their racks after some missed opportunities, on any node after more. */
bool rm_asks_rack_now(const struct rm_sched *s, const struct rm_ask_group *g)
{
    const struct rm_sched_settings *set = &s->set;

    return set->node_locality_delay < 0 ||
           g->missed > SV_MIN((int64_t)SV_MAX(s->n_nodes, 1), set->node_locality_delay);
}

bool rm_asks_any_now(const struct rm_sched *s, const struct rm_ask_group *g)
{
    const struct rm_sched_settings *set = &s->set;
    int64_t nodes = SV_MAX(s->n_nodes, 1), places = (int64_t)HASH_COUNT(g->rows);

    if (!g->any_relax)
        return false;
    if (places == 0)
        return true;
    if (set->rack_additional_delay > -1)
        return g->missed > SV_MIN(nodes, set->node_locality_delay + set->rack_additional_delay);
    return g->missed >
           SV_MIN(nodes, (int64_t)((double)g->any * SV_MIN((double)places / (double)nodes, 1)));
}

int rm_asks_update(struct rm_sched *s, struct rm_sched_app *app, const struct rm_ask *ask)
{
    struct rm_ask_group *g = group_find(app, ask->priority, ask->allocation_id, ask->capability);
    int r;

    if (!g && ask->count == 0)
        return 0;
    r = group_get(app, ask, &g);
    if (r < 0)
        return r;
    if (strcmp(ask->name, RM_ANY) == 0) {
        int32_t count = SV_MIN(ask->count, RM_MAX_ASK_COUNT);
        int64_t more = (int64_t)count - g->any;

        if (g->any == 0)
            g->asked_ms = s->now_ms;
        g->any = count;
        g->any_relax = ask->relax;
        if (more > 0)
            g->missed = 0;
        pend(app, g->capability, more);
    } else {
        r = row_set(s, app, g, ask);
        rm_free_nodes_visit_host(s, ask->name);
    }
    note_general(app, g);
    if (g->any > 0 && (rm_asks_any_now(s, g) || (g->rows && rm_asks_rack_now(s, g))))
        rm_free_nodes_scan(s);
    rm_asks_collect(s, app, g);
    return r;
}

void rm_asks_drop(struct rm_sched *s, struct rm_sched_app *app, struct rm_ask_group *g)
{
    while (g->reservations)
        rm_unreserve(s, g->reservations);
    pend(app, g->capability, -(int64_t)g->any);
    g->any = 0;
    group_free(s, app, g);
}

void rm_asks_clear(struct rm_sched *s, struct rm_sched_app *app)
{
    struct rm_ask_group *g, *tmp;

    DL_FOREACH_SAFE (app->groups, g, tmp)
        rm_asks_drop(s, app, g);
}

/* Its row names the node's host, so that a visit of the node finds the application. One request may
 * bring thousands: the sort of the next request brings them into their order. */
int rm_asks_grow(struct rm_sched *s, struct rm_sched_container *c, struct rm_res more)
{
    struct rm_ask ask = { .priority = c->priority,
                          .allocation_id = c->allocation_id,
                          .name = c->node->host_label.name,
                          .capability = more,
                          .count = 1 };
    struct rm_ask_group *g;
    int r = c->app->n_rows >= RM_MAX_ASK_ROWS ? -E2BIG : group_new(c->app, &ask, &g);

    if (r < 0)
        return r;
    g->key.container = rm_pool_handle(c);
    g->grows = c;
    c->growth = g;
    group_enter(c->app, g);
    r = row_set(s, c->app, g, &ask); /* there is room: it was checked */
    g->any = 1;
    g->any_relax = false;
    pend(c->app, more, 1);
    rm_free_nodes_visit(s, c->node, false);
    return r;
}

static int placement_begins(struct rm_sched_app *app, struct rm_placement *p)
{
    struct rm_ask ask = { .priority = (int32_t)p->key.priority,
                          .allocation_id = p->key.allocation_id,
                          .capability = p->capability };
    struct rm_ask_group *g;
    struct rm_placement *same;
    int r = group_new(app, &ask, &g);

    if (r < 0)
        return r;
    g->key.container = -1; /* no other ask finds it by its key */
    g->placement = p;
    group_enter(app, g);
    p->refs++;
    p->group = g;
    p->attempts = 0;
    p->fitted = false;
    app->n_placed++;
    app->placed_cost += p->cost;
    HASH_FIND(hk, app->placed_keys, &p->key, sizeof(p->key), same);
    if (!same) {
        HASH_ADD(hk, app->placed_keys, key, sizeof(p->key), p);
        p->keyed = true;
    }
    return 0;
}

int rm_asks_place(struct rm_sched *s, struct rm_placement *p, int32_t count)
{
    struct rm_sched_app *app = p->app;
    struct rm_ask_group *g;
    int32_t more;
    int r = 0;

    if (count == 0) {
        if (p->group)
            rm_asks_drop(s, app, p->group);
        return 0;
    }
    if (!p->group)
        r = placement_begins(app, p);
    if (r < 0)
        return r;
    g = p->group;
    if (g->any == 0)
        g->asked_ms = s->now_ms;
    more = SV_MIN(count, RM_MAX_ASK_COUNT) - g->any;
    g->any += more;
    note_general(app, g);
    pend(app, g->capability, more);
    rm_free_nodes_scan(s);
    return 0;
}

static void row_less(struct rm_sched *s, struct rm_sched_app *app, struct rm_ask_group *g,
                     const struct rm_label *name)
{
    struct rm_ask_row *row = rm_asks_row(g, name);

    if (row && --row->count <= 0)
        row_drop(s, app, g, row);
}

void rm_asks_took(struct rm_sched *s, struct rm_sched_app *app, struct rm_ask_group *g,
                  const struct rm_sched_node *n, enum rm_locality l)
{
    if (l == RM_NODE_LOCAL)
        row_less(s, app, g, &n->host_label);
    if (l != RM_OFF_SWITCH)
        row_less(s, app, g, &n->rack_label);
    if (l == RM_NODE_LOCAL || (l == RM_RACK_LOCAL && s->set.rack_full_reset))
        g->missed = 0;
    g->any--;
    note_general(app, g);
    pend(app, g->capability, -1);
    rm_asks_collect(s, app, g);
}

static int place_back(struct rm_sched *s, struct rm_sched_app *app, struct rm_placement *p)
{
    int r = rm_asks_place(s, p, (p->group ? p->group->any : 0) + 1);

    rm_asks_sort(app);
    return r;
}

int rm_asks_put_back(struct rm_sched *s, struct rm_sched_app *app,
                     const struct rm_sched_container *c)
{
    struct rm_ask ask = { .priority = c->priority,
                          .allocation_id = c->allocation_id,
                          .capability = c->resource,
                          .relax = true };
    struct rm_ask_group *g;
    struct rm_ask_row *row;
    int r;

    if (c->placed && c->placement->request)
        return place_back(s, app, c->placement);
    r = group_get(app, &ask, &g);
    if (r < 0)
        return r;
    rm_asks_sort(app);
    if (c->locality == RM_NODE_LOCAL) {
        row = rm_asks_row(g, &c->node->host_label);
        ask.name = c->node->host_label.name;
        ask.count = (row ? row->count : 0) + 1;
        ask.relax = row ? row->relax : true;
        r = row_set(s, app, g, &ask);
    }
    if (r >= 0 && c->locality != RM_OFF_SWITCH) {
        row = rm_asks_row(g, &c->node->rack_label);
        ask.name = c->node->rack;
        ask.count = (row ? row->count : 0) + 1;
        ask.relax = row ? row->relax : true;
        r = row_set(s, app, g, &ask);
    }
    if (g->any++ == 0)
        g->asked_ms = s->now_ms;
    note_general(app, g);
    pend(app, g->capability, 1);
    return r;
}

static int name_add(struct rm_name **set, const char *name)
{
    struct rm_name *n;

    HASH_FIND_STR(*set, name, n);
    if (n)
        return 0;
    if (HASH_COUNT(*set) >= RM_MAX_ASK_ROWS)
        return -E2BIG;
    n = calloc(1, sizeof(*n));
    if (!n || !(n->name = strdup(name)))
        sv_out_of_memory();
    HASH_ADD_KEYPTR(hh, *set, n->name, strlen(n->name), n);
    return 0;
}

int rm_blacklist_update(struct rm_sched_app *app, const struct rm_ev_ask *ev)
{
    int r = 0;

    for (size_t i = 0; i < ev->n_blacklist_add && r >= 0; i++)
        r = name_add(&app->blacklist, ev->blacklist_add[i]);
    for (size_t i = 0; i < ev->n_blacklist_remove; i++) {
        struct rm_name *n;

        HASH_FIND_STR(app->blacklist, ev->blacklist_remove[i], n);
        if (n) {
            HASH_DEL(app->blacklist, n);
            free(n->name);
            free(n);
        }
    }
    return r;
}

void rm_blacklist_clear(struct rm_sched_app *app)
{
    struct rm_name *n, *tmp;

    HASH_ITER (hh, app->blacklist, n, tmp) {
        HASH_DEL(app->blacklist, n);
        free(n->name);
        free(n);
    }
}
