/* Lists of all containers and applications over REST, written in turns of the event loop: of a
 * thousand containers one takes 20 ms. What the caller may see is decided in the turn of each
 * object. */
#ifndef SELVEDGE_NODEMANAGER_WEB_WEB_LIST_H
#define SELVEDGE_NODEMANAGER_WEB_WEB_LIST_H

#include <jansson.h>

#include "nodemanager/web/nm-web.h"
#include "nodemanager/web/web-access.h"
#include "wire/ids.h"

#define NM_WEB_LISTS_MAX 32 /* being written; the next one gets 503 */
#define NM_WEB_LIST_TURN 64 /* objects */
#define NM_WEB_LIST_TURN_MS 2
#define NM_WEB_LIST_USER 256 /* of the filter; no account has a longer name */

struct nm_web_filter { /* of applications; zeroed: all */
    char user[NM_WEB_LIST_USER];
    const char *state; /* static */
};
struct nm_web_list_kind {
    const char *outer, *inner; /* {"containers":{"container":[…]}}, {"containers":{}} if empty */
    /* NULL: it no longer exists, is filtered out, or not for the caller. */
    json_t *(*entry)(const struct nm_context *ctx, const struct nm_web_caller *who,
                     const struct nm_web_filter *f, const char *id);
};
typedef char nm_web_id[YARN_ID_TEXT_MAX];

/* Answers, at once or later, with the objects of `ids` (malloc'd, taken). */
int nm_web_list(const struct nm_web *w, const struct nm_web_caller *who,
                const struct nm_web_list_kind *kind, const struct nm_web_filter *f, nm_web_id *ids,
                size_t n, const struct sv_http_request *req, struct sv_http_response *ret)
    _must_use_;

#endif
