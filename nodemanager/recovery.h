/* The start after a stop or a crash: what the store says becomes applications, containers, tokens,
 * cache entries and pending deletions again; running containers are adopted; what no record knows
 * is removed. With recovery off: everything of the last life is removed. */
#ifndef SELVEDGE_NODEMANAGER_RECOVERY_H
#define SELVEDGE_NODEMANAGER_RECOVERY_H

#include "common/error.h"

struct nm;

/* Before exe is asked for anything. Posts the events that adopt or finish containers. */
int nm_recover(struct nm *nm, struct sv_error *err) _must_use_;
/* Leftovers that nobody owns: cgroups, directories under nmPrivate. */
void nm_recover_sweep(struct nm *nm);

#endif
