/* Look-ups in the tables of the ResourceManager; see context.h. */
#include "rm-lite/core/context.h"

#include <string.h>
#include <utlist.h>

#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/hash.h"

struct rm_app *rm_app_find(const struct rm *rm, struct yarn_app_id id)
{
    struct rm_app *app, probe = { .key = { id.cluster_ts, id.id } };

    HASH_FIND(hh, rm->apps, &probe.key, sizeof(probe.key), app);
    return app;
}

struct rm_attempt *rm_attempt_find(const struct rm *rm, struct yarn_attempt_id id)
{
    struct rm_app *app = rm_app_find(rm, id.app);
    struct rm_attempt *att;

    if (!app)
        return NULL;
    if (app->current && app->current->id.attempt == id.attempt)
        return app->current;
    DL_FOREACH (app->attempts, att)
        if (att->id.attempt == id.attempt)
            return att;
    return NULL;
}

struct rm_container *rm_container_find(const struct rm *rm, struct yarn_container_id id)
{
    struct rm_container *c,
        probe = { .key = { id.attempt.app.cluster_ts,
                           (int64_t)((uint64_t)id.attempt.app.id << 32) | id.attempt.attempt,
                           id.id } };

    HASH_FIND(hh, rm->containers, &probe.key, sizeof(probe.key), c);
    return c;
}

static uint64_t node_hash(const struct yarn_node_id *id)
{
    size_t len = strlen(id->host);
    unsigned host;

    HASH_VALUE(id->host, len, host);
    return rm_id_hash((int64_t[]){ host, id->port }, 2);
}

static bool is_node(const void *object, const void *id)
{
    const struct rm_node *n = object;
    const struct yarn_node_id *want = id;

    return n->id.port == want->port && strcmp(n->id.host, want->host) == 0;
}

struct rm_node *rm_node_find(const struct rm *rm, const struct yarn_node_id *id)
{
    return rm_id_find(&rm->node_ids, node_hash(id), is_node, id);
}

void rm_node_enter(struct rm *rm, struct rm_node *n)
{
    HASH_ADD_STR(rm->nodes, key, n);
    rm_id_add(&rm->node_ids, node_hash(&n->id), n);
}

void rm_node_leave(struct rm *rm, struct rm_node *n)
{
    HASH_DEL(rm->nodes, n);
    rm_id_remove(&rm->node_ids, node_hash(&n->id), n);
}

struct rm_node *rm_node_find_key(const struct rm *rm, const char *key)
{
    struct rm_node *n;

    HASH_FIND_STR(rm->nodes, key, n);
    return n;
}

struct rm_node *rm_node_find_inactive(const struct rm *rm, const char *key)
{
    struct rm_node *n;

    HASH_FIND_STR(rm->inactive_nodes, key, n);
    return n;
}

struct rm_done *rm_done_find(const struct rm *rm, struct yarn_container_id id)
{
    char id_str[YARN_ID_TEXT_MAX];
    struct rm_done *d;

    yarn_container_id_text(id, id_str);
    HASH_FIND_STR(rm->done, id_str, d);
    return d;
}
