/* The nodes that there are, as far as one knows who alone writes them. Paths are absolute. */
#ifndef SELVEDGE_SERVICE_HA_TREE_H
#define SELVEDGE_SERVICE_HA_TREE_H

#include <uthash.h>

#include "common/base.h"

struct svc_ha_node {
    char *path;
    struct svc_ha_node *parent, *children; /* NULL: it was not told of one */
    struct svc_ha_node *prev, *next;       /* of the parent's */
    UT_hash_handle hh;
};
struct svc_ha_tree {
    struct svc_ha_node *by_path;
    size_t n;
};

struct svc_ha_node *svc_ha_tree_find(const struct svc_ha_tree *t, const char *path, size_t len);
/* Adds it where it is not there. NULL: no memory. */
struct svc_ha_node *svc_ha_tree_add(struct svc_ha_tree *t, const char *path, size_t len);
/* A node without children. */
void svc_ha_tree_remove(struct svc_ha_tree *t, struct svc_ha_node *n);
void svc_ha_tree_free(struct svc_ha_tree *t);

#endif
