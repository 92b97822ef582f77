/* See reinit-calls.h; with the checks and texts of Hadoop's ContainerManagerImpl
 * (preReInitializeOrLocalizeCheck). A call is answered after it is recorded, and only then does a
 * re-initialization begin. Hostile: every byte of the requests, from every holder of an NMToken. */
#include "nodemanager/am/reinit-calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "nodemanager/am/call-turns.h"
#include "nodemanager/am/cm-reply.h"
#include "nodemanager/am/container-manager.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/container-env.h"
#include "nodemanager/services/localization-request.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/store/state-store.h"

typedef Hadoop__Yarn__ContainerLaunchContextProto launch_context;
typedef Hadoop__Yarn__StartContainerRequestProto start_request;

struct change; /* one call */

/* A method. `change` checks and records what it changes: 0, or a code with a text. */
struct change_kind {
    const char *op; /* Hadoop's name of it in messages */
    int (*change)(struct change *h, struct nm_container *c, struct sv_error *err);
    const ProtobufCMessageDescriptor *answer;
};

struct change {
    struct nm_call rows; /* first; one row */
    const struct nm_am *am;
    struct ipc_call *call;
    struct yarn_nm_token nmt;
    const struct change_kind *kind;
    const ProtobufCMessage *request;
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX];
    int reinit; /* enum nm_reinit that begins with the answer */
    struct sv_error err;
    ProtobufCMessage *answer;
};

/* ---- checks ---------------------------------------------------------------------------------*/

static int check(const struct change *h, struct nm_container **ret, struct sv_error *err)
{
    struct nm_container *c;

    if (yarn_app_id_cmp(h->nmt.attempt.app, h->id.attempt.app) != 0)
        return sv_error_set(err, -EACCES,
                            "ApplicationMaster not authorized to perform [%s] on Container [%s]!!",
                            h->kind->op, h->text);
    c = nm_container_find(h->am->ctx, h->text);
    if (!c)
        return sv_error_set(err, -ENOENT, "Specified %s does not exist!", h->text);
    if (c->state != NM_CONTAINER_RUNNING || c->reinit.kind || c->launch.exit.event ||
        c->kill_requested || c->execution_type == HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC)
        return sv_error_set(
            err, -EBUSY,
            "Cannot perform %s on [%s]. Current state is [%s, isReInitializing=%s]. "
            "Container Execution Type is [%s].",
            h->kind->op, h->text, nm_container_state_name(c->state),
            c->reinit.kind ? "true" : "false",
            c->execution_type == HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC ? "OPPORTUNISTIC"
                                                                                   : "GUARANTEED");
    *ret = c;
    return 0;
}

/* ---- requests of containers -----------------------------------------------------------------*/

struct unpacked {
    struct sv_arena *arena;
    start_request *m;
};

static int on_request(const void *request, size_t len, void *userdata)
{
    struct unpacked *u = userdata;

    u->m = hadoop__yarn__start_container_request_proto__unpack(sv_arena_protobuf(u->arena), len,
                                                               request);
    return u->m && u->m->container_launch_context ? 0 : -EBADMSG;
}

/* The container's present request, in the arena of the call. */
static int present_request(const struct change *h, start_request **ret, struct sv_error *err)
{
    struct unpacked u = { .arena = ipc_call_arena(h->call) };
    int r =
        nm_store_container_request(h->am->ctx->store, h->text, NM_STORED_REQUEST, on_request, &u);

    if (r < 0)
        return sv_error_errno(err, r, "Container %s: its launch context in the state store",
                              h->text);
    *ret = u.m;
    return 0;
}

static int pack(const struct change *h, const start_request *m, uint8_t **ret, size_t *ret_len,
                struct sv_error *err)
{
    *ret_len = hadoop__yarn__start_container_request_proto__get_packed_size(m);
    if (*ret_len > NM_CM_REQUEST_MAX)
        return sv_error_set(err, -E2BIG, "request of %zu bytes, at most %d are accepted", *ret_len,
                            NM_CM_REQUEST_MAX);
    *ret = sv_arena_alloc(ipc_call_arena(h->call), *ret_len);
    if (!*ret)
        return sv_error_errno(err, -ENOMEM, "Container %s", h->text);
    hadoop__yarn__start_container_request_proto__pack(m, *ret);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* As ResourceSet.merge: the old ones stay, but for those whose name a new one has. */
static int merge(const struct change *h, const launch_context *old, launch_context *new,
                 struct sv_error *err)
{
    struct sv_arena *a = ipc_call_arena(h->call);
    const size_t n = old->n_localresources, added = new->n_localresources;
    Hadoop__Yarn__StringLocalResourceMapProto **rows =
        sv_newn(a, Hadoop__Yarn__StringLocalResourceMapProto *, n + added + 1);
    const char **names = sv_newn(a, const char *, added + 1);
    size_t kept = 0;

    if (!rows || !names)
        return sv_error_errno(err, -ENOMEM, "Container %s", h->text);
    for (size_t i = 0; i < added; i++)
        names[i] = new->localresources[i]->key;
    qsort(names, added, sizeof(*names), by_name);
    for (size_t i = 0; i < n; i++)
        if (!bsearch(&old->localresources[i]->key, names, added, sizeof(*names), by_name))
            rows[kept++] = old->localresources[i];
    for (size_t i = 0; i < added; i++)
        rows[kept++] = new->localresources[i];
    new->localresources = rows;
    new->n_localresources = kept;
    return 0;
}

/* Adds rows behind those that it has. */
static int append(const struct change *h, launch_context *clc, nm_resource_rows rows, size_t n)
{
    Hadoop__Yarn__StringLocalResourceMapProto **all =
        sv_newn(ipc_call_arena(h->call), Hadoop__Yarn__StringLocalResourceMapProto *,
                clc->n_localresources + n);

    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < clc->n_localresources; i++)
        all[i] = clc->localresources[i];
    for (size_t i = 0; i < n; i++)
        all[clc->n_localresources + i] = rows[i];
    clc->localresources = all;
    clc->n_localresources += n;
    return 0;
}

/* ---- the methods ----------------------------------------------------------------------------*/

static int upgrade(struct change *h, struct nm_container *c, const launch_context *given, int kind,
                   struct sv_error *err)
{
    launch_context clc = *given;
    struct yarn_credentials credentials;
    start_request *m;
    uint8_t *packed;
    size_t len;
    int r = nm_env_check(&clc, h->text, err);

    if (r >= 0)
        r = nm_localization_check(&clc, h->am->ctx->conf->conf, err);
    if (r >= 0 && clc.has_tokens &&
        yarn_credentials_parse(clc.tokens.data, clc.tokens.len, ipc_call_arena(h->call),
                               &credentials, err) < 0)
        return sv_error_wrap(err, "ContainerLaunchContext: tokens");
    if (r >= 0)
        r = present_request(h, &m, err);
    if (r >= 0)
        r = merge(h, m->container_launch_context, &clc, err);
    if (r < 0)
        return r;
    if (clc.n_localresources > LOC_RESOURCES_MAX)
        return sv_error_set(err, -E2BIG, "%zu local resources, at most %d are accepted",
                            clc.n_localresources, LOC_RESOURCES_MAX);
    if (!clc.has_tokens) { /* as Hadoop: it keeps its credentials */
        clc.has_tokens = m->container_launch_context->has_tokens;
        clc.tokens = m->container_launch_context->tokens;
    }
    m->container_launch_context = &clc;
    r = pack(h, m, &packed, &len, err);
    if (r >= 0 &&
        (r = nm_store_container_reinit(h->am->ctx->store, h->text, kind, packed, len)) < 0)
        return sv_error_errno(err, r, "Container %s could not be recorded", h->text);
    c->reinit.kind = h->reinit = r < 0 ? NM_REINIT_NONE : kind;
    return r;
}

static int begin(struct change *h, struct nm_container *c, int kind, struct sv_error *err)
{
    int r = nm_store_container_reinit(h->am->ctx->store, h->text, kind, NULL, 0);

    if (r < 0)
        return sv_error_errno(err, r, "Container %s could not be recorded", h->text);
    c->reinit.kind = h->reinit = kind;
    return 0;
}

static int change_reinit(struct change *h, struct nm_container *c, struct sv_error *err)
{
    const Hadoop__Yarn__ReInitializeContainerRequestProto *q = (const void *)h->request;

    if (!q->container_launch_context) /* as Hadoop */
        return begin(h, c, NM_REINIT_RESTART, err);
    return upgrade(h, c, q->container_launch_context,
                   q->auto_commit ? NM_REINIT_COMMITTED : NM_REINIT_UPGRADE, err);
}

static int change_restart(struct change *h, struct nm_container *c, struct sv_error *err)
{
    return begin(h, c, NM_REINIT_RESTART, err);
}

static int change_rollback(struct change *h, struct nm_container *c, struct sv_error *err)
{
    if (!c->reinit.can_rollback)
        return sv_error_set(err, -ENOENT, "Nothing to rollback to !!");
    return begin(h, c, NM_REINIT_ROLLBACK, err);
}

static int change_commit(struct change *h, struct nm_container *c, struct sv_error *err)
{
    int r;

    if (!c->reinit.can_rollback)
        return sv_error_set(err, -ENOENT, "Nothing to Commit !!");
    r = nm_store_container_commit(h->am->ctx->store, h->text);
    if (r < 0)
        return sv_error_errno(err, r, "Container %s could not be recorded", h->text);
    c->reinit.can_rollback = false;
    nm_localization_forget(h->am->localization, c, NM_RESOURCES_PREVIOUS);
    return 0;
}

static int change_resources(struct change *h, struct nm_container *c, struct sv_error *err)
{
    const Hadoop__Yarn__ResourceLocalizationRequestProto *q = (const void *)h->request;
    launch_context added, *clc;
    start_request *m;
    uint8_t *packed;
    size_t len;
    int r;

    hadoop__yarn__container_launch_context_proto__init(&added);
    added.localresources = q->local_resources;
    added.n_localresources = q->n_local_resources;
    if (added.n_localresources == 0)
        return 0;
    r = nm_localization_check(&added, h->am->ctx->conf->conf, err);
    if (r >= 0)
        r = present_request(h, &m, err);
    if (r < 0)
        return r;
    clc = m->container_launch_context;
    if (clc->n_localresources + added.n_localresources > LOC_RESOURCES_MAX)
        return sv_error_set(err, -E2BIG, "%zu local resources, at most %d are accepted",
                            clc->n_localresources + added.n_localresources, LOC_RESOURCES_MAX);
    if (append(h, clc, added.localresources, added.n_localresources) < 0)
        return sv_error_errno(err, -ENOMEM, "Container %s", h->text);
    r = pack(h, m, &packed, &len, err);
    if (r < 0)
        return r;
    r = nm_store_container_extend(h->am->ctx->store, h->text, packed, len,
                                  c->late_resources + (int64_t)added.n_localresources);
    if (r >= 0)
        r = nm_container_load_request(c); /* its credentials */
    if (r < 0)
        return sv_error_errno(err, r, "Container %s could not be recorded", h->text);
    c->late_resources += (int64_t)added.n_localresources;
    nm_localization_add(h->am->localization, c, added.localresources, added.n_localresources);
    return 0;
}

/* ---- calls ----------------------------------------------------------------------------------*/

static int on_row(struct nm_call *rows)
{
    struct change *h = (struct change *)rows;
    struct nm_container *c;
    int r = check(h, &c, &h->err);

    return r < 0 ? r : h->kind->change(h, c, &h->err);
}

/* The record is there, or lost: the re-initialization begins, or there is none. */
static void begin_recorded(const struct change *h, bool recorded)
{
    struct nm_container *c = nm_container_find(h->am->ctx, h->text);

    if (!c || !h->reinit || c->reinit.kind != h->reinit)
        return;
    if (recorded)
        nm_container_post(c,
                          h->reinit == NM_REINIT_ROLLBACK ? NM_CONTAINER_EV_ROLLBACK_REINIT
                                                          : NM_CONTAINER_EV_REINITIALIZE,
                          NULL);
    else
        c->reinit.kind = NM_REINIT_NONE;
}

static void on_done(struct nm_call *rows, int r)
{
    struct change *h = (struct change *)rows;

    begin_recorded(h, r >= 0 && !rows->lost);
    if (r == -ESHUTDOWN)
        ipc_call_fail(h->call, JAVA_YARN_EXCEPTION, "the NodeManager is shutting down");
    else if (r < 0)
        ipc_call_fail(h->call, JAVA_YARN_EXCEPTION, "%s", h->err.text);
    else if (rows->lost)
        ipc_call_fail(h->call, JAVA_YARN_EXCEPTION, "NodeManager %s cannot write its state store",
                      h->am->ctx->node_id_text);
    else
        ipc_call_reply(h->call, h->answer);
}

static void run(struct ipc_call *call, struct nm_am *am, const struct change_kind *kind,
                const ProtobufCMessage *request, const Hadoop__Yarn__ContainerIdProto *id)
{
    struct sv_arena *a = ipc_call_arena(call);
    struct change *h = sv_new(a, struct change);
    struct yarn_nm_token nmt;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    if (h) {
        *h = (struct change){
            .rows = { .n = 1, .row = on_row, .done = on_done, .store = am->ctx->store },
            .am = am,
            .call = call,
            .nmt = nmt,
            .kind = kind,
            .request = request,
            .answer = sv_arena_calloc(a, 1, kind->answer->sizeof_message),
        };
    }
    if (!h || !h->answer) {
        nm_cm_out_of_memory(call);
        return;
    }
    protobuf_c_message_init(kind->answer, h->answer);
    if (yarn_container_id_from(id, &h->id) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Invalid container id");
        return;
    }
    yarn_container_id_text(h->id, h->text);
    nm_call_turns_run(am->turns, &h->rows);
}

#define KIND(op, change, name)                                                                     \
    static const struct change_kind kind = { op, change, &hadoop__yarn__##name##__descriptor }

void nm_cm_localize(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    KIND("LOCALIZE", change_resources, resource_localization_response_proto);

    run(call, u, &kind, request,
        ((const Hadoop__Yarn__ResourceLocalizationRequestProto *)request)->container_id);
}

void nm_cm_reinitialize(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    KIND("RE_INIT", change_reinit, re_initialize_container_response_proto);

    run(call, u, &kind, request,
        ((const Hadoop__Yarn__ReInitializeContainerRequestProto *)request)->container_id);
}

void nm_cm_restart(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    KIND("RE_INIT", change_restart, restart_container_response_proto);

    run(call, u, &kind, request, (const Hadoop__Yarn__ContainerIdProto *)request);
}

void nm_cm_rollback(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    KIND("ROLLBACK", change_rollback, rollback_response_proto);

    run(call, u, &kind, request, (const Hadoop__Yarn__ContainerIdProto *)request);
}

void nm_cm_commit(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    KIND("COMMIT", change_commit, commit_response_proto);

    run(call, u, &kind, request, (const Hadoop__Yarn__ContainerIdProto *)request);
}
