/* The calls of an unmanaged master's life and of a registration; see sub-cluster.h. Each posts what
 * became of it as an event. Hostile: the answers. */
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "federation/amrm/uam-submission.h"
#include "nodemanager/federation/sub-cluster-parts.h"
#include "wire/exceptions.h"
#include "wire/ipc/methods.h"

#define SUBMIT "submitApplication"
#define REPORT "getApplicationReport"
#define REPORT_ATTEMPT "getApplicationAttemptReport"
#define KILL "forceKillApplication"
#define REGISTER "registerApplicationMaster"
#define ALLOCATE "allocate"
#define FINISH "finishApplicationMaster"

static void post(struct nm_sub_cluster *s, enum fed_uam_event event)
{
    struct fed_uam_arg arg = { .now_ms = sv_now_ms() };

    s->post(s, event, &arg);
}

static void post_failed(struct nm_sub_cluster *s, enum fed_uam_event event, const char *why)
{
    struct fed_uam_arg arg = { .now_ms = sv_now_ms(), .why = why };

    s->post(s, event, &arg);
}

/* ---- Failures ---- */

/* An exception that the home's master is to see. */
static void tell_refused(struct nm_sub_cluster *s, const struct ipc_result *r,
                         const struct sv_error *err, const char *method)
{
    if (s->cfg.home && !s->ending)
        s->cfg.owner->refused(s->cfg.userdata, s, r->java_class, nm_member_fault_text(err, method));
}

static void failed(struct nm_sub_cluster *s, const struct ipc_result *r, const struct sv_error *err,
                   const char *method)
{
    int32_t expected;

    switch (nm_member_fault_of(r, err, &expected)) {
    case NM_FAULT_ABSENT:
        if (!s->ending)
            s->cfg.owner->absent(s->cfg.userdata, s);
        post_failed(s, FED_UAM_CALL_FAILED, err->text);
        break;
    case NM_FAULT_NOT_REGISTERED:
        post(s, FED_UAM_RESYNC);
        break;
    case NM_FAULT_LOST:
        tell_refused(s, r, err, method);
        post(s, FED_UAM_LOST);
        break;
    case NM_FAULT_REGISTERED:
    case NM_FAULT_RESPONSE_ID:
    case NM_FAULT_REFUSED:
        tell_refused(s, r, err, method);
        post_failed(s, FED_UAM_CALL_REFUSED, err->text);
        break;
    }
}

/* The call could not be made: as one that was not answered. */
static void not_called(struct nm_sub_cluster *s, int r, struct sv_error *err)
{
    if (!err->text[0])
        (void)sv_error_errno(err, r, "call");
    if (r == -EDESTADDRREQ && !s->ending)
        s->cfg.owner->absent(s->cfg.userdata, s);
    post_failed(s, FED_UAM_CALL_FAILED, err->text);
}

static void call(struct nm_sub_cluster *s, struct nm_member_line *l, const char *method,
                 const ProtobufCMessage *request, const ProtobufCMessageDescriptor *response,
                 ipc_done done)
{
    struct sv_error err = { 0 };
    int r = request ? nm_member_line_call(l, method, request, response, done, s, &err) : -ENOMEM;

    if (r < 0)
        not_called(s, r, &err);
}

/* ---- The launch ---- */

static void on_submitted(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    if (r->status < 0)
        failed(userdata, r, err, SUBMIT);
    else
        post(userdata, FED_UAM_SUBMITTED);
}

void nm_sub_call_submit(struct nm_sub_cluster *s)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct fed_uam_application app = { .id = s->cfg.app->attempt.app,
                                             .home = s->cfg.app->home,
                                             .queue = s->cfg.app->queue,
                                             .context = s->cfg.app->context };
    Hadoop__Yarn__SubmitApplicationRequestProto *q = a ? fed_uam_submission(a, &app) : NULL;

    sv_log_info("%s: unmanaged master in sub-cluster %s: submitted as %s", s->cfg.app->text, s->id,
                s->cfg.app->user);
    call(s, &s->client, SUBMIT, q ? &q->base : NULL,
         &hadoop__yarn__submit_application_response_proto__descriptor, on_submitted);
}

static int keep_token(struct nm_sub_cluster *s, const Hadoop__Common__TokenProto *m)
{
    struct sv_arena *a = sv_arena_new(4 * YARN_TOKEN_ID_MAX);
    struct yarn_token t, own;
    int r = a ? yarn_token_from(m, a, &t) : -ENOMEM;

    if (r >= 0) {
        own = (struct yarn_token){ .id = sv_arena_memdup(a, t.id, t.id_len),
                                   .id_len = t.id_len,
                                   .password = sv_arena_memdup(a, t.password, t.password_len),
                                   .password_len = t.password_len,
                                   .kind = sv_arena_strdup(a, t.kind),
                                   .service = sv_arena_strdup(a, t.service) };
        r = own.id && own.password && own.kind && own.service ? 0 : -ENOMEM;
    }
    if (r < 0) {
        sv_arena_wipe(a);
        return r;
    }
    sv_arena_wipe(s->token_arena);
    s->token_arena = a;
    s->token = own;
    return 0;
}

void nm_sub_take_token(struct nm_sub_cluster *s, const Hadoop__Common__TokenProto *m)
{
    if (!s->cfg.home && keep_token(s, m) < 0)
        return; /* another one comes with the next answer */
    s->cfg.owner->token(s->cfg.userdata, s, m);
}

static void on_report(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_sub_cluster *s = userdata;
    const Hadoop__Yarn__GetApplicationReportResponseProto *m = (const void *)r->response;
    const Hadoop__Yarn__ApplicationReportProto *report;
    struct fed_uam_arg arg = { .now_ms = sv_now_ms() };

    if (r->status < 0) {
        failed(s, r, err, REPORT);
        return;
    }
    report = m->application_report;
    if (report && report->has_yarn_application_state)
        arg.app = (int)report->yarn_application_state;
    if (report)
        arg.attempt_known =
            yarn_attempt_id_from(report->currentapplicationattemptid, &s->attempt) >= 0;
    if (report && report->am_rm_token && s->uam.state == FED_UAM_FETCHING)
        arg.token = keep_token(s, report->am_rm_token) >= 0;
    s->post(s, FED_UAM_REPORT, &arg);
}

void nm_sub_call_report(struct nm_sub_cluster *s)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetApplicationReportRequestProto q =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;

    q.application_id = a ? yarn_app_id_to(a, s->cfg.app->attempt.app) : NULL;
    call(s, &s->client, REPORT, q.application_id ? &q.base : NULL,
         &hadoop__yarn__get_application_report_response_proto__descriptor, on_report);
}

static void on_attempt_report(const struct ipc_result *r, const struct sv_error *err,
                              void *userdata)
{
    struct nm_sub_cluster *s = userdata;
    const Hadoop__Yarn__GetApplicationAttemptReportResponseProto *m = (const void *)r->response;
    struct fed_uam_arg arg = { .now_ms = sv_now_ms() };

    if (r->status < 0) {
        failed(s, r, err, REPORT_ATTEMPT);
        return;
    }
    if (m->application_attempt_report &&
        m->application_attempt_report->has_yarn_application_attempt_state)
        arg.attempt = (int)m->application_attempt_report->yarn_application_attempt_state;
    s->post(s, FED_UAM_ATTEMPT, &arg);
}

void nm_sub_call_attempt_report(struct nm_sub_cluster *s)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetApplicationAttemptReportRequestProto q =
        HADOOP__YARN__GET_APPLICATION_ATTEMPT_REPORT_REQUEST_PROTO__INIT;

    q.application_attempt_id = a ? yarn_attempt_id_to(a, s->attempt) : NULL;
    call(s, &s->client, REPORT_ATTEMPT, q.application_attempt_id ? &q.base : NULL,
         &hadoop__yarn__get_application_attempt_report_response_proto__descriptor,
         on_attempt_report);
}

/* ---- The registration ---- */

static void registered(struct nm_sub_cluster *s,
                       const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                       struct sv_arena **arena)
{
    fed_relay_resync(s->relay);
    s->failure_logged = false;
    s->heard_ms = sv_now_ms();
    if (!s->ending)
        s->cfg.owner->registered(s->cfg.userdata, s, m, arena);
    post(s, FED_UAM_REGISTERED);
}

static int take_registration(struct nm_sub_cluster *s, const ProtobufCMessage *m,
                             struct fed_relay_at *at, struct fed_budget *b)
{
    return s->cfg.owner->registering(
        s->cfg.userdata, s, (const Hadoop__Yarn__RegisterApplicationMasterResponseProto *)m, at, b);
}

static void on_registration(struct nm_sub_cluster *s, const ProtobufCMessage *m,
                            struct sv_arena **arena, int error)
{
    if (error < 0)
        post_failed(s, FED_UAM_CALL_FAILED,
                    REGISTER ": the answer is not a valid RegisterApplicationMasterResponseProto");
    else
        registered(s, (const Hadoop__Yarn__RegisterApplicationMasterResponseProto *)m, arena);
}

static const struct nm_sub_reader reader = {
    &hadoop__yarn__register_application_master_response_proto__descriptor, take_registration,
    on_registration
};

static void on_registered(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_sub_cluster *s = userdata;
    int32_t expected;

    if (r->status >= 0)
        nm_sub_read(s, &reader, r->body, r->body_len);
    else if (nm_member_fault_of(r, err, &expected) == NM_FAULT_REGISTERED)
        registered(s, NULL, NULL);
    else
        failed(s, r, err, REGISTER);
}

static void register_now(struct nm_sub_cluster *s)
{
    call(s, &s->am, REGISTER, s->cfg.app->registration ? &s->cfg.app->registration->base : NULL,
         NULL, on_registered);
}

/* ---- The last answer, once more ---- */

/* A heartbeat's id that is never right: the refusal has the id of the last answer. With the one
 * before that the ResourceManager answers as it did, and reads nothing. */
#define NO_RESPONSE_ID (-2)

static void recall(struct nm_sub_cluster *s, int32_t response_id);

static int take_recalled(struct nm_sub_cluster *s, const ProtobufCMessage *m,
                         struct fed_relay_at *at, struct fed_budget *b)
{
    return s->cfg.owner->recalling(s->cfg.userdata, s,
                                   (const Hadoop__Yarn__AllocateResponseProto *)m, at, b);
}

static void on_recalled(struct nm_sub_cluster *s, const ProtobufCMessage *message,
                        struct sv_arena **arena, int error)
{
    const Hadoop__Yarn__AllocateResponseProto *m =
        (const Hadoop__Yarn__AllocateResponseProto *)message;

    if (error < 0) {
        post_failed(s, FED_UAM_CALL_FAILED,
                    ALLOCATE ": the answer is not a valid AllocateResponseProto");
        return;
    }
    s->recall = false;
    if (m->am_rm_token && !s->ending)
        nm_sub_take_token(s, m->am_rm_token);
    if (!s->ending)
        s->cfg.owner->answered(s->cfg.userdata, s, m, arena);
    s->registers_later = s->kept_back > 0;
    if (!s->registers_later)
        register_now(s);
}

static const struct nm_sub_reader recall_reader = {
    &hadoop__yarn__allocate_response_proto__descriptor, take_recalled, on_recalled
};

/* All but an absence is found again by the registration. */
static void on_recall_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_sub_cluster *s = userdata;
    enum nm_member_fault fault;
    int32_t expected = 0;

    if (r->status >= 0) {
        nm_sub_read(s, &recall_reader, r->body, r->body_len);
        return;
    }
    fault = nm_member_fault_of(r, err, &expected);
    if (fault == NM_FAULT_ABSENT) {
        failed(s, r, err, ALLOCATE);
    } else if (fault == NM_FAULT_RESPONSE_ID && !s->recall_known) {
        s->recall_known = true;
        recall(s, expected - 1);
    } else {
        s->recall = false;
        register_now(s);
    }
}

static void recall(struct nm_sub_cluster *s, int32_t response_id)
{
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;

    q.has_response_id = true;
    q.response_id = response_id;
    call(s, &s->am, ALLOCATE, &q.base, NULL, on_recall_answer);
}

void nm_sub_call_register(struct nm_sub_cluster *s)
{
    s->recall_known = false;
    if (s->recall)
        recall(s, NO_RESPONSE_ID);
    else
        register_now(s);
}

/* ---- The end ---- */

static void on_finished(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_sub_cluster *s = userdata;
    const Hadoop__Yarn__FinishApplicationMasterResponseProto *m = (const void *)r->response;
    struct fed_uam_arg arg = { .now_ms = sv_now_ms() };

    if (r->status < 0) {
        failed(s, r, err, FINISH);
        return;
    }
    arg.done = m->isunregistered;
    s->post(s, FED_UAM_UNREGISTERED, &arg);
}

void nm_sub_call_finish(struct nm_sub_cluster *s)
{
    call(s, &s->am, FINISH, &s->cfg.app->finish->base,
         &hadoop__yarn__finish_application_master_response_proto__descriptor, on_finished);
}

static void on_killed(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    if (r->status < 0)
        failed(userdata, r, err, KILL);
    else
        post(userdata, FED_UAM_KILLED); /* or the kill is recorded there and goes on */
}

void nm_sub_call_kill(struct nm_sub_cluster *s)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__KillApplicationRequestProto q =
        HADOOP__YARN__KILL_APPLICATION_REQUEST_PROTO__INIT;

    q.application_id = a ? yarn_app_id_to(a, s->cfg.app->attempt.app) : NULL;
    q.diagnostics = (char *)(uintptr_t) "The application has ended in its home sub-cluster.";
    call(s, &s->client, KILL, q.application_id ? &q.base : NULL,
         &hadoop__yarn__kill_application_response_proto__descriptor, on_killed);
}
