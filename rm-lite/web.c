/* REST under /ws/v1/cluster (8088) with Hadoop's paths and fields, and a small HTML page.
 *
 * Every host that reaches the port may call; names in the answers are chosen by users, so JSON is
 * made by jansson and HTML is escaped. */
#include "rm-lite/web.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "rm-lite/audit.h"
#include "rm-lite/rm-app-attempt.h"
#include "rm-lite/rm-app-manager.h"
#include "rm-lite/rm-app.h"
#include "rm-lite/rm-container.h"
#include "rm-lite/rm-node.h"
#include "rm-lite/viewer.h"
#include "rm-lite/web-json.h"

#define BASE "/ws/v1/cluster"

/* ------------------------------------------------------------------ responses */

static int send_json(struct sv_http_response *ret, unsigned status, json_t *root)
{
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

    json_decref(root);
    if (!text)
        return -ENOMEM;
    ret->status = status;
    ret->content_type = "application/json;charset=utf-8";
    ret->body = text;
    ret->body_len = strlen(text);
    return 0;
}

/* Hadoop's RemoteException, as its REST clients parse it. */
static int send_error(struct sv_http_response *ret, unsigned status, const char *exception,
                      const char *class, const char *message)
{
    return send_json(ret, status,
                     json_pack("{s:{s:s, s:s, s:s}}", "RemoteException", "exception", exception,
                               "message", message, "javaClassName", class));
}

static int not_found(struct sv_http_response *ret, const char *message)
{
    return send_error(ret, 404, "NotFoundException",
                      "org.apache.hadoop.yarn.webapp.NotFoundException", message);
}

static int bad_request(struct sv_http_response *ret, const char *message)
{
    return send_error(ret, 400, "BadRequestException",
                      "org.apache.hadoop.yarn.webapp.BadRequestException", message);
}

static json_t *wrap(const char *key, json_t *value)
{
    return value ? json_pack("{s:o}", key, value) : NULL;
}

/* --------------------------------------------------------------------- filters */

static bool in_csv(const char *csv, const char *value)
{
    _cleanup_strv_ char **parts = NULL;

    if (!csv || !*csv)
        return true;
    if (sv_strv_split(csv, ',', &parts) < 0)
        return false;
    for (char **p = parts; p && *p; p++)
        if (strcasecmp(*p, value) == 0)
            return true;
    return false;
}

static bool in_time(const struct sv_http_request *req, const char *from, const char *to, int64_t t)
{
    const char *f = sv_http_query(req, from), *l = sv_http_query(req, to);
    int64_t v;

    if (f && sv_parse_i64(f, 0, INT64_MAX, &v) >= 0 && t < v)
        return false;
    return !(l && sv_parse_i64(l, 0, INT64_MAX, &v) >= 0 && t > v);
}

static bool tag_matches(const char *csv, const struct rm_app *app)
{
    if (!csv || !*csv)
        return true;
    for (char **t = app->tags; t && *t; t++)
        if (in_csv(csv, *t))
            return true;
    return false;
}

static bool app_matches(const struct sv_http_request *req, const struct rm_app *app)
{
    const char *state = sv_http_query(req, "state"), *name = sv_http_query(req, "name");

    return in_csv(sv_http_query(req, "states"), rm_app_wire_state_name(app)) &&
           in_csv(state, rm_app_wire_state_name(app)) &&
           in_csv(sv_http_query(req, "finalStatus"), rm_json_final(rm_app_wire_final(app))) &&
           in_csv(sv_http_query(req, "user"), app->user) &&
           in_csv(sv_http_query(req, "queue"), app->queue) &&
           in_csv(sv_http_query(req, "queues"), app->queue) &&
           in_csv(sv_http_query(req, "applicationTypes"), app->type) &&
           tag_matches(sv_http_query(req, "applicationTags"), app) &&
           (!name || sv_streq(name, app->name)) &&
           in_time(req, "startedTimeBegin", "startedTimeEnd", app->start_ms) &&
           in_time(req, "finishedTimeBegin", "finishedTimeEnd", app->finish_ms);
}

/* Everything but these is left out for others: diagnostics, addresses, times, usage. */
static json_t *shown_app(const struct rm_viewer *who, struct rm_app *app)
{
    static const char *const shown[] = {
        "id",          "user",       "name",      "queue",           "state",    "progress",
        "finalStatus", "trackingUI", "clusterId", "applicationType", "priority", "applicationTags"
    };
    json_t *whole = rm_json_app(app), *part;

    if (!whole || rm_viewer_sees(who, app))
        return whole;
    part = json_object();
    for (size_t i = 0; i < SV_ARRAY_LEN(shown); i++) /* no memory: the field is missing, ignoring */
        (void)json_object_set(part, shown[i], json_object_get(whole, shown[i]));
    (void)json_object_set_new(part, "diagnostics", json_string("")); /* as above, ignoring */
    json_decref(whole);
    return part;
}

static int get_apps(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *limit_text = sv_http_query(req, "limit");
    int64_t limit = INT64_MAX;
    json_t *list = json_array();
    struct rm_viewer who;
    struct rm_app *app;

    rm_viewer_of_request(rm, req, &who);
    if (limit_text && sv_parse_i64(limit_text, 1, INT64_MAX, &limit) < 0) {
        json_decref(list);
        return bad_request(ret, "limit value must be greater then 0");
    }
    DL_FOREACH (rm->app_list, app)
        if ((int64_t)json_array_size(list) < limit && app_matches(req, app))
            (void)json_array_append_new(
                list, shown_app(&who, app)); /* no memory: the entry is missing, ignoring */
    return send_json(ret, 200, json_pack("{s:{s:o}}", "apps", "app", list));
}

static int get_nodes(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *states = sv_http_query(req, "states");
    struct rm_node *tables[] = { rm->nodes, rm->inactive_nodes };
    json_t *list = json_array();

    for (size_t t = 0; t < SV_ARRAY_LEN(tables); t++)
        for (struct rm_node *n = tables[t]; n; n = n->hh.next) {
            bool show =
                states ? in_csv(states, rm_node_fsm.state_names[n->state]) : rm_node_is_active(n);

            if (show)
                (void)json_array_append_new(list, rm_json_node(n)); /* as above */
        }
    return send_json(ret, 200, json_pack("{s:{s:o}}", "nodes", "node", list));
}

static int get_node(struct rm *rm, const char *key, struct sv_http_response *ret)
{
    struct rm_node *n = rm_node_find_key(rm, key);
    char text[400];

    if (!n)
        n = rm_node_find_inactive(rm, key);
    if (n)
        return send_json(ret, 200, wrap("node", rm_json_node(n)));
    (void)snprintf(text, sizeof(text), "nodeId, %.300s, is not found", key);
    return not_found(ret, text);
}

/* --------------------------------------------------------------- one application */

static int put_state(struct rm *rm, struct rm_app *app, const struct sv_http_request *req,
                     struct sv_http_response *ret)
{
    SV_DISPATCH_BATCH(rm->dispatcher);
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(64 * 1024);
    const char *user = sv_http_query(req, "user.name"), *state, *diagnostics, *why;
    json_t *body = json_loadb(req->body, req->body_len, 0, NULL);
    bool done;

    state = body ? json_string_value(json_object_get(body, "state")) : NULL;
    diagnostics = body ? json_string_value(json_object_get(body, "diagnostics")) : NULL;
    if (!state || strcmp(state, "KILLED") != 0) {
        json_decref(body);
        return bad_request(ret, "Only 'KILLED' is allowed as a target state.");
    }
    if (rm->conf.acl_enable && !sv_streq(user, app->user)) {
        json_decref(body);
        return send_error(ret, 403, "ForbiddenException",
                          "org.apache.hadoop.yarn.webapp.ForbiddenException",
                          "only the owner may kill this application");
    }
    done = rm_app_final_stored(app);
    if (!done) {
        why = a ? rm_kill_text(a, app, user ? user : "dr.who", NULL, diagnostics) : NULL;
        if (!why) {
            json_decref(body);
            return -ENOMEM;
        }
        rm_audit_ok(&(struct rm_audit){ .user = user ? user : "dr.who",
                                        .operation = "Kill Application Request",
                                        .target = "RMWebService",
                                        .app = app->id_str });
        rm_app_post(app, RM_APP_EV_KILL, why);
    }
    json_decref(body);
    return send_json(ret, done ? 200 : 202,
                     json_pack("{s:s}", "state", done ? rm_app_wire_state_name(app) : "ACCEPTED"));
}

static int get_attempts(struct rm_app *app, struct sv_http_response *ret)
{
    json_t *list = json_array();
    struct rm_attempt *att;

    DL_FOREACH (app->attempts, att)
        (void)json_array_append_new(list, rm_json_attempt(att)); /* as above */
    return send_json(ret, 200, json_pack("{s:{s:o}}", "appAttempts", "appAttempt", list));
}

/* …/appattempts/{attempt}/containers */
static int get_containers(struct rm *rm, struct rm_app *app, const char *rest,
                          struct sv_http_response *ret)
{
    char id[YARN_ID_TEXT_MAX];
    size_t n = strcspn(rest, "/");
    struct yarn_attempt_id aid;
    struct rm_attempt *att = NULL;
    json_t *list;

    if (n < sizeof(id)) {
        memcpy(id, rest, n);
        id[n] = 0;
        if (yarn_attempt_id_parse(id, &aid) >= 0 && yarn_app_id_cmp(aid.app, app->id) == 0)
            att = rm_attempt_find(rm, aid);
    }
    if (!att)
        return not_found(ret, "application attempt not found");
    if (!rest[n])
        return send_json(ret, 200, wrap("appAttempt", rm_json_attempt(att)));
    if (strcmp(rest + n, "/containers") != 0)
        return not_found(ret, "no such resource");
    list = json_array();
    for (struct rm_container *c = rm->containers; c; c = c->hh.next)
        if (c->attempt == att)
            (void)json_array_append_new(list, rm_json_container(c)); /* as above */
    return send_json(ret, 200, json_pack("{s:{s:o}}", "containers", "container", list));
}

/* Diagnostics, addresses and containers are for those who may view the application. */
static int hidden(const struct rm_viewer *who, const struct rm_app *app,
                  struct sv_http_response *ret)
{
    char text[SV_AUTH_USER_MAX + 300];

    (void)snprintf(text, sizeof(text),
                   "User [%s] is not authorized to view %s: with yarn.acl.enable its owner, its "
                   "VIEW_APP list and administrators are",
                   who->user, app->id_str);
    return send_error(ret, 403, "ForbiddenException",
                      "org.apache.hadoop.yarn.webapp.ForbiddenException", text);
}

static int one_app(struct rm *rm, const struct sv_http_request *req, const char *rest,
                   struct sv_http_response *ret)
{
    char id[YARN_ID_TEXT_MAX], text[200];
    size_t n = strcspn(rest, "/");
    struct yarn_app_id aid;
    struct rm_viewer who;
    struct rm_app *app;

    if (n >= sizeof(id))
        return bad_request(ret, "application id is too long");
    memcpy(id, rest, n);
    id[n] = 0;
    rest += n;
    if (yarn_app_id_parse(id, &aid) < 0) {
        (void)snprintf(text, sizeof(text), "Invalid ApplicationId: %s", id);
        return bad_request(ret, text);
    }
    app = rm_app_find(rm, aid);
    if (!app) {
        (void)snprintf(text, sizeof(text), "app with id: %s not found", id);
        return not_found(ret, text);
    }
    if (strcmp(rest, "/state") == 0) {
        if (strcmp(req->method, "PUT") == 0)
            return put_state(rm, app, req, ret);
        return send_json(ret, 200, json_pack("{s:s}", "state", rm_app_wire_state_name(app)));
    }
    rm_viewer_of_request(rm, req, &who);
    if (!*rest)
        return send_json(ret, 200, wrap("app", shown_app(&who, app)));
    if (!rm_viewer_sees(&who, app))
        return hidden(&who, app, ret);
    if (strcmp(rest, "/appattempts") == 0)
        return get_attempts(app, ret);
    if (sv_has_prefix(rest, "/appattempts/"))
        return get_containers(rm, app, rest + strlen("/appattempts/"), ret);
    return not_found(ret, "no such resource");
}

/* ----------------------------------------------------------------------- pages */

static int redirect(struct sv_http_response *ret, const char *to)
{
    ret->status = 302;
    ret->location = strdup(to);
    return ret->location ? 0 : -ENOMEM;
}

/* /proxy/<application>/…: redirects to the ApplicationMaster's tracking URL, if any. */
static int proxy(struct rm *rm, const struct sv_http_request *req, const char *rest,
                 struct sv_http_response *ret)
{
    char id[YARN_ID_TEXT_MAX], url[1100];
    size_t n = strcspn(rest, "/");
    struct yarn_app_id aid;
    struct rm_viewer who;
    struct rm_app *app = NULL;

    if (n < sizeof(id)) {
        memcpy(id, rest, n);
        id[n] = 0;
        if (yarn_app_id_parse(id, &aid) >= 0)
            app = rm_app_find(rm, aid);
    }
    if (!app)
        return not_found(ret, "no such application");
    rm_viewer_of_request(rm, req, &who);
    if (!rm_viewer_sees(&who, app))
        return hidden(&who, app, ret);
    if (!app->current || !app->current->tracking_url || !*app->current->tracking_url ||
        sv_streq(app->current->tracking_url, "N/A")) {
        (void)snprintf(url, sizeof(url), "/cluster/app/%s", app->id_str);
        return redirect(ret, url);
    }
    (void)snprintf(url, sizeof(url), "%s%.1000s",
                   strstr(app->current->tracking_url, "://") ? "" : "http://",
                   app->current->tracking_url);
    for (const char *p = url; *p; p++) /* no character that ends the header */
        if ((unsigned char)*p <= 0x20 || *p == 0x7f)
            return bad_request(ret, "the application's tracking URL is not one");
    if (!sv_has_prefix(url, "http://") && !sv_has_prefix(url, "https://"))
        return bad_request(ret, "the application's tracking URL is not one");
    return redirect(ret, url);
}

static int page(struct rm *rm, const struct sv_http_request *req, const char *path,
                struct sv_http_response *ret)
{
    struct rm_viewer who;

    rm_viewer_of_request(rm, req, &who);
    return rm_web_page(&who, path, ret);
}

static int answer(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *p = req->path;
    bool get = strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0;

    if (!get && !(strcmp(req->method, "PUT") == 0 && sv_has_prefix(p, BASE "/apps/"))) {
        ret->status = 405;
        return 0;
    }
    if (!get && !rm->conf.web_put)
        return send_error(ret, 403, "ForbiddenException",
                          "org.apache.hadoop.yarn.webapp.ForbiddenException",
                          "PUT is off on this ResourceManager: selvedge.rm.webapp.put.enabled is "
                          "false, with yarn.acl.enable by default; use `selvedge kill` or `yarn "
                          "application -kill`");
    if (strcmp(p, "/") == 0)
        return redirect(ret, "/cluster");
    if (strcmp(p, "/cluster") == 0 || sv_has_prefix(p, "/cluster/"))
        return page(rm, req, p, ret);
    if (sv_has_prefix(p, "/proxy/"))
        return proxy(rm, req, p + strlen("/proxy/"), ret);
    if (strcmp(p, BASE) == 0 || strcmp(p, BASE "/") == 0 || strcmp(p, BASE "/info") == 0)
        return send_json(ret, 200, wrap("clusterInfo", rm_json_info(rm)));
    if (strcmp(p, BASE "/metrics") == 0)
        return send_json(ret, 200, wrap("clusterMetrics", rm_json_metrics(rm)));
    if (strcmp(p, BASE "/scheduler") == 0)
        return send_json(ret, 200, wrap("scheduler", rm_json_scheduler(rm)));
    if (strcmp(p, BASE "/nodes") == 0)
        return get_nodes(rm, req, ret);
    if (sv_has_prefix(p, BASE "/nodes/"))
        return get_node(rm, p + strlen(BASE "/nodes/"), ret);
    if (strcmp(p, BASE "/apps") == 0)
        return get_apps(rm, req, ret);
    if (sv_has_prefix(p, BASE "/apps/"))
        return one_app(rm, req, p + strlen(BASE "/apps/"), ret);
    return 0; /* 404 */
}

/* What was answered without a user's groups, which are being looked up, does not count. */
int rm_web_handle(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    struct rm *rm = userdata;
    int r;

    (void)sv_groups_missed(rm->groups); /* by a call, ignoring */
    r = answer(rm, req, ret);
    return sv_groups_missed(rm->groups) ? -EAGAIN : r;
}
