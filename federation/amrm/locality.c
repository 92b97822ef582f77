/* Splitting by locality; see locality.h. Hostile: a master's rows. */
#include "federation/amrm/locality.h"

#include <errno.h>
#include <string.h>

#include "federation/amrm/ledger.h"
#include "federation/amrm/shares.h"
#include "federation/amrm/target-index.h"
#include "federation/amrm/weighing.h"

#define NOBODY SIZE_MAX

typedef Hadoop__Yarn__ResourceRequestProto row_proto;

enum phase { LOCATED, ANYWHERE, CLOSING };

struct fed_locality {
    const struct fed_asking *in;
    row_proto **rows;
    size_t n_rows;
    struct sv_arena *arena;
    struct fed_weighing w;
    struct fed_ledger *ledger;
    size_t *target_of; /* of the resolver's sub-clusters; NOBODY: not a target */
    size_t *targets;   /* room for one row's */
    enum phase phase;
    size_t at; /* the next row */
};

static bool is_any(const row_proto *row)
{
    return strcmp(row->resource_name, "*") == 0;
}

/* ---- Places ---- */

/* Members and the list's sub-clusters are up to FED_MEMBERS_MAX: no loop over both. */
static int map_resolver(struct fed_locality *s)
{
    size_t n = fed_resolver_count(s->in->resolver);
    struct fed_target_index index;

    s->target_of = sv_newn(s->arena, size_t, n + 1);
    if (!s->target_of || fed_target_index_make(s->in, s->arena, &index) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        s->target_of[i] = fed_target_find(&index, fed_resolver_id(s->in->resolver, i));
    return 0;
}

/* The member that is asked for a node; NOBODY: the node is unknown, or its member is not asked. */
static size_t target_of_node(struct fed_locality *s, const char *node)
{
    int number = fed_resolver_node(s->in->resolver, node);
    size_t target = number < 0 ? NOBODY : s->target_of[number];

    if (number >= 0 && s->in->conf->by_load)
        target = fed_least_loaded(&s->w, target);
    return target != NOBODY && s->w.is_open[target] ? target : NOBODY;
}

/* 1: the rack is known, and members were asked; 0: known, none of its members may be asked;
 * -ENOENT: unknown. */
static int put_rack(struct fed_locality *s, row_proto *row)
{
    const uint16_t *clusters = NULL;
    size_t n = fed_resolver_rack(s->in->resolver, row->resource_name, &clusters);
    int found = 0;

    if (n == 0)
        return -ENOENT;
    for (size_t i = 0; i < n; i++) {
        size_t target = s->target_of[clusters[i]];
        int r;

        if (target == NOBODY || !s->w.is_open[target])
            continue;
        r = fed_ledger_put_rack(s->ledger, target, row);
        if (r < 0)
            return r;
        found = 1;
    }
    return found;
}

/* A member drawn once for all such rows of an allocation request id. */
static int put_unknown(struct fed_locality *s, row_proto *row, bool rack)
{
    struct fed_request_id *id = fed_ledger_id(s->ledger, row->allocation_request_id);
    size_t target;

    if (!id)
        return -ENOMEM;
    if (id->unknown_to < 0)
        id->unknown_to =
            (int64_t)s->w.open[s->in->random->below(s->in->random->userdata, s->w.n_open)];
    target = (size_t)id->unknown_to;
    return rack ? fed_ledger_put_rack(s->ledger, target, row)
                : fed_ledger_put_node(s->ledger, target, row);
}

static int put_located(struct fed_locality *s, row_proto *row)
{
    size_t target = target_of_node(s, row->resource_name);
    int r;

    if (target != NOBODY)
        return fed_ledger_put_node(s->ledger, target, row);
    r = put_rack(s, row);
    if (r == 1)
        return 0;
    return r == 0 || r == -ENOENT ? put_unknown(s, row, r == 0) : r;
}

/* ---- Any place ---- */

/* A request for none cancels an earlier one, wherever that went. */
static int put_cancel(struct fed_locality *s, row_proto *row)
{
    for (size_t i = 0; i < s->in->n_targets; i++) {
        int r = s->in->targets[i].answered ? fed_ledger_put_any(s->ledger, i, row) : 0;

        if (r < 0)
            return r;
    }
    return 0;
}

static int put_count(struct fed_locality *s, size_t target, const row_proto *row, int32_t count)
{
    row_proto *copy;

    if (count == 0)
        return 0;
    copy = sv_new(s->arena, row_proto);
    if (!copy)
        return -ENOMEM;
    *copy = *row;
    copy->has_num_containers = true;
    copy->num_containers = count;
    return fed_ledger_put_any(s->ledger, target, copy);
}

/* By the located containers of the same id if there are any, which are in few members; else over
 * all that are asked. Fills s->w.weights and `targets`, returns their number. */
static size_t weigh_any(struct fed_locality *s, const struct fed_request_id *id, size_t *targets)
{
    size_t n = 0;

    for (const struct fed_share *h = id->shares; h; h = h->next) {
        targets[n] = (size_t)h->key.target;
        s->w.weights[n++] = (float)h->located / (float)id->located;
    }
    if (n)
        return n;
    for (; n < s->w.n_open; n++) {
        targets[n] = s->w.open[n];
        s->w.weights[n] = fed_weight_of_target(&s->w, s->w.open[n]);
    }
    return n;
}

static int put_any(struct fed_locality *s, row_proto *row, struct fed_budget *b)
{
    const struct fed_request_id *id;
    size_t n;
    int r;

    if (row->num_containers == 0)
        return put_cancel(s, row);
    id = fed_ledger_id(s->ledger, row->allocation_request_id);
    if (!id)
        return -ENOMEM;
    n = weigh_any(s, id, s->targets);
    fed_spend(b, n / 16 + n * SV_MIN((size_t)row->num_containers, n) / 256);
    r = fed_shares(row->num_containers, s->w.weights, n, s->in->random, s->w.counts);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = put_count(s, s->targets[i], row, s->w.counts[i]);
    return r;
}

/* ---- All ---- */

static int put_row(struct fed_locality *s, row_proto *row, struct fed_budget *b)
{
    size_t before = fed_ledger_count(s->ledger);
    int r = 0;

    if (s->phase == LOCATED && !is_any(row)) {
        r = put_located(s, row);
        if (s->in->conf->by_load)
            fed_spend(b, s->w.n_open / 32);
    } else if (s->phase == ANYWHERE && is_any(row)) {
        r = put_any(s, row, b);
    }
    fed_spend(b, fed_ledger_count(s->ledger) - before + (s->at % 8 == 0));
    return r;
}

static int put_rows(struct fed_locality *s, struct fed_budget *b)
{
    for (; s->at < s->n_rows; s->at++) {
        int r;

        if (fed_spent(b))
            return FED_MORE;
        r = put_row(s, s->rows[s->at], b);
        if (r < 0)
            return r;
    }
    return 0;
}

int fed_locality_begin(const struct fed_asking *in, row_proto **rows, size_t n_rows,
                       struct sv_arena *a, struct fed_locality **ret, struct sv_error *err)
{
    struct fed_locality *s = sv_new(a, struct fed_locality);
    int r;

    if (!s)
        return -ENOMEM;
    *s = (struct fed_locality){ .in = in, .rows = rows, .n_rows = n_rows, .arena = a };
    s->targets = sv_newn(a, size_t, in->n_targets + 1);
    r = s->targets ? fed_weigh(in, a, &s->w, err) : -ENOMEM;
    if (r == 0)
        r = map_resolver(s);
    if (r == 0)
        r = fed_ledger_new(a, in->n_targets, &s->ledger);
    if (r == 0)
        *ret = s;
    return r;
}

int fed_locality_run(struct fed_locality *s, struct fed_budget *b, struct fed_asks *ret)
{
    for (; s->phase < CLOSING; s->phase++, s->at = 0) {
        int r = put_rows(s, b);

        if (r != 0)
            return r;
    }
    return fed_ledger_close(s->ledger, b, ret);
}

void fed_locality_end(struct fed_locality *s)
{
    if (s)
        fed_ledger_freep(&s->ledger);
}
