/* Lookup of the scheduler's applications, nodes and containers by id. Pure. Hostile: the numbers in
 * the ids of containers that nodes report. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <string.h>

struct node_id {
    struct rm_label host;
    int32_t port;
};

static uint64_t node_hash(const struct rm_label *host, int32_t port)
{
    return rm_id_hash((int64_t[]){ host->hash, port }, 2);
}

static bool is_node(const void *object, const void *id)
{
    const struct rm_sched_node *n = object;
    const struct node_id *want = id;

    return n->port == want->port && n->host_label.len == want->host.len &&
           memcmp(n->host_label.name, want->host.name, want->host.len) == 0;
}

struct rm_sched_app *rm_sched_app_find(const struct rm_sched *s, struct yarn_app_id id)
{
    struct rm_sched_app *app, probe = { .key = { id.cluster_ts, id.id } };

    HASH_FIND(hh, s->apps, &probe.key, sizeof(probe.key), app);
    return app;
}

struct rm_sched_node *rm_sched_node_find(const struct rm_sched *s, const struct yarn_node_id *id)
{
    struct node_id want = { rm_label(id->host), id->port };

    return rm_id_find(&s->nodes, node_hash(&want.host, want.port), is_node, &want);
}

void rm_sched_node_index(struct rm_sched *s, struct rm_sched_node *n)
{
    rm_id_add(&s->nodes, node_hash(&n->host_label, n->port), n);
}

void rm_sched_node_unindex(struct rm_sched *s, struct rm_sched_node *n)
{
    rm_id_remove(&s->nodes, node_hash(&n->host_label, n->port), n);
}

struct yarn_container_id rm_container_id(const struct rm_sched_container *c)
{
    return (struct yarn_container_id){ .attempt = { c->app->id, c->attempt }, .id = c->number };
}

struct block_id {
    struct yarn_attempt_id attempt;
    int64_t first;
};

static int64_t first_of(int64_t number)
{
    return number & ~(int64_t)(RM_BLOCK - 1);
}

static size_t place_of(int64_t number)
{
    return (uint64_t)number % RM_BLOCK;
}

static uint64_t block_hash(const struct block_id *id)
{
    int64_t app = (int64_t)((uint64_t)id->attempt.app.id << 32 | (uint32_t)id->attempt.attempt);

    return rm_id_hash((int64_t[]){ id->attempt.app.cluster_ts, app, id->first }, 3);
}

static bool is_block(const void *object, const void *id)
{
    const struct rm_sched_block *b = object;
    const struct block_id *want = id;

    return b->first == want->first && b->attempt == want->attempt.attempt &&
           b->app->id.id == want->attempt.app.id &&
           b->app->id.cluster_ts == want->attempt.app.cluster_ts;
}

static struct rm_sched_block *block_at(const struct rm_sched *s, uint32_t handle)
{
    return handle ? rm_pool_at(&s->block_pool, handle) : NULL;
}

static struct rm_sched_container *container_at(const struct rm_sched *s, uint32_t handle)
{
    return handle ? rm_pool_at(&s->container_pool, handle) : NULL;
}

/* Prefetch: most likely the container ends. On a large cluster none of this is in a cache: fetch
 * all at once instead of one after the other. */
static void fetch_node(const struct rm_sched *s, uint32_t handle)
{
    const struct rm_sched_node *n = rm_pool_at(&s->node_pool, handle);

    __builtin_prefetch(&n->used, 1);
    __builtin_prefetch(&n->containers, 1);
    __builtin_prefetch(n->few, 1);
}

struct rm_sched_container *rm_sched_container_find(const struct rm_sched *s,
                                                   struct yarn_container_id id)
{
    struct block_id want = { id.attempt, first_of(id.id) };
    const struct rm_sched_block *b = rm_id_find(&s->blocks, block_hash(&want), is_block, &want);

    if (!b || !b->places[place_of(id.id)].container)
        return NULL;
    fetch_node(s, b->places[place_of(id.id)].node);
    return container_at(s, b->places[place_of(id.id)].container);
}

static uint32_t block_new(struct rm_sched *s, struct rm_sched_app *app, const struct block_id *id)
{
    struct rm_sched_block *b = rm_pool_take(&s->block_pool), *last;
    uint32_t handle;

    b->app = app;
    b->first = id->first;
    b->attempt = id->attempt.attempt;
    b->prev = app->last_block;
    rm_id_add(&s->blocks, block_hash(id), b);
    handle = rm_pool_handle(b);
    last = block_at(s, app->last_block);
    if (last)
        last->next = handle;
    else
        app->first_block = handle;
    app->last_block = handle;
    return handle;
}

/* New containers are numbered in sequence: most go into the last block. */
static uint32_t block_get(struct rm_sched *s, const struct rm_sched_container *c)
{
    struct block_id id = { { c->app->id, c->attempt }, first_of(c->number) };
    const struct rm_sched_block *b = block_at(s, c->app->last_block);

    if (b && b->first == id.first && b->attempt == c->attempt)
        return c->app->last_block;
    b = rm_id_find(&s->blocks, block_hash(&id), is_block, &id);
    return b ? rm_pool_handle(b) : block_new(s, c->app, &id);
}

void rm_sched_container_index(struct rm_sched *s, struct rm_sched_container *c, uint32_t handle)
{
    struct rm_sched_block *b;

    c->block = block_get(s, c);
    b = block_at(s, c->block);
    b->places[place_of(c->number)].container = handle;
    b->places[place_of(c->number)].node = c->node->handle;
    b->n++;
}

static void block_free(struct rm_sched *s, struct rm_sched_block *b)
{
    struct rm_sched_block *prev = block_at(s, b->prev), *next = block_at(s, b->next);
    struct block_id id = { { b->app->id, b->attempt }, b->first };

    if (prev)
        prev->next = b->next;
    else
        b->app->first_block = b->next;
    if (next)
        next->prev = b->prev;
    else
        b->app->last_block = b->prev;
    rm_id_remove(&s->blocks, block_hash(&id), b);
    rm_pool_give(&s->block_pool, b);
}

uint32_t rm_sched_container_unindex(struct rm_sched *s, struct rm_sched_container *c)
{
    struct rm_sched_block *b = block_at(s, c->block);
    uint32_t handle = b->places[place_of(c->number)].container;

    b->places[place_of(c->number)].container = 0;
    if (--b->n == 0)
        block_free(s, b);
    return handle;
}

/* The first container in b at or after index i, or in the blocks after it. */
static struct rm_sched_container *forwards(const struct rm_sched *s, const struct rm_sched_block *b,
                                           size_t i)
{
    for (; b; b = block_at(s, b->next), i = 0)
        for (; i < RM_BLOCK; i++)
            if (b->places[i].container)
                return container_at(s, b->places[i].container);
    return NULL;
}

/* The last container before index i, or in the blocks before it. */
static struct rm_sched_container *backwards(const struct rm_sched *s,
                                            const struct rm_sched_block *b, size_t i)
{
    for (; b; b = block_at(s, b->prev), i = RM_BLOCK)
        while (i-- > 0)
            if (b->places[i].container)
                return container_at(s, b->places[i].container);
    return NULL;
}

struct rm_sched_container *rm_app_first(const struct rm_sched *s, const struct rm_sched_app *app)
{
    return forwards(s, block_at(s, app->first_block), 0);
}

struct rm_sched_container *rm_app_last(const struct rm_sched *s, const struct rm_sched_app *app)
{
    return backwards(s, block_at(s, app->last_block), RM_BLOCK);
}

struct rm_sched_container *rm_app_next(const struct rm_sched *s, const struct rm_sched_container *c)
{
    return forwards(s, block_at(s, c->block), place_of(c->number) + 1);
}

struct rm_sched_container *rm_app_previous(const struct rm_sched *s,
                                           const struct rm_sched_container *c)
{
    return backwards(s, block_at(s, c->block), place_of(c->number));
}
