/* Rows and sums of a FrameworkInfo. Pure. Hostile: all of it. */
#ifndef SELVEDGE_CLIENT_FRAMEWORK_VIEWS_H
#define SELVEDGE_CLIENT_FRAMEWORK_VIEWS_H

#include <jansson.h>

#include "common/base.h"

struct cli_framework_counts { /* of one role, or of all */
    int64_t wanted, waiting, allocated, running, succeeded, failed, retried;
};
/* `role` NULL: of all. */
void cli_framework_counts(const json_t *info, const char *role, struct cli_framework_counts *ret);
/* A row of each role; a new array, NULL: no memory. */
json_t *cli_framework_roles(const json_t *info);
/* A row of each task; `role`, `states` ("RUNNING,COMPLETED", a part of the state's name) NULL: any.
 */
json_t *cli_framework_tasks(const json_t *info, const char *role, const char *states);
/* Why a task has no container, as the framework's master says; "" if nothing is in the way. */
const char *cli_framework_waits(const json_t *info);
/* Its state in one word: "SUCCEEDED", "STOPPED", "FAILED" of one that has ended, else the
 * launcher's, "APPLICATION_RUNNING"; "" if there is none. */
const char *cli_framework_state(const json_t *info);

#endif
