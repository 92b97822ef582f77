/* A queue of /scheduler with the members of Hadoop's CapacitySchedulerInfo (the root),
 * CapacitySchedulerQueueInfo and CapacitySchedulerLeafQueueInfo, in their order. One partition;
 * queues are never created by applications. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_QUEUE_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_QUEUE_H

#include <jansson.h>

#include "rm-lite/core/queue-counters.h"
#include "rm-lite/scheduler/scheduler.h"

/* Users in one answer: their names are clients' claims, and each costs some 60 us as XML. */
#define RM_JSON_USERS_MAX 100

struct rm_json_queues {
    struct rm *rm;    /* after rm_queue_counters_gather() */
    const char *type; /* key of an object's class: "type", or an attribute in XML */
    size_t users;     /* written so far, RM_JSON_USERS_MAX at most */
};

/* `children`: a reference that is taken, NULL of a leaf. Without memory a member is missing. */
json_t *rm_json_queue(struct rm_json_queues *w, const struct rm_queue_info *q, json_t *children);
json_t *rm_json_root_queue(struct rm_json_queues *w, const struct rm_queue_info *q,
                           json_t *children);

#endif
