/* Reports of applications of all members as one list: a report of each application, in which the
 * resources of its unmanaged halves on other members count. Hostile: the reports.
 *
 * As Hadoop's Router: the reports UnmanagedAM-… without a master's are left out, because they are a
 * part of an application whose home has not answered, or has forgotten it. */
#ifndef SELVEDGE_ROUTER_MERGE_APPS_H
#define SELVEDGE_ROUTER_MERGE_APPS_H

#include "common/arena.h"
#include "common/base.h"

typedef struct Hadoop__Yarn__ApplicationReportProto Hadoop__Yarn__ApplicationReportProto;

struct rtr_apps;
/* `orphans`: unmanaged halves without a master's report are listed. NULL: no memory. */
struct rtr_apps *rtr_apps_new(bool orphans);
struct rtr_apps *rtr_apps_free(struct rtr_apps *apps);

/* Borrows the report and may change it. -ENOMEM. */
int rtr_apps_add(struct rtr_apps *apps, Hadoop__Yarn__ApplicationReportProto *report) _must_use_;
/* The i-th of all; NULL: it is left out. */
size_t rtr_apps_count(const struct rtr_apps *apps);
Hadoop__Yarn__ApplicationReportProto *rtr_apps_at(const struct rtr_apps *apps, size_t i);

#endif
