/* The proxy of ApplicationMasters' pages: forwards a browser's request and streams the answer. Both
 * sides are hostile: concurrent requests, headers, bytes and time are bounded; only a few harmless
 * headers of the browser are sent to the master, and no cookie of the master's to the browser. */
#ifndef SELVEDGE_RM_LITE_WEB_PROXY_PROXY_H
#define SELVEDGE_RM_LITE_WEB_PROXY_PROXY_H

#include "common/web/http.h"

struct rm_app;
struct rm_proxy;

struct rm_proxy_request {
    const struct rm_app *app; /* running, with a tracking URL */
    const char *rest;         /* path and query after /proxy/APPLICATION, as sent */
    const char *user;         /* the viewer, for the cookie proxy-user; "": nobody, without one */
    const char *set_cookie;   /* of the answer, or NULL */
    const struct sv_http_request *http;
};

struct sd_event;
/* `timeout_ms`: idle time after which a master is given up; 0: never. */
int rm_proxy_new(struct sd_event *event, int64_t timeout_ms, struct rm_proxy **ret) _must_use_;
struct rm_proxy *rm_proxy_free(struct rm_proxy *p); /* free the HTTP server first */
/* For the handler of the HTTP server: SV_HTTP_LATER, or fills *ret with a refusal. */
int rm_proxy_fetch(struct rm_proxy *p, const struct rm_proxy_request *q,
                   struct sv_http_response *ret) _must_use_;
/* True if a proxy like this one sent the request: it would loop for ever. */
bool rm_proxy_is_loop(const struct sv_http_request *http);

#endif
