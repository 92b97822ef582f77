/* See container-update.h. Hadoop: ContainerManagerImpl.updateContainerInternal. The new token is on
 * record before anybody is answered; the group's limits follow at once. Hostile input: tokens, from
 * whoever holds an NMToken. */
#include "nodemanager/am/container-update.h"

#include <errno.h>
#include <string.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/log.h"
#include "executor/exe.h"
#include "nodemanager/am/container-manager-internal.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/nm.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/store/state-store.h"
#include "wire/token.h"

#define UPDATE_MAX 10000 /* tokens of one call */

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

static int find(struct nm *nm, const struct yarn_container_token *t, struct nm_container **ret,
                struct sv_error *err)
{
    char text[YARN_ID_TEXT_MAX];
    struct nm_container *c = nm_container_find(nm, yarn_container_id_text(t->container, text));

    if (!c && nm_updater_recently_stopped(nm->updater, text))
        return sv_error_set(err, -ENOENT, "Container %s was recently stopped on node manager.",
                            text);
    if (!c)
        return sv_error_set(err, -ENOENT, "Container %s is not handled by this NodeManager", text);
    if (t->version <= c->version)
        return sv_error_set(err, -EEXIST,
                            "Container %s has update version [%d] >= requested "
                            "version [%d]",
                            text, c->version, t->version);
    if (c->state != NM_CONTAINER_RUNNING && c->state != NM_CONTAINER_SCHEDULED &&
        c->state != NM_CONTAINER_LOCALIZING)
        return sv_error_set(err, -EBUSY,
                            "Container %s is in %s state. Resource can only be changed "
                            "when a container is in RUNNING state",
                            text, nm_container_state_name(c->state));
    if (t->resource.memory_mb <= 0 || t->resource.memory_mb > ((int64_t)1 << 40) ||
        t->resource.vcores < 0)
        return sv_error_set(err, -EINVAL,
                            "Container resource <memory:%lld, vCores:%d> is not valid",
                            (long long)t->resource.memory_mb, t->resource.vcores);
    *ret = c;
    return 0;
}

/* One token that has been verified; `id` are the bytes of its identifier. */
static int update(struct nm *nm, const struct yarn_container_token *t, const void *id,
                  size_t id_len, struct sv_error *err)
{
    struct nm_container *c;
    struct cg_leaf *leaf;
    struct cg_resource limits;
    int r = find(nm, t, &c, err);

    if (r < 0)
        return r;
    r = nm_store_container_updated(nm->store, c->text, id, id_len);
    if (r < 0)
        return sv_error_errno(err, r, "Container %s: its update could not be recorded", c->text);
    const struct yarn_resource before = c->resource;
    bool grew = t->resource.memory_mb >= before.memory_mb && t->resource.vcores >= before.vcores &&
                (t->resource.memory_mb > before.memory_mb || t->resource.vcores > before.vcores);
    c->resource = t->resource;
    c->version = t->version;
    c->execution_type = t->execution_type;
    c->increased = c->increased || grew;
    leaf = c->exe ? exe_container_cgroup(c->exe) : NULL;
    sv_log(SV_LOG_INFO, c->text,
           "Container %s: <memory:%lld, vCores:%d> → <memory:%lld, vCores:%d>", c->text,
           (long long)before.memory_mb, before.vcores, (long long)c->resource.memory_mb,
           c->resource.vcores);
    nm_limits_of(c, &limits);
    if (!leaf || cg_leaf_set_limits(leaf, &limits, err) >= 0)
        return 0; /* one that has not started gets them when its group is made */
    sv_log(SV_LOG_ERR, c->text, "%s: %s", c->text, err->text);
    return err->code;
}

/* ---- calls ----------------------------------------------------------------------------------*/

struct updating {
    struct nm *nm;
    struct ipc_call *call;
    bool increase; /* which of the two answers */
    size_t n_good, n_bad;
    Hadoop__Yarn__ContainerIdProto **good;
    Hadoop__Yarn__ContainerExceptionMapProto **bad;
};

static void on_recorded(void *userdata, bool ok)
{
    struct updating *u = userdata;
    Hadoop__Yarn__IncreaseContainersResourceResponseProto increased;
    Hadoop__Yarn__ContainerUpdateResponseProto updated;

    if (!ok) {
        ipc_call_fail(u->call, JAVA_YARN_EXCEPTION, "NodeManager %s cannot write its state store",
                      u->nm->node_id_text);
    } else if (u->increase) {
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

/* 0, -ENOMEM, or another code with words that end the whole call. */
static int one(struct updating *u, const struct yarn_nm_token *nmt,
               const Hadoop__Common__TokenProto *m, struct sv_error *err)
{
    struct sv_arena *a = ipc_call_arena(u->call);
    struct yarn_container_token t = { 0 };
    struct sv_error why = { 0 };
    struct yarn_token token;
    int r;

    if (yarn_token_from(m, a, &token) < 0 || token.id_len == 0)
        return sv_error_set(err, -EBADMSG, "Invalid ContainerToken");
    r = nm_secrets_verify_container_token(u->nm->secrets, &token, &t, err);
    if (r < 0)
        return r == -EBADMSG ? sv_error_set(err, r, "Invalid ContainerToken") : r;
    r = authorize(nmt, &t, &why);
    if (r >= 0)
        r = update(u->nm, &t, token.id, token.id_len, &why);
    if (r >= 0) {
        u->good[u->n_good] = yarn_container_id_to(a, t.container);
        return u->good[u->n_good++] ? 0 : -ENOMEM;
    }
    u->bad[u->n_bad] = nm_cm_failed_row(a, t.container, JAVA_YARN_EXCEPTION, why.text);
    return u->bad[u->n_bad++] ? 0 : -ENOMEM;
}

static void run(struct ipc_call *call, struct nm *nm, Hadoop__Common__TokenProto *const *tokens,
                size_t n, bool increase)
{
    struct sv_arena *a = ipc_call_arena(call);
    struct updating *u = sv_new(a, struct updating);
    struct yarn_nm_token nmt;
    struct sv_error err = { 0 };
    int r = 0;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    if (n > UPDATE_MAX) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                      "%zu containers in one request, at most %d are "
                      "taken",
                      n, UPDATE_MAX);
        return;
    }
    if (u) {
        *u = (struct updating){ .nm = nm, .call = call, .increase = increase };
        u->good = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n + 1);
        u->bad = sv_newn(a, Hadoop__Yarn__ContainerExceptionMapProto *, n + 1);
    }
    if (!u || !u->good || !u->bad) {
        nm_cm_out_of_memory(call);
        return;
    }
    for (size_t i = 0; i < n && r >= 0; i++)
        r = one(u, &nmt, tokens[i], &err);
    if (r == -ENOMEM)
        nm_cm_out_of_memory(call);
    else if (r < 0)
        ipc_call_fail(call, r == -EACCES ? JAVA_INVALID_TOKEN : JAVA_YARN_EXCEPTION, "%s",
                      err.text);
    else if (nm_store_after_commit(nm->store, on_recorded, u) < 0)
        on_recorded(u, false);
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

/* ---- heartbeats -----------------------------------------------------------------------------*/

void nm_update_from_rm(struct nm *nm, Hadoop__Yarn__ContainerProto *const *containers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        const Hadoop__Common__TokenProto *m = containers[i]->container_token;
        struct yarn_container_token t = { 0 };
        struct sv_error err = { 0 };
        struct yarn_token token;
        int r;

        if (!a || !m || yarn_token_from(m, a, &token) < 0 || token.id_len == 0) {
            sv_log_warning("ResourceManager: an update of a container has no token, ignoring");
            continue;
        }
        r = nm_secrets_verify_container_token(nm->secrets, &token, &t, &err);
        if (r >= 0)
            r = update(nm, &t, token.id, token.id_len, &err);
        if (r < 0)
            sv_log_warning("ResourceManager: update of a container: %s", err.text);
    }
}

Hadoop__Yarn__ContainerProto **nm_update_increased(struct nm *nm, struct sv_arena *a, size_t *ret_n)
{
    Hadoop__Yarn__ContainerProto **list =
        sv_newn(a, Hadoop__Yarn__ContainerProto *, HASH_COUNT(nm->containers) + 1);
    size_t n = 0;

    if (!list)
        return NULL;
    for (struct nm_container *c = nm->containers; c; c = c->hh.next) {
        Hadoop__Yarn__ContainerProto *m;

        c->increased_in_flight = c->increased && !nm_container_is_done(c);
        if (!c->increased_in_flight)
            continue;
        m = sv_new(a, Hadoop__Yarn__ContainerProto);
        if (!m)
            return NULL;
        hadoop__yarn__container_proto__init(m);
        m->id = yarn_container_id_to(a, c->id);
        m->nodeid = yarn_node_id_to(a, &nm->node_id);
        m->resource = yarn_resource_to(a, c->resource);
        if (!m->id || !m->nodeid || !m->resource)
            return NULL;
        m->has_version = true;
        m->version = c->version;
        list[n++] = m;
    }
    *ret_n = n;
    return list;
}

void nm_update_increased_delivered(struct nm *nm)
{
    for (struct nm_container *c = nm->containers; c; c = c->hh.next)
        if (c->increased_in_flight)
            c->increased = c->increased_in_flight = false;
}
