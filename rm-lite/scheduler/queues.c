/* The queue tree: lookup of queues by name, and their release. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <string.h>

#include "common/str.h"

static void values_free(struct rm_user_value *table)
{
    struct rm_user_value *v, *tmp;

    HASH_ITER (hh, table, v, tmp) {
        HASH_DEL(table, v);
        free(v->name);
        free(v);
    }
}

void rm_mappings_free(struct rm_mapping *list)
{
    struct rm_mapping *m, *tmp;

    LL_FOREACH_SAFE (list, m, tmp) {
        free(m->who);
        free(m->queue);
        free(m);
    }
}

struct rm_queue *rm_queue_free(struct rm_queue *q)
{
    struct rm_user *u, *tmp;

    if (!q)
        return NULL;
    for (size_t i = 0; i < q->n_children; i++)
        rm_queue_free(q->children[i]);
    HASH_ITER (hh, q->users, u, tmp) {
        HASH_DEL(q->users, u);
        free(u->name);
        free(u);
    }
    rm_mappings_free(q->mappings);
    values_free(q->weights);
    values_free(q->parallel);
    free(q->children);
    free(q->sorted);
    free(q->acl_submit);
    free(q->acl_administer);
    free(q->name);
    free(q->path);
    free(q);
    return NULL;
}

bool rm_queue_leaf(const struct rm_queue *q)
{
    return q->n_children == 0;
}

static struct rm_queue *find_leaf(struct rm_queue *q, const char *name, int *count)
{
    struct rm_queue *hit = NULL, *sub;

    if (rm_queue_leaf(q) && sv_streq(q->name, name)) {
        (*count)++;
        return q;
    }
    for (size_t i = 0; i < q->n_children; i++) {
        sub = find_leaf(q->children[i], name, count);
        if (sub)
            hit = sub;
    }
    return hit;
}

static struct rm_queue *find_path(struct rm_queue *q, const char *path)
{
    size_t n = strlen(q->path);

    if (strncmp(q->path, path, n) != 0)
        return NULL;
    if (!path[n])
        return q;
    if (path[n] != '.')
        return NULL;
    for (size_t i = 0; i < q->n_children; i++) {
        struct rm_queue *hit = find_path(q->children[i], path);

        if (hit)
            return hit;
    }
    return NULL;
}

struct rm_queue *rm_queue_find(struct rm_queue *root, const char *name)
{
    struct rm_queue *q = find_path(root, name);
    int count = 0;

    if (q || strchr(name, '.'))
        return q;
    q = find_leaf(root, name, &count);
    if (q)
        return count == 1 ? q : NULL;
    for (size_t i = 0; i < root->n_children; i++) /* a parent directly below root, by short name */
        if (sv_streq(root->children[i]->name, name))
            return root->children[i];
    return NULL;
}
