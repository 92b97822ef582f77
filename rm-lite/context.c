/* Look-ups in the tables of the ResourceManager; see context.h. */
#include "rm-lite/context.h"

#include <string.h>
#include <utlist.h>

#include "rm-lite/hash.h"
#include "rm-lite/rm-app-attempt.h"
#include "rm-lite/rm-app.h"
#include "rm-lite/rm-container.h"
#include "rm-lite/rm-node.h"

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

struct rm_node *rm_node_find(const struct rm *rm, const struct yarn_node_id *id)
{
    char key[300];

    return rm_node_find_key(rm, yarn_node_id_text(id, key));
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
