/* Usage figures of the last ended containers, for REST: the acknowledgement of the ResourceManager
 * removes the container itself within a heartbeat, before a client could request its usage. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_FINISHED_CONTAINERS_H
#define SELVEDGE_NODEMANAGER_SERVICES_FINISHED_CONTAINERS_H

#include "cgroups/cg.h"
#include "common/base.h"
#include "wire/ids.h"

#define NM_FINISHED_MAX 1024 /* the oldest is dropped first */

struct nm_container;
struct nm_finished;

struct nm_figures { /* of one container, running or ended */
    char text[YARN_ID_TEXT_MAX];
    char user[65];
    int exit_code;
    int64_t memory_mb;
    int32_t vcores, execution_type;
    uint64_t memory_bytes, peak_bytes, cpu_usec, pids;
    float cpu_cores;
    struct cg_usage usage; /* the last reading, also for an ended one */
    int64_t start_ms, launch_ms, finish_ms, localize_ms; /* wall clock; localize_ms: duration */
};
void nm_figures_of(const struct nm_container *c, struct nm_figures *ret);

struct nm_finished *nm_finished_new(void); /* NULL: out of memory */
struct nm_finished *nm_finished_free(struct nm_finished *f);
void nm_finished_add(struct nm_finished *f, const struct nm_container *c);
const struct nm_figures *nm_finished_find(const struct nm_finished *f, const char *container);

#endif
