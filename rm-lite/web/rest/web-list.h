/* Long lists over REST: a list of applications, nodes or containers of a large cluster is selected
 * and written in turns of the event loop, so that heartbeats do not wait for it. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_LIST_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_LIST_H

#include <jansson.h>

#include "common/web/http.h"
#include "rm-lite/core/context.h"

struct rm_list_item {
    struct yarn_app_id app;
    struct yarn_container_id container;
    char *node; /* malloc'd, or NULL */
    bool whole; /* the viewer may see all fields */
};

struct rm_list_items {
    struct rm_list_item *items;
    size_t n;
};

struct rm_list_kind {
    const char *outer, *inner; /* {"apps":{"app":[...]}} */
    bool bare;                 /* {"app":[...]}; `outer` is the document element of XML */
    /* All objects from which the list selects. False: no memory. */
    bool (*gather)(struct rm *rm, const void *wanted, struct rm_list_items *ret);
    /* The request is for this object; NULL: for all. May set item->whole. */
    bool (*takes)(struct rm *rm, const void *wanted, struct rm_list_item *item);
    /* NULL: it no longer exists, or no memory: skipped */
    json_t *(*entry)(struct rm *rm, const struct rm_list_item *item);
    void (*free_wanted)(void *wanted);
};

struct rm_list {
    const struct rm_list_kind *kind;
    void *wanted;  /* of the kind */
    size_t most;   /* objects that gather() finds at present */
    int64_t limit; /* entries of the answer */
};

/* Allocates n zeroed items, and one more; items->n is 0. False: no memory. */
bool rm_list_items_new(struct rm_list_items *items, size_t n) _must_use_;
/* Answers with the selected objects, later if there are more than RM_LIST_SHORT to select from.
 * Takes ownership of list->wanted. One selection is made at a time, others wait. 503 if
 * RM_LISTS_MAX long lists are being written, or if access of the viewer could not be decided. */
#define RM_LISTS_MAX 32
#define RM_LIST_SHORT 64
int rm_web_list(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret,
                const struct rm_list *list) _must_use_;

#endif
