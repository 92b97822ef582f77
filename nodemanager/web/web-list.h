/* Lists of all containers and applications over REST, written in turns of the event loop: of a
 * thousand containers one takes 20 ms. What the caller may see is decided in the turn of each
 * object. */
#ifndef SELVEDGE_NODEMANAGER_WEB_WEB_LIST_H
#define SELVEDGE_NODEMANAGER_WEB_WEB_LIST_H

#include <jansson.h>

#include "common/web/jmx.h"
#include "nodemanager/web/nm-web.h"
#include "nodemanager/web/web-access.h"
#include "wire/ids.h"

#define NM_WEB_LISTS_MAX 32 /* being written; the next one gets 503 */
#define NM_WEB_LIST_TURN 64 /* objects */
#define NM_WEB_LIST_TURN_MS 2
#define NM_WEB_LIST_USER 256 /* of the filter; no account has a longer name */

struct nm_web_filter {           /* zeroed: all */
    char user[NM_WEB_LIST_USER]; /* this and the next of applications */
    const char *state;           /* static */
    struct sv_jmx_query beans;
};
struct nm_web_list_kind {
    /* {"containers":{"container":[…]}}, {"containers":{}} if empty, or XML; without `inner`
     * {"beans": […]}, for people. */
    const char *outer, *inner;
    /* NULL: it no longer exists, is filtered out, or not for the caller. */
    json_t *(*entry)(const struct nm_context *ctx, const struct nm_web_caller *who,
                     const struct nm_web_filter *f, const char *id);
};
typedef char nm_web_id[YARN_ID_TEXT_MAX];
struct nm_web_objects {
    nm_web_id *ids; /* malloc'd */
    size_t n;
    json_t *first; /* an array whose elements come before the objects, in one turn; or NULL */
};

/* All containers, behind the elements of `first` (taken; or NULL). */
struct nm_web_objects nm_web_containers(const struct nm_context *ctx, json_t *first);
/* Answers, at once or later, with the objects (taken). */
int nm_web_list(const struct nm_web *w, const struct nm_web_caller *who,
                const struct nm_web_list_kind *kind, const struct nm_web_filter *f,
                struct nm_web_objects objects, const struct sv_http_request *req,
                struct sv_http_response *ret) _must_use_;

#endif
