/* NodesListManager: the hosts that may be nodes (include and exclude files). */
#ifndef SELVEDGE_RM_LITE_NODES_NODES_LIST_H
#define SELVEDGE_RM_LITE_NODES_NODES_LIST_H

#include "common/error.h"
#include "rm-lite/core/context.h"

/* Reads both files again; on an error the old lists remain in force. */
int rm_nodes_list_read(struct rm *rm, struct sv_error *err) _must_use_;
bool rm_nodes_list_allows(struct rm *rm, const char *host);
/* Applies the lists to the active nodes: `graceful` with `timeout_ms` (-1 = none). */
void rm_nodes_list_apply(struct rm *rm, bool graceful, int64_t timeout_ms);

/* True if a node that no list allows may return until its graceful end, also after a restart of
 * either side. */
bool rm_nodes_list_drains(struct rm *rm, const char *key);
/* On a node's return: continues its graceful decommissioning, or recommissions it. */
void rm_nodes_list_joined(struct rm *rm, struct rm_node *n);
/* Forgets nodes that have left and that neither list names, after
 * yarn.resourcemanager.node-removal-untracked.timeout-ms. Only with an include list. */
void rm_nodes_list_forget(struct rm *rm, int64_t now_ms);

#endif
