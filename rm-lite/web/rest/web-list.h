/* Long lists over REST: a list of all applications or nodes of a large cluster is written in turns
 * of the event loop, so that heartbeats do not wait for it. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_LIST_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_LIST_H

#include <jansson.h>

#include "common/web/http.h"
#include "rm-lite/core/context.h"

struct rm_list_item {
    struct yarn_app_id app;
    char *node; /* malloc'd, or NULL */
    bool whole; /* the viewer may see all fields */
};

struct rm_list_kind {
    const char *outer, *inner; /* {"apps":{"app":[...]}} */
    /* NULL: it no longer exists, or no memory: skipped */
    json_t *(*entry)(struct rm *rm, const struct rm_list_item *item);
};

struct rm_list_item *rm_list_free(struct rm_list_item *items, size_t n);
/* Answers with the selected items. Takes ownership of `items` (malloc'd). 503 if RM_LISTS_MAX long
 * lists are being written. */
#define RM_LISTS_MAX 32
int rm_web_list(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret,
                const struct rm_list_kind *kind, struct rm_list_item *items, size_t n) _must_use_;

#endif
