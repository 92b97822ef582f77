/* Paths of features that are off: rows of web-rest.c, each with Hadoop's answer for a feature that
 * is not configured. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_OFF_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_OFF_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

#define RM_OFF(name)                                                                               \
    int rm_off_##name(struct rm *rm, const struct sv_http_request *req, const char *rest,          \
                      struct sv_http_response *ret)
RM_OFF(scheduler_logs) _must_use_;
RM_OFF(read_conf) _must_use_;
RM_OFF(change_conf) _must_use_;
RM_OFF(labels) _must_use_;
RM_OFF(all_labels) _must_use_;
RM_OFF(nodes_to_labels) _must_use_;
RM_OFF(labels_to_nodes) _must_use_;
RM_OFF(change_labels) _must_use_;
RM_OFF(reservation) _must_use_;

#endif
