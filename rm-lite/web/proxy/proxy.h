/* The proxy of ApplicationMasters' pages: fetches what a browser asks for and streams the answer.
 * Both sides are hostile: requests at once, headers, bytes and time are bounded; nothing of the
 * browser's but a few harmless headers goes to the master, and no cookie of the master's to the
 * browser. */
#ifndef SELVEDGE_RM_LITE_WEB_PROXY_PROXY_H
#define SELVEDGE_RM_LITE_WEB_PROXY_PROXY_H

#include "common/web/http.h"

struct rm_app;
struct rm_proxy;

struct rm_proxy_request {
    const struct rm_app *app; /* running, with a tracking URL */
    const char *rest;         /* path and query behind /proxy/APPLICATION, as sent */
    const char *user;         /* who asks, for the cookie proxy-user */
    const char *set_cookie;   /* of the answer, or NULL */
    const struct sv_http_request *http;
};

struct sd_event;
/* `timeout_ms`: silence after which a master is given up; 0: never. */
int rm_proxy_new(struct sd_event *event, int64_t timeout_ms, struct rm_proxy **ret) _must_use_;
struct rm_proxy *rm_proxy_free(struct rm_proxy *p); /* after the HTTP server */
/* For the handler of the HTTP server: SV_HTTP_LATER, or fills *ret with a refusal. */
int rm_proxy_fetch(struct rm_proxy *p, const struct rm_proxy_request *q,
                   struct sv_http_response *ret) _must_use_;
/* This request was sent by a proxy like this one: it would go round for ever. */
bool rm_proxy_is_loop(const struct sv_http_request *http);

#endif
