/* See exec-page.h. */
#include "nodemanager/web/exec-page.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "common/acl.h"
#include "common/str.h"
#include "common/user-groups.h"
#include "common/web/exec-words.h"
#include "common/web/http-upgrade.h"
#include "common/web/web-user.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/exec/sessions.h"
#include "nodemanager/web/nm-web.h"
#include "nodemanager/web/web-reply.h"

#define EXEC "selvedge.nodemanager.exec."
#define refuse(ret, status, ...)                                                                   \
    nm_web_exception(ret, status, (status) == 403 ? "ForbiddenException" : "BadRequestException",  \
                     __VA_ARGS__)

static const char *const shells[] = { "bash", "sh" }; /* those of Hadoop's client */

/* Fills the container's id; returns the shell's name behind it, "" if there is none, or NULL. */
static const char *split(const char *rest, char ret_id[YARN_ID_TEXT_MAX],
                         struct yarn_container_id *ret)
{
    const char *slash = strchrnul(rest, '/');
    const size_t n = (size_t)(slash - rest);

    if (n >= YARN_ID_TEXT_MAX)
        return NULL;
    memcpy(ret_id, rest, n);
    ret_id[n] = 0;
    if (yarn_container_id_parse(ret_id, ret) < 0)
        return NULL;
    if (!*slash)
        return slash;
    for (size_t i = 0; i < SV_ARRAY_LEN(shells); i++)
        if (strcasecmp(slash + 1, shells[i]) == 0)
            return shells[i];
    return NULL;
}

/* Names in yarn.admin.acl, and the daemon's account: "*" there lets everybody see, and nobody act.
 */
static bool is_admin(const struct nm_web *w, const char *user)
{
    const struct sv_web_auth *auth = &w->ctx->conf->web.auth;

    return sv_streq(user, auth->daemon_user) ||
           (!sv_acl_allows_all(auth->admin_acl) && sv_acl_admits(auth->admin_acl, user, w->groups));
}

static void address(const struct sv_http_request *req, char ret[80])
{
    const struct sockaddr *a = sv_http_peer(req);
    char host[64];

    ret[0] = 0;
    if (a && getnameinfo(a,
                         a->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                  : sizeof(struct sockaddr_in),
                         host, sizeof(host), NULL, 0, NI_NUMERICHOST) == 0)
        (void)snprintf(ret, 80, "%s:0", host); /* the audit's line cuts the port */
}

static void log_refusal(const struct nm_web *w, const struct sv_http_request *req, const char *user,
                        const char *why, struct yarn_container_id id)
{
    char ip[80];

    address(req, ip);
    if (nm_sessions_log_refusal(w->sessions))
        nm_audit_failure_id(user, *ip ? ip : NULL, "Exec Container Request", "ContainerShell", why,
                            id);
}

/* 1: go on; else the answer is in *ret. */
static int check_caller(const struct nm_web *w, const struct sv_http_request *req,
                        char ret_user[SV_AUTH_USER_MAX], struct sv_http_response *ret)
{
    const struct nm_conf *conf = w->ctx->conf;

    if (!conf->exec.enabled)
        return refuse(ret, 403, EXEC "enabled is false on this node");
    if (!sv_http_wants_websocket(req))
        return refuse(ret, 400,
                      "a session is a WebSocket: use selvedge exec or yarn container "
                      "-shell");
    if (sv_http_header(req, "Origin"))
        return refuse(ret, 403,
                      "a request with the header Origin is a browser's, for a page that "
                      "need not be the user's own");
    sv_web_user(&conf->web.auth, req, ret_user);
    if (!*ret_user)
        return refuse(ret, 403, "the request names no user");
    if (!sv_streq(conf->web.auth.auth_type, "kerberos") && !conf->exec.claimed_names)
        return refuse(ret, 403,
                      "the name %.64s is only claimed (hadoop.http.authentication.type=simple), "
                      "and " EXEC "claimed-names is false: run selvedge exec --local on this node",
                      ret_user);
    return 1;
}

/* 1: *ret_c may have a session for this user; else the answer is in *ret. */
static int check_container(const struct nm_web *w, const struct sv_http_request *req,
                           const char *user, const char *id, struct yarn_container_id parsed,
                           struct nm_container **ret_c, struct sv_http_response *ret)
{
    struct nm_container *c = nm_container_find(w->ctx, id);

    if (!c || !c->app)
        return nm_web_exception(ret, 404, "NotFoundException", "container %s is not on this node",
                                id);
    if (!sv_streq(user, c->app->user) && !is_admin(w, user)) {
        if (sv_groups_missed(w->groups)) /* retried when they are known */
            return -EAGAIN;
        log_refusal(w, req, user, "neither its owner nor an administrator", parsed);
        return refuse(ret, 403,
                      "user %.64s may run nothing in %s: its owner may, and whom yarn.admin.acl "
                      "names",
                      user, id);
    }
    if (c->state != NM_CONTAINER_RUNNING || !c->launch.pid)
        return nm_web_exception(ret, 409, "ConflictException", "container %s is not running%s", id,
                                c->state == NM_CONTAINER_PAUSED ? ": it is paused" : "");
    *ret_c = c;
    return 1;
}

static int open_session(const struct nm_web *w, const struct sv_http_request *req,
                        const struct nm_session_ask *q, struct sv_http_response *ret)
{
    struct sv_http_websocket ws = { .begin = nm_session_begin, .left = nm_session_left };
    struct nm_session *s;
    int r;

    if (!q->shell)
        ws.subprotocol = SV_EXEC_PROTOCOL;
    r = nm_session_new(w->sessions, q, &s);
    if (r == -EBUSY)
        return nm_web_exception(ret, 503, "ServiceUnavailableException",
                                "this node has as many sessions as there may be (%d; %d of a "
                                "user)",
                                NM_SESSIONS_MAX, NM_SESSIONS_OF_USER);
    if (r < 0)
        return r;
    ws.userdata = s;
    r = sv_http_websocket(req, &ws, ret);
    if (r < 0)
        nm_session_left(s);
    return r == -EINVAL ? 0 : r;
}

int nm_web_exec(const struct nm_web *w, const char *rest, const struct sv_http_request *req,
                struct sv_http_response *ret)
{
    char id[YARN_ID_TEXT_MAX], user[SV_AUTH_USER_MAX], ip[80];
    struct yarn_container_id parsed;
    const char *shell;
    struct nm_container *c;
    int r = check_caller(w, req, user, ret);

    if (r <= 0)
        return r;
    shell = split(rest, id, &parsed);
    if (!shell)
        return refuse(ret, 400, "no container's id, or another shell than bash and sh: %.90s",
                      rest);
    r = check_container(w, req, user, id, parsed, &c, ret);
    if (r <= 0)
        return r;
    address(req, ip);
    if (sv_http_offers(req, SV_EXEC_PROTOCOL))
        shell = NULL;
    else if (!*shell)
        shell = shells[0];
    return open_session(
        w, req, &(struct nm_session_ask){ .c = c, .user = user, .ip = ip, .shell = shell }, ret);
}
