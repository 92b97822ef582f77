/* See container-manager.h; startContainers is in container-start.c. */
#include "nodemanager/am/container-manager.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/am/container-manager-internal.h"
#include "nodemanager/am/container-update.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/nm.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/localization.h"
#include "wire/methods.h"

#define STOP "Stop Container Request"

/* ---- who asks -------------------------------------------------------------------------------*/

/* The NMToken that the caller has presented. */
int nm_cm_caller(struct ipc_call *call, struct yarn_nm_token *ret)
{
    const struct ipc_peer *p = ipc_call_peer(call);
    char attempt[YARN_ID_TEXT_MAX];
    struct sv_error err;

    if (!p->token || yarn_nm_token_decode(p->token_id, p->token_id_len, ret, &err) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Invalid NMToken");
        return -EACCES;
    }
    yarn_attempt_id_text(ret->attempt, attempt);
    if (strcmp(attempt, p->user) != 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Expected applicationAttemptId: %sFound: %s",
                      p->user, attempt);
        return -EACCES;
    }
    return 0;
}

void nm_cm_out_of_memory(struct ipc_call *call)
{
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "NodeManager: out of memory");
}

/* One row of a failed map. */
Hadoop__Yarn__ContainerExceptionMapProto *nm_cm_failed_row(struct sv_arena *a,
                                                           struct yarn_container_id id,
                                                           const char *java_class,
                                                           const char *message)
{
    Hadoop__Yarn__ContainerExceptionMapProto *m =
        sv_new(a, Hadoop__Yarn__ContainerExceptionMapProto);
    Hadoop__Yarn__SerializedExceptionProto *e = sv_new(a, Hadoop__Yarn__SerializedExceptionProto);

    if (!m || !e)
        return NULL;
    hadoop__yarn__container_exception_map_proto__init(m);
    hadoop__yarn__serialized_exception_proto__init(e);
    m->container_id = yarn_container_id_to(a, id);
    m->exception = e;
    e->message = sv_arena_strdup(a, message);
    e->trace = sv_arena_printf(a, "%s: %s\n", java_class, message);
    e->class_name = (char *)(uintptr_t)java_class;
    return m->container_id && e->message && e->trace ? m : NULL;
}

/* ---- stopContainers, getContainerStatuses ----------------------------------------------------*/

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

static int stop_one(struct nm *nm, struct ipc_call *call, const struct yarn_nm_token *nmt,
                    struct yarn_container_id id, const char **ret_class, struct sv_error *err)
{
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c;
    int r = authorize_container(nmt, id, true, err);

    *ret_class = JAVA_YARN_EXCEPTION;
    if (r < 0) {
        nm_audit_failure_id("UnknownUser", NULL, STOP, NM_CM_TARGET_FAILURE,
                            "Trying to stop unknown container!", id);
        return r;
    }
    c = nm_container_find(nm, yarn_container_id_text(id, text));
    if (!c) {
        if (nm_updater_recently_stopped(nm->updater, text))
            return 0;
        return sv_error_set(err, -ENOENT, "Container %s is not handled by this NodeManager", text);
    }
    if (c->recovering) {
        *ret_class = JAVA_NM_NOT_READY;
        return sv_error_set(err, -EAGAIN, "Container %s is recovering, try later", text);
    }
    nm_container_kill(c, YARN_EXIT_KILLED_BY_APPMASTER,
                      "Container killed by the ApplicationMaster.");
    nm_audit_success(ipc_call_peer(call)->user, ipc_call_peer(call)->address, STOP, NM_CM_TARGET,
                     c);
    return 0;
}

static void on_stopContainers(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    const Hadoop__Yarn__StopContainersRequestProto *q = (const void *)request;
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Yarn__StopContainersResponseProto m;
    struct yarn_nm_token nmt;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    hadoop__yarn__stop_containers_response_proto__init(&m);
    m.succeeded_requests = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, q->n_container_id + 1);
    m.failed_requests =
        sv_newn(a, Hadoop__Yarn__ContainerExceptionMapProto *, q->n_container_id + 1);
    if (!m.succeeded_requests || !m.failed_requests) {
        nm_cm_out_of_memory(call);
        return;
    }
    for (size_t i = 0; i < q->n_container_id; i++) {
        struct yarn_container_id id;
        struct sv_error err = { 0 };
        const char *class;

        if (yarn_container_id_from(q->container_id[i], &id) < 0) {
            ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Invalid ContainerId");
            return;
        }
        if (stop_one(u, call, &nmt, id, &class, &err) >= 0)
            m.succeeded_requests[m.n_succeeded_requests++] = q->container_id[i];
        else if (!(m.failed_requests[m.n_failed_requests++] =
                       nm_cm_failed_row(a, id, class, err.text))) {
            nm_cm_out_of_memory(call);
            return;
        }
    }
    ipc_call_reply(call, &m.base);
}

static int find_for_status(struct nm *nm, const struct yarn_nm_token *nmt,
                           struct yarn_container_id id, struct nm_container **ret,
                           struct sv_error *err)
{
    char text[YARN_ID_TEXT_MAX];
    int r = authorize_container(nmt, id, false, err);

    if (r < 0)
        return r;
    *ret = nm_container_find(nm, yarn_container_id_text(id, text));
    if (*ret)
        return 0;
    if (nm_updater_recently_stopped(nm->updater, text))
        return sv_error_set(err, -ENOENT, "Container %s was recently stopped on node manager.",
                            text);
    return sv_error_set(err, -ENOENT, "Container %s is not handled by this NodeManager", text);
}

static void on_getContainerStatuses(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    const Hadoop__Yarn__GetContainerStatusesRequestProto *q = (const void *)request;
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Yarn__GetContainerStatusesResponseProto m;
    struct yarn_nm_token nmt;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    hadoop__yarn__get_container_statuses_response_proto__init(&m);
    m.status = sv_newn(a, Hadoop__Yarn__ContainerStatusProto *, q->n_container_id + 1);
    m.failed_requests =
        sv_newn(a, Hadoop__Yarn__ContainerExceptionMapProto *, q->n_container_id + 1);
    if (!m.status || !m.failed_requests) {
        nm_cm_out_of_memory(call);
        return;
    }
    for (size_t i = 0; i < q->n_container_id; i++) {
        struct yarn_container_id id;
        struct nm_container *c;
        struct sv_error err = { 0 };
        bool ok;

        if (yarn_container_id_from(q->container_id[i], &id) < 0) {
            ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Invalid ContainerId");
            return;
        }
        if (find_for_status(u, &nmt, id, &c, &err) >= 0)
            ok = (m.status[m.n_status++] = nm_container_status(c, a)) != NULL;
        else
            ok = (m.failed_requests[m.n_failed_requests++] =
                      nm_cm_failed_row(a, id, JAVA_YARN_EXCEPTION, err.text)) != NULL;
        if (!ok) {
            nm_cm_out_of_memory(call);
            return;
        }
    }
    ipc_call_reply(call, &m.base);
}

static void on_getLocalizationStatuses(struct ipc_call *call, const ProtobufCMessage *request,
                                       void *u)
{
    const Hadoop__Yarn__GetLocalizationStatusesRequestProto *q = (const void *)request;
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Yarn__GetLocalizationStatusesResponseProto m;
    struct yarn_nm_token nmt;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    hadoop__yarn__get_localization_statuses_response_proto__init(&m);
    m.cntn_localization_statuses =
        sv_newn(a, Hadoop__Yarn__ContainerLocalizationStatusesProto *, q->n_container_id + 1);
    m.failed_requests =
        sv_newn(a, Hadoop__Yarn__ContainerExceptionMapProto *, q->n_container_id + 1);
    if (!m.cntn_localization_statuses || !m.failed_requests) {
        nm_cm_out_of_memory(call);
        return;
    }
    for (size_t i = 0; i < q->n_container_id; i++) {
        struct yarn_container_id id;
        struct nm_container *c;
        struct sv_error err = { 0 };
        bool ok;

        if (yarn_container_id_from(q->container_id[i], &id) < 0) {
            ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Invalid ContainerId");
            return;
        }
        if (find_for_status(u, &nmt, id, &c, &err) >= 0)
            ok = (m.cntn_localization_statuses[m.n_cntn_localization_statuses++] =
                      nm_localization_status(c, a)) != NULL;
        else
            ok = (m.failed_requests[m.n_failed_requests++] =
                      nm_cm_failed_row(a, id, JAVA_YARN_EXCEPTION, err.text)) != NULL;
        if (!ok) {
            nm_cm_out_of_memory(call);
            return;
        }
    }
    ipc_call_reply(call, &m.base);
}

/* ---- signalToContainer ----------------------------------------------------------------------*/

int nm_signal_of_command(int command)
{
    switch (command) {
    case HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__OUTPUT_THREAD_DUMP:
        return SIGQUIT;
    case HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__GRACEFUL_SHUTDOWN:
        return SIGTERM;
    case HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__FORCEFUL_SHUTDOWN:
        return SIGKILL;
    default:
        return 0;
    }
}

/* Hadoop does not ask whose container it is; here it must be the caller's application's. */
static void on_signalToContainer(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    const Hadoop__Yarn__SignalContainerRequestProto *q = (const void *)request;
    Hadoop__Yarn__SignalContainerResponseProto m;
    struct yarn_container_id id;
    struct yarn_nm_token nmt;
    struct nm_container *c;
    struct sv_error err = { 0 };
    int signal = nm_signal_of_command((int)q->command), r;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    if (yarn_container_id_from(q->container_id, &id) < 0 || signal == 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Invalid signal request");
        return;
    }
    if (find_for_status(u, &nmt, id, &c, &err) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s", err.text);
        return;
    }
    r = nm_launch_signal(c, signal);
    if (r < 0) /* as in Hadoop, no error for a container that does not run (yet) */
        sv_log(SV_LOG_WARNING, c->text, "Container %s not launched. Not sending the signal: %s",
               c->text, strerror(-r));
    hadoop__yarn__signal_container_response_proto__init(&m);
    ipc_call_reply(call, &m.base);
}

/* ---- what is not offered yet -----------------------------------------------------------------*/

static void not_offered(struct ipc_call *call, const char *what)
{
    struct yarn_nm_token nmt;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s is not supported by this NodeManager", what);
}

#define NOT_OFFERED(name)                                                                          \
    static void on_##name(struct ipc_call *call, const ProtobufCMessage *request, void *u)         \
    {                                                                                              \
        (void)request;                                                                             \
        (void)u;                                                                                   \
        not_offered(call, #name);                                                                  \
    }
NOT_OFFERED(localize)
NOT_OFFERED(reInitializeContainer)
NOT_OFFERED(restartContainer)
NOT_OFFERED(rollbackLastReInitialization)
NOT_OFFERED(commitLastReInitialization)

#define on_startContainers nm_cm_start_containers
#define on_increaseContainersResource nm_cm_increase_containers
#define on_updateContainer nm_cm_update_container
#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_CONTAINER_MANAGEMENT_METHODS(ROW) };

/* NMProxy repeats a call after a broken connection; these are not harmless twice: a start would be
 * refused as a relaunch, a signal sent again, a resource increased after it was decreased. */
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
};
