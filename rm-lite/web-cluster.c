/* See web-cluster.h. Called by web.c. Hostile: paths and queries. */
#include "rm-lite/web-cluster.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/json-text.h"
#include "common/str.h"
#include "rm-lite/access.h"
#include "rm-lite/app-lifetime.h"
#include "rm-lite/queue-access.h"
#include "rm-lite/rm-app.h"
#include "rm-lite/scheduler.h"
#include "rm-lite/web-body.h"
#include "rm-lite/web-reply.h"

/* ---- /appstatistics ---- */

#define STATES_END (HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__KILLED + 1)

/* A bit a state of "running,KILLED"; all of them without a list. */
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

static int get_statistics(struct rm *rm, const struct sv_http_request *req,
                          struct sv_http_response *ret)
{
    const ProtobufCEnumDescriptor *d = &hadoop__yarn__yarn_application_state_proto__descriptor;
    const char *type = sv_http_query(req, "applicationTypes");
    int64_t counts[STATES_END] = { 0 };
    struct sv_error err = { 0 };
    char shown[32] = "*";
    unsigned states;
    struct rm_app *app;
    json_t *list;

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

static int get_user(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    char user[SV_AUTH_USER_MAX];

    rm_web_caller(rm, req, user);
    return rm_web_tree(ret, 200, "clusterUserInfo",
                       json_pack("{s:o, s:o}", "rmLoginUser", sv_json_text(rm->login_user),
                                 "requestedUser", sv_json_text(user)));
}

/* Of others only administrators may know what they may do. */
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

static int get_access(struct rm *rm, const struct sv_http_request *req, const char *queue,
                      struct sv_http_response *ret)
{
    const char *user = sv_http_query(req, "user"), *kind = sv_http_query(req, "queue-acl-type");
    char asker[SV_AUTH_USER_MAX], why[512] = "";
    bool administers = kind && strcasecmp(kind, "ADMINISTER_QUEUE") == 0, allowed;
    int r;

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
    (void)sv_groups_missed(rm->groups); /* of others, ignoring */
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

/* ---- What is off ---- */

static int get_app_activities(const char *app, struct sv_http_response *ret)
{
    char date[RM_LIFETIME_DATE_MAX];
    int64_t now = sv_wall_ms();

    rm_lifetime_format(now, date);
    return rm_web_json(ret, 200,
                       json_pack("{s:{s:o, s:s, s:I, s:s}}", "appActivities", "applicationId",
                                 sv_json_text(app), "diagnostic",
                                 "the scheduler's decisions are not recorded", "timestamp",
                                 (json_int_t)now, "dateTime", date));
}

/* A text under the type of JSON, as Hadoop's ResourceManager answers here. */
static int scheduler_conf(struct sv_http_response *ret)
{
    ret->body = strdup("This API only supports to retrieve scheduler configuration from a "
                       "mutable-conf scheduler, underneath scheduler CapacityScheduler is not an "
                       "instance of MutableConfScheduler");
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    ret->content_type = "application/json;charset=utf-8";
    ret->status = 400;
    return 0;
}

static int off(const char *path, struct sv_http_response *ret)
{
    if (strcmp(path, "/scheduler/activities") == 0)
        return rm_web_json(ret, 200,
                           json_pack("{s:{s:s}}", "activities", "diagnostic",
                                     "the scheduler's decisions are not recorded"));
    if (sv_has_prefix(path, "/scheduler/app-activities/"))
        return get_app_activities(path + strlen("/scheduler/app-activities/"), ret);
    if (strcmp(path, "/scheduler-conf") == 0)
        return scheduler_conf(ret);
    if (strcmp(path, "/get-node-labels") == 0)
        return rm_web_tree(ret, 200, "nodeLabelsInfo", json_object());
    if (strcmp(path, "/get-node-to-labels") == 0)
        return rm_web_tree(ret, 200, "nodeToLabelsInfo", json_pack("{s:n}", "nodeToLabels"));
    if (strcmp(path, "/label-mappings") == 0)
        return rm_web_tree(ret, 200, "labelsToNodesInfo", json_object());
    if (strcmp(path, "/reservation/list") == 0)
        return rm_web_bad_request(ret, "Reservations are not supported by selvedge-rm");
    return rm_web_not_found(ret, "no such resource");
}

bool rm_web_cluster(struct rm *rm, const struct sv_http_request *req, const char *path,
                    struct sv_http_response *ret, int *ret_result)
{
    char queue[256];
    size_t n;

    if (strcmp(path, "/appstatistics") == 0) {
        *ret_result = get_statistics(rm, req, ret);
        return true;
    }
    if (strcmp(path, "/userinfo") == 0) {
        *ret_result = get_user(rm, req, ret);
        return true;
    }
    if (sv_has_prefix(path, "/queues/")) {
        path += strlen("/queues/");
        n = strcspn(path, "/");
        if (n >= sizeof(queue) || strcmp(path + n, "/access") != 0)
            return false;
        memcpy(queue, path, n);
        queue[n] = 0;
        *ret_result = get_access(rm, req, queue, ret);
        return true;
    }
    *ret_result = off(path, ret);
    return ret->status != 404;
}
