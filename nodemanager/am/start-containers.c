/* startContainers, with the checks and texts of Hadoop's ContainerManagerImpl. A call is answered
 * after the records of its containers are committed, and only then do they begin. Hostile: every
 * byte of the request that the ResourceManager has not signed. */
#include "nodemanager/am/start-containers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/acl.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/am/call-turns.h"
#include "nodemanager/am/cm-reply.h"
#include "nodemanager/am/container-manager.h"
#include "nodemanager/am/start-masters.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/launch/container-env.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/localization-request.h"
#include "nodemanager/store/state-store.h"

#define REFUSED_SHOWN 4 /* refusals of one call in the log; their number follows */

#define START "Start Container Request"

struct start_call {      /* one call, until its records are committed */
    struct nm_call rows; /* first */
    struct nm_am *am;
    struct ipc_call *call;
    struct yarn_nm_token nmt;
    Hadoop__Yarn__StartContainerRequestProto **requests;
    struct nm_masters masters;       /* that the AMRMProxy may serve */
    struct nm_audit_refused running; /* containers that run already */
    size_t refused;
    Hadoop__Yarn__StartContainersResponseProto response;
    size_t n_started;
    char (*started)[YARN_ID_TEXT_MAX];
    bool abort; /* InvalidToken: the whole call fails; started containers continue */
    struct sv_error abort_error;
};

struct refusal {
    const char *java_class;
    struct sv_error err;
};

static int refuse(struct refusal *f, const char *java_class)
{
    f->java_class = java_class;
    return -EACCES;
}

/* ContainerManagerImpl.authorizeStartAndResourceIncreaseRequest */
static int authorize(const struct nm_am *am, const struct yarn_nm_token *nmt,
                     const struct yarn_container_token *t, const char *text, struct refusal *f)
{
    static const char head[] = "Unauthorized request to start container.";
    char a[YARN_ID_TEXT_MAX], b[YARN_ID_TEXT_MAX];
    int64_t now = sv_wall_ms(), used_expiry_ms = 0;
    struct nm_container *c = nm_container_find(am->ctx, text);

    if (yarn_app_id_cmp(nmt->attempt.app, t->container.attempt.app) != 0) {
        (void)sv_error_set(&f->err, -EACCES,
                           "%s\nNMToken for application attempt : %s was used "
                           "for starting container with container token issued for application "
                           "attempt : %s",
                           head, yarn_attempt_id_text(nmt->attempt, a),
                           yarn_attempt_id_text(t->container.attempt, b));
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    /* Hadoop remembers (expiry, container): a new token for a running container is refused by
     * start_one, with another message. */
    if (nm_secrets_token_used(am->ctx->secrets, text, &used_expiry_ms) &&
        (t->expiry_ms == used_expiry_ms || !c || nm_container_is_done(c))) {
        (void)sv_error_set(&f->err, -EACCES,
                           "%s\n Attempt to relaunch the same container with id "
                           "%s.",
                           head, text);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    if (t->expiry_ms < now) {
        (void)sv_error_set(&f->err, -EACCES,
                           "%s\nThis token is expired. current time is %lld "
                           "found %lld\nNote: System times on machines may be out of sync. Check "
                           "system time and time zones.",
                           head, (long long)now, (long long)t->expiry_ms);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    if (!nm_updater_accepts(am->updater, t)) {
        (void)sv_error_set(&f->err, -EACCES,
                           "\nContainer %s rejected as it is allocated by a "
                           "previous RM",
                           text);
        return refuse(f, JAVA_INVALID_CONTAINER);
    }
    return 0;
}

/* A container with more of a type than the node has would run beside what it was promised. */
static int check_resource(const struct nm_context *ctx, const struct yarn_container_token *t,
                          const char *text, struct refusal *f)
{
    if (t->resource.memory_mb <= 0 || t->resource.memory_mb > ((int64_t)1 << 40) ||
        t->resource.vcores < 0) {
        (void)sv_error_set(&f->err, -EINVAL,
                           "Container resource <memory:%lld, vCores:%d> is not "
                           "valid",
                           (long long)t->resource.memory_mb, t->resource.vcores);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    if (*t->unknown_resource) {
        (void)sv_error_set(&f->err, -EOPNOTSUPP,
                           "Container %s: this NodeManager has no resource of the type %s", text,
                           t->unknown_resource);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    for (size_t i = 0; i < yarn_types()->n; i++) {
        const struct yarn_type *type = &yarn_types()->types[i];
        /* The ResourceManager may have made the node smaller since it gave the container. */
        const int64_t most = SV_MAX(ctx->total.extra[i], ctx->conf->resource.extra[i]);

        if (t->resource.extra[i] <= most)
            continue;
        (void)sv_error_set(&f->err, -EOPNOTSUPP,
                           "Container %s: it has %lld%s of %s, this NodeManager %lld%s", text,
                           (long long)t->resource.extra[i], type->unit, type->name, (long long)most,
                           type->unit);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    return 0;
}

/* All checks of the launch context; no side effect. */
static int check_context(const struct nm_am *am, const struct yarn_container_token *t,
                         const char *text, const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                         struct sv_arena *a, struct refusal *f)
{
    const struct nm_context *ctx = am->ctx;
    struct yarn_credentials credentials;
    int r;

    if (!clc) {
        (void)sv_error_set(&f->err, -EINVAL, "Null ContainerLaunchContext");
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    r = nm_aux_check(am->aux, clc, text, &f->err);
    if (r < 0)
        return refuse(f, r == -ENOENT ? JAVA_INVALID_AUX_SERVICE : JAVA_YARN_EXCEPTION);
    if (nm_env_check(clc, text, &f->err) < 0 ||
        nm_localization_check(clc, ctx->conf->conf, &f->err) < 0)
        return refuse(f, JAVA_YARN_EXCEPTION);
    if (clc->has_tokens &&
        yarn_credentials_parse(clc->tokens.data, clc->tokens.len, a, &credentials, &f->err) < 0) {
        (void)sv_error_wrap(&f->err, "ContainerLaunchContext: tokens");
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    /* LinuxContainerExecutor's pattern; the name is also that of a directory in usercache. */
    if (!exe_name_ok(t->submitter, EXE_SUBMITTER_MAX)) {
        char shown[128];

        sv_escape(shown, sizeof(shown), t->submitter);
        (void)sv_error_set(&f->err, -EINVAL,
                           "Invalid user name '%s', it must match "
                           "'^[_A-Za-z0-9][-@_.A-Za-z0-9]{0,253}[$]?$'",
                           shown);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    r = check_resource(ctx, t, text, f);
    if (r < 0)
        return r;
    return ctx->stopping ? -ESHUTDOWN : 0;
}

static char *acl_of(const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                    Hadoop__Yarn__ApplicationAccessTypeProto type)
{
    for (size_t i = 0; i < clc->n_application_acls; i++)
        if (clc->application_acls[i]->has_accesstype &&
            clc->application_acls[i]->accesstype == type)
            return strdup(clc->application_acls[i]->acl ? clc->application_acls[i]->acl : " ");
    return strdup(" ");
}

static bool acls_too_long(const Hadoop__Yarn__ContainerLaunchContextProto *clc)
{
    for (size_t i = 0; i < clc->n_application_acls; i++)
        if (clc->application_acls[i]->acl && strlen(clc->application_acls[i]->acl) > SV_ACL_MAX)
            return true;
    return false;
}

/* The application of the container; created and recorded with its first container. */
static int find_or_make_app(const struct nm_am *am, const struct yarn_container_token *t,
                            const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                            struct nm_app **ret, struct refusal *f)
{
    struct nm_context *ctx = am->ctx;
    char text[YARN_ID_TEXT_MAX];
    struct nm_app *app = nm_app_find(ctx, yarn_app_id_text(t->container.attempt.app, text));
    int r;

    if (app) {
        if (app->state != NM_APP_NEW && app->state != NM_APP_INITING &&
            app->state != NM_APP_RUNNING) {
            (void)sv_error_set(&f->err, -ESHUTDOWN,
                               "Application %s is finishing on this "
                               "NodeManager, no container of it is started",
                               text);
            return refuse(f, JAVA_YARN_EXCEPTION);
        }
        if (strcmp(app->user, t->submitter) != 0) {
            (void)sv_error_set(&f->err, -EACCES, "Application %s belongs to another user", text);
            return refuse(f, JAVA_YARN_EXCEPTION);
        }
        *ret = app;
        return 0;
    }
    if (acls_too_long(clc)) {
        (void)sv_error_set(&f->err, -EMSGSIZE,
                           "An access list of application %s is longer than %zu "
                           "bytes",
                           text, SV_ACL_MAX);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    r = nm_app_new(ctx, t->container.attempt.app, t->submitter, &app);
    if (r < 0)
        return r;
    app->view_acl = acl_of(clc, HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP);
    app->modify_acl =
        acl_of(clc, HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP);
    sv_log(SV_LOG_INFO, text, "Creating a new application reference for app %s", text);
    nm_app_add(app);
    *ret = app;
    r = nm_store_app(ctx->store, app->text, app->user, app->view_acl ? app->view_acl : " ",
                     app->modify_acl ? app->modify_acl : " ");
    if (r >= 0)
        r = nm_aggregation_app_started(
            am->aggregation, app, t,
            (struct fs_credentials){ clc->tokens.data, clc->has_tokens ? clc->tokens.len : 0 });
    if (r < 0)
        nm_app_remove(app);
    return r < 0 ? r : 0;
}

/* Assigns its share of the node, then writes the records. */
static int assign_and_record(struct start_call *s, struct nm_container *c, const uint8_t *packed,
                             size_t size, int64_t token_expiry_ms)
{
    struct nm_context *ctx = s->am->ctx;
    char assigned[NM_ASSIGNED_TEXT_MAX];
    struct sv_error why = { 0 };
    int r;

    assigned[0] = '\0';
    if (c->execution_type != HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC) /* it may wait */
        (void)!nm_assign(s->am->assignments, c, assigned, &why); /* the launch tries again */
    r = nm_store_container(ctx->store, c->text, c->app->text, packed, size, c->start_ms,
                           c->launch.local_dir, c->launch.log_dir, assigned);
    if (r >= 0)
        r = nm_secrets_use_token(ctx->secrets, c->text, token_expiry_ms);
    if (r < 0) {
        nm_assign_release(s->am->assignments, c);
        nm_container_remove(c);
    }
    return r;
}

static int start_one(struct start_call *s, const struct yarn_container_token *t, const char *text,
                     const Hadoop__Yarn__StartContainerRequestProto *q, struct refusal *f)
{
    const struct ipc_peer *peer = ipc_call_peer(s->call);
    struct nm_context *ctx = s->am->ctx;
    size_t size = hadoop__yarn__start_container_request_proto__get_packed_size(q);
    struct nm_container *c = NULL;
    struct nm_app *app = NULL;
    uint8_t *packed;
    int r;

    if (size > NM_CM_REQUEST_MAX) {
        (void)sv_error_set(&f->err, -E2BIG, "request of %zu bytes, at most %d are accepted", size,
                           NM_CM_REQUEST_MAX);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    if (nm_container_find(ctx, text)) {
        nm_audit_refuse(&s->running, t->container);
        (void)sv_error_set(&f->err, -EEXIST, "Container %s already is running on this node!!",
                           text);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    packed = sv_arena_alloc(ipc_call_arena(s->call), size);
    if (!packed)
        return -ENOMEM;
    hadoop__yarn__start_container_request_proto__pack(q, packed);
    r = nm_container_new(ctx, t, packed, size, &c);
    if (r < 0)
        return r;
    /* Without a good directory the launch is refused (DISKS_FAILED), as in Hadoop. */
    c->launch.local_dir = nm_dirs_pick_local(ctx->dirs, UINT32_MAX, 0);
    c->launch.log_dir = nm_dirs_pick_log(ctx->dirs);
    c->launch.no_dirs = c->launch.local_dir < 0 || c->launch.log_dir < 0;
    if (c->launch.local_dir < 0)
        c->launch.local_dir = 0;
    if (c->launch.log_dir < 0)
        c->launch.log_dir = 0;
    r = find_or_make_app(s->am, t, q->container_launch_context, &app, f);
    if (r >= 0)
        r = nm_app_join(app, c);
    if (r < 0) {
        nm_container_free(c);
        return r;
    }
    nm_container_add(c, app);
    r = assign_and_record(s, c, packed, size, t->expiry_ms);
    if (r >= 0)
        nm_audit_success(peer->user, peer->address, START, NM_CM_TARGET, c);
    return r;
}

/* A master behind the AMRMProxy is recorded and launched with a local token. 1: it is. */
static int start_master(struct start_call *s, const struct yarn_container_token *t,
                        Hadoop__Yarn__ContainerLaunchContextProto *clc, struct refusal *f)
{
    const struct nm_master *m = nm_cm_master(&s->masters, s->rows.at);
    int r;

    if (!m && nm_amrm_wants(s->am->amrm, t)) { /* it must not get the real token */
        (void)sv_error_set(&f->err, -E2BIG, "more than %d ApplicationMasters in one call",
                           NM_MASTERS_MAX);
        return refuse(f, JAVA_YARN_EXCEPTION);
    }
    if (!m || m->served == 0)
        return 0;
    if (m->served < 0)
        (void)sv_error_set(&f->err, m->served, "%s", m->why);
    r = m->served < 0 ? m->served
                      : nm_amrm_start(s->am->amrm, t, clc, ipc_call_arena(s->call), &f->err);
    return r < 0 ? refuse(f, JAVA_YARN_EXCEPTION) : 1;
}

static int start_any(struct start_call *s, const struct yarn_container_token *t, const char *text,
                     const Hadoop__Yarn__StartContainerRequestProto *q, struct refusal *f)
{
    const bool runs = nm_container_find(s->am->ctx, text); /* refused by start_one() */
    int master = runs ? 0 : start_master(s, t, q->container_launch_context, f), r;

    if (master < 0)
        return master;
    r = start_one(s, t, text, q, f);
    if (r < 0 && master)
        nm_amrm_drop(s->am->amrm, t->container.attempt);
    return r;
}

/* Verifies the signed token of a request; -ECANCELED aborts the call. */
static int verify_token(struct start_call *s, const Hadoop__Yarn__StartContainerRequestProto *q,
                        struct yarn_container_token *ret)
{
    struct yarn_token token;
    int r;

    if (!q->container_token ||
        yarn_token_from(q->container_token, ipc_call_arena(s->call), &token) < 0 ||
        token.id_len == 0) {
        (void)sv_error_set(&s->abort_error, -EBADMSG, "Invalid ContainerToken");
        return -ECANCELED;
    }
    r = nm_secrets_verify_container_token(s->am->ctx->secrets, &token, ret, &s->abort_error);
    if (r >= 0)
        return 0;
    s->abort = r == -EACCES;
    if (r == -EBADMSG)
        (void)sv_error_set(&s->abort_error, -EBADMSG, "Invalid ContainerToken");
    return -ECANCELED;
}

static int add_started(struct start_call *s, struct yarn_container_id id, const char *text)
{
    Hadoop__Yarn__ContainerIdProto *row = yarn_container_id_to(ipc_call_arena(s->call), id);

    snprintf(s->started[s->n_started++], YARN_ID_TEXT_MAX, "%s", text);
    if (!row)
        return -ENOMEM;
    s->response.succeeded_requests[s->response.n_succeeded_requests++] = row;
    return 0;
}

static int add_refused(struct start_call *s, struct yarn_container_id id, const char *text, int r,
                       struct refusal *f)
{
    Hadoop__Yarn__ContainerExceptionMapProto *row;

    if (r == -ESHUTDOWN && !f->err.code)
        (void)sv_error_set(&f->err, r,
                           "Container start failed as the NodeManager is in the process "
                           "of shutting down");
    else if (!f->err.code)
        (void)sv_error_errno(&f->err, r, "Container %s could not be recorded", text);
    if (s->refused++ < REFUSED_SHOWN)
        sv_log(SV_LOG_WARNING, text, "%s: %s", text, f->err.text);
    row = nm_cm_failed_row(ipc_call_arena(s->call), id, f->java_class, f->err.text);
    if (!row)
        return -ENOMEM;
    s->response.failed_requests[s->response.n_failed_requests++] = row;
    return 0;
}

/* One request of the list. Accepted or refused, it gets a row in the response; -ECANCELED aborts
 * the call. */
static int start_request(struct start_call *s, const struct yarn_nm_token *nmt,
                         const Hadoop__Yarn__StartContainerRequestProto *q)
{
    struct yarn_container_token t = { 0 };
    struct refusal f = { .java_class = JAVA_YARN_EXCEPTION };
    char text[YARN_ID_TEXT_MAX];
    int r = verify_token(s, q, &t);

    if (r < 0)
        return r;
    yarn_container_id_text(t.container, text);
    r = authorize(s->am, nmt, &t, text, &f);
    if (r >= 0 && nm_secrets_attempt_starts(s->am->ctx->secrets, nmt, &f.err) < 0) {
        s->abort = true; /* InvalidToken aborts the call */
        s->abort_error = f.err;
        return -ECANCELED;
    }
    if (r >= 0)
        r = check_context(s->am, &t, text, q->container_launch_context, ipc_call_arena(s->call),
                          &f);
    if (r >= 0)
        r = start_any(s, &t, text, q, &f);
    return r >= 0 ? add_started(s, t.container, text) : add_refused(s, t.container, text, r, &f);
}

/* Adds the metadata of the auxiliary services, whether or not a container was accepted. */
static int add_metadata(struct start_call *s)
{
    Hadoop__Yarn__StartContainersResponseProto *response = &s->response;
    struct sv_arena *a = ipc_call_arena(s->call);
    size_t n = nm_aux_count(s->am->aux);

    response->services_meta_data = sv_newn(a, Hadoop__Yarn__StringBytesMapProto *, n + 1);
    for (size_t i = 0; response->services_meta_data && i < n; i++) {
        Hadoop__Yarn__StringBytesMapProto *row;
        struct nm_aux_info info;

        nm_aux_info(s->am->aux, i, &info);
        if (!info.metadata)
            continue;
        row = sv_newn(a, Hadoop__Yarn__StringBytesMapProto, 1);
        if (!row)
            return -ENOMEM;
        hadoop__yarn__string_bytes_map_proto__init(row);
        row->key = sv_arena_strdup(a, info.name);
        row->value.data = sv_arena_memdup(a, info.metadata, info.metadata_len);
        row->value.len = info.metadata_len;
        row->has_value = true;
        if (!row->key || !row->value.data)
            return -ENOMEM;
        response->services_meta_data[response->n_services_meta_data++] = row;
    }
    return response->services_meta_data ? 0 : -ENOMEM;
}

/* After the commit of the records: containers begin, or are dropped if it failed. */
static void begin_recorded(struct start_call *s, bool ok)
{
    struct nm_context *ctx = s->am->ctx;

    for (size_t i = 0; i < s->n_started; i++) {
        struct nm_container *c = nm_container_find(ctx, s->started[i]);
        struct nm_app *app;

        if (!c)
            continue;
        app = c->app;
        c->recorded = ok;
        if (ok && app->state == NM_APP_NEW && !app->init_posted) {
            app->init_posted = true; /* its turn may be a later one */
            nm_app_post(app, NM_APP_EV_INIT_APPLICATION, NULL);
        }
        if (ok) {
            nm_app_post(app, NM_APP_EV_INIT_CONTAINER, c->text);
            continue;
        }
        nm_assign_release(s->am->assignments, c);
        if (c->container_type == NM_APPLICATION_MASTER)
            nm_amrm_drop(s->am->amrm, c->id.attempt);
        if (s->n_started > 1) /* those of another turn may be committed */
            (void)!nm_store_container_remove(ctx->store, c->text); /* the store failed, ignoring */
        nm_container_remove(c);
        if (app->state == NM_APP_NEW && !app->members)
            nm_app_remove(app);
    }
}

static int on_row(struct nm_call *rows)
{
    struct start_call *s = (struct start_call *)rows;

    return start_request(s, &s->nmt, s->requests[rows->at]);
}

static void log_refused(const struct start_call *s)
{
    const struct ipc_peer *peer = ipc_call_peer(s->call);

    nm_audit_refused(peer->user, peer->address, START, NM_CM_TARGET_FAILURE,
                     "Container already running on this node!", &s->running);
    if (s->refused > REFUSED_SHOWN)
        sv_log_warning("startContainers of %s: %zu more containers of this call are refused",
                       peer->user, s->refused - REFUSED_SHOWN);
}

static void on_done(struct nm_call *rows, int result)
{
    struct start_call *s = (struct start_call *)rows;

    if (result < 0 && result != -ECANCELED)
        (void)sv_error_errno(&s->abort_error, result, "NodeManager");
    log_refused(s);
    begin_recorded(s, !rows->lost);
    if (rows->lost)
        ipc_call_fail(s->call, JAVA_YARN_EXCEPTION, "NodeManager %s cannot write its state store",
                      s->am->ctx->node_id_text);
    else if (s->abort)
        ipc_call_fail(s->call, JAVA_INVALID_TOKEN, "%s", s->abort_error.text);
    else if (s->abort_error.code)
        ipc_call_fail(s->call, JAVA_YARN_EXCEPTION, "%s", s->abort_error.text);
    else
        ipc_call_reply(s->call, &s->response.base);
    free(s->started);
    free(s);
}

static void run(void *userdata)
{
    struct start_call *s = userdata;

    nm_call_turns_run(s->am->turns, &s->rows);
}

void nm_cm_start_containers(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Yarn__StartContainersRequestProto *q = (const void *)request;
    struct nm_am *am = userdata;
    struct sv_arena *a = ipc_call_arena(call);
    size_t n = q->n_start_container_request;
    struct yarn_nm_token nmt;
    struct start_call *s;
    int r = 0;

    if (nm_cm_caller(call, &nmt) < 0)
        return;
    if (!nm_updater_registered(am->updater)) {
        ipc_call_fail(call, JAVA_NM_NOT_READY,
                      "Rejecting new containers as NodeManager has not "
                      "yet connected with ResourceManager");
        return;
    }
    if (!nm_call_turns_takes(call, n))
        return;
    s = calloc(1, sizeof(*s));
    if (s)
        s->started = calloc(n + 1, sizeof(*s->started));
    if (!s || !s->started) {
        free(s);
        nm_cm_out_of_memory(call);
        return;
    }
    s->rows = (struct nm_call){ .n = n, .row = on_row, .done = on_done, .store = am->ctx->store };
    s->am = am;
    s->call = call;
    s->nmt = nmt;
    s->requests = q->start_container_request;
    hadoop__yarn__start_containers_response_proto__init(&s->response);
    s->response.succeeded_requests = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n + 1);
    s->response.failed_requests = sv_newn(a, Hadoop__Yarn__ContainerExceptionMapProto *, n + 1);
    if (!s->response.succeeded_requests || !s->response.failed_requests)
        r = -ENOMEM;
    if (r >= 0)
        r = add_metadata(s);
    if (r < 0) { /* no row is handled */
        (void)sv_error_errno(&s->abort_error, r, "NodeManager");
        s->rows.n = 0;
    }
    nm_cm_masters_find(am, s->requests, s->rows.n, a, &s->masters);
    nm_cm_masters_ask(am, &s->masters, run, s);
}
