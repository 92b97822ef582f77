/* Finds the containers of an application that have logs on this node, by the names of their
 * directories. Hostile: the directories, which belong to the job. */
#ifndef SELVEDGE_LOGS_UPLOAD_CONTAINERS_H
#define SELVEDGE_LOGS_UPLOAD_CONTAINERS_H

#include "logs/upload-request.h"

/* Returns all "container_…" entries of the directories except `skips`, sorted, without duplicates,
 * at most LOGS_CONTAINERS_MAX, as a NULL-terminated vector. */
int logs_containers_find(const int *dirs, size_t n_dirs, const struct logs_ids *skips, char ***ret,
                         size_t *ret_n) _must_use_;

#endif
