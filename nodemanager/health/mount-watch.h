/* Watches the mounts of the host: container-prepare has prepared the container-visible part of the
 * host from the mounts at one time, and has to repeat that after a change. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_MOUNT_WATCH_H
#define SELVEDGE_NODEMANAGER_HEALTH_MOUNT_WATCH_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"

struct nm_mount_watch;

/* `changed` is called once for a series of changes: after half a second without a change, or after
 * five seconds. `path`: /proc/self/mountinfo. */
int nm_mount_watch_new(sd_event *event, const char *path, void (*changed)(void *userdata),
                       void *userdata, struct nm_mount_watch **ret, struct sv_error *err)
    _must_use_;
struct nm_mount_watch *nm_mount_watch_free(struct nm_mount_watch *w);

/* A hash of all mounts that a container may see: excludes mounts below paths that every profile
 * covers, and the namespaces that container-prepare keeps. */
uint64_t nm_mounts_digest(const char *text, size_t len);

#endif
