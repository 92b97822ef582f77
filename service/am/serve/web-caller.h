/* The caller of a request to the master's web port, by the rules of Hadoop's AM_PROXY filter: the
 * ResourceManager's proxy names its user in a cookie, and others are sent to the proxy. Without
 * Kerberos, REST also takes the name that a client claims (user.name), as its RPC does. Hostile:
 * every request; the hosts of the proxy are trusted. */
#ifndef SELVEDGE_SERVICE_AM_SERVE_WEB_CALLER_H
#define SELVEDGE_SERVICE_AM_SERVE_WEB_CALLER_H

#include <netinet/in.h>

#include "common/conf.h"
#include "common/web/http.h"
#include "common/web/web-auth.h"

#define SVC_PROXIES_MAX 64

struct svc_proxies {
    struct in6_addr hosts[SVC_PROXIES_MAX]; /* IPv4 as mapped */
    size_t n;
    char base[512]; /* "http://host:port/proxy/application_…"; "" = not known */
    bool secure;    /* Kerberos: no claims */
};

/* yarn.web-proxy.address, else the web addresses of the ResourceManagers. Looks names up: before
 * the loop runs. `path`: of this application's proxy. */
int svc_proxies_read(struct sv_conf *conf, const char *path, struct svc_proxies *ret,
                     struct sv_error *err) _must_use_;

/* 0 and the user; SV_HTTP_REFUSED: *ret is the answer, a redirect or a refusal; -ENOMEM. */
int svc_web_caller(const struct svc_proxies *p, const struct sv_http_request *req,
                   struct sv_http_response *ret, char ret_user[SV_AUTH_USER_MAX]) _must_use_;

#endif
