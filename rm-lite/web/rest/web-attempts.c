/* Attempts and containers over REST, with the fields of Hadoop's AppAttemptInfo and ContainerInfo.
 * The list of attempts has other fields than one of them, numbers are texts, and a list of one
 * container is that container: as in Hadoop, whose JSON provider has no rules for these classes.
 * Paths are hostile. */
#include "rm-lite/web/rest/web-attempts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "rm-lite/core/ended-containers.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/tracking.h"
#include "rm-lite/requests/wait-reason.h"
#include "rm-lite/web/rest/web-json.h"
#include "rm-lite/web/rest/web-list.h"
#include "rm-lite/web/rest/web-reply.h"

/* A value of an enumeration without the prefix of its message: "RUNNING". */
static const char *enum_name(const ProtobufCEnumDescriptor *d, int value, const char *prefix)
{
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(d, value);

    if (!v)
        return "";
    return sv_has_prefix(v->name, prefix) ? v->name + strlen(prefix) : v->name;
}

static json_t *number(int64_t v)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%lld", (long long)v);
    return json_string(text);
}

static json_t *attempt_json(const struct rm_attempt *att)
{
    char url[1024], id[YARN_ID_TEXT_MAX], waits[RM_WAIT_TEXT_MAX];
    json_t *o;

    rm_tracking_url(att, url, sizeof(url));
    o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "appAttemptId", att->id_str,
                  "host", sv_json_text(att->host && *att->host ? att->host : "N/A"), "rpcPort",
                  number(att->rpc_port), "trackingUrl", sv_json_text(url), "originalTrackingUrl",
                  sv_json_text(att->tracking_url && *att->tracking_url ? att->tracking_url : "N/A"),
                  "diagnosticsInfo", sv_json_text(rm_attempt_diagnostics(att, waits)),
                  "appAttemptState",
                  enum_name(&hadoop__yarn__yarn_application_attempt_state_proto__descriptor,
                            rm_attempt_wire_state(att), "APP_ATTEMPT_"),
                  "startedTime", number(att->start_ms), "finishedTime", number(att->finish_ms));
    if (o && att->has_master)
        (void)json_object_set_new(
            o, "amContainerId",
            json_string(yarn_container_id_text(att->master_id, id))); /* as rm_json_app */
    return o;
}

static json_t *resources(const struct rm_container *c)
{
    return json_pack("{s:[{s:s, s:o}, {s:s, s:o}]}", "entry", "key", "memory-mb", "value",
                     number(c->resource.mem), "key", "vcores", "value", number(c->resource.vcores));
}

static json_t *container_json(const struct rm_container *c)
{
    int64_t end = c->finish_ms ? c->finish_ms : sv_wall_ms();
    char log_url[1200], http[400], node[300];
    json_t *o;

    (void)snprintf(log_url, sizeof(log_url), "%s://%s/node/containerlogs/%s/%s",
                   rm_web_scheme(c->app->rm), c->node_http, c->id_str, c->app->user);
    (void)snprintf(http, sizeof(http), "%s://%s", rm_web_scheme(c->app->rm), c->node_http);
    yarn_node_id_text(&c->node_id, node);
    o = json_pack(
        "{s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:o, s:s}",
        "containerId", c->id_str, "allocatedMB", number(c->resource.mem), "allocatedVCores",
        number(c->resource.vcores), "assignedNodeId", node, "priority", number(c->priority),
        "startedTime", number(c->created_ms), "finishedTime", number(c->finish_ms), "elapsedTime",
        number(SV_MAX(end - c->created_ms, (int64_t)0)), "logUrl", sv_json_text(log_url),
        "containerExitStatus", number(c->finish_ms ? c->exit_status : 0), "containerState",
        enum_name(&hadoop__yarn__container_state_proto__descriptor, rm_container_wire_state(c),
                  "C_"),
        "nodeHttpAddress", http, "nodeId", node, "allocatedResources", resources(c), "exposedPorts",
        "");
    if (o && c->diagnostics && *c->diagnostics)
        (void)json_object_set_new(o, "diagnosticsInfo",
                                  sv_json_text(c->diagnostics)); /* as above */
    return o;
}

static int get_list(const struct rm_app *app, struct sv_http_response *ret)
{
    json_t *list = json_array();
    struct rm_attempt *att;

    DL_FOREACH (app->attempts, att)
        (void)json_array_append_new(
            list, rm_json_attempt(att)); /* no memory: the entry is missing, ignoring */
    return rm_web_json(ret, 200, json_pack("{s:{s:o}}", "appAttempts", "appAttempt", list));
}

/* ---- Containers ---- */

static bool gather(struct rm *rm, const void *wanted, struct rm_list_items *ret)
{
    const struct yarn_attempt_id *id = wanted;
    const struct rm_attempt *att = rm_attempt_find(rm, *id);

    if (!att)
        return rm_list_items_new(ret, 0);
    if (!rm_list_items_new(ret, (size_t)att->app->n_live + rm_ended_count(att)))
        return false;
    for (const struct rm_container *c = att->app->containers; c; c = c->p_next)
        if (c->attempt == att)
            ret->items[ret->n++].container = c->id;
    for (const struct rm_container *c = rm_ended_first(att); c; c = rm_ended_next(c))
        ret->items[ret->n++].container = c->id;
    return true;
}

static json_t *container_entry(struct rm *rm, const struct rm_list_item *item)
{
    const struct rm_container *c = rm_container_find(rm, item->container);
    const struct rm_attempt *att = rm_attempt_find(rm, item->container.attempt);

    if (!c && att)
        c = rm_ended_find(att, item->container);
    return c ? container_json(c) : NULL;
}

static int short_list(const struct rm_attempt *att, struct sv_http_response *ret)
{
    json_t *list = json_array(), *one;

    for (const struct rm_container *c = att->app->containers; c; c = c->p_next)
        if (c->attempt == att)
            (void)json_array_append_new(list, container_json(c)); /* as above */
    for (const struct rm_container *c = rm_ended_first(att); c; c = rm_ended_next(c))
        (void)json_array_append_new(list, container_json(c)); /* as above */
    if (json_array_size(list) > 1)
        return rm_web_tree(ret, 200, "containers", json_pack("{s:o}", "container", list));
    one = json_array_size(list) == 1 ? json_pack("{s:O}", "container", json_array_get(list, 0))
                                     : json_object();
    json_decref(list);
    return rm_web_tree(ret, 200, "containers", one);
}

static int get_containers(struct rm *rm, const struct rm_attempt *att,
                          const struct sv_http_request *req, struct sv_http_response *ret)
{
    static const struct rm_list_kind kind = { .outer = "containers",
                                              .inner = "container",
                                              .bare = true,
                                              .gather = gather,
                                              .entry = container_entry,
                                              .free_wanted = free };
    struct rm_list list = { .kind = &kind,
                            .most = (size_t)att->app->n_live + rm_ended_count(att),
                            .limit = INT64_MAX };
    struct yarn_attempt_id *id;

    if (list.most <= RM_LIST_SHORT)
        return short_list(att, ret);
    list.wanted = id = malloc(sizeof(*id));
    if (!id)
        return -ENOMEM;
    *id = att->id;
    return rm_web_list(rm, req, ret, &list);
}

static int get_container(const struct rm *rm, const struct rm_attempt *att, const char *text,
                         struct sv_http_response *ret)
{
    struct yarn_container_id id;
    const struct rm_container *c;

    if (yarn_container_id_parse(text, &id) < 0)
        return rm_web_bad_request(ret, "invalid container id, %.100s", text);
    c = rm_container_find(rm, id);
    if (!c)
        c = rm_ended_find(att, id);
    if (!c || c->attempt != att)
        return rm_web_not_found(ret, "container with id, %.100s, not found", text);
    return rm_web_json(ret, 200, container_json(c));
}

int rm_web_attempts(struct rm *rm, struct rm_app *app, const struct sv_http_request *req,
                    const char *rest, struct sv_http_response *ret)
{
    char text[YARN_ID_TEXT_MAX];
    struct yarn_attempt_id id;
    struct rm_attempt *att;
    size_t n;

    if (!*rest)
        return get_list(app, ret);
    n = strcspn(++rest, "/");
    if (n < sizeof(text)) {
        memcpy(text, rest, n);
        text[n] = 0;
    }
    if (n >= sizeof(text) || yarn_attempt_id_parse(text, &id) < 0)
        return rm_web_bad_request(ret, "invalid application attempt id, %.100s", rest);
    att = yarn_app_id_cmp(id.app, app->id) == 0 ? rm_attempt_find(rm, id) : NULL;
    if (!att)
        return rm_web_not_found(ret, "app attempt with id: %s not found", text);
    rest += n;
    if (!*rest)
        return rm_web_json(ret, 200, attempt_json(att));
    if (strcmp(rest, "/containers") == 0)
        return get_containers(rm, att, req, ret);
    if (sv_has_prefix(rest, "/containers/"))
        return get_container(rm, att, rest + strlen("/containers/"), ret);
    return rm_web_not_found(ret, "no such resource");
}
