/* See web-control.h. With yarn.acl.enable a change needs a caller who may modify the application.
 * Hostile: the request. */
#include "rm-lite/web/rest/web-control.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/requests/app-control.h"
#include "rm-lite/requests/viewer.h"
#include "rm-lite/security/access.h"
#include "rm-lite/web/rest/web-body.h"
#include "rm-lite/web/rest/web-reply.h"

#define LIFETIME "LIFETIME"

struct change {
    const struct sv_http_request *req;
    struct rm_app *app;
    const json_t *body;
    char user[SV_AUTH_USER_MAX];
};

/* ---- State ---- */

/* The state of RMAppImpl, which has more of them than the state in reports. */
static const char *state_name(const struct rm_app *app)
{
    return rm_app_fsm.state_names[app->state];
}

static int get_state(struct rm_app *app, struct sv_http_response *ret)
{
    return rm_web_tree(ret, 200, "appstate", json_pack("{s:s}", "state", state_name(app)));
}

/* The end is posted: KILLING in most cases. An application that nothing keeps may be gone. */
static int killed(const struct rm_app *app, unsigned status, struct sv_http_response *ret)
{
    return rm_web_tree(ret, status, "appstate",
                       json_pack("{s:s}", "state", app ? state_name(app) : "KILLED"));
}

static int put_state(const struct change *c, struct sv_http_response *ret)
{
    const struct rm_caller by = { .user = c->user, .target = "RMWebService" };
    const char *state = NULL, *diagnostics = NULL;
    const struct rm *rm = c->app->rm;
    struct yarn_app_id id = c->app->id;
    char text[YARN_ID_TEXT_MAX];
    struct sv_error err = { 0 };
    int r;

    if (rm_body_text(c->body, "state", &state, &err) < 0 ||
        rm_body_text(c->body, "diagnostics", &diagnostics, &err) < 0)
        return rm_web_bad_request(ret, "%s", err.text);
    if (sv_streq(state, state_name(c->app)))
        return get_state(c->app, ret);
    if (!sv_streq(state, "KILLED"))
        return rm_web_bad_request(ret, "Only 'KILLED' is allowed as a target state.");
    r = rm_control_kill(c->app, &by, diagnostics);
    if (r < 0)
        return r;
    if (r > 0)
        return killed(rm_app_find(rm, id), 200, ret);
    r = rm_web_location(c->app->rm, ret, c->req, yarn_app_id_text(id, text), "/state");
    return r < 0 ? r : killed(rm_app_find(rm, id), 202, ret);
}

/* ---- Queue ---- */

static int get_queue(struct rm_app *app, struct sv_http_response *ret)
{
    return rm_web_tree(ret, 200, "appqueue", json_pack("{s:s}", "queue", app->queue));
}

static int put_queue(const struct change *c, struct sv_http_response *ret)
{
    const struct rm_caller by = { .user = c->user, .target = "RMWebService" };
    struct sv_error err = { 0 };
    const char *queue = NULL;
    int r = rm_body_text(c->body, "queue", &queue, &err);

    if (r == 0)
        r = sv_error_set(&err, -EINVAL, "queue: missing");
    if (r > 0)
        r = rm_control_move(c->app, &by, queue, &err);
    return r < 0 ? rm_web_bad_request(ret, "%s", err.text) : get_queue(c->app, ret);
}

/* ---- Priority ---- */

static int get_priority(struct rm_app *app, struct sv_http_response *ret)
{
    return rm_web_tree(ret, 200, "applicationpriority",
                       json_pack("{s:i}", "priority", app->priority));
}

static int put_priority(const struct change *c, struct sv_http_response *ret)
{
    struct sv_error err = { 0 };
    int64_t priority;
    int r = rm_body_int(c->body, "priority", 0, INT32_MAX, &priority, &err);

    if (r == 0)
        r = sv_error_set(&err, -EINVAL, "priority: missing");
    if (r < 0)
        return rm_web_bad_request(ret, "%s", err.text);
    (void)rm_control_priority(c->app, (int32_t)priority); /* the answer has it, ignoring */
    return get_priority(c->app, ret);
}

/* ---- Timeouts ---- */

static json_t *timeout_json(const struct rm_app *app)
{
    char date[RM_LIFETIME_DATE_MAX];
    int64_t left_s;

    rm_lifetime_report(app, date, &left_s);
    return json_pack("{s:s, s:s, s:I}", "type", LIFETIME, "expiryTime", date,
                     "remainingTimeInSeconds", (json_int_t)left_s);
}

static int get_timeouts(struct rm_app *app, struct sv_http_response *ret)
{
    return rm_web_json(ret, 200,
                       json_pack("{s:{s:[o]}}", "timeouts", "timeout", timeout_json(app)));
}

static int get_timeout(struct rm_app *app, const char *type, struct sv_http_response *ret)
{
    if (strcasecmp(type, LIFETIME) != 0)
        return rm_web_bad_request(ret, "%.100s: the only type of timeout is " LIFETIME, type);
    return rm_web_json(ret, 200, json_pack("{s:o}", "timeout", timeout_json(app)));
}

static int put_timeout(const struct change *c, struct sv_http_response *ret)
{
    const char *type = NULL, *date = NULL, *class;
    json_t *t = (json_t *)(uintptr_t)c->body; /* only read */
    struct sv_error err = { 0 };

    if (rm_body_object(c->body, "timeout", &t, &err) < 0 ||
        rm_body_text(t, "type", &type, &err) < 0 || rm_body_text(t, "expiryTime", &date, &err) < 0)
        return rm_web_bad_request(ret, "%s", err.text);
    if (!type || strcasecmp(type, LIFETIME) != 0 || !date)
        return rm_web_bad_request(ret, "timeout: needs the type " LIFETIME " and an expiryTime");
    if (rm_control_lifetime(c->app, date, &class, &err) < 0)
        return rm_web_bad_request(ret, "%s", err.text);
    return get_timeout(c->app, LIFETIME, ret);
}

/* ---- Paths ---- */

struct path {
    const char *rest, *root, *operation; /* root: document element in XML */
    int (*get)(struct rm_app *app, struct sv_http_response *ret);
    int (*put)(const struct change *c, struct sv_http_response *ret);
    bool hidden; /* from users who may not view the application */
};

static const struct path paths[] = {
    { "/state", "appstate", "Kill Application Request", get_state, put_state, false },
    { "/queue", "appqueue", "Move Application Request", get_queue, put_queue, false },
    { "/priority", "applicationpriority", "Update Application Priority", get_priority, put_priority,
      false },
    { "/timeouts", NULL, NULL, get_timeouts, NULL, true },
    { "/timeout", "timeout", "Update Application Timeouts", NULL, put_timeout, false },
};

static int forbidden(const struct change *c, const char *operation, struct sv_http_response *ret)
{
    rm_audit_fail(&(struct rm_audit){ .user = *c->user ? c->user : "nobody",
                                      .operation = operation,
                                      .target = "RMWebService",
                                      .permissions = "User doesn't have permissions to MODIFY_APP",
                                      .description = "Unauthorized user",
                                      .app = c->app->id_str });
    return rm_web_error(ret, 403, "ForbiddenException",
                        "User [%s] may not change %s: with yarn.acl.enable only the owner, its "
                        "MODIFY_APP list and administrators may",
                        c->user, c->app->id_str);
}

static int put(struct rm *rm, struct rm_app *app, const struct path *p,
               const struct sv_http_request *req, struct sv_http_response *ret)
{
    struct change c = { .req = req, .app = app };
    json_t *body;
    int r;

    rm_web_caller(rm, req, c.user);
    r = rm_may_modify(rm, app, c.user);
    if (r <= 0)
        return r < 0 ? r : forbidden(&c, p->operation, ret);
    body = rm_web_body(req, p->root, ret);
    if (!body)
        return 0;
    c.body = body;
    r = p->put(&c, ret);
    json_decref(body);
    return r;
}

/* -EAGAIN: the viewer's groups are not yet known. */
static int may_view(struct rm *rm, struct rm_app *app, const struct sv_http_request *req,
                    struct sv_http_response *ret)
{
    struct rm_viewer who;
    bool sees;

    rm_viewer_of_request(rm, req, &who);
    sees = rm_viewer_sees(&who, app);
    if (sees)
        return 1;
    return rm_viewer_waits(&who) ? -EAGAIN : rm_web_hidden(who.user, app->id_str, ret);
}

static int not_allowed(struct sv_http_response *ret)
{
    ret->status = 405;
    return 0;
}

static int one(struct rm *rm, struct rm_app *app, const struct path *p,
               const struct sv_http_request *req, struct sv_http_response *ret)
{
    int r = 1;

    if (strcmp(req->method, "PUT") == 0)
        return p->put ? put(rm, app, p, req, ret) : not_allowed(ret);
    if (!p->get || strcmp(req->method, "POST") == 0)
        return not_allowed(ret);
    if (p->hidden)
        r = may_view(rm, app, req, ret);
    return r > 0 ? p->get(app, ret) : r;
}

bool rm_web_control(struct rm *rm, struct rm_app *app, const struct sv_http_request *req,
                    const char *rest, struct sv_http_response *ret, int *ret_result)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(paths); i++)
        if (strcmp(rest, paths[i].rest) == 0) {
            *ret_result = one(rm, app, &paths[i], req, ret);
            return true;
        }
    if (sv_has_prefix(rest, "/timeouts/") && strcmp(req->method, "PUT") != 0) {
        int r = may_view(rm, app, req, ret);

        *ret_result = r > 0 ? get_timeout(app, rest + strlen("/timeouts/"), ret) : r;
        return true;
    }
    return false;
}
