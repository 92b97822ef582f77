/* See web-rest.h. A row of a feature that is off answers as Hadoop's ResourceManager without the
 * feature. */
#include "rm-lite/web/rest/web-rest.h"

#include <string.h>

#include "common/str.h"
#include "common/web/rest-path.h"
#include "rm-lite/web/rest/web-activities.h"
#include "rm-lite/web/rest/web-admin.h"
#include "rm-lite/web/rest/web-apps.h"
#include "rm-lite/web/rest/web-body.h"
#include "rm-lite/web/rest/web-cluster.h"
#include "rm-lite/web/rest/web-delegation.h"
#include "rm-lite/web/rest/web-off.h"
#include "rm-lite/web/rest/web-reply.h"
#include "rm-lite/web/rest/web-submit.h"

#define BASE "/ws/v1/cluster"

struct row {
    const char *method, *path; /* below BASE; {name} stands for any text without a slash */
    /* `rest`: the path from its first {name} on, or "" */
    int (*answer)(struct rm *rm, const struct sv_http_request *req, const char *rest,
                  struct sv_http_response *ret);
    const char *off; /* reason why the feature is off; NULL: as in Hadoop */
    bool refused;    /* off: an error, else an empty answer */
};

#define NO_CONFIGURATION "queues are read from capacity-scheduler.xml alone"
#define NO_LABELS "node labels are not supported"
#define NO_RESERVATIONS "reservations are not supported"

/* The first match counts: put names before {name}. */
static const struct row rows[] = {
    { "GET", "/", rm_web_info, NULL },
    { "GET", "/info", rm_web_info, NULL },
    { "GET", "/userinfo", rm_web_userinfo, NULL },
    { "GET", "/metrics", rm_web_cluster_metrics, NULL },
    { "GET", "/scheduler", rm_web_scheduler, NULL },
    { "POST", "/scheduler/logs", rm_off_scheduler_logs, "the log is the journal's", true },
    { "GET", "/scheduler/activities", rm_web_activities, NULL },
    { "GET", "/scheduler/bulk-activities", rm_web_bulk_activities, NULL },
    { "GET", "/scheduler/app-activities/{appid}", rm_web_app_activities, NULL },
    { "GET", "/scheduler-overview", rm_web_overview, NULL },
    { "GET", "/scheduler-conf", rm_off_read_conf, NO_CONFIGURATION, true },
    { "PUT", "/scheduler-conf", rm_off_change_conf, NO_CONFIGURATION, true },
    { "GET", "/scheduler-conf/format", rm_off_read_conf, NO_CONFIGURATION, true },
    { "GET", "/scheduler-conf/version", rm_off_read_conf, NO_CONFIGURATION, true },
    { "POST", "/scheduler-conf/validate", rm_off_change_conf, NO_CONFIGURATION, true },
    { "GET", "/nodes", rm_web_nodes, NULL },
    { "GET", "/nodes/{nodeId}", rm_web_node, NULL },
    { "POST", "/nodes/{nodeId}/resource", rm_web_node_resource, NULL },
    { "GET", "/nodes/{nodeId}/get-labels", rm_off_labels, NO_LABELS },
    { "POST", "/nodes/{nodeId}/replace-labels", rm_off_change_labels, NO_LABELS, true },
    { "GET", "/get-node-labels", rm_off_labels, NO_LABELS },
    { "GET", "/get-rm-node-labels", rm_off_all_labels, NO_LABELS },
    { "GET", "/get-node-to-labels", rm_off_nodes_to_labels, NO_LABELS },
    { "GET", "/label-mappings", rm_off_labels_to_nodes, NO_LABELS },
    { "POST", "/add-node-labels", rm_off_change_labels, NO_LABELS, true },
    { "POST", "/remove-node-labels", rm_off_change_labels, NO_LABELS, true },
    { "POST", "/replace-node-to-labels", rm_off_change_labels, NO_LABELS, true },
    { "GET", "/apps", rm_web_apps, NULL },
    { "POST", "/apps", rm_web_submit, NULL },
    { "POST", "/apps/new-application", rm_web_new_application, NULL },
    { "GET", "/apps/{appid}", rm_web_app, NULL },
    { "GET", "/apps/{appid}/state", rm_web_app, NULL },
    { "PUT", "/apps/{appid}/state", rm_web_app, NULL },
    { "GET", "/apps/{appid}/queue", rm_web_app, NULL },
    { "PUT", "/apps/{appid}/queue", rm_web_app, NULL },
    { "GET", "/apps/{appid}/priority", rm_web_app, NULL },
    { "PUT", "/apps/{appid}/priority", rm_web_app, NULL },
    { "GET", "/apps/{appid}/timeouts", rm_web_app, NULL },
    { "GET", "/apps/{appid}/timeouts/{type}", rm_web_app, NULL },
    { "PUT", "/apps/{appid}/timeout", rm_web_app, NULL },
    { "GET", "/apps/{appid}/appattempts", rm_web_app, NULL },
    { "GET", "/apps/{appid}/appattempts/{appattemptid}", rm_web_app, NULL },
    { "GET", "/apps/{appid}/appattempts/{appattemptid}/containers", rm_web_app, NULL },
    { "GET", "/apps/{appid}/appattempts/{appattemptid}/containers/{containerid}", rm_web_app,
      NULL },
    { "GET", "/appstatistics", rm_web_statistics, NULL },
    { "POST", "/containers/{containerid}/signal/{command}", rm_web_signal, NULL },
    { "GET", "/queues/{queue}/access", rm_web_access, NULL },
    { "POST", "/delegation-token", rm_web_token_issue, NULL },
    { "DELETE", "/delegation-token", rm_web_token_cancel, NULL },
    { "POST", "/delegation-token/expiration", rm_web_token_renew, NULL },
    { "POST", "/reservation/new-reservation", rm_off_reservation, NO_RESERVATIONS, true },
    { "POST", "/reservation/submit", rm_off_reservation, NO_RESERVATIONS, true },
    { "POST", "/reservation/update", rm_off_reservation, NO_RESERVATIONS, true },
    { "POST", "/reservation/delete", rm_off_reservation, NO_RESERVATIONS, true },
    { "GET", "/reservation/list", rm_off_reservation, NO_RESERVATIONS, true },
};

bool rm_rest_takes(const struct sv_http_request *req)
{
    return sv_has_prefix(req->path, BASE) && strchr("/", req->path[strlen(BASE)]);
}

static int changes_are_off(const struct rm *rm, struct sv_http_response *ret)
{
    if (rm->conf.kerberos.own.on && sv_streq(rm->conf.auth.auth_type, "simple"))
        return rm_web_error(ret, 403, "ForbiddenException",
                            "The default static user cannot carry out this operation: callers of "
                            "this web server prove nothing (hadoop.http.authentication.type is "
                            "simple, and Kerberos protects the rest)");
    return rm_web_error(
        ret, 403, "ForbiddenException",
        "PUT, POST and DELETE are off on this ResourceManager: selvedge.rm.webapp.put.enabled is "
        "false, with yarn.acl.enable by default; use `selvedge kill` or `yarn application -kill`");
}

/* In a secure cluster, as Hadoop, which looks at it first. 1: may go on; otherwise answered. */
static int may_change(struct rm *rm, const struct sv_http_request *req,
                      struct sv_http_response *ret)
{
    char user[SV_AUTH_USER_MAX];

    if (!rm->conf.web_put)
        return changes_are_off(rm, ret);
    if (!rm->conf.kerberos.own.on)
        return 1;
    rm_web_caller(rm, req, user);
    if (!*user)
        return rm_web_error(ret, 403, "ForbiddenException",
                            "Unable to obtain user name, user not authenticated");
    if (sv_streq(req->caller ? req->caller->full : user, rm->conf.static_user))
        return rm_web_error(ret, 403, "ForbiddenException",
                            "The default static user cannot carry out this operation.");
    return 1;
}

int rm_rest(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    bool head = strcmp(req->method, "HEAD") == 0;
    const char *method = head ? "GET" : req->method;
    const char *path = req->path + strlen(BASE), *rest, *known = NULL;
    int may;

    path = *path ? path : "/";
    for (const struct row *r = rows; r < rows + SV_ARRAY_LEN(rows); r++) {
        if (known ? strcmp(r->path, known) != 0 : !sv_rest_matches(r->path, path, &rest))
            continue;
        known = r->path;
        if (strcmp(method, r->method) != 0)
            continue;
        may = strcmp(method, "GET") == 0 ? 1 : may_change(rm, req, ret);
        return may > 0 ? r->answer(rm, req, rest, ret) : may;
    }
    if (!known)
        return rm_web_not_found(ret, "no such resource");
    ret->status = 405;
    return 0;
}

void rm_rest_print(FILE *out)
{
    for (const struct row *r = rows; r < rows + SV_ARRAY_LEN(rows); r++)
        fprintf(out, "REST\t%s %s\t%s\t%s\n", r->method, r->path,
                !r->off      ? "honoured"
                : r->refused ? "refused"
                             : "ignored",
                r->off ?: "");
}
