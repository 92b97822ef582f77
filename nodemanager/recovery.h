/* The start after a stop or a crash: the records of the store become applications, containers,
 * tokens, cache entries and pending deletions again; running containers are adopted; everything
 * without a record is removed. With recovery off, or beside a new state store (Apache's NodeManager
 * had the directories before), everything of the last run is removed. */
#ifndef SELVEDGE_NODEMANAGER_RECOVERY_H
#define SELVEDGE_NODEMANAGER_RECOVERY_H

#include "common/error.h"

struct nm_assignments;
struct nm_context;
struct nm_deletion;
struct nm_localization;
struct nm_log_aggregation;
struct nm_log_handler;

struct nm_recovery {
    struct nm_context *ctx;
    struct nm_assignments *assignments;
    struct nm_deletion *deletion;
    struct nm_localization *localization;
    struct nm_log_handler *logs;
    struct nm_log_aggregation *aggregation;
};

/* Before the first request to the helper. Posts the events that adopt or finish containers. 1: what
 * others have left in the caches is being deleted, with recovery off or beside a new state store;
 * no container may start meanwhile. */
int nm_recover(const struct nm_recovery *services, struct sv_error *err) _must_use_;
/* Removes what has no owner: cgroups, directories under nmPrivate and usercache; logs after their
 * time. */
void nm_recover_sweep(const struct nm_recovery *services);

#endif
