/* One health script: started at its times, watched, killed at its timeout with all that it has
 * forked, and judged by its output as by Hadoop's NodeHealthScriptRunner. For health-scripts.c. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_HEALTH_SCRIPT_H
#define SELVEDGE_NODEMANAGER_HEALTH_HEALTH_SCRIPT_H

#include <systemd/sd-event.h>

#include "common/error.h"
#include "nodemanager/conf/conf-health.h"

struct nm_script;

/* `all` has the times that the script has not itself, read at each use; `group` names its cgroup.
 * The first run begins with the loop. */
int nm_script_new(sd_event *event, const struct nm_conf_health *all,
                  const struct nm_conf_script *conf, const char *group, struct nm_script **ret,
                  struct sv_error *err) _must_use_;
/* Kills a run. */
struct nm_script *nm_script_free(struct nm_script *s);

/* The reason why the node is unhealthy, UTF-8; "": it is healthy by this script. */
const char *nm_script_report(const struct nm_script *s);
/* Wall clock of the last result; 0: the first run has not ended. */
int64_t nm_script_checked_ms(const struct nm_script *s);

#endif
