/* The host's mounts, watched: what containers see of the host was prepared with those of a moment
 * (container-prepare), so one that comes or goes later has it prepared again. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_MOUNT_WATCH_H
#define SELVEDGE_NODEMANAGER_HEALTH_MOUNT_WATCH_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"

struct nm_mount_watch;

/* `changed` comes once for a series of changes, when nothing has changed for half a second or after
 * five. `path`: /proc/self/mountinfo. */
int nm_mount_watch_new(sd_event *event, const char *path, void (*changed)(void *userdata),
                       void *userdata, struct nm_mount_watch **ret, struct sv_error *err)
    _must_use_;
struct nm_mount_watch *nm_mount_watch_free(struct nm_mount_watch *w);

/* A number of all the mounts that a container might see: not those on places that every profile
 * covers, not the namespaces that container-prepare keeps. */
uint64_t nm_mounts_digest(const char *text, size_t len);

#endif
