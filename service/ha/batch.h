/* Changes of nodes on their way to ZooKeeper. A later change of a node replaces an earlier one that
 * is still here; the changes of one owner are never parted; nobody's come behind all others. */
#ifndef SELVEDGE_SERVICE_HA_BATCH_H
#define SELVEDGE_SERVICE_HA_BATCH_H

#include <uthash.h>

#include "common/base.h"

struct svc_ha_group;
struct svc_ha_change {
    char *path;  /* absolute */
    char *value; /* NULL: the node is removed */
    size_t len;
    struct svc_ha_group *group;
    struct svc_ha_change *prev, *next;
    UT_hash_handle hh;
};
struct svc_ha_batch {
    struct svc_ha_change *by_path;
    struct svc_ha_group *groups, *by_owner;
    uint64_t ticket; /* of the last commit in it */
};

/* Copies path and value; `value` NULL: the node is to be removed. NULL: no memory. */
struct svc_ha_change *svc_ha_change_new(const char *path, const void *value, size_t len);
void svc_ha_changes_free(struct svc_ha_change *list); /* by .next */

/* Takes the change. `owner` "": nobody's. -ENOMEM: it is freed. */
int svc_ha_batch_add(struct svc_ha_batch *b, const char *owner, struct svc_ha_change *c) _must_use_;
/* Moves all of `from` to the end of `b`. -ENOMEM: some of it. */
int svc_ha_batch_move(struct svc_ha_batch *b, struct svc_ha_batch *from) _must_use_;
bool svc_ha_batch_is_empty(const struct svc_ha_batch *b);
/* Moves changes out, those that were added first: at least one owner's, else of at most so many
 * bytes of paths and values, and changes. A list by .next, the caller's; NULL: there is none. */
struct svc_ha_change *svc_ha_batch_cut(struct svc_ha_batch *b, size_t bytes, size_t n);
void svc_ha_batch_free(struct svc_ha_batch *b);

#endif
