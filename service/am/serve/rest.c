/* See rest.h. A change is validated before it is accepted, given to the engine at once, and
 * answered; its effects follow. */
#include "service/am/serve/rest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"
#include "common/web/http.h"
#include "common/web/json-text.h"
#include "common/web/rest-path.h"
#include "common/web/rest-reply.h"
#include "service/am/view/live.h"
#include "service/am/view/metrics.h"
#include "service/am/view/slider-resources.h"

#define SLIDER "/ws/v1/slider/application"
#define NO_CACHE "no-cache, no-store, must-revalidate, private, max-age=0"
#define ERROR_BYTES 520 /* shorter errors are replaced by pages of browsers */
#define NAME_BYTES 256  /* of a component, container or number in a path */

struct svc_rest {
    struct svc_rest_config cfg;
    struct svc_live *live;
    struct sv_http *http;
};

struct request {
    struct svc_rest *rest;
    const struct sv_http_request *http;
    const char *rest_of_path; /* what {name} stands for */
    char user[SV_AUTH_USER_MAX];
    struct svc_slider_view view;
};

/* ---- Answers ---- */

static int answer_tree(struct sv_http_response *ret, json_t *tree)
{
    return sv_rest_tree(ret, 200, NULL, tree);
}

/* As Hadoop's handler of exceptions writes it, with blanks behind it. */
static int answer_error(struct sv_http_response *ret, unsigned status, const char *text)
{
    static const struct {
        unsigned status;
        const char *name, *class;
    } exceptions[] = {
        { 400, "BadRequestException", "org.apache.hadoop.yarn.webapp.BadRequestException" },
        { 403, "ForbiddenException", "org.apache.hadoop.yarn.webapp.ForbiddenException" },
        { 404, "NotFoundException", "org.apache.hadoop.yarn.webapp.NotFoundException" },
        { 0, "WebApplicationException", "javax.ws.rs.WebApplicationException" },
    };
    size_t i = 0, len;
    json_t *tree;
    char *padded;
    int r;

    while (exceptions[i].status && exceptions[i].status != status)
        i++;
    tree = json_pack("{s:s, s:o, s:s}", "exception", exceptions[i].name, "message",
                     sv_json_text(text), "javaClassName", exceptions[i].class);
    r = sv_rest_tree(ret, status, NULL, tree);
    if (r < 0 || ret->body_len >= ERROR_BYTES)
        return r;
    len = ret->body_len;
    padded = realloc(ret->body, ERROR_BYTES);
    if (!padded)
        return 0; /* short, ignoring */
    memset(padded + len, ' ', ERROR_BYTES - len);
    ret->body = padded;
    ret->body_len = ERROR_BYTES;
    return 0;
}

static int answer_refusal(struct sv_http_response *ret, int r, const struct sv_error *err)
{
    const char *text = err->code ? err->text : strerror(-r);

    switch (r) {
    case -ENOMEM:
        return r;
    case -EINVAL:
    case -E2BIG:
        return answer_error(ret, 400, text);
    case -ENOENT:
        return answer_error(ret, 404, text);
    case -EBUSY:
        return answer_error(ret, 409, text);
    case -ESHUTDOWN:
        return answer_error(ret, 503, text);
    default:
        return answer_error(ret, 500, text);
    }
}

static int answer_found(struct sv_http_response *ret, json_t *tree, const char *what,
                        const char *name)
{
    char text[256];

    if (tree)
        return answer_tree(ret, tree);
    (void)snprintf(text, sizeof(text), "Unknown %s: %.128s", what, name);
    return answer_error(ret, 404, text);
}

/* "first/…/last": texts that are too long are no names, and found nowhere. */
static void split(const struct request *q, char first[NAME_BYTES], char last[NAME_BYTES])
{
    const char *end = strchr(q->rest_of_path, '/'), *slash = strrchr(q->rest_of_path, '/');

    (void)snprintf(first, NAME_BYTES, "%.*s",
                   (int)(end ? end - q->rest_of_path : (ptrdiff_t)strlen(q->rest_of_path)),
                   q->rest_of_path);
    (void)snprintf(last, NAME_BYTES, "%s", slash ? slash + 1 : "");
}

static int names(struct sv_http_response *ret, const char *const *list)
{
    json_t *a = json_array();

    for (; *list; list++)
        (void)json_array_append_new(a, json_string(*list)); /* short of memory, ignoring */
    return answer_tree(ret, a);
}

/* ---- The model ---- */

static int on_root(struct request *q, struct sv_http_response *ret)
{
    (void)q;
    return names(ret, (const char *const[]){ "model", "live", "action", NULL });
}

static int on_model(struct request *q, struct sv_http_response *ret)
{
    (void)q;
    return names(ret, (const char *const[]){ "desired", "resolved", "internal", NULL });
}

static int on_internal(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_internal_tree(&q->view));
}

static int on_desired(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_aggregate(&q->view, false));
}

static int on_resolved(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_aggregate(&q->view, true));
}

static int on_desired_appconf(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_appconf_tree(&q->view, false));
}

static int on_resolved_appconf(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_appconf_tree(&q->view, true));
}

static int on_desired_resources(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_resources_tree(&q->view, false, false));
}

static int on_resolved_resources(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_resources_tree(&q->view, true, false));
}

/* The answer is what was sent: the desired state is that now. */
static int put_resources(struct request *q, struct sv_http_response *ret)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct svc_control *c = &q->rest->cfg.control;
    struct sv_error err = { 0 };
    struct svc_flex *list;
    size_t n;
    int r;

    if (!a)
        return -ENOMEM;
    if (q->http->body_len == 0)
        return answer_error(ret, 400, "No JSON in PUT");
    r = svc_slider_resources(q->http->body, q->http->body_len, q->view.resolved, a, &list, &n,
                             &err);
    if (r == 0)
        r = c->ops->flex(c->master, list, n, true, &err);
    if (r < 0)
        return answer_refusal(ret, r, &err);
    ret->body = malloc(q->http->body_len);
    if (!ret->body)
        return -ENOMEM;
    memcpy(ret->body, q->http->body, q->http->body_len);
    ret->body_len = q->http->body_len;
    ret->content_type = SV_JSON_TYPE;
    ret->status = 200;
    return 0;
}

/* ---- Live objects ---- */

static int on_live(struct request *q, struct sv_http_response *ret)
{
    (void)q;
    return names(ret, (const char *const[]){ "resources", "containers", "components", "nodes",
                                             "statistics", "liveness", "diagnostics", NULL });
}

static int on_live_resources(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_resources_tree(&q->view, true, true));
}

/* -EAGAIN: called again when the text is built. */
static int answer_list(struct request *q, enum svc_live_list which, const char *component,
                       struct sv_http_response *ret)
{
    const char *text;
    size_t len;
    int r = svc_live_text(q->rest->live, which, component, &text, &len);

    if (r == -ENOENT)
        return answer_found(ret, NULL, "component", component);
    if (r < 0)
        return r;
    ret->body = malloc(len);
    if (!ret->body)
        return -ENOMEM;
    memcpy(ret->body, text, len);
    ret->body_len = len;
    ret->content_type = SV_JSON_TYPE;
    ret->status = 200;
    return 0;
}

static int on_containers(struct request *q, struct sv_http_response *ret)
{
    return answer_list(q, SVC_LIVE_CONTAINERS, NULL, ret);
}

static int on_container(struct request *q, struct sv_http_response *ret)
{
    return answer_found(ret, svc_slider_view_container(&q->view, q->rest_of_path), "container",
                        q->rest_of_path);
}

/* Nodes have the logs. */
static int on_container_logs(struct request *q, struct sv_http_response *ret)
{
    char id[NAME_BYTES], last[NAME_BYTES];
    json_t *container;
    const char *at;

    split(q, id, last);
    container = svc_slider_view_container(&q->view, id);
    at = json_string_value(json_object_get(container, "logLink"));
    ret->location = at ? strdup(at) : NULL;
    json_decref(container);
    if (!ret->location)
        return at ? -ENOMEM : answer_found(ret, NULL, "container", id);
    ret->status = 302;
    return 0;
}

/* It is replaced: how many there are is for a flex or a decommission to say. */
static int delete_container(struct request *q, struct sv_http_response *ret)
{
    const struct svc_control *c = &q->rest->cfg.control;
    struct yarn_container_id id;
    struct sv_error err = { 0 };
    int r;

    if (yarn_container_id_parse(q->rest_of_path, &id) < 0)
        return answer_found(ret, NULL, "container", q->rest_of_path);
    r = c->ops->kill(c->master, id, &err);
    if (r < 0)
        return answer_refusal(ret, r, &err);
    return sv_rest_tree(ret, 202, NULL, json_pack("{s:s}", "text", "The container is stopped"));
}

static int on_components(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_components(&q->view));
}

static int on_component(struct request *q, struct sv_http_response *ret)
{
    return answer_list(q, SVC_LIVE_COMPONENT, q->rest_of_path, ret);
}

static int on_component_containers(struct request *q, struct sv_http_response *ret)
{
    char name[NAME_BYTES], last[NAME_BYTES];

    split(q, name, last);
    return answer_list(q, SVC_LIVE_COMPONENT_IDS, name, ret);
}

static int on_component_container(struct request *q, struct sv_http_response *ret)
{
    char name[NAME_BYTES], id[NAME_BYTES];

    split(q, name, id);
    return answer_found(ret, svc_slider_view_component_container(&q->view, name, id), "container",
                        id);
}

static int on_instance(struct request *q, struct sv_http_response *ret)
{
    char name[NAME_BYTES], index[NAME_BYTES];

    split(q, name, index);
    return answer_found(ret, svc_slider_view_instance(&q->view, name, index), "instance",
                        q->rest_of_path);
}

static int on_nodes(struct request *q, struct sv_http_response *ret)
{
    return answer_list(q, SVC_LIVE_NODES, NULL, ret);
}

static int on_node(struct request *q, struct sv_http_response *ret)
{
    return answer_found(ret, svc_slider_view_node(&q->view, q->rest_of_path), "node",
                        q->rest_of_path);
}

static int on_liveness(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_liveness(&q->view, NULL));
}

static int on_liveness_of(struct request *q, struct sv_http_response *ret)
{
    return answer_found(ret, svc_slider_view_liveness(&q->view, q->rest_of_path), "component",
                        q->rest_of_path);
}

static int on_statistics(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_statistics(&q->view));
}

static int on_diagnostics(struct request *q, struct sv_http_response *ret)
{
    return answer_tree(ret, svc_slider_view_diagnostics(&q->view));
}

/* ---- Actions ---- */

static int on_ping(struct request *q, struct sv_http_response *ret)
{
    char body[4096];

    (void)snprintf(body, sizeof(body), "%.*s", (int)SV_MIN(q->http->body_len, sizeof(body) - 1),
                   q->http->body_len ? (const char *)q->http->body : "");
    return answer_tree(ret, json_pack("{s:I, s:s, s:s, s:o}", "time", (json_int_t)sv_wall_ms(),
                                      "text", "selvedge-service-am", "verb", q->http->method,
                                      "body", sv_json_text(body)));
}

static int on_stop(struct request *q, struct sv_http_response *ret)
{
    const struct svc_control *c = &q->rest->cfg.control;
    struct sv_error err = { 0 };
    char text[SV_AUTH_USER_MAX + 32];
    int r;

    (void)snprintf(text, sizeof(text), "Stopped by user %s", q->user);
    r = c->ops->stop(c->master, text, &err);
    if (r < 0)
        return answer_refusal(ret, r, &err);
    return sv_rest_tree(ret, 202, NULL, json_pack("{s:s}", "text", text));
}

/* ---- Beside Slider's ---- */

static int on_status(struct request *q, struct sv_http_response *ret)
{
    const char *text;
    size_t len;
    int r = svc_status_text(q->rest->cfg.status, &text, &len);

    if (r < 0)
        return r; /* -EAGAIN: called again by svc_rest_status_done() */
    ret->body = malloc(len);
    if (!ret->body)
        return -ENOMEM;
    memcpy(ret->body, text, len);
    ret->body_len = len;
    ret->content_type = SV_JSON_TYPE;
    ret->status = 200;
    return 0;
}

static int on_metrics(struct request *q, struct sv_http_response *ret)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT((size_t)16 << 20);
    int r = svc_metrics_print(q->view.engine, q->view.definition->name, &b);

    if (r < 0)
        return r;
    ret->status = 200;
    ret->content_type = "text/plain; version=0.0.4; charset=utf-8";
    ret->body_len = b.len;
    ret->body = (char *)SV_TAKE(b.data);
    return 0;
}

/* ---- Routes ---- */

static const struct route {
    const char *methods, *path; /* methods between blanks */
    enum svc_access access;
    int (*answer)(struct request *q, struct sv_http_response *ret);
} routes[] = {
    { " GET HEAD ", "/", SVC_VIEW, on_status },
    { " GET HEAD ", "/status", SVC_VIEW, on_status },
    { " GET HEAD ", "/metrics", SVC_VIEW, on_metrics },
    { " GET HEAD ", SLIDER, SVC_VIEW, on_root },
    { " GET HEAD ", SLIDER "/", SVC_VIEW, on_root },
    { " GET HEAD ", SLIDER "/model", SVC_VIEW, on_model },
    { " GET HEAD ", SLIDER "/model/internal", SVC_VIEW, on_internal },
    { " GET HEAD ", SLIDER "/model/desired", SVC_VIEW, on_desired },
    { " GET HEAD ", SLIDER "/model/resolved", SVC_VIEW, on_resolved },
    { " GET HEAD ", SLIDER "/model/desired/appconf", SVC_VIEW, on_desired_appconf },
    { " GET HEAD ", SLIDER "/model/resolved/appconf", SVC_VIEW, on_resolved_appconf },
    { " GET HEAD ", SLIDER "/model/desired/resources", SVC_VIEW, on_desired_resources },
    { " PUT ", SLIDER "/model/desired/resources", SVC_MODIFY, put_resources },
    { " GET HEAD ", SLIDER "/model/resolved/resources", SVC_VIEW, on_resolved_resources },
    { " GET HEAD ", SLIDER "/live", SVC_VIEW, on_live },
    { " GET HEAD ", SLIDER "/live/resources", SVC_VIEW, on_live_resources },
    { " GET HEAD ", SLIDER "/live/containers", SVC_VIEW, on_containers },
    { " GET HEAD ", SLIDER "/live/containers/{id}", SVC_VIEW, on_container },
    { " DELETE ", SLIDER "/live/containers/{id}", SVC_MODIFY, delete_container },
    { " GET HEAD ", SLIDER "/live/containers/{id}/logs", SVC_VIEW, on_container_logs },
    { " GET HEAD ", SLIDER "/live/components", SVC_VIEW, on_components },
    { " GET HEAD ", SLIDER "/live/components/{name}", SVC_VIEW, on_component },
    { " GET HEAD ", SLIDER "/live/components/{name}/containers", SVC_VIEW,
      on_component_containers },
    { " GET HEAD ", SLIDER "/live/components/{name}/containers/{id}", SVC_VIEW,
      on_component_container },
    { " GET HEAD ", SLIDER "/live/components/{name}/instances/{index}", SVC_VIEW, on_instance },
    { " GET HEAD ", SLIDER "/live/nodes", SVC_VIEW, on_nodes },
    { " GET HEAD ", SLIDER "/live/nodes/{host}", SVC_VIEW, on_node },
    { " GET HEAD ", SLIDER "/live/liveness", SVC_VIEW, on_liveness },
    { " GET HEAD ", SLIDER "/live/liveness/{name}", SVC_VIEW, on_liveness_of },
    { " GET HEAD ", SLIDER "/live/statistics", SVC_VIEW, on_statistics },
    { " GET HEAD ", SLIDER "/live/diagnostics", SVC_VIEW, on_diagnostics },
    { " GET HEAD POST PUT DELETE ", SLIDER "/action/ping", SVC_VIEW, on_ping },
    { " POST ", SLIDER "/action/stop", SVC_MODIFY, on_stop },
};

/* NULL and *ret_known: the path is one of others' methods. */
static const struct route *find_route(const struct sv_http_request *req, const char **ret_rest,
                                      bool *ret_known)
{
    char method[24];

    (void)snprintf(method, sizeof(method), " %.16s ", req->method);
    *ret_known = false;
    for (size_t i = 0; i < SV_ARRAY_LEN(routes); i++) {
        if (!sv_rest_matches(routes[i].path, req->path, ret_rest))
            continue;
        *ret_known = true;
        if (strstr(routes[i].methods, method))
            return &routes[i];
    }
    return NULL;
}

static int on_request(const struct sv_http_request *req, struct sv_http_response *ret,
                      void *userdata)
{
    struct request q = { .rest = userdata, .http = req };
    const struct svc_rest_config *cfg = &q.rest->cfg;
    const struct route *route;
    bool known;
    int r = svc_web_caller(&cfg->proxies, req, ret, q.user);

    if (r != 0)
        return r == SV_HTTP_REFUSED ? 0 : r;
    ret->cache_control = NO_CACHE;
    route = find_route(req, &q.rest_of_path, &known);
    if (!route)
        return answer_error(ret, known ? 405 : 404,
                            known ? "This method is not one of the resource" : "Unknown path");
    if (!cfg->control.ops->may(cfg->control.master, q.user, route->access))
        return answer_error(ret, 403,
                            route->access == SVC_VIEW ? "You may not view this service"
                                                      : "You may not modify this service");
    cfg->view(cfg->userdata, &q.view);
    return route->answer(&q, ret);
}

/* ---- Life ---- */

static void on_listed(void *userdata)
{
    svc_rest_status_done(userdata);
}

int svc_rest_new(sd_event *event, const struct svc_rest_config *cfg, struct svc_rest **ret,
                 struct sv_error *err)
{
    struct svc_rest *s = calloc(1, sizeof(*s));
    struct svc_live_config live;
    int r;

    if (!s)
        return sv_error_errno(err, -ENOMEM, "web port");
    s->cfg = *cfg;
    live = (struct svc_live_config){ cfg->view, cfg->userdata, on_listed, s };
    r = svc_live_new(event, &live, &s->live);
    r = r < 0 ? sv_error_errno(err, r, "web port")
              : sv_http_new(event, cfg->host, 0, on_request, s, &s->http, err);
    if (r < 0) {
        svc_live_free(s->live);
        free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct svc_rest *svc_rest_free(struct svc_rest *r)
{
    if (!r)
        return NULL;
    sv_http_free(r->http);
    svc_live_free(r->live);
    free(r);
    return NULL;
}

uint16_t svc_rest_port(const struct svc_rest *r)
{
    return sv_http_port(r->http);
}

void svc_rest_status_done(struct svc_rest *r)
{
    if (r)
        sv_http_retry(r->http);
}
