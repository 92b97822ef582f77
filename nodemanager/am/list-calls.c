/* See list-calls.h. Hostile: every holder of an NMToken, who may name any containers. */
#include "nodemanager/am/list-calls.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "nodemanager/am/call-turns.h"
#include "nodemanager/am/cm-reply.h"
#include "nodemanager/am/container-manager.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container-status.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/recently-stopped.h"
#include "nodemanager/services/localization.h"

#define STOP "Stop Container Request"

int nm_cm_authorize(const struct yarn_nm_token *nmt, struct yarn_container_id id, bool stop,
                    struct sv_error *err)
{
    char a[YARN_ID_TEXT_MAX], c[YARN_ID_TEXT_MAX];

    if (yarn_app_id_cmp(nmt->attempt.app, id.attempt.app) == 0)
        return 0;
    return sv_error_set(err, -EACCES, "%s attempted to %s non-application container : %s",
                        yarn_attempt_id_text(nmt->attempt, a), stop ? "stop" : "get status for",
                        yarn_container_id_text(id, c));
}

/* ---- A call, in the arena of its ipc_call ---- */

struct list_call;

/* Adds a row to the answer. -ENOMEM ends the call; another negative code adds a row of *ret_class
 * and err to the failures. */
typedef int (*container_fn)(struct list_call *l, Hadoop__Yarn__ContainerIdProto *m,
                            struct yarn_container_id id, const char **ret_class,
                            struct sv_error *err);

/* A method: its answer, and where in it the rows and the failures are. */
struct list_kind {
    container_fn container;
    bool records; /* rows write to the store: the answer waits for that */
    const ProtobufCMessageDescriptor *answer;
    size_t rows, failed, n_failed;
};

#define LIST_KIND(fn, writes, Type, name, list)                                                    \
    {                                                                                              \
        .container = fn, .records = writes, .answer = &hadoop__yarn__##name##__descriptor,         \
        .rows = offsetof(Hadoop__Yarn__##Type, list),                                              \
        .failed = offsetof(Hadoop__Yarn__##Type, failed_requests),                                 \
        .n_failed = offsetof(Hadoop__Yarn__##Type, n_failed_requests)                              \
    }

struct list_call {
    struct nm_call rows; /* first */
    const struct nm_am *am;
    struct ipc_call *call;
    struct yarn_nm_token nmt;
    Hadoop__Yarn__ContainerIdProto **ids;
    const struct list_kind *kind;
    union {
        ProtobufCMessage base;
        Hadoop__Yarn__StopContainersResponseProto stop;
        Hadoop__Yarn__GetContainerStatusesResponseProto statuses;
        Hadoop__Yarn__GetLocalizationStatusesResponseProto localizations;
    } answer;
    Hadoop__Yarn__ContainerExceptionMapProto **failed;
    size_t n_failed;
    struct nm_audit_refused refused;
};

static int add_failed(struct list_call *l, Hadoop__Yarn__ContainerIdProto *m, const char *class,
                      const struct sv_error *err)
{
    l->failed[l->n_failed] = nm_cm_failed_id(ipc_call_arena(l->call), m, class, err->text);
    return l->failed[l->n_failed++] ? 0 : -ENOMEM;
}

static int on_row(struct nm_call *rows)
{
    struct list_call *l = (struct list_call *)rows;
    Hadoop__Yarn__ContainerIdProto *m = l->ids[rows->at];
    const char *class = JAVA_YARN_EXCEPTION;
    struct sv_error err = { 0 };
    struct yarn_container_id id;
    int r;

    if (yarn_container_id_from(m, &id) < 0)
        return -EINVAL;
    r = l->kind->container(l, m, id, &class, &err);
    return r >= 0 || r == -ENOMEM ? r : add_failed(l, m, class, &err);
}

static void reply(struct list_call *l)
{
    char *answer = (char *)&l->answer;

    memcpy(answer + l->kind->failed, &l->failed, sizeof(l->failed));
    memcpy(answer + l->kind->n_failed, &l->n_failed, sizeof(l->n_failed));
    ipc_call_reply(l->call, &l->answer.base);
}

static void on_rows_done(struct nm_call *rows, int result)
{
    struct list_call *l = (struct list_call *)rows;

    nm_audit_refused("UnknownUser", NULL, STOP, NM_CM_TARGET_FAILURE,
                     "Trying to stop unknown container!", &l->refused);
    if (result == -EINVAL)
        ipc_call_fail(l->call, JAVA_YARN_EXCEPTION, "Invalid ContainerId");
    else if (result == -ENOMEM)
        nm_cm_out_of_memory(l->call);
    else if (result < 0)
        ipc_call_fail(l->call, JAVA_YARN_EXCEPTION, "the NodeManager is shutting down");
    else if (rows->lost)
        ipc_call_fail(l->call, JAVA_YARN_EXCEPTION, "NodeManager %s cannot write its state store",
                      l->am->ctx->node_id_text);
    else
        reply(l);
}

/* Answers once all rows are done and recorded. */
static void run(const struct nm_am *am, struct ipc_call *call, const struct list_kind *kind,
                Hadoop__Yarn__ContainerIdProto **ids, size_t n)
{
    struct sv_arena *a = ipc_call_arena(call);
    struct list_call *l;
    struct yarn_nm_token nmt;
    void **rows;

    if (nm_cm_caller(call, &nmt) < 0 || !nm_call_turns_takes(call, n))
        return;
    l = sv_new(a, struct list_call);
    rows = sv_newn(a, void *, n + 1);
    if (l) {
        *l = (struct list_call){ .rows = { .n = n,
                                           .row = on_row,
                                           .done = on_rows_done,
                                           .store = kind->records ? am->ctx->store : NULL },
                                 .am = am,
                                 .call = call,
                                 .nmt = nmt,
                                 .ids = ids,
                                 .kind = kind };
        l->failed = sv_newn(a, Hadoop__Yarn__ContainerExceptionMapProto *, n + 1);
    }
    if (!l || !l->failed || !rows) {
        nm_cm_out_of_memory(call);
        return;
    }
    protobuf_c_message_init(kind->answer, &l->answer);
    memcpy((char *)&l->answer + kind->rows, &rows, sizeof(rows));
    nm_call_turns_run(am->turns, &l->rows);
}

/* ---- stopContainers ---- */

static int stop_one(struct list_call *l, Hadoop__Yarn__ContainerIdProto *m,
                    struct yarn_container_id id, const char **ret_class, struct sv_error *err)
{
    Hadoop__Yarn__StopContainersResponseProto *response = &l->answer.stop;
    const struct ipc_peer *peer = ipc_call_peer(l->call);
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c;
    int r = nm_cm_authorize(&l->nmt, id, true, err);

    if (r < 0) {
        nm_audit_refuse(&l->refused, id);
        return r;
    }
    c = nm_container_find(l->am->ctx, yarn_container_id_text(id, text));
    if (!c && !nm_stopped_has(l->am->ctx->stopped, text))
        return sv_error_set(err, -ENOENT, "Container %s is not handled by this NodeManager", text);
    if (c && c->recovering) {
        *ret_class = JAVA_NM_NOT_READY;
        return sv_error_set(err, -EAGAIN, "Container %s is recovering, try later", text);
    }
    if (c && !c->kill_requested) /* else this or another call has told of it */
        nm_audit_success(peer->user, peer->address, STOP, NM_CM_TARGET, c);
    if (c)
        nm_container_kill(c, YARN_EXIT_KILLED_BY_APPMASTER,
                          "Container killed by the ApplicationMaster.");
    response->succeeded_requests[response->n_succeeded_requests++] = m;
    return 0;
}

void nm_cm_stop_containers(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    static const struct list_kind kind =
        LIST_KIND(stop_one, true, StopContainersResponseProto, stop_containers_response_proto,
                  succeeded_requests);
    const Hadoop__Yarn__StopContainersRequestProto *q = (const void *)request;

    run(u, call, &kind, q->container_id, q->n_container_id);
}

/* ---- getContainerStatuses, getLocalizationStatuses ---- */

static int find_for_status(const struct nm_context *ctx, const struct yarn_nm_token *nmt,
                           struct yarn_container_id id, struct nm_container **ret,
                           struct sv_error *err)
{
    char text[YARN_ID_TEXT_MAX];
    int r = nm_cm_authorize(nmt, id, false, err);

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
    Hadoop__Yarn__GetContainerStatusesResponseProto *response = &l->answer.statuses;
    struct nm_container *c;
    int r = find_for_status(l->am->ctx, &l->nmt, id, &c, err);

    (void)m;
    (void)ret_class;
    if (r < 0)
        return r;
    response->status[response->n_status] = nm_container_status(c, ipc_call_arena(l->call));
    return response->status[response->n_status++] ? 0 : -ENOMEM;
}

void nm_cm_container_statuses(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    static const struct list_kind kind =
        LIST_KIND(status_of, false, GetContainerStatusesResponseProto,
                  get_container_statuses_response_proto, status);
    const Hadoop__Yarn__GetContainerStatusesRequestProto *q = (const void *)request;

    run(u, call, &kind, q->container_id, q->n_container_id);
}

static int localization_of(struct list_call *l, Hadoop__Yarn__ContainerIdProto *m,
                           struct yarn_container_id id, const char **ret_class,
                           struct sv_error *err)
{
    Hadoop__Yarn__GetLocalizationStatusesResponseProto *response = &l->answer.localizations;
    Hadoop__Yarn__ContainerLocalizationStatusesProto *row;
    struct nm_container *c;
    int r = find_for_status(l->am->ctx, &l->nmt, id, &c, err);

    (void)m;
    (void)ret_class;
    if (r < 0)
        return r;
    row = nm_resources_status(c, ipc_call_arena(l->call));
    response->cntn_localization_statuses[response->n_cntn_localization_statuses++] = row;
    return row ? 0 : -ENOMEM;
}

void nm_cm_localization_statuses(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    static const struct list_kind kind =
        LIST_KIND(localization_of, false, GetLocalizationStatusesResponseProto,
                  get_localization_statuses_response_proto, cntn_localization_statuses);
    const Hadoop__Yarn__GetLocalizationStatusesRequestProto *q = (const void *)request;

    run(u, call, &kind, q->container_id, q->n_container_id);
}
