/* See web-cluster.h. Hostile: paths and queries. */
#include "rm-lite/web/rest/web-cluster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "federation/store/member-epoch.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/security/access.h"
#include "rm-lite/security/queue-access.h"
#include "rm-lite/web/rest/web-body.h"
#include "rm-lite/web/rest/web-json.h"
#include "rm-lite/web/rest/web-list.h"
#include "rm-lite/web/rest/web-query.h"
#include "rm-lite/web/rest/web-reply.h"
#include "rm-lite/web/rest/web-scheduler.h"
#include "rm-lite/web/rest/web-usage.h"

#define QUEUE_MAX 255

/* ---- /info, /metrics, /scheduler ---- */

static int tree(struct sv_http_response *ret, const char *key, json_t *value)
{
    return rm_web_json(ret, 200, value ? json_pack("{s:o}", key, value) : NULL);
}

#define ON(name)                                                                                   \
    int rm_web_##name(struct rm *rm, const struct sv_http_request *req, const char *rest,          \
                      struct sv_http_response *ret)

ON(info)
{
    (void)req;
    (void)rest;
    return tree(ret, "clusterInfo", rm_json_info(rm));
}

ON(cluster_metrics)
{
    (void)req;
    (void)rest;
    return tree(ret, "clusterMetrics", rm_json_metrics(rm));
}

/* Other members look for an equal epoch there. */
char *rm_web_figures(struct rm *rm)
{
    json_t *metrics = rm_json_metrics(rm), *j = json_pack("{s:O}", "clusterMetrics", metrics);
    bool complete =
        json_object_set_new(metrics, FED_EPOCH_FIELD, json_integer(rm->epoch)) == 0 && j;
    char *text = complete ? json_dumps(j, JSON_COMPACT) : NULL;

    json_decref(metrics);

    json_decref(j);
    return text;
}

ON(scheduler)
{
    (void)req;
    (void)rest;
    return tree(ret, "scheduler", rm_json_scheduler(rm, ret->xml));
}

/* The values that Hadoop's pages show above their queues. The loop has no event queues to count. */
ON(overview)
{
    (void)req;
    (void)rest;
    return rm_web_tree(
        ret, 200, "schedulerOverviewInfo",
        json_pack("{s:s, s:s, s:o, s:o, s:i, s:i, s:i, s:i}", "schedulerType", "Capacity Scheduler",
                  "schedulingResourceType", "[memory-mb (unit=Mi), vcores]", "minimumAllocation",
                  rm_json_resource(rm_sched_min_allocation(rm->sched)), "maximumAllocation",
                  rm_json_resource(rm_sched_max_allocation(rm->sched, NULL)), "applicationPriority",
                  (int)rm->conf.max_priority, "schedulerBusy", -1, "rmDispatcherEventQueueSize", 0,
                  "schedulerDispatcherEventQueueSize", 0));
}

/* ---- /nodes ---- */

static json_t *node_entry(struct rm *rm, const struct rm_list_item *item)
{
    struct rm_node *n = rm_node_find_key(rm, item->node);

    n = n ?: rm_node_find_inactive(rm, item->node);
    return n ? rm_json_node(n) : NULL;
}

struct wanted_nodes {
    uint32_t states; /* a bit for each NodeStateProto */
};

static bool gather_nodes(struct rm *rm, const void *wanted, struct rm_list_items *ret)
{
    struct rm_node *tables[] = { rm->nodes, rm->inactive_nodes };

    (void)wanted;
    if (!rm_list_items_new(ret, HASH_COUNT(rm->nodes) + HASH_COUNT(rm->inactive_nodes)))
        return false;
    for (size_t t = 0; t < SV_ARRAY_LEN(tables); t++)
        for (struct rm_node *node = tables[t]; node; node = node->hh.next) {
            ret->items[ret->n].node = strdup(node->key);
            ret->n += ret->items[ret->n].node != NULL; /* no memory: it is missing, ignoring */
        }
    return true;
}

static bool takes_node(struct rm *rm, const void *wanted, struct rm_list_item *item)
{
    const struct rm_node *n = rm_node_find_key(rm, item->node);
    const struct wanted_nodes *w = wanted;

    n = n ?: rm_node_find_inactive(rm, item->node);
    return n && (w->states >> rm_node_wire_state(n)) & 1;
}

ON(nodes)
{
    static const struct rm_list_kind kind = { .outer = "nodes",
                                              .inner = "node",
                                              .gather = gather_nodes,
                                              .takes = takes_node,
                                              .entry = node_entry,
                                              .free_wanted = free };
    struct rm_list list = { .kind = &kind,
                            .most = HASH_COUNT(rm->nodes) + HASH_COUNT(rm->inactive_nodes),
                            .limit = INT64_MAX };
    struct sv_error err = { 0 };
    struct wanted_nodes *w;
    uint32_t states;

    (void)rest;
    if (rm_query_nodes(req, &states, &err) < 0)
        return rm_web_illegal_argument(ret, "%s", err.text);
    list.wanted = w = calloc(1, sizeof(*w));
    if (!w)
        return -ENOMEM;
    w->states = states;
    return rm_web_list(rm, req, ret, &list);
}

ON(node)
{
    struct rm_node *n = rm_node_find_key(rm, rest);

    (void)req;
    n = n ?: rm_node_find_inactive(rm, rest);
    return n ? tree(ret, "node", rm_json_node(n))
             : rm_web_not_found(ret, "nodeId, %.300s, is not found", rest);
}

/* ---- /appstatistics ---- */

#define STATES_END (HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__KILLED + 1)

/* A bit per state of "running,KILLED"; all states without a list. */
static int parse_states(const char *list, unsigned *ret, struct sv_error *err)
{
    const ProtobufCEnumDescriptor *d = &hadoop__yarn__yarn_application_state_proto__descriptor;
    unsigned states = 0;

    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ","), i;

        for (i = 0; i < d->n_values; i++)
            if (strlen(d->values[i].name) == n && strncasecmp(d->values[i].name, p, n) == 0)
                break;
        if (n && i == d->n_values)
            return sv_error_set(err, -EINVAL, "Invalid application-state %.*s specified",
                                (int)SV_MIN(n, (size_t)100), p);
        if (n)
            states |= 1u << d->values[i].value;
        p += n + (p[n] == ',');
    }
    *ret = states ? states : ~0u;
    return 0;
}

ON(statistics)
{
    const ProtobufCEnumDescriptor *d = &hadoop__yarn__yarn_application_state_proto__descriptor;
    const char *type = sv_http_query(req, "applicationTypes");
    int64_t counts[STATES_END] = { 0 };
    struct sv_error err = { 0 };
    char shown[32] = "*";
    unsigned states;
    struct rm_app *app;
    json_t *list;

    (void)rest;
    if (parse_states(sv_http_query(req, "states"), &states, &err) < 0)
        return rm_web_bad_request(ret, "%s", err.text);
    if (type && strchr(type, ','))
        return rm_web_bad_request(ret, "applicationTypes: at most one type is counted");
    if (type && *type)
        (void)snprintf(shown, sizeof(shown), "%s", type);
    for (char *p = shown; *p; p++)
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
    DL_FOREACH (rm->app_list, app)
        if (!type || !*type || strcasecmp(type, app->type) == 0)
            counts[rm_app_wire_state(app)]++;
    list = json_array();
    for (size_t i = 0; i < d->n_values; i++)
        if (states & (1u << d->values[i].value))
            (void)json_array_append_new(
                list, json_pack("{s:s, s:o, s:I}", "state", d->values[i].name, "type",
                                sv_json_text(shown), "count",
                                (json_int_t)counts[d->values[i].value])); /* or missing, ignoring */
    return rm_web_json(ret, 200, json_pack("{s:{s:o}}", "appStatInfo", "statItem", list));
}

/* ---- /userinfo, /queues/{queue}/access ---- */

/* The account that this ResourceManager is to others: with Kerberos by its principal. */
static const char *own_account(const struct rm *rm, char buf[SV_LOCAL_NAME_MAX + 1])
{
    const struct sgss_conf *own = &rm->conf.kerberos.own;
    struct sv_error err = { 0 };

    if (!own->on ||
        sv_auth_to_local(own->rules, own->principal, strlen(own->principal), buf, &err) < 0)
        return rm->login_user;
    return buf;
}

ON(userinfo)
{
    char user[SV_AUTH_USER_MAX], own[SV_LOCAL_NAME_MAX + 1];

    (void)rest;
    rm_web_caller(rm, req, user);
    return rm_web_tree(ret, 200, "clusterUserInfo",
                       json_pack("{s:o, s:o}", "rmLoginUser", sv_json_text(own_account(rm, own)),
                                 "requestedUser", sv_json_text(user)));
}

/* Only administrators may query the access of others. */
static int may_ask(struct rm *rm, const char *asker, const char *user)
{
    return sv_streq(asker, user) ? 1 : rm_may_administer(rm, asker);
}

static bool has_access(struct rm *rm, const char *queue, const char *user, bool administers)
{
    struct rm_queue_info info;
    struct yarn_app_id none = { 0 };

    if (rm_sched_queue(rm->sched, queue, &info) < 0)
        return false;
    if (!rm->conf.acl_enable)
        return true;
    return administers ? rm_queue_administers(rm, queue, user)
                       : rm_queue_may_submit(rm, queue, user, none, NULL) >= 0;
}

ON(access)
{
    char queue[QUEUE_MAX + 1];
    const char *user = sv_http_query(req, "user"), *kind = sv_http_query(req, "queue-acl-type");
    char asker[SV_AUTH_USER_MAX], why[512] = "";
    bool administers = kind && strcasecmp(kind, "ADMINISTER_QUEUE") == 0, allowed;
    int r;

    if (snprintf(queue, sizeof(queue), "%.*s", (int)strcspn(rest, "/"), rest) >= (int)sizeof(queue))
        return rm_web_bad_request(ret, "queue: longer than %d characters", QUEUE_MAX);
    if (!user || !*user)
        return rm_web_bad_request(ret, "user: missing");
    if (!kind || !*kind)
        kind = "SUBMIT_APPLICATIONS";
    if (!administers && strcasecmp(kind, "SUBMIT_APPLICATIONS") != 0)
        return rm_web_bad_request(ret,
                                  "queue-acl-type: %.100s is not SUBMIT_APPLICATIONS or "
                                  "ADMINISTER_QUEUE",
                                  kind);
    rm_web_caller(rm, req, asker);
    r = may_ask(rm, asker, user);
    if (r < 0)
        return r;
    if (r == 0)
        return rm_web_error(ret, 403, "ForbiddenException",
                            "User=%.100s doesn't haven access to queue=%.200s so it cannot check "
                            "ACLs for other users.",
                            asker, queue);
    (void)sv_groups_missed(rm->groups); /* missed by others, ignoring */
    allowed = has_access(rm, queue, user, administers);
    if (!allowed && sv_groups_missed(rm->groups))
        return -EAGAIN;
    if (!allowed)
        (void)snprintf(why, sizeof(why),
                       "User=%.100s doesn't have access to queue=%.200s with acl-type=%s", user,
                       queue, administers ? "ADMINISTER_QUEUE" : "SUBMIT_APPLICATIONS");
    return rm_web_tree(ret, 200, "queueAclInfo",
                       json_pack("{s:s, s:o, s:o}", "allowed", allowed ? "true" : "false", "user",
                                 sv_json_text(user), "diagnostics", sv_json_text(why)));
}
