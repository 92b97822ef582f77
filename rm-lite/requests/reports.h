/* Reports of applications, attempts, containers and nodes as wire messages in an arena. NULL: no
 * memory. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_REPORTS_H
#define SELVEDGE_RM_LITE_REQUESTS_REPORTS_H

#include "common/arena.h"
#include "rm-lite/core/context.h"
#include "wire/ipc/methods.h"

Hadoop__Yarn__PriorityProto *rm_priority_to(struct sv_arena *a, int32_t priority);
Hadoop__Yarn__ResourceTypeInfoProto **rm_resource_types(struct sv_arena *a, size_t *ret_n);
/* Owned by the application, not by an arena. */
Hadoop__Yarn__ApplicationACLMapProto **rm_app_acls(struct rm_app *app, size_t *ret_n);
Hadoop__Yarn__NodeReportProto *rm_node_report(struct sv_arena *a, const struct rm_node *n);
/* `viewer`: only the owner of an unmanaged application gets its AMRMToken. NULL: nobody. */
Hadoop__Yarn__ApplicationReportProto *rm_app_report(struct sv_arena *a, struct rm_app *app,
                                                    const char *viewer);
Hadoop__Yarn__ApplicationAttemptReportProto *rm_attempt_report(struct sv_arena *a,
                                                               const struct rm_attempt *att);
Hadoop__Yarn__ContainerReportProto *rm_container_report(struct sv_arena *a,
                                                        const struct rm_container *c);

#endif
