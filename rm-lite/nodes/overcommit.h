/* Nodes with a new size below their usage: updateNodeResource's OvercommitTimeout. */
#ifndef SELVEDGE_RM_LITE_NODES_OVERCOMMIT_H
#define SELVEDGE_RM_LITE_NODES_OVERCOMMIT_H

#include "rm-lite/scheduler/resource.h"

struct rm_node;

/* Gives the node a new size. `timeout_ms` >= 0: containers above it are preempted after that time,
 * and their masters are warned now. Below 0: they are kept, unless an earlier call set a timeout,
 * as at Apache's. */
void rm_overcommit_resize(struct rm_node *n, struct rm_res total, int64_t timeout_ms);
/* Called with each heartbeat of the node: preempts after the timeout. */
void rm_overcommit_beat(struct rm_node *n);

#endif
