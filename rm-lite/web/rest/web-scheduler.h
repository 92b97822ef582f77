/* The tree of /scheduler: Hadoop's CapacitySchedulerInfo. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_SCHEDULER_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_SCHEDULER_H

#include <jansson.h>

#include "rm-lite/core/context.h"

/* `xml`: a queue's class is the attribute xsi:type, not a member. New reference; NULL: no
 * memory. */
json_t *rm_json_scheduler(struct rm *rm, bool xml);

#endif
