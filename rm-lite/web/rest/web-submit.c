/* See web-submit.h. Hostile: the request; its user is a claim. */
#include "rm-lite/web/rest/web-submit.h"

#include <errno.h>
#include <string.h>

#include "common/arena.h"
#include "common/str.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/requests/rm-app-manager.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/security/queue-access.h"
#include "rm-lite/web/rest/submission-json.h"
#include "rm-lite/web/rest/web-body.h"
#include "rm-lite/web/rest/web-reply.h"
#include "rm-lite/web/rest/web-usage.h"

static int new_application(struct rm *rm, const char *user, struct sv_http_response *ret)
{
    struct yarn_app_id id = { .cluster_ts = rm->started_ms, .id = rm->last_app + 1 };
    char text[YARN_ID_TEXT_MAX];
    int r;

    rm_queue_access_prepare(rm, user);
    r = rm_web_tree(ret, 200, "NewApplication",
                    json_pack("{s:s, s:o}", "application-id", yarn_app_id_text(id, text),
                              "maximum-resource-capability",
                              rm_json_resource(rm_sched_max_allocation(rm->sched, NULL))));
    if (r >= 0)
        rm->last_app++;
    return r;
}

/* 403 for lack of access, 400 for other errors. -EAGAIN: the user's groups are being looked up. */
static int refused(struct rm *rm, const struct rm_audit *audit, int r, const char *why,
                   struct sv_http_response *ret)
{
    if (r == -EACCES && sv_groups_missed(rm->groups))
        return -EAGAIN;
    rm_audit_fail(audit);
    return r == -EACCES ? rm_web_error(ret, 403, "ForbiddenException", "%s", why)
                        : rm_web_bad_request(ret, "%s", why);
}

static int submit(struct rm *rm, const struct sv_http_request *req, const char *user,
                  const json_t *body, struct sv_http_response *ret)
{
    SV_DISPATCH_BATCH(rm->dispatcher);
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationSubmissionContextProto *ctx = NULL;
    struct rm_audit audit = { .user = user,
                              .operation = "Submit Application Request",
                              .target = "RMWebService" };
    const char *class;
    struct sv_error err = { 0 };
    char text[YARN_ID_TEXT_MAX];
    struct yarn_app_id id;
    int r;

    if (!a)
        return -ENOMEM;
    (void)sv_groups_missed(rm->groups); /* missed by others, ignoring */
    r = rm_submission_from_json(body, a, &ctx, &err);
    if (r >= 0)
        r = rm_app_submit(rm, ctx, user, &class, &err);
    if (r == -ENOMEM)
        return r;
    audit.queue = ctx ? ctx->queue : NULL;
    audit.description = err.text;
    if (ctx && yarn_app_id_from(ctx->application_id, &id) >= 0)
        audit.app = yarn_app_id_text(id, text);
    if (r < 0)
        return refused(rm, &audit, r, err.text, ret);
    audit.description = NULL;
    rm_audit_ok(&audit);
    ret->status = 202;
    return rm_web_location(rm, ret, req, audit.app, "");
}

/* False after it was answered. */
static bool admitted(struct rm *rm, const struct sv_http_request *req, char user[SV_AUTH_USER_MAX],
                     struct sv_http_response *ret, int *ret_result)
{
    if (!rm->conf.rest_submissions) {
        *ret_result = rm_web_error(ret, 403, "ForbiddenException",
                                   "App submission via REST is disabled: "
                                   "yarn.webapp.enable-rest-app-submissions is false");
        return false;
    }
    rm_web_caller(rm, req, user);
    if (!*user)
        *ret_result = rm_web_error(ret, 403, "ForbiddenException",
                                   "Unable to obtain user name, user not authenticated");
    return *user;
}

int rm_web_new_application(struct rm *rm, const struct sv_http_request *req, const char *rest,
                           struct sv_http_response *ret)
{
    char user[SV_AUTH_USER_MAX];
    int r;

    (void)rest;
    return admitted(rm, req, user, ret, &r) ? new_application(rm, user, ret) : r;
}

int rm_web_submit(struct rm *rm, const struct sv_http_request *req, const char *rest,
                  struct sv_http_response *ret)
{
    char user[SV_AUTH_USER_MAX];
    json_t *body;
    int r;

    (void)rest;
    if (!admitted(rm, req, user, ret, &r))
        return r;
    body = rm_web_body(req, "application-submission-context", ret);
    if (!body)
        return 0;
    r = submit(rm, req, user, body, ret);
    json_decref(body);
    return r;
}
