/* Choice of an application's home; see route.h. */
#include "federation/policy/route.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "federation/policy/java-text.h"
#include "proto/yarn.pb-c.h"

struct choice {
    const struct fed_manager *manager;
    const struct fed_submission *s;
    struct sv_error *err;
    const size_t *open; /* the members that may be chosen, by index */
    size_t n_open;
};

static const char *queue_of(const struct fed_submission *s)
{
    return s->queue ? s->queue : "default";
}

static const char *id_of(const struct choice *c, size_t i)
{
    return c->s->members[c->open[i]].id;
}

static int no_weight(const struct choice *c)
{
    return sv_error_set(c->err, -EHOSTUNREACH,
                        "%s: no active sub-cluster has a weight above 0 in the routerPolicyWeights",
                        c->manager->name);
}

/* ---- The rules ---- */

static int by_chance(const struct choice *c, size_t *ret)
{
    *ret = c->s->random->below(c->s->random->userdata, c->n_open);
    return 0;
}

/* The queue's hash is a place in the sorted list of ids. */
static int by_hash(const struct choice *c, size_t *ret)
{
    int32_t place = fed_java_hash(queue_of(c->s)) % (int32_t)c->n_open;
    size_t wanted = (size_t)(place < 0 ? -place : place);

    for (size_t i = 0; i < c->n_open; i++) {
        size_t before = 0;

        for (size_t j = 0; j < c->n_open; j++)
            before += strcmp(id_of(c, j), id_of(c, i)) < 0;
        if (before == wanted)
            *ret = i;
    }
    return 0;
}

static int by_priority(const struct choice *c, size_t *ret)
{
    float best = 0;

    for (size_t i = 0; i < c->n_open; i++) {
        float w = fed_weight_of(&c->manager->weights.router, id_of(c, i));

        if (w > best) {
            best = w;
            *ret = i;
        }
    }
    return best > 0 ? 0 : no_weight(c);
}

static size_t find_open(const struct choice *c, const char *id)
{
    for (size_t i = 0; i < c->n_open; i++)
        if (strcmp(id_of(c, i), id) == 0)
            return i;
    return c->n_open;
}

/* In the order of the weights, as Java draws. */
static int by_weight(const struct choice *c, size_t *ret)
{
    const struct fed_weight_list *list = &c->manager->weights.router;
    _cleanup_free_ float *weights = calloc(list->n + 1, sizeof(*weights));
    size_t drawn;

    if (!weights)
        return sv_error_set(c->err, -ENOMEM, "%s: out of memory", c->manager->name);
    for (size_t i = 0; i < list->n; i++)
        weights[i] = find_open(c, list->v[i].id) < c->n_open ? list->v[i].value : 0;
    drawn = fed_random_weighted(c->s->random, weights, list->n);
    if (drawn == list->n)
        return no_weight(c);
    *ret = find_open(c, list->v[drawn].id);
    return 0;
}

static int reject(const struct choice *c, size_t *ret)
{
    char queue[FED_NAME_MAX];

    (void)ret;
    sv_escape(queue, sizeof(queue), queue_of(c->s));
    return sv_error_set(c->err, -EPERM,
                        "queue %s takes no applications: its federation policy is %s", queue,
                        c->manager->name);
}

/* ---- The node that the master asks for ---- */

static bool is_any(const Hadoop__Yarn__ResourceRequestProto *row)
{
    return row->resource_name && strcmp(row->resource_name, "*") == 0;
}

/* The sub-cluster of the node among three rows for a node, a rack and any place; NULL: the rows are
 * others, or the node is unknown. */
static const char *cluster_of_rows(const struct fed_submission *s)
{
    const char *node = NULL;
    bool rack = false, any = false;

    for (size_t i = 0; i < s->n_rows; i++) {
        const char *name = s->rows[i]->resource_name;
        const uint16_t *unused;
        int number = name ? fed_resolver_node(s->resolver, name) : -ENOENT;

        if (number >= 0)
            node = fed_resolver_id(s->resolver, (size_t)number);
        rack |= name && fed_resolver_rack(s->resolver, name, &unused) > 0;
        any |= is_any(s->rows[i]);
    }
    return rack && any ? node : NULL;
}

static int by_place(const struct choice *c, size_t *ret, bool *ret_drop_places)
{
    const struct fed_submission *s = c->s;
    const char *wanted;
    size_t found;

    if (s->n_rows == 0 || (s->n_rows == 1 && is_any(s->rows[0])))
        return by_weight(c, ret);
    if (s->n_rows != 3)
        return sv_error_set(c->err, -EINVAL,
                            "the master has %zu resource requests: %s takes none, one for any "
                            "place, or three for a node, its rack and any place",
                            s->n_rows, c->manager->name);
    wanted = cluster_of_rows(s);
    found = wanted ? find_open(c, wanted) : c->n_open;
    if (found < c->n_open && fed_weight_of(&c->manager->weights.router, wanted) > 0) {
        *ret = found;
        return 0;
    }
    *ret_drop_places = true;
    return by_weight(c, ret);
}

/* ---- Candidates ---- */

/* The members that may be chosen: active, not tried, and of the reservation if there is one. */
static size_t collect(const struct fed_submission *s, size_t *open)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_members; i++) {
        const struct fed_candidate *m = &s->members[i];

        if (m->active && !m->excluded && (!s->reserved || strcmp(m->id, s->reserved) == 0))
            open[n++] = i;
    }
    return n;
}

static int none_open(const struct fed_submission *s, struct sv_error *err)
{
    char id[FED_NAME_MAX];

    if (!s->reserved)
        return sv_error_set(err, -EHOSTUNREACH,
                            "no sub-cluster takes the application: none is active (SC_RUNNING), or "
                            "its submission has failed at each");
    sv_escape(id, sizeof(id), s->reserved);
    return sv_error_set(err, -EHOSTUNREACH,
                        "the reservation's sub-cluster %s does not take the application: it is not "
                        "active (SC_RUNNING), or the submission has failed there",
                        id);
}

static int choose(const struct choice *c, size_t *ret, bool *ret_drop_places)
{
    switch (c->manager->routing) {
    case FED_ROUTE_RANDOM:
        return by_chance(c, ret);
    case FED_ROUTE_HASH:
        return by_hash(c, ret);
    case FED_ROUTE_PRIORITY:
        return by_priority(c, ret);
    case FED_ROUTE_WEIGHTED:
        return by_weight(c, ret);
    case FED_ROUTE_LOCALITY:
        return by_place(c, ret, ret_drop_places);
    case FED_ROUTE_REJECT:
        break;
    }
    return reject(c, ret);
}

int fed_route(const struct fed_manager *m, const struct fed_submission *s,
              struct fed_home_choice *ret, struct sv_error *err)
{
    _cleanup_free_ size_t *open = calloc(s->n_members + 1, sizeof(*open));
    struct choice c = { m, s, err, open, 0 };
    bool drop_places = false;
    size_t chosen = 0;
    int r;

    if (!open)
        return sv_error_set(err, -ENOMEM, "%s: out of memory", m->name);
    c.n_open = collect(s, open);
    r = c.n_open ? choose(&c, &chosen, &drop_places) : none_open(s, err);
    if (r < 0)
        return r;
    *ret = (struct fed_home_choice){ open[chosen], drop_places };
    return 0;
}
