/* Answers of several members as one. Pure. Hostile: the answers. */
#ifndef SELVEDGE_ROUTER_MERGE_H
#define SELVEDGE_ROUTER_MERGE_H

#include "common/arena.h"

struct rtr_answers {
    ProtobufCMessage *const *v; /* of the method's response, and may be changed */
    size_t n;                   /* > 0 */
    bool partial;               /* members may be missing */
};
/* *ret: v[0], or in the arena. -ENOMEM. */
typedef int rtr_merge(const struct rtr_answers *in, struct sv_arena *a,
                      const ProtobufCMessage **ret);

rtr_merge rtr_merge_metrics;  /* GetClusterMetricsResponseProto: sums */
rtr_merge rtr_merge_acls;     /* GetQueueUserAclsInfoResponseProto: by queue, what any grants */
rtr_merge rtr_merge_types;    /* GetAllResourceTypeInfoResponseProto: by name */
rtr_merge rtr_merge_profiles; /* GetAllResourceProfilesResponseProto: by name, the smallest */
rtr_merge rtr_merge_profile;  /* GetResourceProfileResponseProto: the smallest */
rtr_merge rtr_merge_queue;    /* GetQueueInfoResponseProto: merge-queue.c */

#endif
