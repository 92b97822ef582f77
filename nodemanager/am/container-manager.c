/* See container-manager.h: the table of methods, and those of them that are not in a file of their
 * own. */
#include "nodemanager/am/container-manager.h"

#include <errno.h>
#include <string.h>

#include "common/identity/service-policy.h"
#include "common/log.h"
#include "nodemanager/am/cm-reply.h"
#include "nodemanager/am/list-calls.h"
#include "nodemanager/am/reinit-calls.h"
#include "nodemanager/am/start-containers.h"
#include "nodemanager/am/update-container.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/container-cleanup.h"
#include "wire/ipc/methods.h"

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
    if (nm_cm_authorize(&nmt, id, false, &err) < 0) {
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

/* ---- service authorization -------------------------------------------------------------------*/

/* The caller's name is that of an application attempt, which is in no group. */
int nm_cm_authorize_peer(void *userdata, const struct ipc_peer *peer, const char *protocol,
                         struct sv_error *err)
{
    const struct nm_am *am = userdata;
    const struct sv_policy_caller caller = { .user = peer->user,
                                             .method = ipc_peer_method(peer),
                                             .real_user = peer->real_user,
                                             .ip = &peer->ip };
    struct sv_error own = { 0 };
    int r = sv_policy_check(am->ctx->conf->policy, protocol, &caller, &own);

    if (r >= 0)
        return r;
    sv_log_warning("connection from %s refused: %s", peer->address, own.text);
    if (err)
        *err = own;
    return r;
}

/* ---- table
 * -------------------------------------------------------------------------------------*/

#define on_startContainers nm_cm_start_containers
#define on_stopContainers nm_cm_stop_containers
#define on_getContainerStatuses nm_cm_container_statuses
#define on_getLocalizationStatuses nm_cm_localization_statuses
#define on_increaseContainersResource nm_cm_increase_containers
#define on_updateContainer nm_cm_update_container
#define on_localize nm_cm_localize
#define on_reInitializeContainer nm_cm_reinitialize
#define on_restartContainer nm_cm_restart
#define on_rollbackLastReInitialization nm_cm_rollback
#define on_commitLastReInitialization nm_cm_commit
#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_CONTAINER_MANAGEMENT_METHODS(ROW) };

/* NMProxy repeats a call after a broken connection. These must not be executed twice: a start would
 * be refused as a relaunch, a signal sent again, a resource increased after it was decreased or
 * listed twice. */
static const char *const once[] = { "startContainers",
                                    "localize",
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
