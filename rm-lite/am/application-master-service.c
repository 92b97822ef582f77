/* ApplicationMasterService: ApplicationMasters register and finish; allocate is in am-allocate.c.
 *
 * The peer is a user's program; everything in a request is hostile. */
#include "rm-lite/am/application-master-service.h"

#include <string.h>

#include "rm-lite/am/am-allocate.h"
#include "rm-lite/am/am-placement.h"
#include "rm-lite/am/am-session.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/text.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/security/proxy-target.h"
#include "rm-lite/security/tokens.h"
#include "wire/ipc/methods.h"

typedef Hadoop__Yarn__RegisterApplicationMasterRequestProto RegisterRequest;
typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto RegisterResponse;
typedef Hadoop__Yarn__FinishApplicationMasterRequestProto FinishRequest;
typedef Hadoop__Yarn__FinishApplicationMasterResponseProto FinishResponse;

/* -------------------------------------------------------------------- register */

/* An unmanaged master that registers again has no later attempt: it gets what it has been given, as
 * from Apache's ResourceManager. A federation's AMRMProxy that was restarted knows no more of it.
 */
static bool is_transferred(const struct rm_attempt *att, const struct rm_container *c)
{
    if (c->attempt != att)
        return !c->is_master && c->state == RM_CON_ST_RUNNING;
    return att->app->unmanaged && (c->state == RM_CON_ST_RUNNING || c->state == RM_CON_ST_ACQUIRED);
}

static bool register_previous(struct sv_arena *a, struct rm_attempt *att, RegisterResponse *resp)
{
    size_t n = (size_t)att->app->n_live, i = 0;

    if (!att->app->keep_containers || (att->id.attempt == 1 && !att->app->unmanaged))
        return true;
    resp->containers_from_previous_attempts = RM_ANSWER_ARRAY(a, Hadoop__Yarn__ContainerProto, n);
    resp->nm_tokens_from_previous_attempts = RM_ANSWER_ARRAY(a, Hadoop__Yarn__NMTokenProto, n);
    if (!resp->containers_from_previous_attempts || !resp->nm_tokens_from_previous_attempts)
        return false;
    for (struct rm_container *c = att->app->containers; c; c = c->p_next) {
        Hadoop__Yarn__NMTokenProto *t;

        if (!is_transferred(att, c))
            continue;
        resp->containers_from_previous_attempts[i] = rm_am_container(a, c);
        if (!resp->containers_from_previous_attempts[i++])
            return false;
        t = rm_am_nm_token(a, att, &c->node_id);
        if (t)
            resp->nm_tokens_from_previous_attempts[resp->n_nm_tokens_from_previous_attempts++] = t;
    }
    resp->n_containers_from_previous_attempts = i;
    return true;
}

static void on_registerApplicationMaster(struct ipc_call *call, const ProtobufCMessage *request,
                                         void *userdata)
{
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);
    const RegisterRequest *q = (const RegisterRequest *)request;
    struct rm_attempt *att = rm_am_caller(call, rm);
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    RegisterResponse resp = HADOOP__YARN__REGISTER_APPLICATION_MASTER_RESPONSE_PROTO__INIT;
    struct yarn_master_key client_key;
    Hadoop__Yarn__SchedulerResourceTypes types[2] = {
        HADOOP__YARN__SCHEDULER_RESOURCE_TYPES__MEMORY, HADOOP__YARN__SCHEDULER_RESOURCE_TYPES__CPU
    };

    if (!att)
        return;
    if (!a) {
        rm_answer_no_memory(call);
        return;
    }
    if (att->registered && !(att->app->unmanaged && att->app->keep_containers)) {
        ipc_call_fail(call, JAVA_INVALID_AM_REQUEST,
                      "Application Master is already registered : %s", att->app->id_str);
        return;
    }
    if (!rm_am_address_fits(call, att, "host", q->host) ||
        !rm_am_address_fits(call, att, "tracking URL", q->tracking_url) ||
        !rm_am_register_constraints(call, att, q))
        return;
    resp.maximumcapability = rm_res_to(a, rm_sched_max_allocation(rm->sched, att->app->queue));
    resp.queue = att->app->queue;
    resp.scheduler_resource_types = types;
    resp.n_scheduler_resource_types = rm_sched_calculator(rm->sched) == RM_CALC_DOMINANT ? 2 : 1;
    resp.resource_types = rm_resource_types(a, &resp.n_resource_types);
    rm_set_clear(&att->nm_tokens); /* an ApplicationMaster that registers again has none */
    if (!resp.maximumcapability || !resp.resource_types || !register_previous(a, att, &resp)) {
        rm_answer_no_memory(call);
        return;
    }
    if (rm_client_am_key(att, &client_key) >= 0) {
        resp.has_client_to_am_token_master_key = true;
        resp.client_to_am_token_master_key =
            (ProtobufCBinaryData){ client_key.len, client_key.bytes };
    }
    resp.application_acls = rm_app_acls(att->app, &resp.n_application_acls);
    att->registered = true;
    att->response_id = 0;
    free(att->last_response);
    att->last_response = NULL;
    rm_attempt_tell_again(att);
    rm_set_text(&att->host, q->host ? q->host : "");
    att->is_here = rm_proxy_is_local(&ipc_call_peer(call)->ip);
    att->rpc_port = q->has_rpc_port ? q->rpc_port : -1;
    rm_set_text(&att->tracking_url, q->tracking_url ? q->tracking_url : "");
    rm_audit_ok(&(struct rm_audit){ .user = att->app->user,
                                    .operation = "Register App Master",
                                    .ip = ipc_call_peer(call)->address,
                                    .target = "ApplicationMasterService",
                                    .app = att->app->id_str,
                                    .attempt = att->id_str });
    rm_attempt_post(att, RM_ATT_EV_REGISTERED, NULL);
    ipc_call_reply(call, &resp.base);
}

/* ---------------------------------------------------------------------- finish */

/* attempt->finish_answer: the final state is stored, or the attempt has ended otherwise. */
static void answer_finish(struct rm_attempt *att)
{
    FinishResponse resp = HADOOP__YARN__FINISH_APPLICATION_MASTER_RESPONSE_PROTO__INIT;

    resp.has_isunregistered = true;
    resp.isunregistered = rm_app_final_stored(att->app);
    ipc_call_reply(SV_TAKE(att->finish_call), &resp.base);
}

static void on_finishApplicationMaster(struct ipc_call *call, const ProtobufCMessage *request,
                                       void *userdata)
{
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);
    const FinishRequest *q = (const FinishRequest *)request;
    struct rm_attempt *att = rm_am_named(call, rm);
    FinishResponse resp = HADOOP__YARN__FINISH_APPLICATION_MASTER_RESPONSE_PROTO__INIT;

    resp.has_isunregistered = true;
    if (att && rm_app_final_stored(att->app)) { /* whatever ended it, its master may exit */
        resp.isunregistered = true;
        ipc_call_reply(call, &resp.base);
        return;
    }
    att = rm_am_caller(call, rm);
    if (!att)
        return;
    if (!att->registered) {
        ipc_call_fail(call, JAVA_AM_NOT_REGISTERED,
                      "Application Master is trying to unregister before registering for: %s",
                      att->app->id_str);
        return;
    }
    if (!rm_am_address_fits(call, att, "tracking URL", q->tracking_url))
        return;
    if (q->tracking_url)
        rm_set_text(&att->tracking_url, q->tracking_url);
    rm_audit_ok(&(struct rm_audit){ .user = att->app->user,
                                    .ip = ipc_call_peer(call)->address,
                                    .operation = "Unregister App Master",
                                    .target = "ApplicationMasterService",
                                    .app = att->app->id_str,
                                    .attempt = att->id_str });
    rm_attempt_post_unregistered(att, q->final_application_status, q->diagnostics);
    resp.isunregistered = att->app->unmanaged;
    if (resp.isunregistered || att->finish_call) { /* or another such call is pending */
        ipc_call_reply(call, &resp.base);
    } else {
        att->finish_call = call; /* answered when the final state is on disk */
        att->finish_answer = answer_finish;
    }
}

#define on_allocate rm_on_allocate /* am-allocate.c */
#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_APPLICATION_MASTER_METHODS(ROW) };
static const struct ipc_protocol protocol = {
    .name = YARN_APPLICATION_MASTER_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
};
const struct ipc_protocol *const rm_am_protocols[] = { &protocol, NULL };
