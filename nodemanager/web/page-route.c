/* See page-route.h. Hostile: paths. */
#include "nodemanager/web/page-route.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/web/live.h"
#include "nodemanager/web/log-request.h"
#include "nodemanager/web/log-server.h"
#include "nodemanager/web/page-apps.h"
#include "nodemanager/web/page-container.h"
#include "nodemanager/web/page-frame.h"
#include "nodemanager/web/page-logs.h"
#include "nodemanager/web/page-node.h"
#include "wire/ids.h"

#define APP "/node/application/"
#define CONTAINER "/node/container/"
#define LOGS "/node/containerlogs/"

bool nm_page_takes(const char *path, const struct sv_http_request *req)
{
    const char *format = sv_http_query(req, "format");

    if (sv_has_prefix(path, LOGS) && format && *format)
        return false;
    return strcmp(path, "/node") == 0 || sv_has_prefix(path, "/node/") ||
           strcmp(path, SV_HTML_STYLE) == 0 || strcmp(path, SV_HTML_SCRIPT) == 0 ||
           strcmp(path, SV_HTML_ICON) == 0;
}

/* Parses the container at the start of `rest`, which moves to the slash after it or to the end. */
static int container_of(const char **rest, struct yarn_container_id *ret)
{
    char text[YARN_ID_TEXT_MAX];
    size_t n = strcspn(*rest, "/");

    if (n >= sizeof(text))
        return -1;
    memcpy(text, *rest, n);
    text[n] = 0;
    *rest += n;
    return yarn_container_id_parse(text, ret);
}

/* The node may have forgotten the application while its logs still exist. */
static bool may_view(const struct nm_web *w, const struct nm_web_caller *who,
                     struct yarn_container_id id)
{
    char text[YARN_ID_TEXT_MAX];

    return nm_web_may_view(who, nm_app_find(w->ctx, yarn_app_id_text(id.attempt.app, text)));
}

/* 1 if the log server, if there is one, has the logs that the caller cannot get here, and knows
 * who may read them: those of a container that is gone with its logs and, for a caller who may not
 * see it, those of an application that the node has forgotten. Else 0, or -errno: -EAGAIN. */
static int is_elsewhere(const struct nm_web *w, const struct sv_http_request *req, bool visible,
                        struct yarn_container_id id, const char *container)
{
    const struct nm_context *ctx = w->ctx;
    struct nm_log_search *s;
    char app[YARN_ID_TEXT_MAX];
    int r;

    if (!ctx->conf->logs.aggregate || !*ctx->conf->logs.server || !ctx->conf->web.logs_enabled)
        return false;
    if (!visible)
        return !nm_app_find(ctx, yarn_app_id_text(id.attempt.app, app));
    if (nm_container_find(ctx, container))
        return false;
    r = nm_log_request_search(w, req, id, NULL, &s);
    return r < 0 ? r : !nm_log_search_each(s, NULL, NULL);
}

static int redirect(const struct nm_context *ctx, const char *container, const char *user,
                    const char *file, const struct sv_http_request *req,
                    struct sv_http_response *ret)
{
    struct nm_log_page page = { .server = ctx->conf->logs.server,
                                .node = ctx->node_id_text,
                                .container = container,
                                .user = user,
                                .file = file,
                                .start = sv_http_query(req, "start"),
                                .end = sv_http_query(req, "end") };
    int r = nm_log_server_url(&page, &ret->location);

    if (r == -EMSGSIZE)
        return 0; /* 404 */
    ret->status = 307;
    return r;
}

/* "ID/USER[/FILE]" */
static int of_logs(const struct nm_web *w, const struct nm_web_caller *who, const char *rest,
                   const struct sv_http_request *req, struct sv_http_response *ret)
{
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX], user[257];
    const char *slash, *file;
    bool visible;
    int elsewhere;

    if (container_of(&rest, &id) < 0)
        return nm_page_refuse(req, 400, ret, "This is no id of a container.");
    yarn_container_id_text(id, text);
    visible = may_view(w, who, id);
    rest += *rest == '/';
    slash = strchrnul(rest, '/');
    (void)snprintf(user, sizeof(user), "%.*s", (int)SV_MIN(slash - rest, 256), rest);
    file = *slash && slash[1] ? slash + 1 : NULL;
    elsewhere = is_elsewhere(w, req, visible, id, text);
    if (elsewhere < 0)
        return elsewhere;
    if (elsewhere)
        return redirect(w->ctx, text, *user ? user : "user", file, req, ret);
    if (!visible)
        return nm_page_forbid(who, text, req, ret);
    return nm_page_logs(w, id, *user ? user : "user", file, req, ret);
}

/* "ID" */
static int of_container(const struct nm_web *w, const struct nm_web_caller *who, const char *rest,
                        const struct sv_http_request *req, struct sv_http_response *ret)
{
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX];

    if (container_of(&rest, &id) < 0)
        return nm_page_refuse(req, 400, ret, "This is no id of a container.");
    yarn_container_id_text(id, text);
    if (!may_view(w, who, id))
        return nm_page_forbid(who, text, req, ret);
    if (strcmp(rest, NM_LIVE_CONTAINER) == 0)
        return nm_live_open(w, text, req, ret);
    return *rest ? nm_page_refuse(req, 404, ret, "There is no such page.")
                 : nm_page_container(w, text, req, ret);
}

int nm_page(const struct nm_web *w, const char *path, const struct sv_http_request *req,
            struct sv_http_response *ret)
{
    struct nm_web_caller who;

    if (strcmp(path, SV_HTML_STYLE) == 0)
        return sv_html_style(ret);
    if (strcmp(path, SV_HTML_ICON) == 0)
        return sv_html_icon(ret);
    if (strcmp(path, SV_HTML_SCRIPT) == 0)
        return sv_html_script(ret);
    if (strcmp(path, NM_LIVE_NODE) == 0)
        return nm_live_open(w, "", req, ret);
    if (strcmp(path, "/node") == 0 || strcmp(path, "/node/node") == 0)
        return nm_page_node(w, req, ret);
    if (nm_web_identify(&w->ctx->conf->web, w->groups, req, &who) < 0)
        return nm_page_refuse(req, 403, ret,
                              "yarn.acl.enable is true and the request names no user: %s",
                              sv_streq(w->ctx->conf->web.auth.auth_type, "simple")
                                  ? "add user.name=NAME to the query"
                                  : "it needs a ticket or a valid cookie hadoop.auth");
    if (strcmp(path, NM_PAGE_APPS) == 0)
        return nm_page_apps(w, &who, req, ret);
    if (strcmp(path, NM_PAGE_CONTAINERS) == 0)
        return nm_page_containers(w, &who, req, ret);
    if (sv_has_prefix(path, APP))
        return nm_page_app(w, &who, path + strlen(APP), req, ret);
    if (sv_has_prefix(path, CONTAINER))
        return of_container(w, &who, path + strlen(CONTAINER), req, ret);
    if (sv_has_prefix(path, LOGS))
        return of_logs(w, &who, path + strlen(LOGS), req, ret);
    return nm_page_refuse(req, 404, ret, "There is no page %.200s.", path);
}
