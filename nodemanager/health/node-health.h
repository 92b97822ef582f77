/* The health of the node as reported to the ResourceManager: usable directories, a writable state
 * store, the health scripts, and faults of the set-up that the helper reports. A fault persists
 * until the daemon restarts; a helper that cannot be reached is probed every second until it
 * answers; repeated launch failures are handled by launch-failures.h. Container-visible mounts are
 * prepared again when the host's mounts change. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_NODE_HEALTH_H
#define SELVEDGE_NODEMANAGER_HEALTH_NODE_HEALTH_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "wire/ids.h"

struct exe;
struct exe_failure;
struct nm_conf_health;
struct nm_dirs;
struct nm_health;
struct nm_store;

#define NM_HEALTH_REPORT_MAX 8192 /* more than all parts together */

/* Starts the first check of the helper, and watches the mounts. `refused`: the helper refuses this
 * daemon's configuration, so the daemon must exit. */
int nm_health_new(sd_event *event, struct exe *exe, const struct nm_dirs *dirs,
                  struct nm_store *store,
                  void (*refused)(const struct exe_failure *f, void *userdata), void *userdata,
                  struct nm_health **ret, struct sv_error *err) _must_use_;
/* Call it before exe_free. */
struct nm_health *nm_health_free(struct nm_health *h);

/* Enables launch-failures.h: unhealthy after `limit` failures (0: never). */
int nm_health_count_launches(struct nm_health *h, unsigned limit, int64_t retry_ms,
                             struct sv_error *err) _must_use_;
/* Starts the health scripts, with the loop. */
int nm_health_run_scripts(struct nm_health *h, const struct nm_conf_health *conf,
                          struct sv_error *err) _must_use_;
/* A health script that must run before the registration has not ended. */
bool nm_health_starting(const struct nm_health *h);
/* A launch of the application, or a preparation of it, has failed in the helper. Counts it if it is
 * the node's fault. */
void nm_health_launch_failed(struct nm_health *h, struct yarn_app_id app,
                             const struct exe_failure *f);
void nm_health_launch_succeeded(struct nm_health *h);
/* Reports a fault of the node's set-up, found by the helper. */
void nm_health_set_unhealthy(struct nm_health *h, const char *why);
/* A part of the report that is no fault of the node; "": none. */
void nm_health_note(struct nm_health *h, const char *text);
/* Drained by an operator: unhealthy with this reason until it is called with NULL, also after a
 * restart. No container is killed. */
#define NM_DRAIN_REASON_MAX 1024
int nm_health_drain(struct nm_health *h, const char *reason, struct sv_error *err) _must_use_;
const char *nm_health_drain_reason(const struct nm_health *h); /* NULL: not drained */
/* False: unhealthy, with the reason in the report; a healthy node's report may name bad
 * directories. */
bool nm_health_report(const struct nm_health *h, char report[NM_HEALTH_REPORT_MAX]);
/* Wall clock of the last check that the report tells of. */
int64_t nm_health_checked_ms(const struct nm_health *h);

#endif
