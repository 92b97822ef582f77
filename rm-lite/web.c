/* REST under /ws/v1/cluster (8088) with Hadoop's paths and fields; page-route.h has the pages.
 *
 * Every host that reaches the port may call; names in the answers are chosen by users, so JSON is
 * made by jansson. */
#include "rm-lite/web.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/conf-dump.h"
#include "common/json-xml.h"
#include "common/str.h"
#include "rm-lite/page-route.h"
#include "rm-lite/rm-app-attempt.h"
#include "rm-lite/rm-app.h"
#include "rm-lite/rm-node.h"
#include "rm-lite/viewer.h"
#include "rm-lite/web-attempts.h"
#include "rm-lite/web-cluster.h"
#include "rm-lite/web-control.h"
#include "rm-lite/web-json.h"
#include "rm-lite/web-list.h"
#include "rm-lite/web-metrics.h"
#include "rm-lite/web-proxy.h"
#include "rm-lite/web-query.h"
#include "rm-lite/web-reply.h"
#include "rm-lite/web-submit.h"

#define BASE "/ws/v1/cluster"

/* ------------------------------------------------------------------ responses */

static json_t *wrap(const char *key, json_t *value)
{
    return value ? json_pack("{s:o}", key, value) : NULL;
}

/* ----------------------------------------------------------------------- lists */

/* Everything but these is left out for others: diagnostics, addresses, times, usage. */
static json_t *shown_app(bool all, struct rm_app *app)
{
    static const char *const shown[] = {
        "id",          "user",       "name",      "queue",           "state",    "progress",
        "finalStatus", "trackingUI", "clusterId", "applicationType", "priority", "applicationTags"
    };
    json_t *whole = rm_json_app(app), *part;

    if (!whole || all)
        return whole;
    part = json_object();
    for (size_t i = 0; i < SV_ARRAY_LEN(shown); i++) /* no memory: the field is missing, ignoring */
        (void)json_object_set(part, shown[i], json_object_get(whole, shown[i]));
    (void)json_object_set_new(part, "diagnostics", json_string("")); /* as above, ignoring */
    json_decref(whole);
    return part;
}

static json_t *app_entry(struct rm *rm, const struct rm_list_item *item)
{
    struct rm_app *app = rm_app_find(rm, item->app);

    return app ? shown_app(item->whole, app) : NULL;
}

static int get_apps(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    static const struct rm_list_kind kind = { "apps", "app", app_entry };
    struct sv_error err = { 0 };
    struct rm_list_item *items;
    struct rm_viewer who;
    struct rm_app *app;
    int64_t limit;
    size_t n = 0;

    rm_viewer_of_request(rm, req, &who);
    if (rm_query_check_apps(req, &limit, &err) < 0)
        return rm_web_bad_request(ret, "%s", err.text);
    items = calloc(HASH_COUNT(rm->apps) + 1, sizeof(*items));
    if (!items)
        return -ENOMEM;
    DL_FOREACH (rm->app_list, app)
        if ((int64_t)n < limit && rm_query_takes_app(req, app))
            items[n++] =
                (struct rm_list_item){ .app = app->id, .whole = rm_viewer_sees(&who, app) };
    if (!rm_viewer_waits(&who))
        return rm_web_list(rm, req, ret, &kind, items, n);
    rm_list_free(items, n);
    return -EAGAIN;
}

static json_t *node_entry(struct rm *rm, const struct rm_list_item *item)
{
    struct rm_node *n = rm_node_find_key(rm, item->node);

    n = n ?: rm_node_find_inactive(rm, item->node);
    return n ? rm_json_node(n) : NULL;
}

static int get_nodes(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    static const struct rm_list_kind kind = { "nodes", "node", node_entry };
    struct rm_node *tables[] = { rm->nodes, rm->inactive_nodes };
    size_t n = 0, most = HASH_COUNT(rm->nodes) + HASH_COUNT(rm->inactive_nodes);
    struct sv_error err = { 0 };
    struct rm_list_item *items;

    if (rm_query_check_nodes(req, &err) < 0)
        return rm_web_bad_request(ret, "%s", err.text);
    items = calloc(most + 1, sizeof(*items));
    if (!items)
        return -ENOMEM;
    for (size_t t = 0; t < SV_ARRAY_LEN(tables); t++)
        for (struct rm_node *node = tables[t]; node; node = node->hh.next)
            if (rm_query_takes_node(req, node)) {
                items[n].node = strdup(node->key);
                n += items[n].node != NULL; /* no memory: it is missing, ignoring */
            }
    return rm_web_list(rm, req, ret, &kind, items, n);
}

static int get_node(struct rm *rm, const char *key, struct sv_http_response *ret)
{
    struct rm_node *n = rm_node_find_key(rm, key);

    if (!n)
        n = rm_node_find_inactive(rm, key);
    if (n)
        return rm_web_json(ret, 200, wrap("node", rm_json_node(n)));
    return rm_web_not_found(ret, "nodeId, %.300s, is not found", key);
}

/* --------------------------------------------------------------- one application */

static int not_allowed(struct sv_http_response *ret)
{
    ret->status = 405;
    return 0;
}

static int one_app(struct rm *rm, const struct sv_http_request *req, const char *rest,
                   struct sv_http_response *ret)
{
    char id[YARN_ID_TEXT_MAX];
    size_t n = strcspn(rest, "/");
    struct yarn_app_id aid;
    struct rm_viewer who;
    struct rm_app *app;
    int r;

    if (n >= sizeof(id))
        return rm_web_bad_request(ret, "application id is too long");
    memcpy(id, rest, n);
    id[n] = 0;
    rest += n;
    if (yarn_app_id_parse(id, &aid) < 0)
        return rm_web_bad_request(ret, "Invalid ApplicationId: %s", id);
    app = rm_app_find(rm, aid);
    if (!app)
        return rm_web_not_found(ret, "app with id: %s not found", id);
    if (rm_web_control(rm, app, req, rest, ret, &r))
        return r;
    if (strcmp(req->method, "PUT") == 0)
        return *rest ? rm_web_not_found(ret, "no such resource") : not_allowed(ret);
    rm_viewer_of_request(rm, req, &who);
    if (!*rest)
        return rm_web_json(ret, 200, wrap("app", shown_app(rm_viewer_sees(&who, app), app)));
    if (!rm_viewer_sees(&who, app))
        return rm_web_hidden(who.user, app->id_str, ret);
    if (strcmp(rest, "/appattempts") == 0 || sv_has_prefix(rest, "/appattempts/"))
        return rm_web_attempts(rm, app, rest + strlen("/appattempts"), ret);
    return rm_web_not_found(ret, "no such resource");
}

/* Load balancers ask it: the active one of several ResourceManagers, which this one always is. */
static int is_active(struct sv_http_response *ret)
{
    ret->body = strdup("I am Active!");
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    ret->status = 200;
    return 0;
}

/* PUT below an application, POST to make one. */
static bool changes(const struct sv_http_request *req)
{
    if (strcmp(req->method, "PUT") == 0)
        return sv_has_prefix(req->path, BASE "/apps/");
    return strcmp(req->method, "POST") == 0 &&
           (strcmp(req->path, BASE "/apps") == 0 ||
            strcmp(req->path, BASE "/apps/new-application") == 0);
}

static int answer(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *p = req->path;
    bool get = strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0;
    int r;

    if (rm_page_takes(req))
        return rm_page(rm, req, ret);
    if (!get && !changes(req))
        return not_allowed(ret);
    if (!get && !rm->conf.web_put)
        return rm_web_error(
            ret, 403, "ForbiddenException",
            "PUT and POST are off on this ResourceManager: selvedge.rm.webapp.put.enabled is "
            "false, with yarn.acl.enable by default; use `selvedge kill` or `yarn "
            "application -kill`");
    if (strcmp(p, "/conf") == 0)
        return sv_conf_answer(rm->xml, req, ret);
    if (rm_web_metrics(rm, req, ret, &r))
        return r;
    if (strcmp(p, "/isActive") == 0)
        return is_active(ret);
    if (strcmp(p, "/") == 0)
        return rm_web_redirect(ret, "/cluster");
    if (sv_has_prefix(p, "/cluster/failure/"))
        return rm_web_failure(p, ret);
    if (strcmp(p, BASE) == 0 || strcmp(p, BASE "/") == 0 || strcmp(p, BASE "/info") == 0)
        return rm_web_json(ret, 200, wrap("clusterInfo", rm_json_info(rm)));
    if (strcmp(p, BASE "/metrics") == 0)
        return rm_web_json(ret, 200, wrap("clusterMetrics", rm_json_metrics(rm)));
    if (strcmp(p, BASE "/scheduler") == 0)
        return rm_web_json(ret, 200, wrap("scheduler", rm_json_scheduler(rm)));
    if (strcmp(p, BASE "/nodes") == 0)
        return get_nodes(rm, req, ret);
    if (sv_has_prefix(p, BASE "/nodes/"))
        return get_node(rm, p + strlen(BASE "/nodes/"), ret);
    if (strcmp(req->method, "POST") == 0)
        return rm_web_submit(rm, req, ret);
    if (strcmp(p, BASE "/apps") == 0)
        return get_apps(rm, req, ret);
    if (sv_has_prefix(p, BASE "/apps/"))
        return one_app(rm, req, p + strlen(BASE "/apps/"), ret);
    if (sv_has_prefix(p, BASE "/") && rm_web_cluster(rm, req, p + strlen(BASE), ret, &r))
        return r;
    return 0; /* 404 */
}

/* What was answered without a user's groups, which are being looked up, does not count. */
int rm_web_handle(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    struct rm *rm = userdata;
    int r;

    if (sv_has_prefix(req->path, "/proxy/"))
        return rm_web_proxy(rm, req, ret);
    (void)sv_groups_missed(rm->groups); /* by a call, ignoring */
    ret->xml = sv_xml_accepted(sv_http_header(req, "Accept"));
    r = answer(rm, req, ret);
    return sv_groups_missed(rm->groups) ? -EAGAIN : r;
}
