/* See page-route.h; called by nm-web.c. Hostile: paths. */
#include "nodemanager/web/page-route.h"

#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "nodemanager/core/context.h"
#include "nodemanager/web/live.h"
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
           strcmp(path, SV_HTML_STYLE) == 0 || strcmp(path, SV_HTML_SCRIPT) == 0;
}

/* The container at the start of `rest`, which is moved to the slash behind it or to the end. */
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

/* The application may be forgotten by the node while its logs are still there. */
static bool may_view(const struct nm_web *w, const struct nm_web_caller *who,
                     struct yarn_container_id id)
{
    char text[YARN_ID_TEXT_MAX];

    return nm_web_may_view(who, nm_app_find(w->ctx, yarn_app_id_text(id.attempt.app, text)));
}

/* "ID" of a container's page, or "ID/USER[/FILE]" of its logs. */
static int of_container(const struct nm_web *w, const struct nm_web_caller *who, const char *rest,
                        bool logs, const struct sv_http_request *req, struct sv_http_response *ret)
{
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX], user[257];
    const char *slash;

    if (container_of(&rest, &id) < 0)
        return nm_page_refuse(req, 400, ret, "This is no id of a container.");
    yarn_container_id_text(id, text);
    if (!may_view(w, who, id))
        return nm_page_forbid(who, text, req, ret);
    if (!logs && strcmp(rest, NM_LIVE_CONTAINER) == 0)
        return nm_live_open(w, text, req, ret);
    if (!logs)
        return *rest ? nm_page_refuse(req, 404, ret, "There is no such page.")
                     : nm_page_container(w, text, req, ret);
    rest += *rest == '/';
    slash = strchrnul(rest, '/');
    (void)snprintf(user, sizeof(user), "%.*s", (int)SV_MIN(slash - rest, 256), rest);
    return nm_page_logs(w, id, *user ? user : "user", *slash && slash[1] ? slash + 1 : NULL, req,
                        ret);
}

int nm_page(const struct nm_web *w, const char *path, const struct sv_http_request *req,
            struct sv_http_response *ret)
{
    struct nm_web_caller who;

    if (strcmp(path, SV_HTML_STYLE) == 0)
        return sv_html_style(ret);
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
                                  : "it needs a valid cookie hadoop.auth");
    if (strcmp(path, NM_PAGE_APPS) == 0)
        return nm_page_apps(w, &who, req, ret);
    if (strcmp(path, NM_PAGE_CONTAINERS) == 0)
        return nm_page_containers(w, &who, req, ret);
    if (sv_has_prefix(path, APP))
        return nm_page_app(w, &who, path + strlen(APP), req, ret);
    if (sv_has_prefix(path, CONTAINER))
        return of_container(w, &who, path + strlen(CONTAINER), false, req, ret);
    if (sv_has_prefix(path, LOGS))
        return of_container(w, &who, path + strlen(LOGS), true, req, ret);
    return nm_page_refuse(req, 404, ret, "There is no page %.200s.", path);
}
