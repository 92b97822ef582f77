/* See client.h. Changes to applications, and their attempts: ApplicationClientProtocol. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "client/lib/internal.h"
#include "common/clock.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"

static void done_answer(struct cli_call *call, const struct ipc_result *r,
                        const struct sv_error *err)
{
    call->fn.done(r->status, err, call->userdata);
}

int cli_rm_move(struct cli_rm *rm, struct yarn_app_id app, const char *queue, cli_done_fn fn,
                void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__MoveApplicationAcrossQueuesRequestProto request =
        HADOOP__YARN__MOVE_APPLICATION_ACROSS_QUEUES_REQUEST_PROTO__INIT;

    if (!a || !(request.application_id = yarn_app_id_to(a, app)))
        return -ENOMEM;
    request.target_queue = (char *)(uintptr_t)queue;
    return cli_call_start(
        rm, "moveApplicationAcrossQueues", &request.base,
        &hadoop__yarn__move_application_across_queues_response_proto__descriptor,
        (struct cli_call){ .answer = done_answer, .fn = { .done = fn }, .userdata = userdata });
}

static void priority_answer(struct cli_call *call, const struct ipc_result *r,
                            const struct sv_error *err)
{
    const Hadoop__Yarn__UpdateApplicationPriorityResponseProto *m = (const void *)r->response;
    const bool told = r->status == 0 && m->applicationpriority;

    call->fn.priority(r->status, told ? m->applicationpriority->priority : 0, err, call->userdata);
}

int cli_rm_priority(struct cli_rm *rm, struct yarn_app_id app, int32_t priority, cli_priority_fn fn,
                    void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UpdateApplicationPriorityRequestProto request =
        HADOOP__YARN__UPDATE_APPLICATION_PRIORITY_REQUEST_PROTO__INIT;
    Hadoop__Yarn__PriorityProto wanted = HADOOP__YARN__PRIORITY_PROTO__INIT;

    if (!a || !(request.applicationid = yarn_app_id_to(a, app)))
        return -ENOMEM;
    wanted.has_priority = true;
    wanted.priority = priority;
    request.applicationpriority = &wanted;
    return cli_call_start(rm, "updateApplicationPriority", &request.base,
                          &hadoop__yarn__update_application_priority_response_proto__descriptor,
                          (struct cli_call){ .answer = priority_answer,
                                             .fn = { .priority = fn },
                                             .userdata = userdata });
}

/* ---- Lifetime ---- */

int cli_rm_set_lifetime(struct cli_rm *rm, struct yarn_app_id app, int64_t seconds, cli_done_fn fn,
                        void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UpdateApplicationTimeoutsRequestProto request =
        HADOOP__YARN__UPDATE_APPLICATION_TIMEOUTS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ApplicationUpdateTimeoutMapProto one =
        HADOOP__YARN__APPLICATION_UPDATE_TIMEOUT_MAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationUpdateTimeoutMapProto *list = &one;
    char date[40]; /* as Hadoop's client writes a time */
    int64_t until;
    struct tm tm;

    if (seconds <= 0 || __builtin_add_overflow(sv_wall_ms() / 1000, seconds, &until) ||
        !gmtime_r(&(time_t){ until }, &tm) ||
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S.000+0000", &tm) == 0)
        return -EINVAL;
    if (!a || !(request.applicationid = yarn_app_id_to(a, app)))
        return -ENOMEM;
    one.has_application_timeout_type = true;
    one.application_timeout_type =
        HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME;
    one.expire_time = date;
    request.application_timeouts = &list;
    request.n_application_timeouts = 1;
    return cli_call_start(
        rm, "updateApplicationTimeouts", &request.base,
        &hadoop__yarn__update_application_timeouts_response_proto__descriptor,
        (struct cli_call){ .answer = done_answer, .fn = { .done = fn }, .userdata = userdata });
}

int cli_rm_signal(struct cli_rm *rm, struct yarn_container_id id, enum cli_signal signal,
                  cli_done_fn fn, void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__SignalContainerRequestProto request =
        HADOOP__YARN__SIGNAL_CONTAINER_REQUEST_PROTO__INIT;

    if (!a || !(request.container_id = yarn_container_id_to(a, id)))
        return -ENOMEM;
    request.command = (Hadoop__Yarn__SignalContainerCommandProto)signal;
    return cli_call_start(
        rm, "signalToContainer", &request.base,
        &hadoop__yarn__signal_container_response_proto__descriptor,
        (struct cli_call){ .answer = done_answer, .fn = { .done = fn }, .userdata = userdata });
}

/* ---- Attempts ---- */

static int attempt_from(const Hadoop__Yarn__ApplicationAttemptReportProto *m,
                        struct cli_attempt_report *ret)
{
    int r = yarn_attempt_id_from(m->application_attempt_id, &ret->id);

    if (r < 0)
        return r;
    ret->has_master =
        m->am_container_id && yarn_container_id_from(m->am_container_id, &ret->master) == 0;
    ret->state = cli_enum_name(&hadoop__yarn__yarn_application_attempt_state_proto__descriptor,
                               m->yarn_application_attempt_state, "APP_ATTEMPT_");
    ret->host = cli_text(m->host);
    ret->diagnostics = cli_text(m->diagnostics);
    ret->tracking_url = cli_text(m->tracking_url);
    ret->start_ms = m->starttime;
    ret->finish_ms = m->finishtime;
    return 0;
}

static void attempts_answer(struct cli_call *call, const struct ipc_result *r,
                            const struct sv_error *err)
{
    const Hadoop__Yarn__GetApplicationAttemptsResponseProto *m = (const void *)r->response;
    _cleanup_free_ struct cli_attempt_report *list = NULL;
    struct sv_error own = { 0 };
    size_t n = 0;

    if (r->status < 0) {
        call->fn.attempts(r->status, NULL, 0, err, call->userdata);
        return;
    }
    list = calloc(m->n_application_attempts + 1, sizeof(*list));
    if (!list) {
        sv_error_errno(&own, -ENOMEM, "attempt reports");
        call->fn.attempts(-ENOMEM, NULL, 0, &own, call->userdata);
        return;
    }
    for (size_t i = 0; i < m->n_application_attempts; i++)
        if (attempt_from(m->application_attempts[i], &list[n]) == 0)
            n++;
    call->fn.attempts(0, list, n, NULL, call->userdata);
}

int cli_rm_attempts(struct cli_rm *rm, struct yarn_app_id app, cli_attempts_fn fn, void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetApplicationAttemptsRequestProto request =
        HADOOP__YARN__GET_APPLICATION_ATTEMPTS_REQUEST_PROTO__INIT;

    if (!a || !(request.application_id = yarn_app_id_to(a, app)))
        return -ENOMEM;
    return cli_call_start(rm, "getApplicationAttempts", &request.base,
                          &hadoop__yarn__get_application_attempts_response_proto__descriptor,
                          (struct cli_call){ .answer = attempts_answer,
                                             .fn = { .attempts = fn },
                                             .userdata = userdata });
}
