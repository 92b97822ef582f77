/* See slider-view.h. */
#include "service/am/view/slider-view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "service/am/view/json-write.h"
#include "service/am/view/slider-resources.h"

enum { SUBMITTED = 1, LIVE = 3, DESTROYED = 5 }; /* Slider's states of a container */

static void set_number(json_t *o, const char *name, int64_t value)
{
    (void)json_object_set_new(o, name, json_integer(value)); /* short of memory: absent, ignoring */
}

static void set_text(json_t *o, const char *name, const char *text)
{
    if (text && *text)
        (void)json_object_set_new(o, name, sv_json_text(text)); /* as set_number(), ignoring */
}

static void set(json_t *o, const char *name, json_t *value)
{
    (void)json_object_set_new(o, name, value); /* as set_number(), ignoring */
}

/* ---- ConfTree ---- */

static json_t *conf_tree(json_t *global, json_t *components)
{
    json_t *o =
        json_pack("{s:s, s:{}, s:{}}", "schema", SVC_SLIDER_SCHEMA, "metadata", "credentials");

    set(o, "global", global);
    set(o, "components", components);
    return o;
}

static void set_decimal(json_t *o, const char *name, int64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    set_text(o, name, text);
}

static json_t *options_of(const struct svc_component *c, const struct svc_component_view *v,
                          size_t priority, bool statistics)
{
    json_t *o = json_object();

    set_decimal(o, "yarn.component.instances", v->desired);
    set_decimal(o, "yarn.role.priority", (int64_t)priority);
    set_decimal(o, "yarn.memory", c->resource.memory_mb);
    set_decimal(o, "yarn.vcores", c->resource.vcores);
    if (!statistics)
        return o;
    set_decimal(o, "yarn.component.instances.requesting", v->requested);
    set_decimal(o, "yarn.component.instances.actual", v->live);
    set_decimal(o, "yarn.component.instances.releasing", v->releasing);
    set_decimal(o, "yarn.component.instances.failed", v->failed_total);
    set_decimal(o, "yarn.component.instances.completed", v->completed_total);
    set_decimal(o, "yarn.component.instances.started", v->started_total);
    return o;
}

/* Slider shows its master as a component of one instance. */
static json_t *master_options(void)
{
    json_t *o = json_object();

    set_decimal(o, "yarn.component.instances", 1);
    set_decimal(o, "yarn.component.instances.requesting", 0);
    set_decimal(o, "yarn.component.instances.actual", 1);
    set_decimal(o, "yarn.component.instances.releasing", 0);
    set_decimal(o, "yarn.component.instances.failed", 0);
    set_decimal(o, "yarn.component.instances.completed", 0);
    set_decimal(o, "yarn.component.instances.started", 1);
    return o;
}

json_t *svc_slider_view_resources_tree(const struct svc_slider_view *v, bool resolved,
                                       bool statistics)
{
    json_t *components = json_object();
    struct svc_component_view c;

    (void)resolved; /* sizes are those that containers get, in both */
    if (statistics)
        set(components, SVC_SLIDER_MASTER, master_options());
    for (size_t i = 0; i < svc_engine_components(v->engine); i++) {
        svc_engine_component(v->engine, i, &c);
        set(components, c.component->name, options_of(c.component, &c, i + 1, statistics));
    }
    return conf_tree(json_object(), components);
}

static json_t *properties_of(const struct svc_configuration *c)
{
    json_t *o = json_object();
    char name[256];

    for (size_t i = 0; i < c->properties.n; i++)
        set_text(o, c->properties.pairs[i].name, c->properties.pairs[i].value);
    for (size_t i = 0; i < c->env.n; i++)
        if (snprintf(name, sizeof(name), "env.%s", c->env.pairs[i].name) < (int)sizeof(name))
            set_text(o, name, c->env.pairs[i].value);
    return o;
}

json_t *svc_slider_view_appconf_tree(const struct svc_slider_view *v, bool resolved)
{
    const struct svc_definition *d = resolved ? v->resolved : v->definition;
    json_t *components = json_object();

    for (size_t i = 0; i < d->n_components; i++)
        set(components, d->components[i].name, properties_of(&d->components[i].configuration));
    return conf_tree(properties_of(&d->configuration), components);
}

json_t *svc_slider_view_internal_tree(const struct svc_slider_view *v)
{
    json_t *internal = json_object();

    set_text(internal, "application.name", v->definition->name);
    set_text(internal, "internal.provider.name", "yarn-service");
    set_text(internal, "internal.queue", v->definition->queue);
    return conf_tree(internal, json_object());
}

json_t *svc_slider_view_aggregate(const struct svc_slider_view *v, bool resolved)
{
    json_t *o = json_object();

    set_text(o, "name", v->definition->name);
    set(o, "resources", svc_slider_view_resources_tree(v, resolved, false));
    set(o, "internal", svc_slider_view_internal_tree(v));
    set(o, "appConf", svc_slider_view_appconf_tree(v, resolved));
    return o;
}

/* ---- Components ---- */

static json_t *component_information(const struct svc_component_view *c, size_t priority)
{
    json_t *o = json_object();

    set_text(o, "name", c->component->name);
    set_number(o, "priority", (int64_t)priority);
    set_number(o, "desired", c->desired);
    set_number(o, "actual", c->live);
    set_number(o, "releasing", c->releasing);
    set_number(o, "placementPolicy", 0);
    set_number(o, "requested", c->requested);
    set_number(o, "failed", c->failed_total);
    set_number(o, "started", c->started_total);
    set_number(o, "startFailed", c->start_failed_total);
    set_number(o, "completed", c->completed_total);
    set_number(o, "totalRequested", c->requested_total);
    set_number(o, "nodeFailed", c->node_failed);
    set_number(o, "failedRecently", c->failed_recently);
    set_number(o, "preempted", c->preempted);
    set_number(o, "pendingAntiAffineRequestCount", c->anti_affine_pending);
    set(o, "isAARequestOutstanding", json_boolean(c->anti_affine_outstanding));
    set_text(o, "failureMessage", c->reason);
    return o;
}

json_t *svc_slider_view_components(const struct svc_slider_view *v)
{
    json_t *o = json_object();
    struct svc_component_view c;

    for (size_t i = 0; i < svc_engine_components(v->engine); i++) {
        svc_engine_component(v->engine, i, &c);
        set(o, c.component->name, component_information(&c, i + 1));
    }
    return o;
}

/* The number of a component; -1: there is none of that name. */
static ssize_t find_component(const struct svc_slider_view *v, const char *name,
                              struct svc_component_view *ret)
{
    for (size_t i = 0; i < svc_engine_components(v->engine); i++) {
        svc_engine_component(v->engine, i, ret);
        if (strcmp(ret->component->name, name) == 0)
            return (ssize_t)i;
    }
    return -1;
}

/* The beginning of a list of ids: "[", or the component's record up to there. */
static int begin_ids(const struct svc_component_view *c, size_t priority, bool record,
                     struct sv_buf *out)
{
    json_t *o = record ? component_information(c, priority) : NULL;
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    int r = record && !text ? -ENOMEM : 0;

    if (text && *text) /* its last byte is the brace */
        r = sv_buf_put(out, text, strlen(text) - 1);
    if (r == 0 && record)
        r = sv_buf_put_str(out, ",\"containers\":");
    free(text);
    json_decref(o);
    return r < 0 ? r : sv_buf_put_u8(out, '[');
}

static int put_id(struct yarn_container_id container, bool first, struct sv_buf *out)
{
    char id[YARN_ID_TEXT_MAX];
    int r = first ? 0 : sv_buf_put_u8(out, ',');

    return r < 0 ? r : svc_json_text(out, yarn_container_id_text(container, id));
}

int svc_slider_view_some_ids(const struct svc_slider_view *v, const char *name, bool record,
                             struct svc_slider_walk *w, size_t max, struct sv_buf *out)
{
    struct svc_component_view c;
    struct svc_instance_view i;
    ssize_t component = find_component(v, name, &c);
    int r = component < 0 ? -ENOENT
            : w->begun    ? 0
                          : begin_ids(&c, (size_t)component + 1, record, out);

    w->begun = true;
    for (; r == 0 && !w->ended && max > 0; max--) {
        w->ended = !svc_engine_instance(v->engine, (size_t)component, &w->cursor, &i);
        if (w->ended || !i.has_container)
            continue;
        r = put_id(i.container, !w->any, out);
        w->any = true;
    }
    if (r == 0 && w->ended)
        r = sv_buf_put_str(out, record ? "]}" : "]");
    return r < 0 ? r : w->ended;
}

/* ---- Containers ---- */

/* Looks at no more than *max instances, for the next one with a container. */
static bool next_instance(const struct svc_slider_view *v, struct svc_slider_walk *w, size_t *max,
                          struct svc_instance_view *ret)
{
    while (w->component < svc_engine_components(v->engine) && *max > 0) {
        --*max;
        if (!svc_engine_instance(v->engine, w->component, &w->cursor, ret)) {
            w->component++;
            w->cursor = 0;
        } else if (ret->has_container) {
            return true;
        }
    }
    w->ended = w->component >= svc_engine_components(v->engine);
    return false;
}

static int state_of(const struct svc_instance_view *i)
{
    return i->state == SVC_INSTANCE_LAUNCHING  ? SUBMITTED
           : i->state == SVC_INSTANCE_STOPPING ? DESTROYED
                                               : LIVE;
}

static int put_container(const struct svc_slider_view *v, const struct svc_instance_view *i,
                         const char *id, struct sv_buf *b)
{
    const struct svc_container *c = svc_containers_find(v->containers, i->container);
    char url[512] = "", log[900] = "";
    int r = sv_buf_put_str(b, "{\"containerId\":");

    if (c && *c->http_address) {
        (void)snprintf(url, sizeof(url), "http://%.256s", c->http_address);
        (void)snprintf(log, sizeof(log), "%s/node/containerlogs/%s/%.255s", url, id, v->user);
    }
    if (r == 0)
        r = svc_json_text(b, id);
    if (r == 0)
        r = svc_json_member(b, "component", i->component->name);
    if (r == 0)
        r = svc_json_member(b, "appVersion", v->definition->version);
    if (r == 0 && i->state == SVC_INSTANCE_STOPPING)
        r = sv_buf_put_str(b, ",\"released\":true");
    if (r == 0)
        r = svc_json_number(b, "state", state_of(i));
    if (r == 0)
        r = svc_json_member(b, "diagnostics", i->diagnostics);
    if (r == 0 && c)
        r = svc_json_number(b, "createTime", c->allocated_ms);
    if (r == 0 && c && c->started_ms)
        r = svc_json_number(b, "startTime", c->started_ms);
    if (r == 0)
        r = svc_json_member(b, "host", i->host);
    if (r == 0)
        r = svc_json_member(b, "hostURL", url);
    if (r == 0)
        r = svc_json_member(b, "placement", i->placement);
    if (r == 0)
        r = svc_json_member(b, "logLink", log);
    return r < 0 ? r : sv_buf_put_u8(b, '}');
}

static json_t *container_information(const struct svc_slider_view *v,
                                     const struct svc_instance_view *i)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    char id[YARN_ID_TEXT_MAX];

    if (!i->has_container || put_container(v, i, yarn_container_id_text(i->container, id), &b) < 0)
        return NULL;
    return json_loadb((char *)b.data, b.len, 0, NULL);
}

static bool find_container(const struct svc_slider_view *v, const char *id,
                           struct svc_instance_view *ret)
{
    struct yarn_container_id parsed;

    return yarn_container_id_parse(id, &parsed) == 0 &&
           svc_engine_find_container(v->engine, parsed, ret) >= 0;
}

json_t *svc_slider_view_container(const struct svc_slider_view *v, const char *id)
{
    struct svc_instance_view i;

    return find_container(v, id, &i) ? container_information(v, &i) : NULL;
}

json_t *svc_slider_view_component_container(const struct svc_slider_view *v, const char *name,
                                            const char *id)
{
    struct svc_instance_view i;

    return find_container(v, id, &i) && strcmp(i.component->name, name) == 0
               ? container_information(v, &i)
               : NULL;
}

json_t *svc_slider_view_instance(const struct svc_slider_view *v, const char *name,
                                 const char *index)
{
    struct svc_instance_view i;
    char instance[256];

    if (snprintf(instance, sizeof(instance), "%s-%s", name, index) >= (int)sizeof(instance) ||
        svc_engine_find(v->engine, instance, &i) < 0 || strcmp(i.component->name, name) != 0)
        return NULL;
    return container_information(v, &i);
}

int svc_slider_view_some_containers(const struct svc_slider_view *v, struct svc_slider_walk *w,
                                    size_t max, struct sv_buf *out)
{
    struct svc_instance_view i;
    char id[YARN_ID_TEXT_MAX];
    int r = w->begun ? 0 : sv_buf_put_u8(out, '{');

    w->begun = true;
    while (r == 0 && next_instance(v, w, &max, &i)) {
        r = w->any ? sv_buf_put_u8(out, ',') : 0;
        w->any = true;
        if (r == 0)
            r = svc_json_text(out, yarn_container_id_text(i.container, id));
        if (r == 0)
            r = sv_buf_put_u8(out, ':');
        if (r == 0)
            r = put_container(v, &i, id, out);
    }
    if (r == 0 && w->ended)
        r = sv_buf_put_u8(out, '}');
    return r < 0 ? r : w->ended;
}

/* ---- Nodes ---- */

/* Adds an instance to the record of its node: nodes are those on which the service has some. */
static void count_on_node(json_t *nodes, const struct svc_slider_view *v,
                          const struct svc_instance_view *i, size_t priority)
{
    const struct svc_container *c = svc_containers_find(v->containers, i->container);
    json_t *node = json_object_get(nodes, i->host), *entries, *entry;
    const char *counter = i->state == SVC_INSTANCE_LAUNCHING  ? "starting"
                          : i->state == SVC_INSTANCE_STOPPING ? "releasing"
                                                              : "live";

    if (!node) {
        node = json_pack("{s:{}}", "entries");
        set_text(node, "hostname", i->host);
        set_text(node, "state", "RUNNING");
        set_text(node, "httpAddress", c ? c->http_address : "");
        set(nodes, i->host, node);
    }
    entries = json_object_get(node, "entries");
    entry = json_object_get(entries, i->component->name);
    if (!entry) {
        entry = json_object();
        set_number(entry, "priority", (int64_t)priority);
        set(entries, i->component->name, entry);
    }
    set_number(entry, counter, json_integer_value(json_object_get(entry, counter)) + 1);
}

bool svc_slider_view_some_nodes(const struct svc_slider_view *v, struct svc_slider_walk *w,
                                size_t max, const char *host, json_t *nodes)
{
    struct svc_instance_view i;

    while (next_instance(v, w, &max, &i))
        if (!host || strcmp(i.host, host) == 0)
            count_on_node(nodes, v, &i, w->component + 1);
    return w->ended;
}

json_t *svc_slider_view_node(const struct svc_slider_view *v, const char *host)
{
    struct svc_slider_walk w = { 0 };
    json_t *nodes = json_object(), *node;

    (void)!svc_slider_view_some_nodes(v, &w, SIZE_MAX, host, nodes); /* to its end, ignoring */
    node = json_incref(json_object_get(nodes, host));
    json_decref(nodes);
    return node;
}

/* ---- The whole ---- */

json_t *svc_slider_view_liveness(const struct svc_slider_view *v, const char *name)
{
    int64_t outstanding = 0, requested = 0, last = 0;
    struct svc_component_view c;
    json_t *o;

    if (name && find_component(v, name, &c) < 0)
        return NULL;
    o = json_object();
    for (size_t i = 0; i < svc_engine_components(v->engine); i++) {
        svc_engine_component(v->engine, i, &c);
        if (name && strcmp(c.component->name, name) != 0)
            continue;
        outstanding += c.desired - c.live;
        requested += c.requested;
    }
    for (const struct svc_container *k = v->containers->table; k && !name; k = k->hh.next)
        last = SV_MAX(last, k->started_ms);
    set(o, "allRequestsSatisfied", json_boolean(outstanding <= 0));
    set_number(o, "requestsOutstanding", outstanding);
    set_number(o, "activeRequests", requested);
    if (!name)
        set_number(o, "lastAllocationTime", last);
    return o;
}

json_t *svc_slider_view_statistics(const struct svc_slider_view *v)
{
    struct svc_component_view c, sum = { 0 };
    json_t *o = json_object();

    for (size_t i = 0; i < svc_engine_components(v->engine); i++) {
        svc_engine_component(v->engine, i, &c);
        sum.live += c.live;
        sum.completed_total += c.completed_total;
        sum.failed_total += c.failed_total;
        sum.started_total += c.started_total;
        sum.start_failed_total += c.start_failed_total;
        sum.surplus += c.surplus;
    }
    set_number(o, "containers.live", sum.live);
    set_number(o, "containers.completed", sum.completed_total);
    set_number(o, "containers.failed", sum.failed_total);
    set_number(o, "containers.start.started", sum.started_total);
    set_number(o, "containers.start.failed", sum.start_failed_total);
    set_number(o, "containers.surplus", sum.surplus);
    set_number(o, "containers.unknown.completed", svc_engine_unknown_completed(v->engine));
    return o;
}

json_t *svc_slider_view_diagnostics(const struct svc_slider_view *v)
{
    enum svc_service_state s = svc_engine_state(v->engine);
    json_t *o = json_object();

    set_text(o, "finalStatus",
             s == SVC_FAILED                          ? "FAILED"
             : s == SVC_STOPPED || s == SVC_SUCCEEDED ? "SUCCEEDED"
                                                      : "UNDEFINED");
    set_text(o, "finalMessage", svc_engine_diagnostics(v->engine));
    set_text(o, "exitReason",
             s == SVC_STOPPED  ? "STOP_COMMAND_ISSUED"
             : s == SVC_FAILED ? "APP_ERROR"
                               : "");
    set(o, "containers", json_array());
    set(o, "recentFailedContainers", json_array());
    return o;
}
