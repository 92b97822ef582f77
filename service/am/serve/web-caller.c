/* See web-caller.h. */
#include "service/am/serve/web-caller.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/web/web-user.h"
#include "wire/ipc/proxy.h"
#include "wire/ipc/resolve.h"

#define COOKIE "proxy-user="

/* ---- The proxy's hosts ---- */

static void add_host(struct svc_proxies *p, const char *address)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
    char host[256];
    const char *colon = strrchr(address, ':');

    (void)snprintf(host, sizeof(host), "%.*s",
                   (int)(colon ? colon - address : (ptrdiff_t)strlen(address)), address);
    if (getaddrinfo(host, NULL, &hints, &list) != 0)
        return; /* its requests are redirected to it, which a person sees, ignoring */
    for (const struct addrinfo *a = list; a && p->n < SVC_PROXIES_MAX; a = a->ai_next) {
        struct sockaddr_storage sa = { 0 };

        memcpy(&sa, a->ai_addr, a->ai_addrlen);
        p->hosts[p->n++] = ipc_address_ip(&sa);
    }
    freeaddrinfo(list);
}

static void add(struct svc_proxies *p, const char *scheme, const char *address, const char *path)
{
    add_host(p, address);
    if (!*p->base && *path)
        (void)snprintf(p->base, sizeof(p->base), "%s://%s%s", scheme, address, path);
}

/* The web address of a ResourceManager: its key, with its id where there are several, else the host
 * of its client port. */
static void add_rm(struct svc_proxies *p, struct sv_conf *conf, bool tls,
                   const struct ipc_proxy_server *rm, const char *path)
{
    char key[160], address[300];
    const char *value;

    (void)snprintf(key, sizeof(key), "yarn.resourcemanager.webapp.%saddress%s%s",
                   tls ? "https." : "", *rm->id ? "." : "", rm->id);
    value = sv_conf_raw(conf, key);
    if (value)
        (void)snprintf(address, sizeof(address), "%s", value);
    else
        (void)snprintf(address, sizeof(address), "%s:%d", rm->host, tls ? 8090 : 8088);
    add(p, tls ? "https" : "http", address, path);
}

int svc_proxies_read(struct sv_conf *conf, const char *path, struct svc_proxies *ret,
                     struct sv_error *err)
{
    const char *policy = sv_conf_raw(conf, "yarn.http.policy"), *security, *proxy;
    struct svc_proxies p = { .n = 0 };
    struct ipc_proxy_config rm;
    int r = 0;

    security = sv_conf_raw(conf, "hadoop.security.authentication");
    p.secure = security && strcasecmp(security, "kerberos") == 0;
    proxy = sv_conf_raw(conf, "yarn.web-proxy.address");
    if (proxy && *proxy)
        add(&p, "http", proxy, path);
    else
        r = yarn_rm_proxy_config(conf, YARN_RM_CLIENTS, &rm, err);
    for (size_t i = 0; r == 0 && (!proxy || !*proxy) && i < rm.n_servers; i++)
        add_rm(&p, conf, policy && strcmp(policy, "HTTPS_ONLY") == 0, &rm.servers[i], path);
    if (r == 0)
        *ret = p;
    return r;
}

/* ---- Requests ---- */

static bool from_proxy(const struct svc_proxies *p, const struct sv_http_request *req)
{
    const struct sockaddr *peer = sv_http_peer(req);
    struct sockaddr_storage sa = { 0 };
    struct in6_addr ip;

    if (!peer || (peer->sa_family != AF_INET && peer->sa_family != AF_INET6))
        return false;
    memcpy(&sa, peer,
           peer->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
    ip = ipc_address_ip(&sa);
    for (size_t i = 0; i < p->n; i++)
        if (memcmp(&ip, &p->hosts[i], sizeof(ip)) == 0)
            return true;
    return false;
}

/* The value of the cookie, a user's name; "" = none. */
static void cookie_user(const struct sv_http_request *req, char ret[SV_AUTH_USER_MAX])
{
    const char *cookies = sv_http_header(req, "Cookie"), *at;

    *ret = '\0';
    for (at = cookies; at && *at; at += *at == ';') {
        at += strspn(at, " ");
        if (sv_has_prefix(at, COOKIE)) {
            at += strlen(COOKIE);
            (void)snprintf(ret, SV_AUTH_USER_MAX, "%.*s", (int)strcspn(at, "; "), at);
            break;
        }
        at += strcspn(at, ";");
    }
    if (!sv_web_is_user_name(ret))
        *ret = '\0';
}

static int refuse(struct sv_http_response *ret, unsigned status, const char *why)
{
    ret->status = status;
    ret->cache_control = "no-store";
    ret->body = strdup(why);
    ret->body_len = ret->body ? strlen(why) : 0;
    return ret->body ? SV_HTTP_REFUSED : -ENOMEM;
}

/* Hadoop's filter redirects whoever does not come from the proxy; a change is not repeated there.
 */
static int elsewhere(const struct svc_proxies *p, const struct sv_http_request *req,
                     struct sv_http_response *ret)
{
    bool reads = strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0;

    if (!reads || !*p->base || req->uri[0] != '/' || strpbrk(req->uri, "\r\n"))
        return refuse(ret, 403, "Requests come from the ResourceManager's proxy.\n");
    if (sv_asprintf(&ret->location, "%s%s", p->base, req->uri) < 0)
        return -ENOMEM;
    return refuse(ret, 302, "See the ResourceManager's proxy.\n");
}

/* A page of another origin cannot make its reader's browser change something. */
static bool forged(const struct sv_http_request *req)
{
    return strcmp(req->method, "GET") != 0 && strcmp(req->method, "HEAD") != 0 &&
           sv_http_header(req, "Origin") != NULL;
}

int svc_web_caller(const struct svc_proxies *p, const struct sv_http_request *req,
                   struct sv_http_response *ret, char ret_user[SV_AUTH_USER_MAX])
{
    const char *claim = sv_http_query(req, "user.name");

    *ret_user = '\0';
    if (forged(req))
        return refuse(ret, 403, "Requests of pages of other origins are refused.\n");
    if (!p->secure && claim && sv_web_is_user_name(claim)) /* the proxy forwards it, too */
        (void)snprintf(ret_user, SV_AUTH_USER_MAX, "%s", claim);
    else if (from_proxy(p, req))
        cookie_user(req, ret_user);
    return *ret_user ? 0 : elsewhere(p, req, ret);
}
