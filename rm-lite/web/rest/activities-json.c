/* See activities-json.h. The diagnostics are those of Hadoop's ActivityDiagnosticConstant and
 * GenericDiagnosticsCollector, which people and scripts look for. */
#include "rm-lite/web/rest/activities-json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"

#define DEPTHS 48 /* queues (RM_QUEUE_DEPTH_MAX), application, request, node */
#define TEXT_MAX 1024

const char *rm_activities_date(int64_t wall_ms, char dst[static RM_ACTIVITIES_DATE_MAX])
{
    time_t t = wall_ms / 1000;
    struct tm tm;

    dst[0] = '\0';
    if (localtime_r(&t, &tm))
        (void)strftime(dst, RM_ACTIVITIES_DATE_MAX, "%a %b %d %H:%M:%S %Z %Y", &tm);
    return dst;
}

static int64_t wall_of(const struct rm_visit *v)
{
    return sv_wall_ms() - (sv_now_ms() - v->at_ms);
}

/* No memory: the member is missing, ignoring; as everywhere here. */
static void set(json_t *o, const char *key, json_t *value)
{
    if (value)
        (void)json_object_set_new(o, key, value);
}

static void set_time(json_t *o, const struct rm_visit *v)
{
    char date[RM_ACTIVITIES_DATE_MAX];

    set(o, "timestamp", json_integer(wall_of(v)));
    set(o, "dateTime", json_string(rm_activities_date(wall_of(v), date)));
}

static const char *state_name(enum rm_activity_state state)
{
    static const char *const names[] = {
        [RM_ACTIVITY_DEFAULT] = "DEFAULT",
        [RM_ACTIVITY_ACCEPTED] = "ACCEPTED",
        [RM_ACTIVITY_SKIPPED] = "SKIPPED",
        [RM_ACTIVITY_REJECTED] = "REJECTED",
        [RM_ACTIVITY_ALLOCATED] = "ALLOCATED",
        [RM_ACTIVITY_ALLOCATED_FROM_RESERVED] = "ALLOCATED_FROM_RESERVED",
        [RM_ACTIVITY_RESERVED] = "RESERVED",
        [RM_ACTIVITY_RE_RESERVED] = "RE_RESERVED",
    };

    return names[state];
}

/* ---- Diagnostics ---- */

static const char *words(int why)
{
    switch (why) {
    case RM_REFUSED_USER:
        return "Queue hits user max-capacity limit";
    case RM_REFUSED_QUEUE:
        return "Queue hits max-capacity limit";
    case RM_REFUSED_HEADROOM:
        return "Queue does not have enough headroom for inner highest-priority request";
    case RM_REFUSED_RESERVATION:
        return "Request skipped based on reservation algo";
    case RM_REFUSED_BLACKLIST:
        return "Node is blacklisted";
    case RM_REFUSED_TOTAL:
        return "Node's total resource is insufficient for request";
    case RM_REFUSED_SPACE:
    case RM_REFUSED_RESERVED:
        return "Node does not have sufficient resource for request";
    case RM_REFUSED_UNRESERVE:
        return "Node can't find a container to be unreserved when needed";
    case RM_REFUSED_DELAY:
        return "Node skipped because of off-switch delay";
    case RM_REFUSED_STRICT:
        return "Node skipped because relax locality is not allowed";
    case RM_REFUSED_CONSTRAINT:
        return "Node does not match partition or placement constraints";
    case RM_ACTIVITY_IDLE:
        return "Queue does not need more resource";
    case RM_ACTIVITY_NODE_FULL:
        return "Initial check: node resource is insufficient for minimum allocation";
    default:
        return NULL;
    }
}

/* "[memory-mb, vcores]": the types of which too little is available. */
static void lacks(const struct rm_activity *a, char *dst, size_t size)
{
    const struct rm_types *types = rm_types();
    size_t n = 0;

    dst[0] = '\0';
    for (int i = -2; i < types->n; i++) {
        bool less = i == -2   ? a->required.mem > a->available.mem
                    : i == -1 ? !a->memory_alone && a->required.vcores > a->available.vcores
                              : a->required.extra[i] > a->available.extra[i];

        if (less && n < size)
            n += (size_t)snprintf(dst + n, size - n, "%s%s", n ? ", " : "",
                                  i == -2   ? "memory-mb"
                                  : i == -1 ? "vcores"
                                            : types->names[i]);
    }
}

/* `brief`: without the amounts, as groups have it. NULL: none. */
static json_t *diagnostic(const struct rm_activity *a, bool brief)
{
    char text[TEXT_MAX], types[200], required[RM_RES_TEXT_MAX], available[RM_RES_TEXT_MAX];
    char app[YARN_ID_TEXT_MAX];

    if (!words(a->why))
        return NULL;
    if (a->level == RM_ACTIVITY_QUEUE && a->why == RM_REFUSED_HEADROOM) {
        (void)snprintf(text, sizeof(text), "%s from %s", words(a->why),
                       yarn_app_id_text(a->app, app));
        return json_string(text);
    }
    if (a->why != RM_REFUSED_TOTAL && a->why != RM_REFUSED_SPACE)
        return json_string(words(a->why));
    lacks(a, types, sizeof(types));
    if (brief)
        (void)snprintf(text, sizeof(text), "%s, insufficient resources=[%s]", words(a->why), types);
    else
        (void)snprintf(text, sizeof(text),
                       "%s, insufficient resources=[%s]\nrequired=%s, available=%s", words(a->why),
                       types, rm_res_text(a->required, required),
                       rm_res_text(a->available, available));
    return json_string(text);
}

/* ---- Nodes below a request ---- */

struct on_node { /* a NODE row with the node of its visit */
    const struct rm_activity *row;
    const struct yarn_node_id *node;
};

static json_t *node_name(const struct yarn_node_id *id)
{
    char text[300];

    return sv_json_text(yarn_node_id_text(id, text));
}

static json_t *one_node(const struct on_node *n, const char *no_name)
{
    json_t *o = json_object();
    char id[YARN_ID_TEXT_MAX];

    if (n->row->container.id)
        set(o, "name", json_string(yarn_container_id_text(n->row->container, id)));
    else if (no_name)
        set(o, "name", json_string(no_name));
    set(o, "allocationState", json_string(state_name(n->row->state)));
    set(o, "diagnostic", diagnostic(n->row, false));
    set(o, "nodeId", node_name(n->node));
    return o;
}

static bool is_of_group(json_t *group, const struct rm_activity *row, json_t *text)
{
    json_t *its = json_object_get(group, "diagnostic");

    return strcmp(json_string_value(json_object_get(group, "allocationState")) ?: "",
                  state_name(row->state)) == 0 &&
           (its && text ? json_equal(its, text) : !its && !text);
}

/* Adds the node to the group of its state and diagnostic. */
static void into_group(json_t *groups, const struct on_node *n)
{
    json_t *text = diagnostic(n->row, true), *group = NULL, *it, *nodes;
    size_t i;

    json_array_foreach(groups, i, it) if (!group && is_of_group(it, n->row, text)) group = it;
    if (!group) {
        group = json_pack("{s:s, s:[], s:i}", "allocationState", state_name(n->row->state),
                          "nodeIds", "count", 0);
        if (text)
            set(group, "diagnostic", json_incref(text));
        (void)json_array_append_new(groups, group);
    }
    json_decref(text);
    nodes = json_object_get(group, "nodeIds");
    (void)json_array_append_new(nodes, node_name(n->node));
    set(group, "count", json_integer((json_int_t)json_array_size(nodes)));
}

static void add_node(json_t *children, const struct on_node *n, bool by_diagnostic,
                     const char *no_name)
{
    if (by_diagnostic)
        into_group(children, n);
    else
        (void)json_array_append_new(children, one_node(n, no_name));
}

/* An empty list is no member, as in Hadoop's answers. */
static void set_children(json_t *o, json_t *children)
{
    if (json_array_size(children) > 0)
        set(o, "children", children);
    else
        json_decref(children);
}

/* ---- A visit of a node ---- */

static json_t *row_json(const struct rm_activity *a)
{
    json_t *o = json_object();
    char name[YARN_ID_TEXT_MAX];

    switch (a->level) {
    case RM_ACTIVITY_QUEUE:
        set(o, "name", sv_json_text(a->queue));
        break;
    case RM_ACTIVITY_APP:
        set(o, "name", json_string(yarn_app_id_text(a->app, name)));
        set(o, "appPriority", json_integer(a->priority));
        break;
    default: /* RM_ACTIVITY_REQUEST */
        (void)snprintf(name, sizeof(name), "request_%d_%lld", (int)a->priority,
                       (long long)a->allocation_id);
        set(o, "name", json_string(name));
        set(o, "requestPriority", json_integer(a->priority));
        set(o, "allocationRequestId", json_integer(a->allocation_id));
        break;
    }
    set(o, "allocationState", json_string(state_name(a->state)));
    set(o, "diagnostic", diagnostic(a, false));
    return o;
}

/* The tree of a visit, whose rows come from its leaves to its root. */
static json_t *tree(const struct rm_visit *v, bool by_diagnostic)
{
    json_t *below[DEPTHS + 1] = { NULL }, *root = NULL;

    for (size_t i = 0; i < v->n; i++) {
        const struct rm_activity *a = &v->rows[i];
        size_t d = SV_MIN((size_t)a->depth, (size_t)DEPTHS - 1);
        json_t *o;

        if (!below[d])
            below[d] = json_array();
        if (a->level == RM_ACTIVITY_NODE) {
            add_node(below[d], &(struct on_node){ a, &v->node }, by_diagnostic, NULL);
            continue;
        }
        o = row_json(a);
        if (below[d + 1])
            set_children(o, SV_TAKE(below[d + 1]));
        if (i + 1 == v->n)
            root = o;
        else
            (void)json_array_append_new(below[d], o);
    }
    for (size_t d = 0; d <= DEPTHS; d++)
        json_decref(below[d]);
    return root;
}

json_t *rm_json_visit(const struct rm_visit *v, bool by_diagnostic)
{
    json_t *o = json_object(), *allocation = json_object();
    char id[YARN_ID_TEXT_MAX];

    set(o, "nodeId", node_name(&v->node));
    set_time(o, v);
    if (v->cut)
        set(o, "diagnostic", json_string("the visit has more rows than are kept"));
    set(allocation, "partition", json_string(""));
    if (v->container.id)
        set(allocation, "updatedContainerId",
            json_string(yarn_container_id_text(v->container, id)));
    set(allocation, "finalAllocationState", json_string(state_name(v->end)));
    set(allocation, "root", tree(v, by_diagnostic));
    set(o, "allocations", json_pack("[o]", allocation));
    return o;
}

/* ---- Visits of an application ---- */

static bool has(const int64_t *list, size_t n, int64_t value)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == value)
            return true;
    return n == 0;
}

static bool takes(const struct rm_activities_filter *f, const struct rm_activity *a)
{
    return (a->level == RM_ACTIVITY_NODE || a->level == RM_ACTIVITY_REQUEST) &&
           has(f->priorities, f->n_priorities, a->priority) &&
           has(f->ids, f->n_ids, a->allocation_id);
}

struct requests {
    json_t *list, *by_name; /* in order; the same by "PRIORITY_ID" */
};

/* The request's object; new, if this is its first row. */
static json_t *request_of(struct requests *r, const struct rm_activity *a)
{
    char name[64];
    json_t *o;

    (void)snprintf(name, sizeof(name), "%d_%lld", (int)a->priority, (long long)a->allocation_id);
    o = json_object_get(r->by_name, name);
    if (o)
        return o;
    o = json_pack("{s:i, s:I, s:[]}", "requestPriority", (int)a->priority, "allocationRequestId",
                  (json_int_t)a->allocation_id, "children");
    (void)json_object_set(r->by_name, name, o);
    (void)json_array_append_new(r->list, o);
    return o;
}

static void add_rows(struct requests *r, const struct rm_visit *v,
                     const struct rm_activities_filter *f)
{
    for (size_t i = 0; i < v->n; i++) {
        const struct rm_activity *a = &v->rows[i];
        json_t *request = takes(f, a) ? request_of(r, a) : NULL;

        if (!request)
            continue;
        set(request, "allocationState", json_string(state_name(a->state)));
        if (a->level == RM_ACTIVITY_NODE)
            add_node(json_object_get(request, "children"), &(struct on_node){ a, &v->node },
                     f->by_diagnostic, "Container-Id-Not-Assigned");
        else
            set(request, "diagnostic", diagnostic(a, false));
    }
}

static struct requests requests_begin(void)
{
    return (struct requests){ .list = json_array(), .by_name = json_object() };
}

/* Returns the list. */
static json_t *requests_end(struct requests *r)
{
    json_t *it, *children;
    size_t i;

    json_decref(r->by_name);
    json_array_foreach(r->list, i, it)
    {
        children = json_object_get(it, "children");
        if (json_array_size(children) == 0)
            (void)json_object_del(it, "children");
    }
    return r->list;
}

/* `v`: of which the state is told. Takes the list. */
static json_t *app_visit(const struct rm_app *app, const struct rm_visit *v, json_t *requests)
{
    const struct rm_activity *last = &v->rows[v->n - 1]; /* APP, unless the visit was cut */
    json_t *o = json_object();

    set_time(o, v);
    set(o, "queueName", sv_json_text(app->queue));
    set(o, "appPriority", json_integer(app->priority));
    set(o, "allocationState", json_string(state_name(v->end)));
    if (last->level == RM_ACTIVITY_APP)
        set(o, "diagnostic", diagnostic(last, false));
    set_children(o, requests);
    return o;
}

json_t *rm_json_app_visit(const struct rm_app *app, const struct rm_visit *v,
                          const struct rm_activities_filter *f)
{
    struct requests r = requests_begin();
    json_t *list, *o;

    add_rows(&r, v, f);
    list = requests_end(&r);
    if ((f->n_priorities > 0 || f->n_ids > 0) && json_array_size(list) == 0) {
        json_decref(list);
        return NULL;
    }
    o = app_visit(app, v, list);
    set(o, "nodeId", node_name(&v->node));
    return o;
}

/* True if a later visit within the list has the same node: its rows replace these. */
static bool is_replaced(const struct rm_visit *v)
{
    for (const struct rm_visit *later = v->next; later; later = later->next)
        if (later->node.port == v->node.port && strcmp(later->node.host, v->node.host) == 0)
            return true;
    return false;
}

json_t *rm_json_app_summary(const struct rm_app *app, const struct rm_visit *oldest,
                            const struct rm_activities_filter *f, int64_t within_ms)
{
    const struct rm_visit *last = oldest, *v;
    struct requests r = requests_begin();

    while (last->next)
        last = last->next;
    for (v = oldest; v; v = v->next)
        if (last->at_ms - v->at_ms <= within_ms && !is_replaced(v))
            add_rows(&r, v, f);
    return app_visit(app, last, requests_end(&r));
}
