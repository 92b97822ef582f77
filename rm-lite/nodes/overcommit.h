/* Nodes that were made smaller than what runs on them: updateNodeResource's OvercommitTimeout. */
#ifndef SELVEDGE_RM_LITE_NODES_OVERCOMMIT_H
#define SELVEDGE_RM_LITE_NODES_OVERCOMMIT_H

#include "rm-lite/scheduler/resource.h"

struct rm_node;

/* Gives the node a new size. `timeout_ms` 0 or more: containers above it are preempted after so
 * long, at once with 0; their masters are told now. Below 0: they stay, unless an earlier call said
 * otherwise, as at Apache's. */
void rm_overcommit_resize(struct rm_node *n, struct rm_res total, int64_t timeout_ms);
/* With each heartbeat of the node: preempts what is due. */
void rm_overcommit_beat(struct rm_node *n);

#endif
