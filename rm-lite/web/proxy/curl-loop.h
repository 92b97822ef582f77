/* libcurl's multi interface on the daemon's event loop: requests to other HTTP servers without
 * threads of our own and without blocking. */
#ifndef SELVEDGE_RM_LITE_WEB_PROXY_CURL_LOOP_H
#define SELVEDGE_RM_LITE_WEB_PROXY_CURL_LOOP_H

#include <curl/curl.h>
#include <systemd/sd-event.h>

#include "common/error.h"

struct rm_curl;

/* The request has ended; it was removed from the loop and belongs to the callee. `userdata` is its
 * CURLOPT_PRIVATE. */
typedef void (*rm_curl_done)(CURL *easy, CURLcode result, void *userdata);

int rm_curl_new(sd_event *event, rm_curl_done done, struct rm_curl **ret) _must_use_;
struct rm_curl *rm_curl_free(struct rm_curl *c); /* only without requests */
int rm_curl_add(struct rm_curl *c, CURL *easy) _must_use_;
void rm_curl_remove(struct rm_curl *c, CURL *easy);

#endif
