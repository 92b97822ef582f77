/* Changes of nodes for the ApplicationMasters' allocate answers: one list of nodes in the order of
 * their last changes, and in each attempt the number of the last change that its master was told.
 * A change costs the same with any number of applications. */
#ifndef SELVEDGE_RM_LITE_CORE_NODE_UPDATES_H
#define SELVEDGE_RM_LITE_CORE_NODE_UPDATES_H

#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-node.h"

#define RM_NODE_UPDATES_MAX 256 /* reports in one answer; the next one has the others */

void rm_node_updated(struct rm_node *n);
void rm_node_updates_forget(struct rm_node *n); /* it is in no table any more */
/* The master registers: it hears of changes from now on. */
void rm_node_updates_start(struct rm_attempt *att);
/* The first `max` nodes that changed since the attempt's master was told, oldest change first. Once
 * the answer is made: rm_node_updates_told() with the last of them. */
size_t rm_node_updates(const struct rm_attempt *att, struct rm_node **ret, size_t max);
void rm_node_updates_told(struct rm_attempt *att, const struct rm_node *last);

#endif
