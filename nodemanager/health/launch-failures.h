/* Launches that fail for the node's own reason (the helper, a disk, cgroups), of different
 * applications and without a success between them: such a node would fail whatever it is given, and
 * a scheduler gives it more, since it is always free. After the configured number the node is
 * unhealthy. Some time later a launch is tried: the node is offered again, the next failure makes
 * it unhealthy at once and for twice the time, a success makes it healthy. For node-health.c. */
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

/* A launch of the application has failed; `why` is one sentence. */
void nm_launch_failures_add(struct nm_launch_failures *f, struct yarn_app_id app, const char *why);
/* A launch has succeeded. */
void nm_launch_failures_clear(struct nm_launch_failures *f);
/* Why the node is unhealthy, or NULL. */
const char *nm_launch_failures_report(const struct nm_launch_failures *f);

#endif
