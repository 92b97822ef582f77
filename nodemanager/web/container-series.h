/* Series of /metrics beside Hadoop's figures: pressure, throttling and kills for memory of all
 * containers together, and how long their launches take. No series is of one container. */
#ifndef SELVEDGE_NODEMANAGER_WEB_CONTAINER_SERIES_H
#define SELVEDGE_NODEMANAGER_WEB_CONTAINER_SERIES_H

#include "common/buf.h"

struct cg_usage;
struct nm_counters;

/* Writes them as Prometheus text. `all`: of the cgroup of all containers; NULL: there is none. */
int nm_container_series(const struct nm_counters *n, const struct cg_usage *all, struct sv_buf *out)
    _must_use_;

#endif
