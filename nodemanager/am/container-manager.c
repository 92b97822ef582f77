/* See container-manager.h: the table of methods, and those of them that are not in a file of their
 * own. */
#include "nodemanager/am/container-manager.h"

#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "nodemanager/am/cm-reply.h"
#include "nodemanager/am/start-containers.h"
#include "nodemanager/am/update-container.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container-status.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/recently-stopped.h"
#include "nodemanager/launch/container-cleanup.h"
#include "nodemanager/services/localization.h"
#include "wire/ipc/methods.h"

#define STOP "Stop Container Request"

static int authorize_container(const struct yarn_nm_token *nmt, struct yarn_container_id id,
                               bool stop, struct sv_error *err)
{
    char a[YARN_ID_TEXT_MAX], c[YARN_ID_TEXT_MAX];

    if (yarn_app_id_cmp(nmt->attempt.app, id.attempt.app) == 0)
        return 0;
    return sv_error_set(err, -EACCES, "%s attempted to %s non-application container : %s",
                        yarn_attempt_id_text(nmt->attempt, a), stop ? "stop" : "get status for",
                        yarn_container_id_text(id, c));
}

/* ---- stopContainers, getContainerStatuses, getLocalizationStatuses ----------------------------*/

struct list_call { /* a call with a list of containers */
    const struct nm_am *am;
    struct ipc_call *call;
    struct yarn_nm_token nmt;
    void *response; /* of the method */
    Hadoop__Yarn__ContainerExceptionMapProto **failed;
    size_t n_failed;
};

/* Adds a row to the response. -ENOMEM ends the call; another negative code adds a row of *ret_class
 * and err to the failures. */
typedef int (*container_fn)(struct list_call *l, Hadoop__Yarn__ContainerIdProto *m,
                            struct yarn_container_id id, const char **ret_class,
                            struct sv_error *err);

/* Negative: the call is finished. */
static int open_list_call(struct list_call *l, const struct nm_am *am, struct ipc_call *call,
                          size_t n)
{
    *l = (struct list_call){ .am = am, .call = call };
    if (nm_cm_caller(call, &l->nmt) < 0)
        return -EACCES;
    l->failed = sv_newn(ipc_call_arena(call), Hadoop__Yarn__ContainerExceptionMapProto *, n + 1);
    if (l->failed)
        return 0;
    nm_cm_out_of_memory(call);
    return -ENOMEM;
}

/* Negative: the call is finished. */
static int for_each_container(struct list_call *l, Hadoop__Yarn__ContainerIdProto **ids, size_t n,
                              container_fn fn)
{
    for (size_t i = 0; i < n; i++) {
        const char *class = JAVA_YARN_EXCEPTION;
        struct sv_error err = { 0 };
        struct yarn_container_id id;
        int r;

        if (yarn_container_id_from(ids[i], &id) < 0) {
            ipc_call_fail(l->call, JAVA_YARN_EXCEPTION, "Invalid ContainerId");
            return -EINVAL;
        }
        r = fn(l, ids[i], id, &class, &err);
        if (r >= 0)
            continue;
        if (r != -ENOMEM)
            l->failed[l->n_failed] = nm_cm_failed_row(ipc_call_arena(l->call), id, class, err.text);
        if (r == -ENOMEM || !l->failed[l->n_failed++]) {
            nm_cm_out_of_memory(l->call);
            return -ENOMEM;
        }
    }
    return 0;
}

static int stop_one(struct list_call *l, Hadoop__Yarn__ContainerIdProto *m,
                    struct yarn_container_id id, const char **ret_class, struct sv_error *err)
{
    Hadoop__Yarn__StopContainersResponseProto *response = l->response;
    const struct ipc_peer *peer = ipc_call_peer(l->call);
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c;
    int r = authorize_container(&l->nmt, id, true, err);

    if (r < 0) {
        nm_audit_failure_id("UnknownUser", NULL, STOP, NM_CM_TARGET_FAILURE,
                            "Trying to stop unknown container!", id);
        return r;
    }
    c = nm_container_find(l->am->ctx, yarn_container_id_text(id, text));
    if (!c && !nm_stopped_has(l->am->ctx->stopped, text))
        return sv_error_set(err, -ENOENT, "Container %s is not handled by this NodeManager", text);
    if (c && c->recovering) {
        *ret_class = JAVA_NM_NOT_READY;
        return sv_error_set(err, -EAGAIN, "Container %s is recovering, try later", text);
    }
    if (c) {
        nm_container_kill(c, YARN_EXIT_KILLED_BY_APPMASTER,
                          "Container killed by the ApplicationMaster.");
        nm_audit_success(peer->user, peer->address, STOP, NM_CM_TARGET, c);
    }
    response->succeeded_requests[response->n_succeeded_requests++] = m;
    return 0;
}

static void on_stopContainers(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    const Hadoop__Yarn__StopContainersRequestProto *q = (const void *)request;
    Hadoop__Yarn__StopContainersResponseProto m;
    struct list_call l;

    if (open_list_call(&l, u, call, q->n_container_id) < 0)
        return;
    hadoop__yarn__stop_containers_response_proto__init(&m);
    m.succeeded_requests =
        sv_newn(ipc_call_arena(call), Hadoop__Yarn__ContainerIdProto *, q->n_container_id + 1);
    if (!m.succeeded_requests) {
        nm_cm_out_of_memory(call);
        return;
    }
    l.response = &m;
    if (for_each_container(&l, q->container_id, q->n_container_id, stop_one) < 0)
        return;
    m.failed_requests = l.failed;
    m.n_failed_requests = l.n_failed;
    ipc_call_reply(call, &m.base);
}

static int find_for_status(const struct nm_context *ctx, const struct yarn_nm_token *nmt,
                           struct yarn_container_id id, struct nm_container **ret,
                           struct sv_error *err)
{
    char text[YARN_ID_TEXT_MAX];
    int r = authorize_container(nmt, id, false, err);

    if (r < 0)
        return r;
    *ret = nm_container_find(ctx, yarn_container_id_text(id, text));
    if (*ret)
        return 0;
    if (nm_stopped_has(ctx->stopped, text))
        return sv_error_set(err, -ENOENT, "Container %s was recently stopped on node manager.",
                            text);
    return sv_error_set(err, -ENOENT, "Container %s is not handled by this NodeManager", text);
}

static int status_of(struct list_call *l, Hadoop__Yarn__ContainerIdProto *m,
                     struct yarn_container_id id, const char **ret_class, struct sv_error *err)
{
    Hadoop__Yarn__GetContainerStatusesResponseProto *response = l->response;
    struct nm_container *c;
    int r = find_for_status(l->am->ctx, &l->nmt, id, &c, err);

    (void)m;
    (void)ret_class;
    if (r < 0)
        return r;
    response->status[response->n_status] = nm_container_status(c, ipc_call_arena(l->call));
    return response->status[response->n_status++] ? 0 : -ENOMEM;
}

static void on_getContainerStatuses(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    const Hadoop__Yarn__GetContainerStatusesRequestProto *q = (const void *)request;
    Hadoop__Yarn__GetContainerStatusesResponseProto m;
    struct list_call l;

    if (open_list_call(&l, u, call, q->n_container_id) < 0)
        return;
    hadoop__yarn__get_container_statuses_response_proto__init(&m);
    m.status =
        sv_newn(ipc_call_arena(call), Hadoop__Yarn__ContainerStatusProto *, q->n_container_id + 1);
    if (!m.status) {
        nm_cm_out_of_memory(call);
        return;
    }
    l.response = &m;
    if (for_each_container(&l, q->container_id, q->n_container_id, status_of) < 0)
        return;
    m.failed_requests = l.failed;
    m.n_failed_requests = l.n_failed;
    ipc_call_reply(call, &m.base);
}

static int localization_of(struct list_call *l, Hadoop__Yarn__ContainerIdProto *m,
                           struct yarn_container_id id, const char **ret_class,
                           struct sv_error *err)
{
    Hadoop__Yarn__GetLocalizationStatusesResponseProto *response = l->response;
    Hadoop__Yarn__ContainerLocalizationStatusesProto *row;
    struct nm_container *c;
    int r = find_for_status(l->am->ctx, &l->nmt, id, &c, err);

    (void)m;
    (void)ret_class;
    if (r < 0)
        return r;
    row = nm_localization_status(c, ipc_call_arena(l->call));
    response->cntn_localization_statuses[response->n_cntn_localization_statuses++] = row;
    return row ? 0 : -ENOMEM;
}

static void on_getLocalizationStatuses(struct ipc_call *call, const ProtobufCMessage *request,
                                       void *u)
{
    const Hadoop__Yarn__GetLocalizationStatusesRequestProto *q = (const void *)request;
    Hadoop__Yarn__GetLocalizationStatusesResponseProto m;
    struct list_call l;

    if (open_list_call(&l, u, call, q->n_container_id) < 0)
        return;
    hadoop__yarn__get_localization_statuses_response_proto__init(&m);
    m.cntn_localization_statuses =
        sv_newn(ipc_call_arena(call), Hadoop__Yarn__ContainerLocalizationStatusesProto *,
                q->n_container_id + 1);
    if (!m.cntn_localization_statuses) {
        nm_cm_out_of_memory(call);
        return;
    }
    l.response = &m;
    if (for_each_container(&l, q->container_id, q->n_container_id, localization_of) < 0)
        return;
    m.failed_requests = l.failed;
    m.n_failed_requests = l.n_failed;
    ipc_call_reply(call, &m.base);
}

/* ---- signalToContainer ----------------------------------------------------------------------*/

/* Hadoop does not check the owner of the container; here it must belong to the application of the
 * caller. */
static void on_signalToContainer(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    const Hadoop__Yarn__SignalContainerRequestProto *q = (const void *)request;
    Hadoop__Yarn__SignalContainerResponseProto m;
    struct yarn_container_id id;
    struct yarn_nm_token nmt;
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c;
    struct sv_error err = { 0 };
    int signal = nm_cleanup_signal_number((int)q->command), r;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    if (yarn_container_id_from(q->container_id, &id) < 0 || signal == 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Invalid signal request");
        return;
    }
    if (authorize_container(&nmt, id, false, &err) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s", err.text);
        return;
    }
    /* As in Hadoop, no error for a container that has not started or has ended. */
    c = nm_container_find(((const struct nm_am *)u)->ctx, yarn_container_id_text(id, text));
    if (!c)
        sv_log(SV_LOG_INFO, text, "Container %s no longer exists. Not sending the signal", text);
    r = c ? nm_cleanup_signal(c, signal) : 0;
    if (r < 0)
        sv_log(SV_LOG_WARNING, text, "Container %s not launched. Not sending the signal: %s", text,
               strerror(-r));
    hadoop__yarn__signal_container_response_proto__init(&m);
    ipc_call_reply(call, &m.base);
}

/* ---- methods without support
 * -------------------------------------------------------------------*/

static void not_offered(struct ipc_call *call, const char *what)
{
    struct yarn_nm_token nmt;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s is not supported by this NodeManager", what);
}

#define OFF_METHODS(X)                                                                             \
    X(localize)                                                                                    \
    X(reInitializeContainer)                                                                       \
    X(restartContainer)                                                                            \
    X(rollbackLastReInitialization)                                                                \
    X(commitLastReInitialization)
#define OFF(name)                                                                                  \
    static void on_##name(struct ipc_call *call, const ProtobufCMessage *request, void *u)         \
    {                                                                                              \
        (void)request;                                                                             \
        (void)u;                                                                                   \
        not_offered(call, #name);                                                                  \
    }
#define OFF_ROW(name) { #name, true, "containers keep their launch context" },
OFF_METHODS(OFF)
static const struct ipc_method_off off[] = { OFF_METHODS(OFF_ROW){ 0 } };

#define on_startContainers nm_cm_start_containers
#define on_increaseContainersResource nm_cm_increase_containers
#define on_updateContainer nm_cm_update_container
#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_CONTAINER_MANAGEMENT_METHODS(ROW) };

/* NMProxy repeats a call after a broken connection. These must not be executed twice: a start would
 * be refused as a relaunch, a signal sent again, a resource increased after it was decreased. */
static const char *const once[] = { "startContainers",
                                    "signalToContainer",
                                    "increaseContainersResource",
                                    "updateContainer",
                                    "reInitializeContainer",
                                    "restartContainer",
                                    "rollbackLastReInitialization",
                                    "commitLastReInitialization",
                                    NULL };

const struct ipc_protocol nm_container_management = {
    .name = YARN_CONTAINER_MANAGEMENT_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
    .once = once,
    .off = off,
};
