/* libcurl's multi interface on an event loop: requests to HTTP servers without threads of our own
 * and without blocking. libcurl's own threads resolve names; the thread of a request that ends
 * before its name is resolved goes on until then. */
#ifndef SELVEDGE_COMMON_WEB_CURL_LOOP_H
#define SELVEDGE_COMMON_WEB_CURL_LOOP_H

#include <systemd/sd-event.h>

#include "common/web/curl.h"

struct sv_curl_loop;

/* A request has ended: it was removed from the loop and belongs to the callee, which may add
 * others. `userdata` is its CURLOPT_PRIVATE. */
typedef void (*sv_curl_done)(CURL *easy, CURLcode result, void *userdata);

int sv_curl_loop_new(const struct sv_curl *curl, sd_event *event, sv_curl_done done,
                     struct sv_curl_loop **ret) _must_use_;
/* Requires that no request is left. Accepts NULL, returns NULL. */
struct sv_curl_loop *sv_curl_loop_free(struct sv_curl_loop *l);
/* Limits connections; further requests wait for one. 0: unlimited, the initial value. */
void sv_curl_loop_connections(struct sv_curl_loop *l, long per_host, long all);
int sv_curl_loop_add(struct sv_curl_loop *l, CURL *easy) _must_use_;
/* Removes a pending request: `done` is not called. Must not be called from libcurl's callbacks. */
void sv_curl_loop_remove(struct sv_curl_loop *l, CURL *easy);

#endif
