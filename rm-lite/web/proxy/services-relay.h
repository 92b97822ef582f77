/* /app/v1/services: YARN's services API, which selvedge-services serves at a socket of this
 * machine. The request is passed on with the caller's name, the answer is streamed back; nothing of
 * either is parsed here. Hostile: callers; the bytes of answers, which users influence. */
#ifndef SELVEDGE_RM_LITE_WEB_PROXY_SERVICES_RELAY_H
#define SELVEDGE_RM_LITE_WEB_PROXY_SERVICES_RELAY_H

#include "common/web/http.h"

#define RM_RELAY_PREFIX "/app/v1/services"
#define RM_RELAY_BODY_MAX ((size_t)4 << 20) /* that of selvedge-services */

struct rm_relay;
struct sd_event;

/* `socket`: the path, kept. */
int rm_relay_new(struct sd_event *event, const char *socket, struct rm_relay **ret) _must_use_;
struct rm_relay *rm_relay_free(struct rm_relay *s); /* free the HTTP server first */
/* True for the API's paths. */
bool rm_relay_takes(const struct sv_http_request *http);
/* For the handler of the HTTP server: SV_HTTP_LATER, or fills *ret with a refusal. `user`: the
 * caller, authenticated; "" = nobody. */
int rm_relay_fetch(struct rm_relay *s, const char *user, const struct sv_http_request *http,
                   struct sv_http_response *ret) _must_use_;

#endif
