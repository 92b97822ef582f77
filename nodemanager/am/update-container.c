/* updateContainer and increaseContainersResource (Hadoop: ContainerManagerImpl.updateContainer): a
 * call is answered after the new tokens are committed; the limits of the cgroups follow
 * immediately. Hostile input: tokens, from every holder of an NMToken. */
#include "nodemanager/am/update-container.h"

#include <errno.h>

#include "common/clock.h"
#include "nodemanager/am/call-turns.h"
#include "nodemanager/am/cm-reply.h"
#include "nodemanager/am/container-manager.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/resources/container-resize.h"

static int authorize(const struct yarn_nm_token *nmt, const struct yarn_container_token *t,
                     struct sv_error *err)
{
    static const char head[] = "Unauthorized request to start container.";
    char a[YARN_ID_TEXT_MAX], b[YARN_ID_TEXT_MAX];
    int64_t now = sv_wall_ms();

    if (yarn_app_id_cmp(nmt->attempt.app, t->container.attempt.app) != 0)
        return sv_error_set(err, -EACCES,
                            "%s\nNMToken for application attempt : %s was used for "
                            "starting container with container token issued for application "
                            "attempt : %s",
                            head, yarn_attempt_id_text(nmt->attempt, a),
                            yarn_attempt_id_text(t->container.attempt, b));
    if (t->expiry_ms < now)
        return sv_error_set(err, -EACCES,
                            "%s\nThis token is expired. current time is %lld found "
                            "%lld\nNote: System times on machines may be out of sync. Check system "
                            "time and time zones.",
                            head, (long long)now, (long long)t->expiry_ms);
    return 0;
}

/* ---- calls ----------------------------------------------------------------------------------*/

struct update_call {     /* in the arena of its call */
    struct nm_call rows; /* first */
    struct nm_am *am;
    struct ipc_call *call;
    struct yarn_nm_token nmt;
    Hadoop__Common__TokenProto *const *tokens;
    struct sv_error err; /* fails the whole call */
    bool increase;       /* selects the type of answer */
    size_t n_good, n_bad;
    Hadoop__Yarn__ContainerIdProto **good;
    Hadoop__Yarn__ContainerExceptionMapProto **bad;
};

/* 0, -ENOMEM, or another code with a message, which fails the whole call. */
static int update_one(struct update_call *u, const struct yarn_nm_token *nmt,
                      const Hadoop__Common__TokenProto *m, struct sv_error *err)
{
    struct sv_arena *a = ipc_call_arena(u->call);
    struct yarn_container_token t = { 0 };
    struct sv_error why = { 0 };
    struct yarn_token token;
    int r;

    if (yarn_token_from(m, a, &token) < 0 || token.id_len == 0)
        return sv_error_set(err, -EBADMSG, "Invalid ContainerToken");
    r = nm_secrets_verify_container_token(u->am->ctx->secrets, &token, &t, err);
    if (r < 0)
        return r == -EBADMSG ? sv_error_set(err, r, "Invalid ContainerToken") : r;
    r = authorize(nmt, &t, &why);
    if (r >= 0)
        r = nm_resize_container(u->am->ctx, u->am->scheduler, &t, token.id, token.id_len, &why);
    if (r >= 0) {
        u->good[u->n_good] = yarn_container_id_to(a, t.container);
        return u->good[u->n_good++] ? 0 : -ENOMEM;
    }
    u->bad[u->n_bad] = nm_cm_failed_row(a, t.container, JAVA_YARN_EXCEPTION, why.text);
    return u->bad[u->n_bad++] ? 0 : -ENOMEM;
}

static int on_row(struct nm_call *rows)
{
    struct update_call *u = (struct update_call *)rows;

    return update_one(u, &u->nmt, u->tokens[rows->at], &u->err);
}

static void reply(struct update_call *u)
{
    Hadoop__Yarn__IncreaseContainersResourceResponseProto increased;
    Hadoop__Yarn__ContainerUpdateResponseProto updated;

    if (u->increase) {
        hadoop__yarn__increase_containers_resource_response_proto__init(&increased);
        increased.n_succeeded_requests = u->n_good;
        increased.succeeded_requests = u->good;
        increased.n_failed_requests = u->n_bad;
        increased.failed_requests = u->bad;
        ipc_call_reply(u->call, &increased.base);
    } else {
        hadoop__yarn__container_update_response_proto__init(&updated);
        updated.n_succeeded_requests = u->n_good;
        updated.succeeded_requests = u->good;
        updated.n_failed_requests = u->n_bad;
        updated.failed_requests = u->bad;
        ipc_call_reply(u->call, &updated.base);
    }
}

static void on_done(struct nm_call *rows, int r)
{
    struct update_call *u = (struct update_call *)rows;

    if (r == -ENOMEM)
        nm_cm_out_of_memory(u->call);
    else if (r == -ESHUTDOWN)
        ipc_call_fail(u->call, JAVA_YARN_EXCEPTION, "the NodeManager is shutting down");
    else if (r < 0)
        ipc_call_fail(u->call, r == -EACCES ? JAVA_INVALID_TOKEN : JAVA_YARN_EXCEPTION, "%s",
                      u->err.text);
    else if (rows->lost)
        ipc_call_fail(u->call, JAVA_YARN_EXCEPTION, "NodeManager %s cannot write its state store",
                      u->am->ctx->node_id_text);
    else
        reply(u);
}

static void run(struct ipc_call *call, struct nm_am *am, Hadoop__Common__TokenProto *const *tokens,
                size_t n, bool increase)
{
    struct sv_arena *a = ipc_call_arena(call);
    struct update_call *u = sv_new(a, struct update_call);
    struct yarn_nm_token nmt;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    if (!nm_call_turns_takes(call, n))
        return;
    if (u) {
        *u = (struct update_call){
            .rows = { .n = n, .row = on_row, .done = on_done, .store = am->ctx->store },
            .am = am,
            .call = call,
            .nmt = nmt,
            .tokens = tokens,
            .increase = increase
        };
        u->good = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n + 1);
        u->bad = sv_newn(a, Hadoop__Yarn__ContainerExceptionMapProto *, n + 1);
    }
    if (!u || !u->good || !u->bad) {
        nm_cm_out_of_memory(call);
        return;
    }
    nm_call_turns_run(am->turns, &u->rows);
}

void nm_cm_update_container(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Yarn__ContainerUpdateRequestProto *q = (const void *)request;

    run(call, userdata, q->update_container_token, q->n_update_container_token, false);
}

void nm_cm_increase_containers(struct ipc_call *call, const ProtobufCMessage *request,
                               void *userdata)
{
    const Hadoop__Yarn__IncreaseContainersResourceRequestProto *q = (const void *)request;

    run(call, userdata, q->increase_containers, q->n_increase_containers, true);
}
