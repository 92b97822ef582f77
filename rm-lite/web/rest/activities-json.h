/* Records of the scheduler's visits with the fields of Hadoop's ActivitiesInfo and
 * AppActivitiesInfo. New references; NULL: no memory. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_ACTIVITIES_JSON_H
#define SELVEDGE_RM_LITE_WEB_REST_ACTIVITIES_JSON_H

#include <jansson.h>

#include "rm-lite/core/context.h"
#include "rm-lite/scheduler/activities.h"

#define RM_ACTIVITIES_DATE_MAX 64
/* As Java's Date.toString(). */
const char *rm_activities_date(int64_t wall_ms, char dst[static RM_ACTIVITIES_DATE_MAX]);

/* `by_diagnostic`: groupBy=diagnostic. */
json_t *rm_json_visit(const struct rm_visit *v, bool by_diagnostic);

#define RM_ACTIVITIES_NUMBERS 100 /* priorities or ids in a query */

struct rm_activities_filter { /* of the requests of an application; n 0: all */
    int64_t priorities[RM_ACTIVITIES_NUMBERS], ids[RM_ACTIVITIES_NUMBERS];
    size_t n_priorities, n_ids;
    bool by_diagnostic;
};
/* NULL also if the filter takes none of its requests. */
json_t *rm_json_app_visit(const struct rm_app *app, const struct rm_visit *v,
                          const struct rm_activities_filter *f);
/* One of all visits that are at most `within_ms` older than the last one: of each request and node
 * the last that happened. */
json_t *rm_json_app_summary(const struct rm_app *app, const struct rm_visit *oldest,
                            const struct rm_activities_filter *f, int64_t within_ms);

#endif
