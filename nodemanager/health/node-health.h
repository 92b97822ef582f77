/* The health of the node as the ResourceManager sees it: usable directories, a state store that can
 * be written, and faults of the set-up that the helper reports. A fault stays until the daemon
 * restarts; a helper that cannot be reached is probed every second until it answers; launches that
 * fail one after the other are tried again (launch-failures.h).
 * Container-visible mounts are prepared again when the host's mounts change. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_NODE_HEALTH_H
#define SELVEDGE_NODEMANAGER_HEALTH_NODE_HEALTH_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "wire/ids.h"

struct exe;
struct exe_failure;
struct nm_dirs;
struct nm_health;
struct nm_store;

#define NM_HEALTH_REPORT_MAX 2048

/* Starts the first check of the helper, and watches the mounts. `refused`: the helper refuses this
 * daemon's configuration, so that the daemon has to end. */
int nm_health_new(sd_event *event, struct exe *exe, const struct nm_dirs *dirs,
                  const struct nm_store *store,
                  void (*refused)(const struct exe_failure *f, void *userdata), void *userdata,
                  struct nm_health **ret, struct sv_error *err) _must_use_;
/* Before exe_free. */
struct nm_health *nm_health_free(struct nm_health *h);

/* Counts launches as launch-failures.h says: unhealthy after `limit` (0: never). */
int nm_health_count_launches(struct nm_health *h, unsigned limit, int64_t retry_ms,
                             struct sv_error *err) _must_use_;
/* A launch of the application, or what comes before it, has failed in the helper. Whether that is
 * the node's fault is decided here. */
void nm_health_launch_failed(struct nm_health *h, struct yarn_app_id app,
                             const struct exe_failure *f);
void nm_health_launch_succeeded(struct nm_health *h);
/* A fault of the node's set-up, found by the helper. */
void nm_health_set_unhealthy(struct nm_health *h, const char *why);
/* False: unhealthy, and the report says why; a healthy node's report may name bad directories. */
bool nm_health_report(const struct nm_health *h, char report[NM_HEALTH_REPORT_MAX]);

#endif
