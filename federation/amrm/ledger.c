/* The book of a split; see ledger.h. Rows are a master's, hostile: their number is bounded. */
#include "federation/amrm/ledger.h"

#include <errno.h>

struct placed {
    Hadoop__Yarn__ResourceRequestProto *row;
    const struct fed_share *needs_solid; /* of a rack's row; NULL: always given */
    struct placed *next;
};
struct column { /* one member's rows, in order */
    struct placed *first, **end;
    size_t n;
    struct fed_asks asks; /* as they are closed */
};

struct fed_ledger {
    struct sv_arena *arena;
    struct fed_request_id *ids;
    struct fed_share *shares;
    size_t n_targets, n_placed;
    size_t closing;            /* column */
    const struct placed *next; /* its next row; NULL: it has not begun */
    struct column columns[];
};

int fed_ledger_new(struct sv_arena *a, size_t n_targets, struct fed_ledger **ret)
{
    struct fed_ledger *l = sv_arena_alloc(a, sizeof(*l) + n_targets * sizeof(l->columns[0]));

    if (!l)
        return -ENOMEM;
    l->arena = a;
    l->n_targets = n_targets;
    for (size_t i = 0; i < n_targets; i++)
        l->columns[i].end = &l->columns[i].first;
    *ret = l;
    return 0;
}

void fed_ledger_freep(struct fed_ledger **l)
{
    if (!*l)
        return;
    HASH_CLEAR(hh, (*l)->ids);
    HASH_CLEAR(hh, (*l)->shares);
}

/* ---- Ids ---- */

struct fed_request_id *fed_ledger_id(struct fed_ledger *l, int64_t id)
{
    struct fed_request_id *it;

    HASH_FIND(hh, l->ids, &id, sizeof(id), it);
    if (it)
        return it;
    it = sv_new(l->arena, struct fed_request_id);
    if (!it)
        return NULL;
    it->id = id;
    it->unknown_to = -1;
    HASH_ADD(hh, l->ids, id, sizeof(it->id), it);
    return it->hh.tbl ? it : NULL;
}

static struct fed_share *share_of(struct fed_ledger *l, int64_t id, size_t target)
{
    struct fed_share_key key = { id, (int64_t)target };
    struct fed_share *s;

    HASH_FIND(hh, l->shares, &key, sizeof(key), s);
    if (s)
        return s;
    s = sv_new(l->arena, struct fed_share);
    if (!s)
        return NULL;
    s->key = key;
    HASH_ADD(hh, l->shares, key, sizeof(key), s);
    return s->hh.tbl ? s : NULL;
}

/* Counts are at most FED_PLACED_MAX times 2^31: no sum overflows. */
static void count_located(struct fed_request_id *id, struct fed_share *s, int32_t n)
{
    struct fed_share **at = &id->shares;

    if (s->located == 0) {
        while (*at && (*at)->key.target < s->key.target)
            at = &(*at)->next;
        s->next = *at;
        *at = s;
    }
    s->located += n;
    id->located += n;
}

/* ---- Rows ---- */

static int append(struct fed_ledger *l, size_t target, Hadoop__Yarn__ResourceRequestProto *row,
                  const struct fed_share *needs_solid)
{
    struct column *c = &l->columns[target];
    struct placed *p;

    if (l->n_placed == FED_PLACED_MAX)
        return -E2BIG;
    p = sv_new(l->arena, struct placed);
    if (!p)
        return -ENOMEM;
    *p = (struct placed){ row, needs_solid, NULL };
    *c->end = p;
    c->end = &p->next;
    c->n++;
    l->n_placed++;
    return 0;
}

int fed_ledger_put_node(struct fed_ledger *l, size_t target,
                        Hadoop__Yarn__ResourceRequestProto *row)
{
    struct fed_request_id *id = fed_ledger_id(l, row->allocation_request_id);
    struct fed_share *s = share_of(l, row->allocation_request_id, target);

    if (!id || !s)
        return -ENOMEM;
    s->solid = true;
    if (row->num_containers > 0)
        count_located(id, s, row->num_containers);
    return append(l, target, row, NULL);
}

int fed_ledger_put_rack(struct fed_ledger *l, size_t target,
                        Hadoop__Yarn__ResourceRequestProto *row)
{
    struct fed_share *s = share_of(l, row->allocation_request_id, target);

    return s ? append(l, target, row, s) : -ENOMEM;
}

int fed_ledger_put_any(struct fed_ledger *l, size_t target, Hadoop__Yarn__ResourceRequestProto *row)
{
    struct fed_share *s = share_of(l, row->allocation_request_id, target);

    if (!s)
        return -ENOMEM;
    s->solid = true;
    return append(l, target, row, NULL);
}

size_t fed_ledger_count(const struct fed_ledger *l)
{
    return l->n_placed;
}

static int close_column(struct fed_ledger *l, struct column *c, struct fed_budget *b)
{
    if (!c->asks.rows) {
        c->asks.rows = sv_newn(l->arena, Hadoop__Yarn__ResourceRequestProto *, c->n + 1);
        l->next = c->first;
    }
    if (!c->asks.rows)
        return -ENOMEM;
    for (size_t n = 0; l->next; l->next = l->next->next, n++) {
        const struct placed *p = l->next;

        if (fed_spent(b))
            return FED_MORE;
        if (!p->needs_solid || p->needs_solid->solid)
            c->asks.rows[c->asks.n++] = p->row;
        if (n % 8 == 0)
            fed_spend(b, 1);
    }
    return 0;
}

int fed_ledger_close(struct fed_ledger *l, struct fed_budget *b, struct fed_asks *ret)
{
    for (; l->closing < l->n_targets; l->closing++) {
        int r = close_column(l, &l->columns[l->closing], b);

        if (r != 0)
            return r;
    }
    for (size_t i = 0; i < l->n_targets; i++)
        ret[i] = l->columns[i].asks;
    return 0;
}
