/* Which applications a request of getApplications or GET /ws/v1/cluster/apps is for. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_APP_FILTER_H
#define SELVEDGE_RM_LITE_REQUESTS_APP_FILTER_H

#include "rm-lite/core/context.h"
#include "rm-lite/requests/name-filter.h"

enum rm_filter_names {
    RM_FILTER_TYPES,
    RM_FILTER_TAGS,
    RM_FILTER_USERS,
    RM_FILTER_QUEUES, /* by full path or last part */
    RM_FILTER_QUEUES_TOO,
    RM_FILTER_NAMES
};

struct rm_app_filter {
    uint32_t states, finals; /* a bit for each value of YarnApplicationStateProto,
                                FinalApplicationStatusProto */
    struct rm_name_filter names[RM_FILTER_NAMES];
    char *name, *owner;          /* malloc'd; NULL: any */
    int64_t start[2], finish[2]; /* wall clock, inclusive */
};

/* The facts of an application that a filter compares. */
struct rm_app_facts {
    int state, final; /* YarnApplicationStateProto, FinalApplicationStatusProto */
    int64_t start_ms, finish_ms;
    const char *user, *queue, *name, *type;
    char *const *tags; /* ends with NULL; or NULL */
};

/* Takes every application. */
void rm_app_filter_init(struct rm_app_filter *f);
void rm_app_filter_free(struct rm_app_filter *f);
bool rm_app_filter_takes(const struct rm_app_filter *f, const struct rm_app *app);
bool rm_app_filter_takes_facts(const struct rm_app_filter *f, const struct rm_app_facts *facts);

#endif
