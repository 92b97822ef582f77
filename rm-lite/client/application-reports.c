/* ApplicationClientProtocol's reports of applications, attempts and containers. Part of
 * client-rm-service.c's table. */
#include "rm-lite/client/application-reports.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "rm-lite/core/ended-containers.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/client-call.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/requests/viewer.h"

void rm_on_getApplicationReport(struct ipc_call *call, const ProtobufCMessage *request,
                                void *userdata)
{
    const Hadoop__Yarn__GetApplicationReportRequestProto *q =
        (const Hadoop__Yarn__GetApplicationReportRequestProto *)request;
    Hadoop__Yarn__GetApplicationReportResponseProto resp =
        HADOOP__YARN__GET_APPLICATION_REPORT_RESPONSE_PROTO__INIT;
    struct rm_app *app = rm_client_app(call, userdata, q->application_id);
    struct rm_viewer who;

    if (!app)
        return;
    rm_viewer_of_call(userdata, call, &who);
    resp.application_report = rm_viewer_report(&who, ipc_call_arena(call), app);
    if (rm_viewer_waits(&who))
        rm_groups_wait(userdata, call, request, rm_on_getApplicationReport);
    else if (resp.application_report)
        ipc_call_reply(call, &resp.base);
    else
        rm_answer_no_memory(call);
}

static bool in_list(char *const *list, size_t n, const char *s)
{
    if (n == 0)
        return true;
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(list[i], s) == 0)
            return true;
    return false;
}

/* Matches the full path or the last part of the queue. */
static bool in_queues(const struct rm_app *app, char *const *queues, size_t n)
{
    const char *last = strrchr(app->queue, '.');

    return in_list(queues, n, app->queue) || (last && in_list(queues, n, last + 1));
}

static bool has_tag(const struct rm_app *app, char *const *tags, size_t n)
{
    if (n == 0)
        return true;
    for (char **t = app->tags; t && *t; t++)
        if (in_list(tags, n, *t))
            return true;
    return false;
}

static bool matches(struct ipc_call *call, const struct rm_app *app,
                    const Hadoop__Yarn__GetApplicationsRequestProto *q)
{
    bool state = q->n_application_states == 0;

    for (size_t i = 0; i < q->n_application_states && !state; i++)
        state = (int)q->application_states[i] == rm_app_wire_state(app);
    return state && in_list(q->application_types, q->n_application_types, app->type) &&
           in_list(q->users, q->n_users, app->user) && in_queues(app, q->queues, q->n_queues) &&
           has_tag(app, q->applicationtags, q->n_applicationtags) &&
           (!q->name || strcmp(q->name, app->name) == 0) &&
           (!q->has_start_begin || app->start_ms >= q->start_begin) &&
           (!q->has_start_end || app->start_ms <= q->start_end) &&
           (!q->has_finish_begin || app->finish_ms >= q->finish_begin) &&
           (!q->has_finish_end || app->finish_ms <= q->finish_end) &&
           (q->scope != HADOOP__YARN__APPLICATIONS_REQUEST_SCOPE_PROTO__OWN ||
            sv_streq(rm_client_user(call), app->user));
}

static int app_entry(struct rm *rm, struct sv_arena *a, const char *user,
                     const struct rm_call_item *item, const ProtobufCMessage **ret)
{
    struct rm_app *app = rm_app_find(rm, item->app);
    Hadoop__Yarn__ApplicationReportProto *m;

    if (!app)
        return 0;
    m = rm_viewer_report_as(user, item->whole, a, app);
    if (!m)
        return -ENOMEM;
    *ret = &m->base;
    return 0;
}

static const struct rm_call_kind call_apps = { app_entry, 1 };
const struct rm_call_kind rm_call_queue_apps = { app_entry, 7 }; /* QueueInfoProto.applications */

void rm_on_getApplications(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    const Hadoop__Yarn__GetApplicationsRequestProto *q =
        (const Hadoop__Yarn__GetApplicationsRequestProto *)request;
    const struct rm_call_request r = { call, request, rm_on_getApplications };
    int64_t limit = q->has_limit && q->limit >= 0 ? q->limit : INT64_MAX;
    _cleanup_(rm_call_items_free) struct rm_call_items list = { 0 };
    struct rm_viewer who;
    struct rm_app *app;

    if (!rm_call_items_new(&list, HASH_COUNT(rm->apps))) {
        rm_answer_no_memory(call);
        return;
    }
    rm_viewer_of_call(rm, call, &who);
    DL_FOREACH (rm->app_list, app) {
        if ((int64_t)list.n >= limit)
            break;
        if (matches(call, app, q))
            list.items[list.n++] =
                (struct rm_call_item){ .app = app->id, .whole = rm_viewer_sees(&who, app) };
    }
    if (rm_viewer_waits(&who))
        rm_groups_wait(rm, call, request, rm_on_getApplications);
    else
        rm_call_list(rm, &r, &call_apps, &list, NULL);
}

/* True if the caller may see the application's attempts and containers; else the call has been
 * answered, or will be handled again. */
static bool admitted(struct ipc_call *call, const ProtobufCMessage *request, struct rm_app *app,
                     ipc_handler handler)
{
    struct rm_viewer who;
    bool sees;

    rm_viewer_of_call(app->rm, call, &who);
    sees = rm_viewer_sees(&who, app);
    if (rm_viewer_waits(&who)) {
        rm_groups_wait(app->rm, call, request, handler);
        return false;
    }
    if (!sees)
        ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                      "User %s does not have privilege to see this application %s",
                      rm_client_user(call), app->id_str);
    return sees;
}

void rm_on_getApplicationAttemptReport(struct ipc_call *call, const ProtobufCMessage *request,
                                       void *userdata)
{
    const Hadoop__Yarn__GetApplicationAttemptReportRequestProto *q =
        (const Hadoop__Yarn__GetApplicationAttemptReportRequestProto *)request;
    Hadoop__Yarn__GetApplicationAttemptReportResponseProto resp =
        HADOOP__YARN__GET_APPLICATION_ATTEMPT_REPORT_RESPONSE_PROTO__INIT;
    struct rm_attempt *att = rm_client_attempt(call, userdata, q->application_attempt_id);

    if (!att || !admitted(call, request, att->app, rm_on_getApplicationAttemptReport))
        return;
    resp.application_attempt_report = rm_attempt_report(ipc_call_arena(call), att);
    if (resp.application_attempt_report)
        ipc_call_reply(call, &resp.base);
    else
        rm_answer_no_memory(call);
}

void rm_on_getApplicationAttempts(struct ipc_call *call, const ProtobufCMessage *request,
                                  void *userdata)
{
    const Hadoop__Yarn__GetApplicationAttemptsRequestProto *q =
        (const Hadoop__Yarn__GetApplicationAttemptsRequestProto *)request;
    Hadoop__Yarn__GetApplicationAttemptsResponseProto resp =
        HADOOP__YARN__GET_APPLICATION_ATTEMPTS_RESPONSE_PROTO__INIT;
    struct rm_app *app = rm_client_app(call, userdata, q->application_id);
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    struct rm_attempt *att;
    size_t n = 0;

    if (!app || !admitted(call, request, app, rm_on_getApplicationAttempts))
        return;
    if (!a) {
        rm_answer_no_memory(call);
        return;
    }
    DL_COUNT(app->attempts, att, n);
    resp.application_attempts = RM_ANSWER_ARRAY(a, Hadoop__Yarn__ApplicationAttemptReportProto, n);
    if (!resp.application_attempts) {
        rm_answer_no_memory(call);
        return;
    }
    DL_FOREACH (app->attempts, att) {
        resp.application_attempts[resp.n_application_attempts] = rm_attempt_report(a, att);
        if (!resp.application_attempts[resp.n_application_attempts++]) {
            rm_answer_no_memory(call);
            return;
        }
    }
    ipc_call_reply(call, &resp.base);
}

void rm_on_getContainerReport(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata)
{
    struct rm *rm = userdata;
    const Hadoop__Yarn__GetContainerReportRequestProto *q =
        (const Hadoop__Yarn__GetContainerReportRequestProto *)request;
    Hadoop__Yarn__GetContainerReportResponseProto resp =
        HADOOP__YARN__GET_CONTAINER_REPORT_RESPONSE_PROTO__INIT;
    struct yarn_container_id id;
    struct rm_attempt *att;
    struct rm_container *c;
    struct rm_app *app;
    char text[YARN_ID_TEXT_MAX];

    if (yarn_container_id_from(q->container_id, &id) < 0) {
        ipc_call_fail(call, JAVA_CONTAINER_NOT_FOUND, "Invalid container id: null");
        return;
    }
    app = rm_client_app(
        call, rm,
        q->container_id->app_attempt_id ? q->container_id->app_attempt_id->application_id : NULL);
    if (!app || !admitted(call, request, app, rm_on_getContainerReport))
        return;
    c = rm_container_find(rm, id);
    att = rm_attempt_find(rm, id.attempt);
    if (!c && att)
        c = rm_ended_find(att, id);
    if (!c) {
        ipc_call_fail(call, JAVA_CONTAINER_NOT_FOUND, "Container with id '%s' doesn't exist in RM.",
                      yarn_container_id_text(id, text));
        return;
    }
    resp.container_report = rm_container_report(ipc_call_arena(call), c);
    if (resp.container_report)
        ipc_call_reply(call, &resp.base);
    else
        rm_answer_no_memory(call);
}

static int container_entry(struct rm *rm, struct sv_arena *a, const char *user,
                           const struct rm_call_item *item, const ProtobufCMessage **ret)
{
    const struct rm_container *c = rm_container_find(rm, item->container);
    const struct rm_attempt *att;
    Hadoop__Yarn__ContainerReportProto *m;

    (void)user;
    if (!c && (att = rm_attempt_find(rm, item->container.attempt)))
        c = rm_ended_find(att, item->container);
    if (!c)
        return 0;
    m = rm_container_report(a, c);
    if (!m)
        return -ENOMEM;
    *ret = &m->base;
    return 0;
}

void rm_on_getContainers(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    static const struct rm_call_kind kind = { container_entry, 1 };
    struct rm *rm = userdata;
    const Hadoop__Yarn__GetContainersRequestProto *q =
        (const Hadoop__Yarn__GetContainersRequestProto *)request;
    const struct rm_call_request r = { call, request, rm_on_getContainers };
    _cleanup_(rm_call_items_free) struct rm_call_items list = { 0 };
    struct rm_attempt *att = rm_client_attempt(call, rm, q->application_attempt_id);

    if (!att || !admitted(call, request, att->app, rm_on_getContainers))
        return;
    if (!rm_call_items_new(&list, (size_t)att->app->n_live + rm_ended_count(att))) {
        rm_answer_no_memory(call);
        return;
    }
    for (const struct rm_container *c = att->app->containers; c; c = c->p_next)
        if (c->attempt == att)
            list.items[list.n++].container = c->id;
    for (const struct rm_container *c = rm_ended_first(att); c; c = rm_ended_next(c))
        list.items[list.n++].container = c->id;
    rm_call_list(rm, &r, &kind, &list, NULL);
}
