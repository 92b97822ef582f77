/* The end of the daemon: containers killed or left, the node unregistered, everything freed. For
 * main.c and nm.c only. */
#ifndef SELVEDGE_NODEMANAGER_NM_END_H
#define SELVEDGE_NODEMANAGER_NM_END_H

#include <stddef.h>

#include "common/base.h"

struct nm;

/* Begins the regular end: no new containers, then kills them or leaves them (work-preserving), then
 * leaves the loop. A second call leaves it at once. */
void nm_stop(struct nm *nm, const char *why, int exit_status);
/* In the order of the layers, from the top. */
void nm_free(struct nm *nm);
/* The file of the state store, which ends with a decommissioned node. -ENAMETOOLONG. */
int nm_store_path(const struct nm *nm, char *ret, size_t size) _must_use_;

#endif
