/* Ended applications of the state store's history, as reports, REST and filters show them. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_PAST_APPS_H
#define SELVEDGE_RM_LITE_REQUESTS_PAST_APPS_H

#include "rm-lite/requests/app-filter.h"
#include "rm-lite/requests/viewer.h"
#include "rm-lite/store/store-history.h"

int rm_past_wire_state(const struct rm_past_app *past); /* YarnApplicationStateProto */
const char *rm_past_state_name(const struct rm_past_app *past);
bool rm_past_matches(const struct rm_app_filter *f, const struct rm_past_app *past);
/* The report of an application that the ResourceManager has forgotten, reduced to what the viewer
 * may see, in the arena. NULL: no memory. */
Hadoop__Yarn__ApplicationReportProto *rm_past_report(const struct rm_viewer *v, struct sv_arena *a,
                                                     const struct rm_past_app *past);

#endif
