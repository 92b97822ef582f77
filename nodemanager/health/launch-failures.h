/* Launches that fail by the node's own fault (the helper, a disk, cgroups), of different
 * applications and without a success between them: such a node would fail all launches, and a
 * scheduler sends it more, since it is always free. After the configured number the node is
 * unhealthy. Some time later a launch is tried: the node is healthy again, the next failure makes
 * it unhealthy immediately and for twice the time, a success resets that. For node-health.c. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_LAUNCH_FAILURES_H
#define SELVEDGE_NODEMANAGER_HEALTH_LAUNCH_FAILURES_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "wire/ids.h"

struct nm_launch_failures;

/* limit 0: never unhealthy. */
int nm_launch_failures_new(sd_event *event, unsigned limit, int64_t retry_ms,
                           struct nm_launch_failures **ret, struct sv_error *err) _must_use_;
struct nm_launch_failures *nm_launch_failures_free(struct nm_launch_failures *f);

/* Counts a failed launch of the application; `why` is one sentence. */
void nm_launch_failures_add(struct nm_launch_failures *f, struct yarn_app_id app, const char *why);
/* Resets the count after a successful launch. */
void nm_launch_failures_clear(struct nm_launch_failures *f);
/* The reason why the node is unhealthy, or NULL. */
const char *nm_launch_failures_report(const struct nm_launch_failures *f);

#endif
