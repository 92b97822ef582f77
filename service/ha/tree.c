/* See tree.h. */
#include "service/ha/tree.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct svc_ha_node *svc_ha_tree_find(const struct svc_ha_tree *t, const char *path, size_t len)
{
    struct svc_ha_node *n;

    HASH_FIND(hh, t->by_path, path, len, n);
    return n;
}

static struct svc_ha_node *parent_of(const struct svc_ha_tree *t, const char *path, size_t len)
{
    while (len > 0 && path[len - 1] != '/')
        len--;
    return len > 1 ? svc_ha_tree_find(t, path, len - 1) : NULL;
}

struct svc_ha_node *svc_ha_tree_add(struct svc_ha_tree *t, const char *path, size_t len)
{
    struct svc_ha_node *n = svc_ha_tree_find(t, path, len);

    if (n)
        return n;
    n = calloc(1, sizeof(*n));
    if (n)
        n->path = strndup(path, len);
    if (!n || !n->path) {
        free(n);
        return NULL;
    }
    n->parent = parent_of(t, path, len);
    if (n->parent)
        DL_APPEND(n->parent->children, n);
    HASH_ADD_KEYPTR(hh, t->by_path, n->path, len, n);
    t->n++;
    return n;
}

void svc_ha_tree_remove(struct svc_ha_tree *t, struct svc_ha_node *n)
{
    if (n->parent)
        DL_DELETE(n->parent->children, n);
    HASH_DEL(t->by_path, n);
    t->n--;
    free(n->path);
    free(n);
}

void svc_ha_tree_free(struct svc_ha_tree *t)
{
    struct svc_ha_node *n = t->by_path, *next;

    HASH_CLEAR(hh, t->by_path);
    for (; n; n = next) { /* the list of all stays until they are freed */
        next = n->hh.next;
        free(n->path);
        free(n);
    }
    *t = (struct svc_ha_tree){ 0 };
}
