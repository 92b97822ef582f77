/* Series of /metrics about the node itself: its resources, containers by state, disks, RPC, the
 * daemon. */
#ifndef SELVEDGE_NODEMANAGER_WEB_NODE_SERIES_H
#define SELVEDGE_NODEMANAGER_WEB_NODE_SERIES_H

#include "common/buf.h"
#include "nodemanager/web/nm-web.h"

int nm_node_series(const struct nm_web *w, struct sv_buf *out) _must_use_;

#endif
