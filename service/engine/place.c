/* See place.h. */
#include "service/engine/place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/oom.h"
#include "service/engine/hash.h"

struct ranges { /* owned */
    struct svc_range *list;
    size_t n;
};

struct claim {
    int64_t request;
    struct node *node;
    int64_t memory_mb, cpus;
    struct svc_gpus gpus;
    struct ranges ports;
    struct claim *prev, *next; /* of the node */
    UT_hash_handle hh;
};

struct node {
    char *host, *label;
    int64_t memory_mb, cpus; /* not used, as the node reported */
    struct svc_gpus total, gpus;
    struct ranges ports;
    bool ports_known;
    struct claim *claims;
    struct svc_gpus tried;
    struct ranges tried_ports;
    struct { /* what is left of it, without claims */
        int64_t memory_mb, cpus;
        struct svc_gpus gpus;
        struct ranges ports;
    } free;
    UT_hash_handle hh;
};

struct svc_places {
    struct node *nodes;
    struct claim *claims;
};

/* ---- memory ----------------------------------------------------------------------------------*/

static void *checked(void *p)
{
    if (!p)
        sv_out_of_memory();
    return p;
}

static struct svc_range *room(size_t n)
{
    return checked(calloc(n + 1, sizeof(struct svc_range)));
}

static void keep(struct ranges *to, const struct svc_range *list, size_t n)
{
    struct svc_range *copy = room(n);

    if (n)
        memcpy(copy, list, n * sizeof(*list));
    free(to->list);
    to->list = copy;
    to->n = svc_ranges_coalesce(copy, n);
}

static void take(struct ranges *to, struct svc_range *list, size_t n)
{
    free(to->list);
    to->list = list;
    to->n = n;
}

static void subtract(struct ranges *from, const struct ranges *what)
{
    struct svc_range *rest = room(from->n + what->n);

    take(from, rest, svc_ranges_subtract(from->list, from->n, what->list, what->n, rest));
}

static void intersect(struct ranges *with, const struct ranges *what)
{
    struct svc_range *both = room(with->n + what->n);

    take(with, both, svc_ranges_intersect(with->list, with->n, what->list, what->n, both));
}

static void add(struct ranges *to, const struct ranges *what)
{
    struct svc_range *sum = room(to->n + what->n);

    take(to, sum, svc_ranges_add(to->list, to->n, what->list, what->n, sum));
}

struct svc_places *svc_places_new(void)
{
    return checked(calloc(1, sizeof(struct svc_places)));
}

static void free_claim(struct svc_places *p, struct claim *c)
{
    HASH_DEL(p->claims, c);
    DL_DELETE(c->node->claims, c);
    free(c->ports.list);
    free(c);
}

static void free_node(struct svc_places *p, struct node *n)
{
    while (n->claims)
        free_claim(p, n->claims);
    HASH_DEL(p->nodes, n);
    free(n->host);
    free(n->label);
    free(n->ports.list);
    free(n->tried_ports.list);
    free(n->free.ports.list);
    free(n);
}

struct svc_places *svc_places_free(struct svc_places *p)
{
    while (p && p->nodes)
        free_node(p, p->nodes);
    free(p);
    return NULL;
}

/* ---- nodes -----------------------------------------------------------------------------------*/

static struct node *node_named(const struct svc_places *p, const char *host)
{
    struct node *n;

    HASH_FIND_STR(p->nodes, host, n);
    return n;
}

static void refresh(struct node *n)
{
    const struct claim *c;

    n->free.memory_mb = n->memory_mb;
    n->free.cpus = n->cpus;
    n->free.gpus = n->gpus;
    keep(&n->free.ports, n->ports.list, n->ports.n);
    DL_FOREACH (n->claims, c) {
        n->free.memory_mb -= c->memory_mb;
        n->free.cpus -= c->cpus;
        n->free.gpus = svc_gpus_subtract(n->free.gpus, c->gpus);
        subtract(&n->free.ports, &c->ports);
    }
}

void svc_places_report(struct svc_places *p, const struct svc_place_report *r)
{
    struct node *n = node_named(p, r->host);

    if (!n) {
        n = checked(calloc(1, sizeof(*n)));
        n->host = checked(strdup(r->host));
        HASH_ADD_KEYPTR(hh, p->nodes, n->host, strlen(n->host), n);
    }
    free(n->label);
    n->label = checked(strdup(r->label ?: ""));
    n->memory_mb = r->total.memory_mb - r->used.memory_mb;
    n->cpus = r->total.cpus - r->used.cpus;
    n->total = r->total.gpus;
    n->gpus = svc_gpus_subtract(r->total.gpus, r->used.gpus);
    n->ports_known = r->ports_known;
    keep(&n->ports, r->total.ports, r->total.n_ports);
    n->tried = (struct svc_gpus){ 0 };
    keep(&n->tried_ports, NULL, 0);
    refresh(n);
}

void svc_places_remove(struct svc_places *p, const char *host)
{
    struct node *n = node_named(p, host);

    if (n)
        free_node(p, n);
}

/* ---- what fits -------------------------------------------------------------------------------*/

enum lack { FITS, LABEL, TYPE, SPARED, GPUS, PORTS, SIZE };

struct search {
    const struct svc_place_wish *w;
    struct ranges fixed;
    int64_t chosen_ports; /* how many are to be chosen */
    struct node **candidates;
    size_t n;
    struct node *able; /* one of those that have the mask's GPUs, free or not */
    size_t n_able;
};

static void want_ports(struct search *s)
{
    const struct svc_fw_resource *r = s->w->resource;
    struct svc_range *list = room(r->n_ports);
    size_t n = 0;

    for (size_t i = 0; i < r->n_ports; i++) {
        const struct svc_fw_ports *ports = &r->ports[i];

        if (!ports->start)
            s->chosen_ports += ports->count;
        else if (ports->count > 0)
            list[n++] = (struct svc_range){ ports->start, (int32_t)SV_MIN((int64_t)ports->start +
                                                                              ports->count - 1,
                                                                          (int64_t)INT32_MAX) };
    }
    take(&s->fixed, list, svc_ranges_coalesce(list, n));
}

/* One of "K80,M60". */
static bool is_listed(const char *types, const char *type)
{
    size_t len = type ? strlen(type) : 0;

    for (const char *at = types; len;) {
        size_t n = strcspn(at, ",");

        if (n == len && strncmp(at, type, len) == 0)
            return true;
        if (!at[n])
            return false;
        at += n + 1;
    }
    return false;
}

static struct svc_gpus gpus_of(const struct search *s, const struct node *n)
{
    return s->w->skip_tried ? svc_gpus_subtract(n->free.gpus, n->tried) : n->free.gpus;
}

/* Its free ports, but for the fixed ones; `own` has them if they are not the node's own list. */
static struct ranges ports_of(const struct search *s, const struct node *n, struct ranges *own)
{
    bool tried = s->w->skip_tried && n->tried_ports.n;

    if (!tried && !s->fixed.n)
        return n->free.ports;
    keep(own, n->free.ports.list, n->free.ports.n);
    if (tried)
        subtract(own, &n->tried_ports);
    subtract(own, &s->fixed);
    return *own;
}

static bool has_ports(const struct search *s, const struct node *n)
{
    struct ranges own = { 0 }, left;
    bool has;

    if (!n->ports_known || (!s->chosen_ports && !s->fixed.n))
        return true;
    if (!svc_ranges_fit(s->fixed.list, s->fixed.n, n->free.ports.list, n->free.ports.n))
        return false;
    left = ports_of(s, n, &own);
    has = svc_ranges_count_from(left.list, left.n, s->w->min_port) >= s->chosen_ports;
    free(own.list);
    return has;
}

/* The places of GPUs begin at 0 on a node that reports a number alone. */
static bool has_mask(const struct node *n, struct svc_gpus free, uint64_t mask)
{
    if (!mask)
        return true;
    return free.mask ? !(mask & ~free.mask) : 64 - __builtin_clzll(mask) <= n->total.n;
}

static enum lack lacks(const struct search *s, const struct node *n)
{
    const struct svc_place_wish *w = s->w;
    const struct svc_fw_resource *r = w->resource;
    struct svc_gpus gpus = gpus_of(s, n);

    if (strcmp(n->label, w->label ?: "") != 0)
        return LABEL;
    if (w->gpu_types && w->type_of && !is_listed(w->gpu_types, w->type_of(w->userdata, n->host)))
        return TYPE;
    if (w->spare_gpu_nodes && !r->gpus && n->total.n > 0)
        return SPARED;
    if (gpus.n < r->gpus || !has_mask(n, gpus, (uint64_t)r->gpu_mask))
        return GPUS;
    if (n->free.memory_mb < r->memory_mb || n->free.cpus < r->cpus)
        return SIZE;
    return has_ports(s, n) ? FITS : PORTS;
}

static int compare_i64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* The fullest first: fewer nodes have few GPUs left. */
static int by_packing(const void *a, const void *b)
{
    const struct node *x = *(const struct node *const *)a, *y = *(const struct node *const *)b;
    int r = compare_i64(x->free.gpus.n, y->free.gpus.n);

    if (!r)
        r = compare_i64(x->total.n, y->total.n);
    if (!r)
        r = compare_i64(x->free.cpus, y->free.cpus);
    if (!r)
        r = compare_i64(x->free.memory_mb, y->free.memory_mb);
    return r ? r : strcmp(x->host, y->host);
}

static void search(struct search *s, struct svc_places *p)
{
    struct node *n, *next;

    s->candidates = checked(calloc(HASH_COUNT(p->nodes) + 1, sizeof(struct node *)));
    HASH_ITER (hh, p->nodes, n, next) {
        enum lack lack = lacks(s, n);

        if (lack > SPARED && s->w->resource->gpu_mask && n->total.n >= s->w->resource->gpus &&
            has_mask(n, n->total, (uint64_t)s->w->resource->gpu_mask) &&
            s->w->random[0] % ++s->n_able == 0)
            s->able = n;
        if (lack == FITS)
            s->candidates[s->n++] = n;
    }
    qsort(s->candidates, s->n, sizeof(struct node *), by_packing);
}

/* One node's lack, of which the text names so many nodes. */
#define EXPLAINED_NODES 4

static int explain_node(const struct search *s, const struct node *n, enum lack lack,
                        struct sv_buf *to)
{
    const struct svc_fw_resource *r = s->w->resource;
    const struct svc_gpus gpus = gpus_of(s, n);

    switch (lack) {
    case LABEL:
        return sv_buf_printf(to, "has the label \"%s\"", n->label);
    case TYPE:
        return sv_buf_printf(to, "has no GPUs of type %s", s->w->gpu_types);
    case SPARED:
        return sv_buf_printf(to, "is kept for tasks with GPUs");
    case GPUS:
        if (gpus.n < r->gpus)
            return sv_buf_printf(to, "has %d of %d GPUs free, %d wanted", (int)gpus.n,
                                 (int)n->total.n, (int)r->gpus);
        return sv_buf_printf(to, "has not the GPUs of mask %#" PRIx64 " free",
                             (uint64_t)r->gpu_mask);
    case SIZE:
        return sv_buf_printf(to, "has %" PRId64 " MiB and %" PRId64 " cpus free, %d and %d wanted",
                             SV_MAX(n->free.memory_mb, (int64_t)0),
                             SV_MAX(n->free.cpus, (int64_t)0), (int)r->memory_mb, (int)r->cpus);
    default:
        return sv_buf_printf(to, "has not the ports free, of which %" PRId64 " are any from %d on",
                             s->chosen_ports, (int)s->w->min_port);
    }
}

static void explain(const struct search *s, const struct svc_places *p, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf text = SV_BUF_INIT(4096);
    struct node *n, *next;
    size_t told = 0, all = HASH_COUNT(p->nodes);
    int r = 0;

    HASH_ITER (hh, p->nodes, n, next) {
        if (r == 0 && told < EXPLAINED_NODES)
            r = sv_buf_printf(&text, "%s%.64s ", told ? "; " : "", n->host);
        if (r == 0 && told < EXPLAINED_NODES)
            r = explain_node(s, n, lacks(s, n), &text);
        told++;
    }
    if (r == 0 && told > EXPLAINED_NODES)
        r = sv_buf_printf(&text, "; and %zu more", told - EXPLAINED_NODES);
    if (r == 0)
        r = sv_buf_put_u8(&text, 0);
    (void)sv_error_set(err, -EAGAIN, "no node of %zu has room for it now: %s", all,
                       r == 0 && all ? (char *)text.data : "");
}

/* ---- the choice ------------------------------------------------------------------------------*/

/* Ports that all of these nodes have; false: too few. */
static bool common_ports(const struct search *s, struct node *const *nodes, size_t n,
                         struct ranges *ret)
{
    struct ranges common = { 0 };
    bool any = false, enough = true;
    struct svc_range *picked;
    size_t got;

    for (size_t i = 0; i < n && enough; i++) {
        struct ranges own = { 0 }, theirs;

        if (!nodes[i]->ports_known)
            continue;
        theirs = ports_of(s, nodes[i], &own);
        if (!any)
            keep(&common, theirs.list, theirs.n);
        else if (!svc_ranges_fit(common.list, common.n, theirs.list, theirs.n))
            intersect(&common, &theirs);
        any = true;
        free(own.list);
        enough = svc_ranges_count_from(common.list, common.n, s->w->min_port) >= s->chosen_ports;
    }
    picked = room(common.n);
    got = svc_ranges_pick(common.list, common.n, s->chosen_ports, s->w->min_port, s->w->random[1],
                          picked);
    free(common.list);
    take(ret, picked, got);
    return got > 0;
}

static void choose_ports(const struct search *s, size_t n_chosen, struct node *node,
                         struct svc_place_choice *ret)
{
    struct ranges all = { 0 }, picked = { 0 };

    keep(&all, s->fixed.list, s->fixed.n);
    if (s->chosen_ports && node->ports_known &&
        (common_ports(s, s->candidates, s->n, &picked) ||
         common_ports(s, s->candidates, n_chosen, &picked) || common_ports(s, &node, 1, &picked)))
        add(&all, &picked);
    free(picked.list);
    ret->ports = all.list;
    ret->n_ports = all.n;
}

static void choose(const struct search *s, struct svc_place_choice *ret)
{
    const struct svc_place_wish *w = s->w;
    int64_t most = SV_MAX(w->tasks, 1) * SV_MAX(w->factor, 1);
    size_t n = (size_t)SV_MIN((int64_t)s->n, most);
    struct node *node = s->candidates[w->random[0] % n];

    *ret = (struct svc_place_choice){ .host = node->host };
    if (w->resource->gpu_mask && node->total.mask)
        ret->gpu_mask = (uint64_t)w->resource->gpu_mask;
    else
        ret->gpu_mask = svc_gpus_lowest(gpus_of(s, node).mask, w->resource->gpus);
    choose_ports(s, n, node, ret);
}

/* Anywhere, or where the GPUs of the mask are: the fixed ports are the node's to have. */
static void choose_any(const struct search *s, struct svc_place_choice *ret)
{
    struct ranges fixed = { 0 };

    keep(&fixed, s->fixed.list, s->fixed.n);
    *ret = (struct svc_place_choice){ .host = s->able ? s->able->host : NULL,
                                      .ports = fixed.list,
                                      .n_ports = fixed.n };
}

static bool is_for_later(const struct search *s)
{
    return s->candidates &&
           (s->w->gpu_types || s->chosen_ports || (s->w->resource->gpu_mask && !s->able));
}

int svc_places_choose(struct svc_places *p, const struct svc_place_wish *w,
                      struct svc_place_choice *ret, struct sv_error *err)
{
    struct search s = { .w = w };
    int r = 0;

    want_ports(&s);
    if (w->resource->gpus > 0 || s.chosen_ports)
        search(&s, p);
    if (s.n) {
        choose(&s, ret);
    } else {
        if (s.candidates)
            explain(&s, p, err);
        if (is_for_later(&s))
            r = -EAGAIN;
        else
            choose_any(&s, ret);
    }
    free(s.candidates);
    free(s.fixed.list);
    return r;
}

void svc_place_choice_clear(struct svc_place_choice *c)
{
    free(c->ports);
    *c = (struct svc_place_choice){ 0 };
}

/* ---- claims ----------------------------------------------------------------------------------*/

void svc_places_claim(struct svc_places *p, int64_t request, const struct svc_fw_resource *resource,
                      const struct svc_place_choice *choice)
{
    struct node *n = choice->host ? node_named(p, choice->host) : NULL;
    struct claim *c;

    svc_places_settle(p, request, false);
    if (!n)
        return;
    c = checked(calloc(1, sizeof(*c)));
    c->request = request;
    c->node = n;
    c->memory_mb = resource->memory_mb;
    c->cpus = resource->cpus;
    c->gpus = (struct svc_gpus){ resource->gpus, choice->gpu_mask };
    keep(&c->ports, choice->ports, choice->n_ports);
    HASH_ADD(hh, p->claims, request, sizeof(c->request), c);
    DL_APPEND(n->claims, c);
    refresh(n);
}

void svc_places_settle(struct svc_places *p, int64_t request, bool tried)
{
    struct claim *c;
    struct node *n;

    HASH_FIND(hh, p->claims, &request, sizeof(request), c);
    if (!c)
        return;
    n = c->node;
    if (tried) {
        n->tried = svc_gpus_add(n->tried, c->gpus);
        add(&n->tried_ports, &c->ports);
    }
    free_claim(p, c);
    refresh(n);
}
