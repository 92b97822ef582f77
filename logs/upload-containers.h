/* Which containers of an application have logs on this node: the names of their directories, which
 * belong to the job. */
#ifndef SELVEDGE_LOGS_UPLOAD_CONTAINERS_H
#define SELVEDGE_LOGS_UPLOAD_CONTAINERS_H

#include "logs/upload-request.h"

/* All "container_…" of the directories, each once, sorted, without `skips`; at most
 * LOGS_CONTAINERS_MAX. A NULL-terminated vector. */
int logs_containers_find(const int *dirs, size_t n_dirs, const struct logs_ids *skips, char ***ret,
                         size_t *ret_n) _must_use_;

#endif
