/* Resources used by an application, by resource type, and the part lost to preemption: for reports,
 * REST, the summary line and the state store. */
#ifndef SELVEDGE_RM_LITE_CORE_APP_USAGE_H
#define SELVEDGE_RM_LITE_CORE_APP_USAGE_H

#include "rm-lite/scheduler/resource.h"

struct rm_app;
struct rm_container;

#define RM_USAGE_ROWS (2 + RM_RES_EXTRA)

struct rm_usage_row {
    const char *type; /* "memory-mb", "vcores", then the cluster's other types */
    int64_t used_ms, preempted_ms;
};

/* Usage up to now; returns the number of rows. */
int rm_app_usage_rows(const struct rm_app *app, struct rm_usage_row ret[static RM_USAGE_ROWS]);
/* Adds usage stored by an earlier process; ignores a type that the cluster no longer has. Memory
 * and virtual cores: the preempted part alone. */
void rm_app_usage_restore(struct rm_app *app, const struct rm_usage_row *row);
/* Counts a container that ended with YARN_EXIT_PREEMPTED, in its application and queue. */
void rm_app_preempted(struct rm_container *c);

#endif
