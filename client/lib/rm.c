/* Client of the ResourceManager: ApplicationClientProtocol, to the active one if there are several.
 * Responses come from the ResourceManager, which is trusted; missing fields must not crash a
 * client. */
#include "client/lib/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/internal.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ipc/methods.h"
#include "wire/ipc/proxy.h"
#include "wire/sasl/auth-conf.h"

/* A master without a page, an ended one too: the application's page then. */
#define NO_URL "N/A"

struct cli_rm {
    struct ipc_proxy *ipc;
    cli_away_fn away;
    void *away_userdata;
    bool answered;
    char exception[128]; /* class of the last exception */
};

static void on_retry(const char *method, const struct sv_error *err, int64_t wait_ms,
                     const struct ipc_proxy_server *failed, const struct ipc_proxy_server *next,
                     void *userdata)
{
    struct cli_rm *rm = userdata;
    char at[360];

    (void)method;
    (void)failed;
    if (rm->away)
        rm->away(err, wait_ms, ipc_proxy_server_text(next, at, sizeof(at)), rm->away_userdata);
}

static int new_client(sd_event *event, struct sv_conf *conf, const char *user,
                      enum yarn_rm_service service, const char *protocol, struct cli_rm **ret,
                      struct sv_error *err)
{
    struct cli_rm *rm = calloc(1, sizeof(*rm));
    struct ipc_proxy_config cfg;
    int r;

    if (!rm)
        return sv_error_errno(err, -ENOMEM, "client");
    r = yarn_auth_check(conf, err);
    if (r >= 0)
        r = yarn_rm_proxy_config(conf, service, &cfg, err);
    if (r >= 0) {
        cfg.client.protocol = protocol;
        cfg.client.user = user;
        cfg.notify = on_retry;
        cfg.userdata = rm;
        r = ipc_proxy_new(event, &cfg, &rm->ipc, err);
    }
    if (r < 0) {
        free(rm);
        return r;
    }
    *ret = rm;
    return 0;
}

int cli_rm_new(sd_event *event, struct sv_conf *conf, const char *user, struct cli_rm **ret,
               struct sv_error *err)
{
    return new_client(event, conf, user, YARN_RM_CLIENTS, YARN_APPLICATION_CLIENT_PROTOCOL, ret,
                      err);
}

int cli_rm_new_admin(sd_event *event, struct sv_conf *conf, const char *user, struct cli_rm **ret,
                     struct sv_error *err)
{
    return new_client(event, conf, user, YARN_RM_ADMIN, YARN_ADMIN_PROTOCOL, ret, err);
}

struct cli_rm *cli_rm_free(struct cli_rm *rm)
{
    if (rm) {
        ipc_proxy_free(rm->ipc);
        free(rm);
    }
    return NULL;
}

void cli_rm_on_away(struct cli_rm *rm, cli_away_fn fn, void *userdata)
{
    rm->away = fn;
    rm->away_userdata = userdata;
}

bool cli_rm_answered(const struct cli_rm *rm)
{
    return rm->answered;
}

const char *cli_rm_exception(const struct cli_rm *rm)
{
    return rm->exception;
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct cli_call *call = userdata;
    const char *class = r->java_class ? r->java_class : "";
    const char *dot = strrchr(class, '.');

    call->rm->answered = call->rm->answered || r->status == 0 || r->status == -EREMOTEIO;
    snprintf(call->rm->exception, sizeof(call->rm->exception), "%s", dot ? dot + 1 : class);
    call->answer(call, r, err);
    free(call);
}

int cli_call_start(struct cli_rm *rm, const char *method, const ProtobufCMessage *request,
                   const ProtobufCMessageDescriptor *response, struct cli_call call)
{
    struct cli_call *copy = malloc(sizeof(*copy));
    int r;

    if (!copy)
        return -ENOMEM;
    *copy = call;
    copy->rm = rm;
    r = ipc_proxy_call(rm->ipc, method, request, response, 0, on_answer, copy, NULL);
    if (r < 0)
        free(copy);
    return r;
}

/* ---- New application, submit, kill ---- */

static void new_app_answer(struct cli_call *call, const struct ipc_result *r,
                           const struct sv_error *err)
{
    const Hadoop__Yarn__GetNewApplicationResponseProto *m = (const void *)r->response;
    struct yarn_app_id app = { 0 };
    struct yarn_resource maximum = { 0 };
    struct sv_error own = { 0 };
    int status = r->status;

    if (status == 0)
        status = yarn_app_id_from(m->application_id, &app);
    if (status == 0)
        status = yarn_resource_from(m->maximumcapability, &maximum);
    if (r->status == 0 && status < 0) {
        sv_error_set(&own, status, "getNewApplication: the answer has no usable application id");
        err = &own;
    }
    call->fn.new_app(status, app, maximum, err, call->userdata);
}

int cli_rm_new_application(struct cli_rm *rm, cli_new_app_fn fn, void *userdata)
{
    Hadoop__Yarn__GetNewApplicationRequestProto request =
        HADOOP__YARN__GET_NEW_APPLICATION_REQUEST_PROTO__INIT;

    return cli_call_start(rm, "getNewApplication", &request.base,
                          &hadoop__yarn__get_new_application_response_proto__descriptor,
                          (struct cli_call){ .answer = new_app_answer,
                                             .fn = { .new_app = fn },
                                             .userdata = userdata });
}

static void done_answer(struct cli_call *call, const struct ipc_result *r,
                        const struct sv_error *err)
{
    call->fn.done(r->status, err, call->userdata);
}

int cli_rm_submit(struct cli_rm *rm, const struct cli_submission *s, cli_done_fn fn, void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__SubmitApplicationRequestProto request =
        HADOOP__YARN__SUBMIT_APPLICATION_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ApplicationSubmissionContextProto ctx =
        HADOOP__YARN__APPLICATION_SUBMISSION_CONTEXT_PROTO__INIT;
    Hadoop__Yarn__PriorityProto priority = HADOOP__YARN__PRIORITY_PROTO__INIT;
    Hadoop__Yarn__ApplicationTimeoutMapProto lifetime =
        HADOOP__YARN__APPLICATION_TIMEOUT_MAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationTimeoutMapProto *timeouts = &lifetime;
    Hadoop__Yarn__LogAggregationContextProto logs =
        HADOOP__YARN__LOG_AGGREGATION_CONTEXT_PROTO__INIT;
    struct sv_error err = { 0 };

    if (!a)
        return -ENOMEM;
    request.application_submission_context = &ctx;
    ctx.application_id = yarn_app_id_to(a, s->app);
    ctx.resource = yarn_resource_to(a, s->resource);
    ctx.am_container_spec = cli_launch_to(a, &s->launch, &err);
    if (!ctx.application_id || !ctx.resource || !ctx.am_container_spec)
        return err.code ? err.code : -ENOMEM;
    priority.has_priority = true;
    ctx.priority = &priority;
    if (s->name)
        ctx.application_name = sv_arena_strdup(a, s->name);
    if (s->queue)
        ctx.queue = sv_arena_strdup(a, s->queue);
    if (s->type)
        ctx.applicationtype = sv_arena_strdup(a, s->type);
    if (!ctx.application_name || !ctx.queue || !ctx.applicationtype)
        return -ENOMEM;
    lifetime.has_application_timeout_type = lifetime.has_timeout = true;
    lifetime.application_timeout_type =
        HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME;
    lifetime.timeout = s->lifetime_s;
    if (s->lifetime_s > 0) {
        ctx.application_timeouts = &timeouts;
        ctx.n_application_timeouts = 1;
    }
    if (s->rolled_logs) {
        logs.rolled_logs_include_pattern = sv_arena_strdup(a, s->rolled_logs);
        if (!logs.rolled_logs_include_pattern)
            return -ENOMEM;
        ctx.log_aggregation_context = &logs;
    }
    ctx.has_maxappattempts = s->max_attempts > 0;
    ctx.maxappattempts = s->max_attempts;
    return cli_call_start(
        rm, "submitApplication", &request.base,
        &hadoop__yarn__submit_application_response_proto__descriptor,
        (struct cli_call){ .answer = done_answer, .fn = { .done = fn }, .userdata = userdata });
}

static void kill_answer(struct cli_call *call, const struct ipc_result *r,
                        const struct sv_error *err)
{
    const Hadoop__Yarn__KillApplicationResponseProto *m = (const void *)r->response;

    call->fn.kill(r->status, r->status == 0 && m->is_kill_completed, err, call->userdata);
}

int cli_rm_kill(struct cli_rm *rm, struct yarn_app_id app, const char *reason, cli_kill_fn fn,
                void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__KillApplicationRequestProto request =
        HADOOP__YARN__KILL_APPLICATION_REQUEST_PROTO__INIT;

    if (!a || !(request.application_id = yarn_app_id_to(a, app)))
        return -ENOMEM;
    if (reason && !(request.diagnostics = sv_arena_strdup(a, reason)))
        return -ENOMEM;
    return cli_call_start(
        rm, "forceKillApplication", &request.base,
        &hadoop__yarn__kill_application_response_proto__descriptor,
        (struct cli_call){ .answer = kill_answer, .fn = { .kill = fn }, .userdata = userdata });
}

/* ---- Reports ---- */

static int report_from(const Hadoop__Yarn__ApplicationReportProto *m, struct cli_report *ret)
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
                                         strcmp(m->originaltrackingurl, NO_URL) != 0
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
    return 0;
}

static void reports_from(struct cli_call *call, Hadoop__Yarn__ApplicationReportProto *const *list,
                         size_t n)
{
    _cleanup_free_ struct cli_report *reports = calloc(n ? n : 1, sizeof(*reports));
    struct sv_error err = { 0 };
    size_t good = 0;

    if (!reports) {
        sv_error_errno(&err, -ENOMEM, "application reports");
        call->fn.reports(-ENOMEM, NULL, 0, &err, call->userdata);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i] && report_from(list[i], &reports[good]) == 0)
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
    request.applicationtags = (char **)(uintptr_t)f->tags;
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
