/* See client.h. Reports of applications: ApplicationClientProtocol. Answers come from the
 * ResourceManager, which is trusted; missing fields must not crash a client. */
#include <errno.h>
#include <string.h>

#include "client/lib/internal.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"

/* An address or page of a master that has none, an ended one too: the application's page then. */
#define NONE "N/A"

/* -1: it has no end, or the ResourceManager does not tell. */
static int64_t lifetime_left(const Hadoop__Yarn__ApplicationReportProto *m)
{
    for (size_t i = 0; i < m->n_apptimeouts; i++) {
        const Hadoop__Yarn__ApplicationTimeoutProto *t = m->apptimeouts[i]->application_timeout;

        if (t && t->has_remaining_time &&
            t->application_timeout_type ==
                HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME)
            return t->remaining_time;
    }
    return -1;
}

/* For the port of the ApplicationMaster. NULL: none, or unusable. */
static const struct yarn_token *client_token(const Hadoop__Yarn__ApplicationReportProto *m,
                                             struct sv_arena *a)
{
    struct yarn_token *t = m->client_to_am_token ? sv_new(a, struct yarn_token) : NULL;

    return t && yarn_token_from(m->client_to_am_token, a, t) == 0 ? t : NULL;
}

static int report_from(const Hadoop__Yarn__ApplicationReportProto *m, struct sv_arena *a,
                       struct cli_report *ret)
{
    const Hadoop__Yarn__ApplicationResourceUsageReportProto *usage = m->app_resource_usage;
    struct yarn_resource used = { 0 };
    int r = yarn_app_id_from(m->applicationid, &ret->id);

    if (r < 0)
        return r;
    if (!m->currentapplicationattemptid ||
        yarn_attempt_id_from(m->currentapplicationattemptid, &ret->attempt) < 0)
        ret->attempt = (struct yarn_attempt_id){ .app = ret->id };
    ret->state = (enum cli_app_state)m->yarn_application_state;
    ret->final = (enum cli_final)m->final_application_status;
    ret->user = cli_text(m->user);
    ret->queue = cli_text(m->queue);
    ret->name = cli_text(m->name);
    ret->type = cli_text(m->applicationtype);
    ret->diagnostics = cli_text(m->diagnostics);
    ret->tracking_url = cli_text(m->originaltrackingurl && *m->originaltrackingurl &&
                                         strcmp(m->originaltrackingurl, NONE) != 0
                                     ? m->originaltrackingurl
                                     : m->trackingurl);
    ret->start_ms = m->starttime;
    ret->finish_ms = m->finishtime;
    ret->progress = m->progress;
    if (usage && usage->used_resources && yarn_resource_from(usage->used_resources, &used) == 0) {
        ret->used_memory_mb = used.memory_mb;
        ret->used_vcores = used.vcores;
    }
    ret->used_containers = usage ? usage->num_used_containers : 0;
    ret->host = m->host && strcmp(m->host, NONE) != 0 ? m->host : "";
    ret->rpc_port = m->has_rpc_port ? m->rpc_port : -1;
    ret->client_token = client_token(m, a);
    ret->tags = (const char *const *)m->applicationtags;
    ret->n_tags = m->n_applicationtags;
    ret->lifetime_left_s = lifetime_left(m);
    return 0;
}

static void reports_from(struct cli_call *call, Hadoop__Yarn__ApplicationReportProto *const *list,
                         size_t n)
{
    _cleanup_free_ struct cli_report *reports = calloc(n ? n : 1, sizeof(*reports));
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0); /* memory of tokens */
    struct sv_error err = { 0 };
    size_t good = 0;

    if (!reports || !a) {
        sv_error_errno(&err, -ENOMEM, "application reports");
        call->fn.reports(-ENOMEM, NULL, 0, &err, call->userdata);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i] && report_from(list[i], a, &reports[good]) == 0)
            good++;
    call->fn.reports(0, reports, good, NULL, call->userdata);
}

static void report_answer(struct cli_call *call, const struct ipc_result *r,
                          const struct sv_error *err)
{
    Hadoop__Yarn__GetApplicationReportResponseProto *m = (void *)(uintptr_t)r->response;
    struct sv_error own = { 0 };

    if (r->status == 0 && m->application_report) {
        reports_from(call, &m->application_report, 1);
        return;
    }
    if (r->status == 0) {
        sv_error_set(&own, -EBADMSG, "getApplicationReport: the answer has no report");
        err = &own;
    }
    call->fn.reports(r->status < 0 ? r->status : -EBADMSG, NULL, 0, err, call->userdata);
}

int cli_rm_report(struct cli_rm *rm, struct yarn_app_id app, cli_reports_fn fn, void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetApplicationReportRequestProto request =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;

    if (!a || !(request.application_id = yarn_app_id_to(a, app)))
        return -ENOMEM;
    return cli_call_start(rm, "getApplicationReport", &request.base,
                          &hadoop__yarn__get_application_report_response_proto__descriptor,
                          (struct cli_call){ .answer = report_answer,
                                             .fn = { .reports = fn },
                                             .userdata = userdata });
}

static void applications_answer(struct cli_call *call, const struct ipc_result *r,
                                const struct sv_error *err)
{
    const Hadoop__Yarn__GetApplicationsResponseProto *m = (const void *)r->response;

    if (r->status == 0)
        reports_from(call, m->applications, m->n_applications);
    else
        call->fn.reports(r->status, NULL, 0, err, call->userdata);
}

void cli_app_filter_live(struct cli_app_filter *f)
{
    static const enum cli_app_state live[] = { CLI_APP_NEW, CLI_APP_NEW_SAVING, CLI_APP_SUBMITTED,
                                               CLI_APP_ACCEPTED, CLI_APP_RUNNING };

    for (size_t i = 0; i < SV_ARRAY_LEN(live) && f->n_states < CLI_FILTER_MAX; i++)
        f->states[f->n_states++] = live[i];
}

int cli_rm_applications_where(struct cli_rm *rm, const struct cli_app_filter *f, cli_reports_fn fn,
                              void *userdata)
{
    Hadoop__Yarn__GetApplicationsRequestProto request =
        HADOOP__YARN__GET_APPLICATIONS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__YarnApplicationStateProto states[CLI_FILTER_MAX];
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    char *tags[CLI_FILTER_MAX];

    for (size_t i = 0; i < f->n_tags; i++) {
        int r = a ? cli_tag_to(a, f->tags[i], &tags[i]) : -ENOMEM;

        if (r == -EINVAL)
            tags[i] = (char *)(uintptr_t)f->tags[i]; /* no application has it */
        else if (r < 0)
            return r;
    }
    for (size_t i = 0; i < f->n_states; i++)
        states[i] = (Hadoop__Yarn__YarnApplicationStateProto)f->states[i];
    request.application_states = states;
    request.n_application_states = f->n_states;
    request.users = (char **)(uintptr_t)f->users;
    request.n_users = f->n_users;
    request.queues = (char **)(uintptr_t)f->queues;
    request.n_queues = f->n_queues;
    request.application_types = (char **)(uintptr_t)f->types;
    request.n_application_types = f->n_types;
    request.applicationtags = tags;
    request.n_applicationtags = f->n_tags;
    return cli_call_start(rm, "getApplications", &request.base,
                          &hadoop__yarn__get_applications_response_proto__descriptor,
                          (struct cli_call){ .answer = applications_answer,
                                             .fn = { .reports = fn },
                                             .userdata = userdata });
}

int cli_rm_applications(struct cli_rm *rm, const char *user, bool live, cli_reports_fn fn,
                        void *userdata)
{
    struct cli_app_filter f = { .users = { user }, .n_users = user ? 1 : 0 };

    if (live)
        cli_app_filter_live(&f);
    return cli_rm_applications_where(rm, &f, fn, userdata);
}
