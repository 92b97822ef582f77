/* ApplicationClientProtocol's reports of applications, attempts and containers. Part of
 * client-rm-service.c's table. */
#include "rm-lite/client/application-reports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rm-lite/core/ended-containers.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/app-filter.h"
#include "rm-lite/requests/client-call.h"
#include "rm-lite/requests/past-apps.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/requests/viewer.h"
#include "rm-lite/scheduler/scheduler.h"

/* The report of an application, in the call's arena, of one that was forgotten from its row in the
 * store. NULL: no memory, or the call was answered that there is none (*ret_answered). */
static Hadoop__Yarn__ApplicationReportProto *report_of(struct ipc_call *call, struct rm *rm,
                                                       const Hadoop__Yarn__ApplicationIdProto *m,
                                                       struct rm_viewer *who, bool *ret_answered)
{
    struct sv_arena *a = ipc_call_arena(call);
    struct rm_past_app past;
    struct yarn_app_id id;
    struct rm_app *app;

    *ret_answered = false;
    rm_viewer_of_call(rm, call, who);
    if (yarn_app_id_from(m, &id) >= 0 && !rm_app_find(rm, id) &&
        rm_store_history_find(rm, id, a, &past) >= 0)
        return rm_past_report(who, a, &past);
    app = rm_client_app(call, rm, m);
    *ret_answered = !app;
    return app ? rm_viewer_report(who, a, app) : NULL;
}

void rm_on_getApplicationReport(struct ipc_call *call, const ProtobufCMessage *request,
                                void *userdata)
{
    const Hadoop__Yarn__GetApplicationReportRequestProto *q =
        (const Hadoop__Yarn__GetApplicationReportRequestProto *)request;
    Hadoop__Yarn__GetApplicationReportResponseProto resp =
        HADOOP__YARN__GET_APPLICATION_REPORT_RESPONSE_PROTO__INIT;
    struct rm_viewer who;
    bool answered;

    resp.application_report = report_of(call, userdata, q->application_id, &who, &answered);
    if (answered)
        return;
    if (rm_viewer_waits(&who))
        rm_groups_wait(userdata, call, request, rm_on_getApplicationReport);
    else if (resp.application_report)
        ipc_call_reply(call, &resp.base);
    else
        rm_answer_no_memory(call);
}

/* ---- Lists of applications ---- */

struct wanted_apps {
    struct rm_app_filter filter;
    struct rm_viewer who;
    char *queue; /* full path: those in it and below alone; NULL: in any */
};

static void free_wanted(void *wanted)
{
    struct wanted_apps *w = wanted;

    rm_app_filter_free(&w->filter);
    free(w->queue);
    free(w);
}

/* A list of all applications; NULL: no memory. */
static struct wanted_apps *all_apps(struct rm *rm, struct rm_call_items *ret)
{
    struct wanted_apps *w = calloc(1, sizeof(*w));
    struct rm_app *app;

    if (!w || !rm_call_items_new(ret, HASH_COUNT(rm->apps))) {
        free(w);
        return NULL;
    }
    rm_app_filter_init(&w->filter);
    ret->wanted = w;
    ret->free_wanted = free_wanted;
    DL_FOREACH (rm->app_list, app)
        ret->items[ret->n++].app = app->id;
    return w;
}

static bool inside(const char *path, const char *queue)
{
    size_t n = strlen(queue);

    return strncmp(path, queue, n) == 0 && (path[n] == 0 || path[n] == '.');
}

static bool takes(const struct wanted_apps *w, const struct rm_app *app)
{
    struct rm_app_usage use;

    if (!w->queue)
        return rm_app_filter_takes(&w->filter, app);
    return rm_sched_app_usage(app->rm->sched, app->id, &use) >= 0 &&
           inside(use.queue_path, w->queue);
}

static int app_entry(struct rm *rm, struct sv_arena *a, void *wanted,
                     const struct rm_call_item *item, const ProtobufCMessage **ret)
{
    struct rm_app *app = rm_app_find(rm, item->app);
    const struct wanted_apps *w = wanted;
    Hadoop__Yarn__ApplicationReportProto *m;

    if (!app || !takes(w, app))
        return 0;
    m = rm_viewer_report(&w->who, a, app);
    if (!m)
        return -ENOMEM;
    *ret = &m->base;
    return 0;
}

static const struct rm_call_kind call_apps = { app_entry, 1 };
const struct rm_call_kind rm_call_queue_apps = { app_entry, 7 }; /* QueueInfoProto.applications */

bool rm_call_apps_in(const struct rm_viewer *who, const char *queue, struct rm_call_items *ret)
{
    struct wanted_apps *w = all_apps(who->rm, ret);

    if (!w || !(w->queue = strdup(queue)))
        return false;
    w->who = *who;
    return true;
}

static int read_filter(struct ipc_call *call, const Hadoop__Yarn__GetApplicationsRequestProto *q,
                       struct rm_app_filter *f, struct sv_error *err)
{
    const struct {
        enum rm_filter_names which;
        char *const *list;
        size_t n;
        enum rm_name_case letters;
        const char *what;
    } lists[] = {
        { RM_FILTER_TYPES, q->application_types, q->n_application_types, RM_NAMES_ANY_CASE,
          "application_types" },
        { RM_FILTER_TAGS, q->applicationtags, q->n_applicationtags, RM_NAMES_ANY_CASE,
          "applicationTags" },
        { RM_FILTER_USERS, q->users, q->n_users, RM_NAMES_EXACT, "users" },
        { RM_FILTER_QUEUES, q->queues, q->n_queues, RM_NAMES_EXACT, "queues" },
    };
    int r = 0;

    for (size_t i = 0; i < SV_ARRAY_LEN(lists) && r >= 0; i++)
        r = rm_name_filter_of_list(&f->names[lists[i].which], lists[i].list, lists[i].n,
                                   lists[i].letters, lists[i].what, err);
    if (r < 0)
        return r;
    if (q->n_application_states > 0)
        f->states = 0;
    for (size_t i = 0; i < q->n_application_states; i++)
        f->states |= UINT32_C(1) << q->application_states[i];
    f->start[0] = q->has_start_begin ? q->start_begin : f->start[0];
    f->start[1] = q->has_start_end ? q->start_end : f->start[1];
    f->finish[0] = q->has_finish_begin ? q->finish_begin : f->finish[0];
    f->finish[1] = q->has_finish_end ? q->finish_end : f->finish[1];
    if (q->name && !(f->name = strdup(q->name)))
        return -ENOMEM;
    if (q->scope == HADOOP__YARN__APPLICATIONS_REQUEST_SCOPE_PROTO__OWN &&
        !(f->owner = strdup(rm_client_user(call))))
        return -ENOMEM;
    return 0;
}

void rm_on_getApplications(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    const Hadoop__Yarn__GetApplicationsRequestProto *q =
        (const Hadoop__Yarn__GetApplicationsRequestProto *)request;
    const struct rm_call_request r = { call, request, rm_on_getApplications };
    _cleanup_(rm_call_items_free) struct rm_call_items list = { 0 };
    struct wanted_apps *w = all_apps(rm, &list);
    struct sv_error err = { 0 };
    int e = w ? read_filter(call, q, &w->filter, &err) : -ENOMEM;

    if (e < 0) {
        if (e == -EINVAL)
            ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s", err.text);
        else
            rm_answer_no_memory(call);
        return;
    }
    if (q->has_limit && q->limit >= 0)
        list.limit = q->limit;
    rm_viewer_of_call(rm, call, &w->who);
    if (rm_viewer_waits(&w->who))
        rm_groups_wait(rm, call, request, rm_on_getApplications);
    else
        rm_call_list(rm, &r, &call_apps, &list, NULL);
}

/* ---- Attempts and containers ---- */

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

static int container_entry(struct rm *rm, struct sv_arena *a, void *wanted,
                           const struct rm_call_item *item, const ProtobufCMessage **ret)
{
    const struct rm_container *c = rm_container_find(rm, item->container);
    const struct rm_attempt *att;
    Hadoop__Yarn__ContainerReportProto *m;

    (void)wanted;
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
