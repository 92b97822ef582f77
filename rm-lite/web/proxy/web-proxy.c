/* See web-proxy.h. Decides who may see a page; proxy.c fetches it. */
#include "rm-lite/web/proxy/web-proxy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/web/http-stream.h"
#include "common/web/web-user.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/security/proxy-target.h"
#include "rm-lite/web/proxy/proxy.h"
#include "rm-lite/web/rest/web-reply.h"

#define PREFIX "/proxy/"
#define REDIRECT "redirect/"
#define APPROVED "proxyapproved"
#define CHECKED_SECONDS 7200 /* max-age of the cookie, as Hadoop's */

/* --------------------------------------------------------------------- pages */

static int page(struct sv_http_response *ret, unsigned status, const char *title, const char *text)
{
    ret->status = status;
    ret->content_type = "text/html; charset=utf-8";
    if (sv_asprintf(&ret->body,
                    "<!DOCTYPE html><meta charset=utf-8><title>%s</title><h1>%s</h1><p>%s\n", title,
                    title, text) < 0)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    return 0;
}

int rm_web_failure(const char *path, struct sv_http_response *ret)
{
    (void)path;
    return page(ret, 200, "Failure",
                "The ApplicationMaster sent the ResourceManager's own request back to its proxy. "
                "It takes another address for the proxy's than the one that the request came from: "
                "check yarn.resourcemanager.webapp.address, yarn.web-proxy.address and the name "
                "resolution of the node.");
}

/* Printable names alone: others are not shown. */
static const char *shown(const char *user)
{
    size_t n = strspn(user, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@$");

    return n > 0 && !user[n] ? user : "another user";
}

/* ----------------------------------------------------------------- who may see it */

/* checked_APPLICATION: "true" after the user has followed the link of the warning, "false"
 * before. */
static const char *checked_cookie(const struct sv_http_request *req, const struct rm_app *app)
{
    const char *cookies = sv_http_header(req, "Cookie"), *at;
    char name[YARN_ID_TEXT_MAX + 16];

    (void)snprintf(name, sizeof(name), "checked_%s=", app->id_str);
    at = cookies ? strstr(cookies, name) : NULL;
    return at && (at == cookies || at[-1] == ' ' || at[-1] == ';') ? at + strlen(name) : NULL;
}

/* malloc'd */
static int make_cookie(const struct rm_app *app, bool value, char **ret)
{
    return sv_asprintf(ret, "checked_%s=%s; Path=" PREFIX "%s; Max-Age=%d; HttpOnly", app->id_str,
                       value ? "true" : "false", app->id_str, CHECKED_SECONDS);
}

static void nothing(void *userdata)
{
    (void)userdata;
}

/* "The following page may not be safe", with a link for users who want it nevertheless. */
static int warn(const struct sv_http_request *req, const struct rm_app *app, const char *rest,
                struct sv_http_response *ret)
{
    static const struct sv_http_stream_events events = { nothing, nothing };
    _cleanup_free_ char *cookie = NULL, *link = NULL, *text = NULL;
    size_t path = strcspn(rest, "?");
    struct sv_http_stream *s;

    (void)ret;
    if (strpbrk(rest, "<>\"'")) /* browsers encode them */
        path = 0;
    if (make_cookie(app, false, &cookie) < 0 ||
        sv_asprintf(&link, PREFIX "%s%.*s?%s%s" APPROVED "=true", app->id_str, (int)path, rest,
                    path && rest[path] ? rest + path + 1 : "",
                    path && rest[path] && rest[path + 1] ? "&amp;" : "") < 0 ||
        sv_asprintf(&text,
                    "<!DOCTYPE html><meta charset=utf-8><h1>WARNING: The following page may not be "
                    "safe!</h1><h3>click <a href=\"%s\">here</a> to continue to an Application "
                    "Master web interface owned by %s</h3>\n",
                    link, shown(app->user)) < 0)
        return -ENOMEM;
    s = sv_http_stream_new(req, &events, NULL);
    if (!s)
        return -ENOMEM;
    if (sv_http_stream_header(s, "Set-Cookie", cookie) < 0)
        sv_http_stream_end(s, false);
    else
        sv_http_stream_text(s, 200, "text/html; charset=utf-8", text);
    return SV_HTTP_LATER;
}

/* 1: fetch; with *ret_cookie for the answer. 0: answered, or the stream of the warning: with access
 * lists or tickets, the page's script can do here what its viewer may. */
static int check_user(struct rm *rm, const struct sv_http_request *req, const struct rm_app *app,
                      const char *user, char **ret_cookie)
{
    const char *checked = checked_cookie(req, app), *query = sv_http_query(req, APPROVED);
    bool approved =
        (checked && sv_has_prefix(checked, "true")) || (query && strcmp(query, "true") == 0);

    if ((!rm->conf.acl_enable && !rm->conf.web_server.tickets) || sv_streq(user, app->user))
        return 1;
    if (!checked || !approved) /* requires the cookie: a link alone does not confirm the warning */
        return 0;
    return make_cookie(app, true, ret_cookie) < 0 ? -ENOMEM : 1;
}

/* -------------------------------------------------------------------- requests */

static bool from_here(const struct sv_http_request *req)
{
    const struct sockaddr *peer = sv_http_peer(req);
    struct in6_addr ip = { 0 };

    if (peer && peer->sa_family == AF_INET6) {
        ip = ((const struct sockaddr_in6 *)peer)->sin6_addr;
    } else if (peer && peer->sa_family == AF_INET) {
        ip.s6_addr[10] = ip.s6_addr[11] = 0xff;
        memcpy(ip.s6_addr + 12, &((const struct sockaddr_in *)peer)->sin_addr, 4);
    } else {
        return false;
    }
    return rm_proxy_is_local(&ip);
}

static bool tracked(const struct rm_app *app)
{
    return app->current && app->current->tracking_url && *app->current->tracking_url &&
           !sv_streq(app->current->tracking_url, "N/A");
}

/* Browsers without a name are the static user, but where they have to prove theirs. */
static void viewer(const struct rm *rm, const struct sv_http_request *req,
                   char ret[SV_AUTH_USER_MAX])
{
    sv_web_user(&rm->conf.auth, req, ret);
    if (!*ret && !rm->conf.web_server.tickets)
        (void)snprintf(ret, SV_AUTH_USER_MAX, "%s", rm->conf.static_user);
}

static int fetch(struct rm *rm, const struct sv_http_request *req, const struct rm_app *app,
                 const char *rest, struct sv_http_response *ret)
{
    char user[SV_AUTH_USER_MAX];
    _cleanup_free_ char *cookie = NULL, *shown_rest = rm_proxy_without_tokens(rest);
    struct rm_proxy_request q = { .app = app, .rest = shown_rest, .user = user, .http = req };
    int r;

    if (!shown_rest)
        return -ENOMEM;
    viewer(rm, req, user);
    r = check_user(rm, req, app, user, &cookie);
    if (r == 0)
        return warn(req, app, rest, ret);
    q.set_cookie = cookie;
    return r < 0 ? r : rm_proxy_fetch(rm->proxy, &q, ret);
}

static int to_page_of_app(const struct rm_app *app, struct sv_http_response *ret)
{
    char url[YARN_ID_TEXT_MAX + 32];

    (void)snprintf(url, sizeof(url), "/cluster/app/%s", app->id_str);
    return rm_web_redirect(ret, url);
}

/* For an ended application: its master is gone, its tracking URL may be a history server's. */
static int redirect_out(const struct rm_app *app, const char *rest, struct sv_http_response *ret)
{
    _cleanup_free_ char *url = NULL, *shown_rest = rm_proxy_without_tokens(rest);
    struct sv_error err = { 0 };

    if (!shown_rest)
        return -ENOMEM;
    if (rm_proxy_url(app->current->tracking_url, shown_rest, &url, &err) < 0)
        return page(ret, 400, "Bad tracking URL", err.text);
    return rm_web_redirect(ret, url);
}

/* Splits the path after "/proxy/" or "redirect/" into the application and the rest. */
static struct rm_app *app_of(struct rm *rm, const char **p)
{
    size_t n = strcspn(*p, "/?");
    char id[YARN_ID_TEXT_MAX];
    struct yarn_app_id aid;

    if (n >= sizeof(id))
        return NULL;
    memcpy(id, *p, n);
    id[n] = 0;
    *p += n;
    return yarn_app_id_parse(id, &aid) < 0 ? NULL : rm_app_find(rm, aid);
}

int rm_web_proxy(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    bool put = strcmp(req->method, "PUT") == 0;
    const char *rest;
    struct rm_app *app;
    bool redirected;

    if (!put && strcmp(req->method, "GET") != 0 && strcmp(req->method, "HEAD") != 0) {
        ret->status = 405;
        return 0;
    }
    if (!sv_has_prefix(req->uri, PREFIX)) /* written with %XX */
        return page(ret, 404, "Not found", "Your path appears to be formatted incorrectly.");
    rest = req->uri + strlen(PREFIX);
    redirected = sv_has_prefix(rest, REDIRECT);
    rest += redirected ? strlen(REDIRECT) : 0;
    app = app_of(rm, &rest);
    if (!app)
        return page(ret, 404, "Not found", "There is no such application.");
    if ((redirected && from_here(req)) || rm_proxy_is_loop(req)) {
        char url[YARN_ID_TEXT_MAX + 32];

        sv_log(SV_LOG_WARNING, app->id_str,
               "%s: its master sent the proxy's request back to the proxy", app->id_str);
        (void)snprintf(url, sizeof(url), "/cluster/failure/%s", app->id_str);
        return rm_web_redirect(ret, url);
    }
    if (!tracked(app))
        return to_page_of_app(app, ret);
    if (rm_app_final_stored(app))
        return redirect_out(app, rest, ret);
    return fetch(rm, req, app, rest, ret);
}
