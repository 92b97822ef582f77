/* See client-service.h. Requests are hostile; without Kerberos a client's user is its claim, as in
 * every insecure Hadoop cluster. */
#include "router/client-service.h"

#include <errno.h>

#include "common/str.h"
#include "router/by-home.h"
#include "router/fan-out.h"
#include "router/new-application.h"
#include "router/submit.h"
#include "router/token-calls.h"
#include "wire/ipc/methods.h"

#define HANDLER(name)                                                                              \
    static void on_##name(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)

/* ---- By an application's home ---- */

/* Forwards to the home of the application; r < 0: the request names none. */
static void forward(struct rtr_call *x, int r, struct yarn_app_id app)
{
    if (r < 0)
        rtr_call_fail(x, JAVA_YARN_EXCEPTION, "%s: the request names no application", x->method);
    else
        rtr_by_home(x, app);
}

static int app_of_app(const Hadoop__Yarn__ApplicationIdProto *m, struct yarn_app_id *ret)
{
    return yarn_app_id_from(m, ret);
}

static int app_of_attempt(const Hadoop__Yarn__ApplicationAttemptIdProto *m, struct yarn_app_id *ret)
{
    struct yarn_attempt_id id;
    int r = yarn_attempt_id_from(m, &id);

    if (r >= 0)
        *ret = id.app;
    return r;
}

static int app_of_container(const Hadoop__Yarn__ContainerIdProto *m, struct yarn_app_id *ret)
{
    struct yarn_container_id id;
    int r = yarn_container_id_from(m, &id);

    if (r >= 0)
        *ret = id.attempt.app;
    return r;
}

/* Method, messages, the field that names the application, its kind. */
#define BY_HOME(X)                                                                                 \
    X(getApplicationReport, GetApplicationReport, get_application_report, application_id, app)     \
    X(forceKillApplication, KillApplication, kill_application, application_id, app)                \
    X(getApplicationAttemptReport, GetApplicationAttemptReport, get_application_attempt_report,    \
      application_attempt_id, attempt)                                                             \
    X(getApplicationAttempts, GetApplicationAttempts, get_application_attempts, application_id,    \
      app)                                                                                         \
    X(getContainerReport, GetContainerReport, get_container_report, container_id, container)       \
    X(getContainers, GetContainers, get_containers, application_attempt_id, attempt)
#define FORWARD(name, type, message, field, kind)                                                  \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const Hadoop__Yarn__##type##RequestProto *q =                                              \
            (const Hadoop__Yarn__##type##RequestProto *)request;                                   \
        struct rtr_call *x = rtr_call_new(userdata, call, request, #name,                          \
                                          &hadoop__yarn__##message##_response_proto__descriptor);  \
        struct yarn_app_id app = { 0 };                                                            \
                                                                                                   \
        if (x)                                                                                     \
            forward(x, app_of_##kind(q->field, &app), app);                                        \
    }
BY_HOME(FORWARD)

/* ---- New ones ---- */

HANDLER(getNewApplication)
{
    struct rtr_call *x =
        rtr_call_new(userdata, call, request, "getNewApplication",
                     &hadoop__yarn__get_new_application_response_proto__descriptor);

    if (x)
        rtr_new_application(x);
}

HANDLER(submitApplication)
{
    struct rtr_call *x = rtr_call_new(userdata, call, request, "submitApplication",
                                      &hadoop__yarn__submit_application_response_proto__descriptor);

    if (x)
        rtr_submit_application(x);
}

/* ---- All members ---- */

static int64_t apps_limit(const ProtobufCMessage *request)
{
    const Hadoop__Yarn__GetApplicationsRequestProto *q =
        (const Hadoop__Yarn__GetApplicationsRequestProto *)request;

    return q->has_limit && q->limit >= 0 ? q->limit : INT64_MAX;
}

static const char *queue_member(const ProtobufCMessage *request)
{
    const Hadoop__Yarn__GetQueueInfoRequestProto *q =
        (const Hadoop__Yarn__GetQueueInfoRequestProto *)request;

    return q->subclusterid && *q->subclusterid ? q->subclusterid : NULL;
}

#define ALL_MEMBERS(X)                                                                             \
    X(getApplications, get_applications, .list = RTR_LIST_APPS, .limit = apps_limit)               \
    X(getClusterNodes, get_cluster_nodes, .list = RTR_LIST_NODES)                                  \
    X(getClusterMetrics, get_cluster_metrics, .merge = rtr_merge_metrics)                          \
    X(getQueueInfo, get_queue_info, .merge = rtr_merge_queue, .only = queue_member)                \
    X(getQueueUserAcls, get_queue_user_acls_info, .merge = rtr_merge_acls)                         \
    X(getResourceTypeInfo, get_all_resource_type_info, .merge = rtr_merge_types)                   \
    X(getResourceProfiles, get_all_resource_profiles, .merge = rtr_merge_profiles)                 \
    X(getResourceProfile, get_resource_profile, .merge = rtr_merge_profile)
#define FAN_OUT(name, message, ...)                                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        static const struct rtr_fan_kind kind = { __VA_ARGS__ };                                   \
        struct rtr_call *x = rtr_call_new(userdata, call, request, #name,                          \
                                          &hadoop__yarn__##message##_response_proto__descriptor);  \
                                                                                                   \
        if (x)                                                                                     \
            rtr_fan_out(x, &kind);                                                                 \
    }
ALL_MEMBERS(FAN_OUT)

/* ---- Not there yet ---- */

#define NOT_ROUTED(X)                                                                              \
    X(failApplicationAttempt)                                                                      \
    X(moveApplicationAcrossQueues)                                                                 \
    X(getNewReservation)                                                                           \
    X(submitReservation)                                                                           \
    X(updateReservation)                                                                           \
    X(deleteReservation)                                                                           \
    X(listReservations)                                                                            \
    X(getNodeToLabels)                                                                             \
    X(getLabelsToNodes)                                                                            \
    X(getClusterNodeLabels)                                                                        \
    X(updateApplicationPriority)                                                                   \
    X(signalToContainer)                                                                           \
    X(updateApplicationTimeouts)                                                                   \
    X(getClusterNodeAttributes)                                                                    \
    X(getAttributesToNodes)                                                                        \
    X(getNodesToAttributes)
#define REFUSE(name)                                                                               \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        (void)request;                                                                             \
        (void)userdata;                                                                            \
        ipc_call_fail(call, JAVA_YARN_EXCEPTION,                                                   \
                      #name " is not routed by this Router; call a sub-cluster's "                 \
                            "ResourceManager (selvedge federation members lists them)");           \
    }
#define OFF_ROW(name) { #name, true, "not routed yet: call a member's ResourceManager" },
NOT_ROUTED(REFUSE)
static const struct ipc_method_off off[] = { NOT_ROUTED(OFF_ROW){ 0 } };

#define on_getDelegationToken rtr_on_getDelegationToken
#define on_renewDelegationToken rtr_on_renewDelegationToken
#define on_cancelDelegationToken rtr_on_cancelDelegationToken
#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_APPLICATION_CLIENT_METHODS(ROW) };
static const struct ipc_protocol protocol = {
    .name = YARN_APPLICATION_CLIENT_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
    .off = off,
};
const struct ipc_protocol *const rtr_protocols[] = { &protocol, NULL };
