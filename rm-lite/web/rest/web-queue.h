/* Members of a queue in /scheduler beside its capacities: Hadoop's, of the default partition. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_QUEUE_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_QUEUE_H

#include <jansson.h>

#include "rm-lite/core/queue-counters.h"
#include "rm-lite/scheduler/scheduler.h"

/* Without memory a member is missing. `c`: as of the last rm_queue_counters_gather(). */
void rm_json_queue(json_t *o, const struct rm_queue_info *q, const struct rm_queue_counters *c);

#endif
