/* The start of the daemon: creates every component in the order of the layers, and connects them.
 * For main.c only. */
#ifndef SELVEDGE_NODEMANAGER_NM_H
#define SELVEDGE_NODEMANAGER_NM_H

#include "common/base.h"
#include "common/error.h"

struct nm;

/* Starts every component in order, recovers, opens RPC and web last. On failure nm->exit_status is
 * set. */
int nm_start(struct nm *nm, struct sv_error *err) _must_use_;
/* nm_reload() has changed the configuration. */
void nm_reloaded(struct nm *nm);

#endif
