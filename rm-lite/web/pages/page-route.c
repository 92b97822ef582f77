/* See page-route.h. Hostile: paths. */
#include "rm-lite/web/pages/page-route.h"

#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/web/pages/live.h"
#include "rm-lite/web/pages/page-app.h"
#include "rm-lite/web/pages/page-apps.h"
#include "rm-lite/web/pages/page-cluster.h"
#include "rm-lite/web/pages/page-find.h"
#include "rm-lite/web/pages/page-kill.h"
#include "rm-lite/web/pages/page-nodes.h"
#include "rm-lite/web/pages/page-queues.h"
#include "rm-lite/web/pages/page-services.h"

#define APP "/cluster/app/"

static bool is_kill(const char *path)
{
    return sv_has_prefix(path, APP) && sv_has_suffix(path, "/kill");
}

bool rm_page_takes(const struct sv_http_request *req)
{
    const char *p = req->path;

    if (strcmp(req->method, "POST") == 0)
        return is_kill(p);
    if (strcmp(req->method, "GET") != 0 && strcmp(req->method, "HEAD") != 0)
        return false;
    return strcmp(p, "/cluster") == 0 ||
           (sv_has_prefix(p, "/cluster/") && !sv_has_prefix(p, "/cluster/failure/")) ||
           strcmp(p, SV_HTML_STYLE) == 0 || strcmp(p, SV_HTML_SCRIPT) == 0 ||
           strcmp(p, SV_HTML_ICON) == 0;
}

/* The rest after `prefix`, or NULL; "" for the prefix alone. */
static const char *behind(const char *path, const char *prefix)
{
    const char *rest = sv_has_prefix(path, prefix) ? path + strlen(prefix) : NULL;

    if (rest && *rest == '/')
        return rest + 1;
    return rest && !*rest ? rest : NULL;
}

int rm_page(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *p = req->path, *rest;
    struct rm_viewer who;

    if (strcmp(p, SV_HTML_STYLE) == 0)
        return sv_html_style(ret);
    if (strcmp(p, SV_HTML_SCRIPT) == 0)
        return sv_html_script(ret);
    if (strcmp(p, SV_HTML_ICON) == 0)
        return sv_html_icon(ret);
    if (sv_has_prefix(p, RM_LIVE_HISTORY))
        return rm_live_history(rm, req, ret);
    rm_viewer_of_request(rm, req, &who);
    if (sv_has_prefix(p, RM_LIVE_EVENTS))
        return rm_live_open(&who, req, ret);
    if (strcmp(p, RM_PAGE_FIND) == 0)
        return rm_page_find(&who, req, ret);
    if (is_kill(p)) {
        char id[YARN_ID_TEXT_MAX + 8];

        (void)snprintf(id, sizeof(id), "%.*s",
                       (int)SV_MIN(strcspn(p + strlen(APP), "/"), sizeof(id) - 1), p + strlen(APP));
        return rm_page_kill(&who, req, id, ret);
    }
    if (strcmp(p, "/cluster") == 0 || strcmp(p, "/cluster/") == 0 ||
        strcmp(p, "/cluster/cluster") == 0)
        return rm_page_cluster(&who, req, ret);
    if ((rest = behind(p, "/cluster/scheduler")))
        return rm_page_queues(&who, req, ret);
    if ((rest = behind(p, "/cluster/appattempt")))
        return rm_page_attempt(&who, req, rest, ret);
    if ((rest = behind(p, "/cluster/apps")))
        return rm_page_apps(&who, req, rest, ret);
    if ((rest = behind(p, "/cluster/app")))
        return rm_page_app(&who, req, rest, ret);
    if (strcmp(p, RM_PAGE_SERVICES) == 0)
        return rm_page_services(&who, req, ret);
    if ((rest = behind(p, "/cluster/container")))
        return rm_page_container(&who, req, rest, ret);
    if ((rest = behind(p, "/cluster/nodes")))
        return rm_page_nodes(&who, req, rest, ret);
    return rm_page_refuse(req, 404, ret, "There is no page %.200s.", p);
}
