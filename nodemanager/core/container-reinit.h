/* Re-initialization of a container (reInitializeContainer, restart, rollback): the launch context
 * that it brings. Requests come from applications and were checked when they were received. */
#ifndef SELVEDGE_NODEMANAGER_CORE_CONTAINER_REINIT_H
#define SELVEDGE_NODEMANAGER_CORE_CONTAINER_REINIT_H

#include "common/base.h"

struct nm_container;

/* Reads the launch context that it brings, or the one for a rollback, into reinit.clc. */
int nm_reinit_load(struct nm_container *c, bool previous) _must_use_;
void nm_reinit_drop(struct nm_container *c); /* frees that */
/* The store has the container's new request: reads it, and begins its retries anew. */
int nm_reinit_renew(struct nm_container *c, int kind) _must_use_;
/* It is over, without effect or because its process runs. */
void nm_reinit_end(struct nm_container *c);

#endif
