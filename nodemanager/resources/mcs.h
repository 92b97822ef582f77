/* SELinux categories (selvedge.nodemanager.selinux.labels): two for each user, from c0 to c511, and
 * two for each application, from c512 to c1023: 130,816 pairs of each. No other application, not
 * even of the same user, can access files with all four in their label. The helper writes the
 * labels; this file assigns the numbers and records them before the first label is written. A user
 * keeps its pair as long as the store exists. The pair of an application is released when the
 * application is forgotten and no disk has a directory of it; a disk that cannot be read keeps it
 * in use. If no pair is free the application is refused. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_MCS_H
#define SELVEDGE_NODEMANAGER_RESOURCES_MCS_H

#include <stdint.h>

#include "common/error.h"
#include "executor/request.h"

#define NM_MCS_PAIRS (EXE_CATEGORY_MAX / 2 * (EXE_CATEGORY_MAX / 2 - 1) / 2)

struct nm_context;
struct nm_app;
struct nm_mcs;

/* *ret is NULL if not enabled. The store must be open. */
int nm_mcs_new(struct nm_context *ctx, struct nm_mcs **ret, struct sv_error *err) _must_use_;
struct nm_mcs *nm_mcs_free(struct nm_mcs *m);
/* Sets a->categories, recorded or new ones; none if `m` is NULL. -ENOSPC: no pair is free. */
int nm_mcs_assign(struct nm_mcs *m, struct nm_app *a, struct sv_error *err) _must_use_;
/* Pair number `i` of NM_MCS_PAIRS, ascending. */
void nm_mcs_pair(uint32_t i, uint16_t ret[2]);

#endif
