/* ClientRMService (8032): submission and control of applications, the table of all methods. A
 * client's user is its claim (SIMPLE), as in every insecure Hadoop cluster, or the owner of its
 * delegation token.
 * Requests are hostile. */
#include "rm-lite/client/client-rm-service.h"

#include "common/str.h"
#include "rm-lite/client/application-reports.h"
#include "rm-lite/client/cluster-reports.h"
#include "rm-lite/client/delegation-calls.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/app-control.h"
#include "rm-lite/requests/client-call.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/requests/rm-app-manager.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/security/queue-access.h"
#include "rm-lite/store/store.h"

/* ----------------------------------------------------------- submission and control */

static void on_getNewApplication(struct ipc_call *call, const ProtobufCMessage *request,
                                 void *userdata)
{
    struct rm *rm = userdata;
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    Hadoop__Yarn__GetNewApplicationResponseProto resp =
        HADOOP__YARN__GET_NEW_APPLICATION_RESPONSE_PROTO__INIT;
    struct yarn_app_id id = { .cluster_ts = rm->started_ms, .id = rm->last_app + 1 };

    (void)request;
    rm_queue_access_prepare(rm, rm_client_user(call));
    if (!a) {
        rm_answer_no_memory(call);
        return;
    }
    resp.application_id = yarn_app_id_to(a, id);
    resp.maximumcapability = rm_res_to(a, rm_sched_max_allocation(rm->sched, NULL));
    if (!resp.application_id || !resp.maximumcapability) {
        rm_answer_no_memory(call);
        return;
    }
    rm->last_app++;
    ipc_call_reply(call, &resp.base);
}

static void on_submitApplication(struct ipc_call *call, const ProtobufCMessage *request,
                                 void *userdata)
{
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);
    const Hadoop__Yarn__SubmitApplicationRequestProto *q =
        (const Hadoop__Yarn__SubmitApplicationRequestProto *)request;
    Hadoop__Yarn__SubmitApplicationResponseProto resp =
        HADOOP__YARN__SUBMIT_APPLICATION_RESPONSE_PROTO__INIT;
    struct rm_audit audit = { .user = rm_client_user(call),
                              .ip = ipc_call_peer(call)->address,
                              .operation = "Submit Application Request",
                              .target = "ClientRMService" };
    struct sv_error err = { 0 };
    const char *class;
    char text[YARN_ID_TEXT_MAX];
    struct yarn_app_id id;
    int r =
        rm_app_submit(rm, q->application_submission_context, rm_client_user(call), &class, &err);

    if (q->application_submission_context &&
        yarn_app_id_from(q->application_submission_context->application_id, &id) >= 0) {
        audit.app = yarn_app_id_text(id, text);
        audit.queue = q->application_submission_context->queue;
    }
    if (r < 0) {
        audit.description = err.text;
        rm_audit_fail(&audit);
        ipc_call_fail(call, class, "%s", err.text);
        return;
    }
    rm_audit_ok(&audit);
    ipc_call_reply(call, &resp.base); /* the client polls until it has been stored */
}

static void on_forceKillApplication(struct ipc_call *call, const ProtobufCMessage *request,
                                    void *userdata)
{
    struct rm *rm = userdata;
    const Hadoop__Yarn__KillApplicationRequestProto *q =
        (const Hadoop__Yarn__KillApplicationRequestProto *)request;
    Hadoop__Yarn__KillApplicationResponseProto resp =
        HADOOP__YARN__KILL_APPLICATION_RESPONSE_PROTO__INIT;
    const struct ipc_peer *peer = ipc_call_peer(call);
    struct yarn_app_id id;
    struct rm_app *app;
    char text[YARN_ID_TEXT_MAX];
    int r;

    if (yarn_app_id_from(q->application_id, &id) < 0 || !(app = rm_app_find(rm, id))) {
        rm_audit_fail(&(struct rm_audit){ .user = rm_client_user(call),
                                          .ip = peer->address,
                                          .operation = "Kill Application Request",
                                          .target = "ClientRMService",
                                          .description = "Trying to kill an absent application" });
        ipc_call_fail(call, JAVA_APP_NOT_FOUND, "Trying to kill an absent application %s",
                      q->application_id ? yarn_app_id_text(id, text) : "null");
        return;
    }
    if (!rm_client_may_modify(call, request, on_forceKillApplication, app,
                              "Kill Application Request"))
        return;
    r = rm_control_kill(app,
                        &(struct rm_caller){ .user = rm_client_user(call),
                                             .ip = peer->address,
                                             .target = "ClientRMService" },
                        q->diagnostics);
    if (r < 0) {
        rm_answer_no_memory(call);
        return;
    }
    resp.has_is_kill_completed = true;
    resp.is_kill_completed = r > 0;
    ipc_call_reply(call, &resp.base);
}

static void on_failApplicationAttempt(struct ipc_call *call, const ProtobufCMessage *request,
                                      void *userdata)
{
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);
    const Hadoop__Yarn__FailApplicationAttemptRequestProto *q =
        (const Hadoop__Yarn__FailApplicationAttemptRequestProto *)request;
    Hadoop__Yarn__FailApplicationAttemptResponseProto resp =
        HADOOP__YARN__FAIL_APPLICATION_ATTEMPT_RESPONSE_PROTO__INIT;
    struct rm_attempt *att = rm_client_attempt(call, rm, q->application_attempt_id);

    if (!att || !rm_client_may_modify(call, request, on_failApplicationAttempt, att->app,
                                      "Fail Attempt Request"))
        return;
    rm_attempt_post(att, RM_ATT_EV_FAIL, "Attempt failed by user.");
    ipc_call_reply(call, &resp.base);
}

static void on_updateApplicationPriority(struct ipc_call *call, const ProtobufCMessage *request,
                                         void *userdata)
{
    const Hadoop__Yarn__UpdateApplicationPriorityRequestProto *q =
        (const Hadoop__Yarn__UpdateApplicationPriorityRequestProto *)request;
    Hadoop__Yarn__UpdateApplicationPriorityResponseProto resp =
        HADOOP__YARN__UPDATE_APPLICATION_PRIORITY_RESPONSE_PROTO__INIT;
    struct rm_app *app = rm_client_app(call, userdata, q->applicationid);

    if (!app || !rm_client_may_modify(call, request, on_updateApplicationPriority, app,
                                      "Update Application Priority"))
        return;
    resp.applicationpriority = rm_priority_to(
        ipc_call_arena(call), rm_control_priority(app, q->applicationpriority->priority));
    ipc_call_reply(call, &resp.base);
}

/* ------------------------------------------- features that are off: Hadoop's errors */

#define ON(name)                                                                                   \
    static void on_##name(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
#define NO_PROFILES                                                                                \
    "Resource profile is not enabled, please enable resource profile feature before using its "    \
    "functions. (by setting yarn.resourcemanager.resource-profiles.enabled to true)"
#define NO_RESERVATIONS "Reservation is not enabled. Please enable & try again"

/* The lists generate the handlers and their part of docs/compat.md. */
#define REFUSED_METHODS(X)                                                                         \
    X(getResourceProfiles, JAVA_FEATURE_NOT_ENABLED, NO_PROFILES, "resource profiles")             \
    X(getResourceProfile, JAVA_FEATURE_NOT_ENABLED, NO_PROFILES, "resource profiles")              \
    X(getNewReservation, JAVA_YARN_EXCEPTION, NO_RESERVATIONS, "reservations")                     \
    X(submitReservation, JAVA_YARN_EXCEPTION, NO_RESERVATIONS, "reservations")                     \
    X(updateReservation, JAVA_YARN_EXCEPTION, NO_RESERVATIONS, "reservations")                     \
    X(deleteReservation, JAVA_YARN_EXCEPTION, NO_RESERVATIONS, "reservations")                     \
    X(listReservations, JAVA_YARN_EXCEPTION, NO_RESERVATIONS, "reservations")
#define EMPTY_METHODS(X)                                                                           \
    X(getNodeToLabels, GetNodesToLabelsResponseProto,                                              \
      HADOOP__YARN__GET_NODES_TO_LABELS_RESPONSE_PROTO__INIT, "node labels")                       \
    X(getLabelsToNodes, GetLabelsToNodesResponseProto,                                             \
      HADOOP__YARN__GET_LABELS_TO_NODES_RESPONSE_PROTO__INIT, "node labels")                       \
    X(getClusterNodeLabels, GetClusterNodeLabelsResponseProto,                                     \
      HADOOP__YARN__GET_CLUSTER_NODE_LABELS_RESPONSE_PROTO__INIT, "node labels")                   \
    X(getClusterNodeAttributes, GetClusterNodeAttributesResponseProto,                             \
      HADOOP__YARN__GET_CLUSTER_NODE_ATTRIBUTES_RESPONSE_PROTO__INIT, "node attributes")           \
    X(getAttributesToNodes, GetAttributesToNodesResponseProto,                                     \
      HADOOP__YARN__GET_ATTRIBUTES_TO_NODES_RESPONSE_PROTO__INIT, "node attributes")               \
    X(getNodesToAttributes, GetNodesToAttributesResponseProto,                                     \
      HADOOP__YARN__GET_NODES_TO_ATTRIBUTES_RESPONSE_PROTO__INIT, "node attributes")

#define REFUSED(name, class, text, feature)                                                        \
    ON(name)                                                                                       \
    {                                                                                              \
        (void)request;                                                                             \
        (void)userdata;                                                                            \
        ipc_call_fail(call, class, text);                                                          \
    }
#define EMPTY(name, type, INIT, feature)                                                           \
    ON(name)                                                                                       \
    {                                                                                              \
        Hadoop__Yarn__##type resp = INIT;                                                          \
        (void)request;                                                                             \
        (void)userdata;                                                                            \
        ipc_call_reply(call, &resp.base);                                                          \
    }
#define REFUSED_ROW(name, class, text, feature) { #name, true, feature " are not supported" },
#define EMPTY_ROW(name, type, INIT, feature) { #name, false, feature " are not supported: none" },

REFUSED_METHODS(REFUSED)
EMPTY_METHODS(EMPTY)
static const struct ipc_method_off off[] = { REFUSED_METHODS(REFUSED_ROW)
                                                 EMPTY_METHODS(EMPTY_ROW){ 0 } };

/* --------------------------------------------------------------------- and others */

ON(moveApplicationAcrossQueues)
{
    const Hadoop__Yarn__MoveApplicationAcrossQueuesRequestProto *q =
        (const Hadoop__Yarn__MoveApplicationAcrossQueuesRequestProto *)request;
    Hadoop__Yarn__MoveApplicationAcrossQueuesResponseProto resp =
        HADOOP__YARN__MOVE_APPLICATION_ACROSS_QUEUES_RESPONSE_PROTO__INIT;
    struct rm_app *app = rm_client_app(call, userdata, q->application_id);
    struct sv_error err = { 0 };

    if (!app || !rm_client_may_modify(call, request, on_moveApplicationAcrossQueues, app,
                                      "Move Application Request"))
        return;
    if (rm_control_move(app,
                        &(struct rm_caller){ .user = rm_client_user(call),
                                             .ip = ipc_call_peer(call)->address,
                                             .target = "ClientRMService" },
                        q->target_queue, &err) < 0)
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s", err.text);
    else
        ipc_call_reply(call, &resp.base);
}

ON(updateApplicationTimeouts)
{
    const Hadoop__Yarn__UpdateApplicationTimeoutsRequestProto *q =
        (const Hadoop__Yarn__UpdateApplicationTimeoutsRequestProto *)request;
    Hadoop__Yarn__UpdateApplicationTimeoutsResponseProto resp =
        HADOOP__YARN__UPDATE_APPLICATION_TIMEOUTS_RESPONSE_PROTO__INIT;
    struct rm_app *app = rm_client_app(call, userdata, q->applicationid);
    struct sv_error err = { 0 };
    const char *class;

    if (!app || !rm_client_may_modify(call, request, on_updateApplicationTimeouts, app,
                                      "Update Application Timeouts"))
        return;
    if (rm_control_lifetime(
            app, q->n_application_timeouts ? q->application_timeouts[0]->expire_time : NULL, &class,
            &err) < 0) {
        ipc_call_fail(call, class, "%s", err.text);
        return;
    }
    resp.n_application_timeouts = q->n_application_timeouts;
    resp.application_timeouts = q->application_timeouts;
    ipc_call_reply(call, &resp.base);
}

ON(signalToContainer)
{
    const Hadoop__Yarn__SignalContainerRequestProto *q =
        (const Hadoop__Yarn__SignalContainerRequestProto *)request;
    Hadoop__Yarn__SignalContainerResponseProto resp =
        HADOOP__YARN__SIGNAL_CONTAINER_RESPONSE_PROTO__INIT;
    struct rm *rm = userdata;
    struct yarn_container_id id;
    struct rm_container *c = NULL;
    char text[YARN_ID_TEXT_MAX];

    if (yarn_container_id_from(q->container_id, &id) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Invalid container id: null");
        return;
    }
    c = rm_container_find(rm, id);
    if (c && !rm_client_may_modify(call, request, on_signalToContainer, c->app,
                                   "Signal Container Request"))
        return;
    if (!c || c->finish_ms || !c->node)
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Trying to signal an absent container %s",
                      yarn_container_id_text(id, text));
    else if (rm_node_signal_container(c->node, id, (int)q->command) < 0)
        ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                      "%s: its node has not yet taken %d other signals; try again later",
                      yarn_container_id_text(id, text), RM_NODE_SIGNALS_MAX);
    else
        ipc_call_reply(call, &resp.base);
}

ON(getResourceTypeInfo)
{
    Hadoop__Yarn__GetAllResourceTypeInfoResponseProto resp =
        HADOOP__YARN__GET_ALL_RESOURCE_TYPE_INFO_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    resp.resource_type_info = rm_resource_types(ipc_call_arena(call), &resp.n_resource_type_info);
    if (resp.resource_type_info)
        ipc_call_reply(call, &resp.base);
    else
        rm_answer_no_memory(call);
}

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
/* application-reports.c */
#define on_getApplicationReport rm_on_getApplicationReport
#define on_getApplications rm_on_getApplications
#define on_getApplicationAttemptReport rm_on_getApplicationAttemptReport
#define on_getApplicationAttempts rm_on_getApplicationAttempts
#define on_getContainerReport rm_on_getContainerReport
#define on_getContainers rm_on_getContainers
/* cluster-reports.c */
#define on_getClusterMetrics rm_on_getClusterMetrics
#define on_getClusterNodes rm_on_getClusterNodes
#define on_getQueueInfo rm_on_getQueueInfo
#define on_getQueueUserAcls rm_on_getQueueUserAcls
/* delegation-calls.c */
#define on_getDelegationToken rm_on_getDelegationToken
#define on_renewDelegationToken rm_on_renewDelegationToken
#define on_cancelDelegationToken rm_on_cancelDelegationToken
static const struct ipc_method methods[] = { YARN_APPLICATION_CLIENT_METHODS(ROW) };
static const struct ipc_protocol protocol = {
    .name = YARN_APPLICATION_CLIENT_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
    .off = off,
};
const struct ipc_protocol *const rm_client_protocols[] = { &protocol, NULL };
