/* The scheduler's nodes and containers by their ids. Called by scheduler.c, scheduler-query.c and
 * allocation.c. Pure. Hostile: the numbers in the ids of containers that nodes report. */
#include "rm-lite/scheduler-impl.h"

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

struct rm_sched_node *rm_sched_node_find(const struct rm_sched *s, const struct yarn_node_id *id)
{
    struct node_id want = { rm_label(id->host), id->port };

    return rm_id_find(&s->nodes, node_hash(&want.host, want.port), is_node, &want);
}

int rm_sched_node_index(struct rm_sched *s, struct rm_sched_node *n)
{
    return rm_id_add(&s->nodes, node_hash(&n->host_label, n->port), n);
}

void rm_sched_node_unindex(struct rm_sched *s, struct rm_sched_node *n)
{
    rm_id_remove(&s->nodes, node_hash(&n->host_label, n->port), n);
}

struct yarn_container_id rm_container_id(const struct rm_sched_container *c)
{
    return (struct yarn_container_id){ .attempt = { c->app->id, c->attempt }, .id = c->number };
}

static uint64_t container_hash(const struct yarn_container_id *id)
{
    int64_t app = (int64_t)((uint64_t)id->attempt.app.id << 32 | (uint32_t)id->attempt.attempt);

    return rm_id_hash((int64_t[]){ id->attempt.app.cluster_ts, app, id->id }, 3);
}

static bool is_container(const void *object, const void *id)
{
    const struct rm_sched_container *c = object;
    const struct yarn_container_id *want = id;

    return c->number == want->id && c->attempt == want->attempt.attempt &&
           c->app->id.id == want->attempt.app.id &&
           c->app->id.cluster_ts == want->attempt.app.cluster_ts;
}

struct rm_sched_container *rm_sched_container_find(const struct rm_sched *s,
                                                   struct yarn_container_id id)
{
    return rm_id_find(&s->containers, container_hash(&id), is_container, &id);
}

void rm_sched_container_fetch(const struct rm_sched *s, struct yarn_container_id id)
{
    rm_id_fetch(&s->containers, container_hash(&id));
}

int rm_sched_container_index(struct rm_sched *s, struct rm_sched_container *c)
{
    struct yarn_container_id id = rm_container_id(c);

    return rm_id_add(&s->containers, container_hash(&id), c);
}

void rm_sched_container_unindex(struct rm_sched *s, struct rm_sched_container *c)
{
    struct yarn_container_id id = rm_container_id(c);

    rm_id_remove(&s->containers, container_hash(&id), c);
}
