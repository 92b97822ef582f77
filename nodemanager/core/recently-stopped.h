/* Recently stopped containers (yarn.nodemanager.duration-to-track-stopped-containers): stopping one
 * again is no error, and a request for its status gets a message of its own. */
#ifndef SELVEDGE_NODEMANAGER_CORE_RECENTLY_STOPPED_H
#define SELVEDGE_NODEMANAGER_CORE_RECENTLY_STOPPED_H

#include "common/base.h"

struct nm_stopped;

struct nm_stopped *nm_stopped_new(int64_t keep_ms); /* NULL: out of memory */
struct nm_stopped *nm_stopped_free(struct nm_stopped *s);
void nm_stopped_add(struct nm_stopped *s, const char *container);
bool nm_stopped_has(struct nm_stopped *s, const char *container);

#endif
