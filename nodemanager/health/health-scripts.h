/* The node's health scripts (NodeHealthScriptRunner): programs of the operator that are run
 * periodically and whose output makes the node unhealthy. For node-health.c. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_HEALTH_SCRIPTS_H
#define SELVEDGE_NODEMANAGER_HEALTH_HEALTH_SCRIPTS_H

#include <systemd/sd-event.h>

#include "common/error.h"
#include "nodemanager/conf/conf-health.h"

struct nm_scripts;

/* As in Hadoop, a script that is not there or not executable is not run, with a warning. What a
 * killed daemon's scripts have left running is killed. Before the loop runs. */
int nm_scripts_new(sd_event *event, const struct nm_conf_health *conf, struct nm_scripts **ret,
                   struct sv_error *err) _must_use_;
struct nm_scripts *nm_scripts_free(struct nm_scripts *l);

/* The reason why the node is unhealthy by script `i`, or ""; NULL: there is no such script. */
const char *nm_scripts_report(const struct nm_scripts *l, size_t i);
/* Wall clock of the last result of all; 0: none. */
int64_t nm_scripts_checked_ms(const struct nm_scripts *l);
/* A script that must run before the node registers has not ended yet. */
bool nm_scripts_starting(const struct nm_scripts *l);

#endif
