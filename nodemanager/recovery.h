/* Recovery after a stop or a crash: restores applications, containers, tokens, cache entries and
 * pending deletions from the records of the store; adopts running containers; removes everything
 * without a record. With recovery off, or with a new state store (Apache's NodeManager had the
 * directories before), removes everything of the last run. */
#ifndef SELVEDGE_NODEMANAGER_RECOVERY_H
#define SELVEDGE_NODEMANAGER_RECOVERY_H

#include "common/error.h"

struct nm_assignments;
struct nm_context;
struct nm_deletion;
struct nm_localization;
struct nm_log_aggregation;
struct nm_log_handler;
struct nm_scheduler;

struct nm_recovery {
    struct nm_context *ctx;
    struct nm_assignments *assignments;
    struct nm_scheduler *scheduler;
    struct nm_deletion *deletion;
    struct nm_localization *localization;
    struct nm_log_handler *logs;
    struct nm_log_aggregation *aggregation;
};

/* Call it before the first request to the helper. Posts the events that adopt or finish containers.
 * With recovery off or a new state store, the caches of the last run are deleted; no container may
 * start meanwhile (nm_deletion_clears). */
int nm_recover(const struct nm_recovery *services, struct sv_error *err) _must_use_;
/* Removes orphans: cgroups, directories under nmPrivate and usercache; logs after their time. */
void nm_recover_sweep(const struct nm_recovery *services);

#endif
