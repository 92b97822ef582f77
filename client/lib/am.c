/* The life of an ApplicationMaster: ApplicationMasterProtocol with its heartbeat.
 *
 * One allocate call is open at a time. Until it is answered the same request is resent with the
 * same response id: the ResourceManager answers a repeated id with the lost response, so no
 * container is lost or counted twice. */
#include "client/lib/am.h"

#include <errno.h>
#include <string.h>

#include "client/lib/am-internal.h"
#include "common/clock.h"
#include "wire/ipc/ipc-server.h" /* the Java class names */
#include "wire/ipc/methods.h"
#include "wire/sasl/qop.h"

#define FINISH_POLL_MS 100
#define FAILOVER_BASE_MS 200
#define FAILOVER_MAX_MS 2000

static void tick(struct cli_am *am);

static int connect_rm(struct cli_am *am, const struct yarn_token *token, struct sv_error *err)
{
    struct ipc_proxy_config cfg = am->rm;
    struct ipc_proxy *ipc;
    int r;

    cfg.client.token = token;
    r = ipc_proxy_new(am->event, &cfg, &ipc, err);
    if (r < 0)
        return r;
    ipc_proxy_free(am->ipc);
    am->ipc = ipc;
    return 0;
}

static int begin(struct cli_am *am, const char *path, struct sv_error *err)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    const struct yarn_token *token;
    int r = cli_am_read_tokens(am, path, a, &token, err);

    return r < 0 ? r : connect_rm(am, token, err);
}

/* A single ResourceManager is retried by classify_failure() below; among several, the proxy finds
 * the active one first. */
static int copy_schedulers(struct cli_am *am, const struct cli_am_config *cfg)
{
    struct ipc_proxy_config *rm = &am->rm;

    rm->client.protocol = YARN_APPLICATION_MASTER_PROTOCOL;
    rm->client.version = 1;
    rm->client.qop_mask = IPC_QOP_ALL; /* no configuration in a container: the server decides */
    rm->retry.kind = cfg->n_schedulers > 1 ? IPC_RETRY_FAILOVER : IPC_RETRY_NEVER;
    rm->retry.max_failovers = 2 * (int)cfg->n_schedulers;
    rm->retry.base_ms = FAILOVER_BASE_MS;
    rm->retry.max_ms = FAILOVER_MAX_MS;
    if (cfg->n_schedulers > CLI_SERVERS_MAX)
        return -E2BIG;
    for (; rm->n_servers < cfg->n_schedulers; rm->n_servers++) {
        const struct cli_server *from = &cfg->schedulers[rm->n_servers];

        am->hosts[rm->n_servers] = strdup(from->host);
        if (!am->hosts[rm->n_servers])
            return -ENOMEM;
        rm->servers[rm->n_servers].host = am->hosts[rm->n_servers];
        rm->servers[rm->n_servers].port = from->port;
    }
    return 0;
}

int cli_am_new(sd_event *event, const struct cli_am_config *cfg, struct cli_am **ret,
               struct sv_error *err)
{
    struct cli_am *am = calloc(1, sizeof(*am));
    int r = -ENOMEM;

    if (!am)
        return sv_error_errno(err, r, "ApplicationMaster");
    am->event = sd_event_ref(event);
    am->ops = *cfg->ops;
    am->userdata = cfg->userdata;
    am->phase = NEW;
    am->heartbeat_ms = cfg->heartbeat_ms > 0 ? cfg->heartbeat_ms : 200;
    am->max_wait_ms = cfg->max_wait_ms > 0    ? cfg->max_wait_ms
                      : cfg->max_wait_ms == 0 ? 15 * 60 * 1000
                                              : INT64_MAX;
    am->tick = tick;
    am->nodes = cli_nodes_new(event, cli_am_started, am);
    if (am->nodes)
        r = copy_schedulers(am, cfg);
    if (r < 0)
        sv_error_errno(err, r, "ApplicationMaster");
    else
        r = begin(am, cfg->tokens_file, err);
    if (r < 0) {
        cli_am_free(am);
        return r;
    }
    *ret = am;
    return 0;
}

struct cli_am *cli_am_free(struct cli_am *am)
{
    if (!am)
        return NULL;
    am->phase = OVER;
    ipc_proxy_free(am->ipc);
    cli_nodes_free(am->nodes);
    sd_event_source_disable_unref(am->timer);
    cli_am_containers_free(am);
    cli_am_asks_free(am);
    cli_am_blacklist_free(am);
    sv_arena_free(am->request_arena);
    sv_arena_free(am->new_token_arena);
    sv_arena_free(am->constraints_arena);
    explicit_bzero(am->client_key, sizeof(am->client_key));
    sv_buf_wipe(&am->job_tokens);
    for (size_t i = 0; i < CLI_SERVERS_MAX; i++)
        free(am->hosts[i]);
    free(am->my_host);
    free(am->my_url);
    free(am->new_url);
    free(am->queue);
    free(am->view_acl);
    free(am->modify_acl);
    free(am->diagnostics);
    sd_event_unref(am->event);
    free(am);
    return NULL;
}

/* ---- Failures ---- */

enum verdict { AGAIN, REGISTER_AGAIN, GIVE_UP };

static enum verdict classify_failure(struct cli_am *am, const struct ipc_result *r)
{
    static const char *const fatal[] = {
        JAVA_ATTEMPT_NOT_FOUND,        JAVA_APP_NOT_FOUND,
        JAVA_INVALID_AM_REQUEST,       JAVA_INVALID_TOKEN,
        JAVA_INVALID_RESOURCE_REQUEST, JAVA_INVALID_RELEASE,
    };

    if (r->status == -EREMOTEIO && r->java_class) {
        if (strcmp(r->java_class, JAVA_AM_NOT_REGISTERED) == 0)
            return REGISTER_AGAIN;
        for (size_t i = 0; i < SV_ARRAY_LEN(fatal); i++)
            if (strcmp(r->java_class, fatal[i]) == 0)
                return GIVE_UP;
    }
    if (r->status == -EACCES || r->status == -EPERM)
        return GIVE_UP;
    if (am->silent_since == 0)
        am->silent_since = sv_now_ms();
    return sv_now_ms() - am->silent_since > am->max_wait_ms ? GIVE_UP : AGAIN;
}

/* No answer to the pending request will come. */
static void drop_request(struct cli_am *am)
{
    am->request = NULL;
    am->request_arena = sv_arena_free(am->request_arena);
    cli_am_bury(am);
}

/* The ResourceManager restarted: the registration and all requests are lost. */
static void register_again(struct cli_am *am)
{
    am->phase = REGISTERING;
    drop_request(am);
    cli_am_asks_again(am);
    cli_am_blacklist_again(am);
    cli_am_containers_again(am);
    cli_am_wake(am, AM_SOON_MS);
}

static void failed(struct cli_am *am, const struct ipc_result *r, const struct sv_error *err)
{
    switch (classify_failure(am, r)) {
    case AGAIN:
        cli_am_wake(am, 500);
        return;
    case REGISTER_AGAIN:
        register_again(am);
        return;
    case GIVE_UP:
        cli_am_lost(am, err);
        return;
    }
}

/* ---- Registering ---- */

/* After a lost answer the attempt may be registered already: the heartbeat will show it. What the
 * answer said is unknown: a program that takes over containers of earlier attempts would start them
 * once more, and one that serves clients would not know whether they need a token. */
static void already_registered(struct cli_am *am)
{
    struct sv_error err = { 0 };

    if (!am->was_registered && (am->on_key || (am->ops.recovered && am->attempt.attempt > 1))) {
        sv_error_set(
            &err, -EIO,
            "the ResourceManager registered this attempt, but its answer was lost, with the "
            "running containers and the key for clients: another attempt is needed");
        cli_am_lost(am, &err);
        return;
    }
    am->phase = RUNNING;
    cli_am_wake(am, AM_SOON_MS);
    if (!am->was_registered)
        cli_am_report_registered(am, NULL);
}

static void on_registered(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct cli_am *am = userdata;
    const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m = (const void *)r->response;
    struct sv_error own = { 0 };
    int taken;

    am->call_open = false;
    if (am->phase == OVER)
        return;
    if (r->status < 0) {
        if (r->status == -EREMOTEIO && am->silent_since != 0 && r->java_class &&
            strcmp(r->java_class, JAVA_INVALID_AM_REQUEST) == 0)
            already_registered(am);
        else
            failed(am, r, err);
        return;
    }
    am->silent_since = 0;
    am->response_id = 0;
    am->phase = am->diagnostics ? FINISHING : RUNNING;
    cli_am_wake(am, AM_SOON_MS);
    taken = cli_am_take_registration(am, m);
    if (taken < 0) {
        sv_error_errno(&own, taken, "registration");
        cli_am_lost(am, &own);
    } else if (am->phase != OVER && !am->was_registered) {
        cli_am_report_registered(am, m);
    } else if (am->phase != OVER && am->ops.resynced) {
        am->ops.resynced(am, am->userdata);
    }
}

static int send_register(struct cli_am *am)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto request =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    request.host = am->my_host;
    request.has_rpc_port = true;
    request.rpc_port = am->my_port;
    request.tracking_url = am->my_url;
    request.placement_constraints = am->constraints;
    request.n_placement_constraints = am->n_constraints;
    return ipc_proxy_call(am->ipc, "registerApplicationMaster", &request.base,
                          &hadoop__yarn__register_application_master_response_proto__descriptor, 0,
                          on_registered, am, NULL);
}

int cli_am_register(struct cli_am *am, const char *host, int32_t port, const char *tracking_url)
{
    if (am->phase != NEW)
        return -EALREADY;
    am->my_host = strdup(host);
    am->my_url = strdup(tracking_url);
    am->my_port = port;
    if (!am->my_host || !am->my_url)
        return -ENOMEM;
    am->phase = REGISTERING;
    cli_am_wake(am, 0);
    return 0;
}

int cli_am_tracking_url(struct cli_am *am, const char *tracking_url)
{
    char *copy = strdup(tracking_url), *kept = strdup(tracking_url);

    if (!copy || !kept) {
        free(copy);
        free(kept);
        return -ENOMEM;
    }
    free(am->new_url);
    free(am->my_url);
    am->new_url = copy;
    am->my_url = kept;
    cli_am_wake_soon(am);
    return 0;
}

/* ---- The heartbeat (its messages: am-allocate.c) ---- */

static void on_allocate(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct cli_am *am = userdata;
    const Hadoop__Yarn__AllocateResponseProto *m = (const void *)r->response;
    struct sv_error own = { 0 };

    am->call_open = false;
    if (am->phase == OVER)
        return;
    if (r->status < 0) {
        failed(am, r, err);
        return;
    }
    am->silent_since = 0;
    if (m->has_a_m_command && m->a_m_command == HADOOP__YARN__AMCOMMAND_PROTO__AM_SHUTDOWN) {
        sv_error_set(&own, -ESHUTDOWN, "the ResourceManager has ended this attempt");
        cli_am_lost(am, &own);
        return;
    }
    if (m->has_a_m_command && m->a_m_command == HADOOP__YARN__AMCOMMAND_PROTO__AM_RESYNC) {
        register_again(am); /* Hadoop before 2.4 */
        return;
    }
    drop_request(am);
    am->response_id = m->response_id;
    cli_am_take_answer(am, m);
    if (am->phase != OVER)
        cli_am_wake(am, am->phase == FINISHING || cli_am_has_pending(am) ? AM_SOON_MS
                                                                         : am->heartbeat_ms);
}

static int send_allocate(struct cli_am *am)
{
    int r = am->request ? 0 : cli_am_make_request(am);

    if (r < 0)
        return r;
    return ipc_proxy_call(am->ipc, "allocate", &am->request->base,
                          &hadoop__yarn__allocate_response_proto__descriptor, 0, on_allocate, am,
                          NULL);
}

/* ---- Finishing ---- */

static void on_finish(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct cli_am *am = userdata;
    const Hadoop__Yarn__FinishApplicationMasterResponseProto *m = (const void *)r->response;
    bool forgotten = r->status == -EREMOTEIO && r->java_class &&
                     (strcmp(r->java_class, JAVA_ATTEMPT_NOT_FOUND) == 0 ||
                      strcmp(r->java_class, JAVA_APP_NOT_FOUND) == 0);

    am->call_open = false;
    if (am->phase == OVER)
        return;
    if (forgotten || (r->status == 0 && m->isunregistered)) {
        am->phase = OVER;
        if (am->ops.finished)
            am->ops.finished(am, am->userdata);
        return;
    }
    if (r->status < 0)
        failed(am, r, err);
    else
        cli_am_wake(am, FINISH_POLL_MS);
}

static int send_finish(struct cli_am *am)
{
    Hadoop__Yarn__FinishApplicationMasterRequestProto request =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    request.diagnostics = am->diagnostics;
    request.tracking_url = (char[]){ "" }; /* its own ends with it: the ResourceManager's page */
    request.has_final_application_status = true;
    request.final_application_status = (Hadoop__Yarn__FinalApplicationStatusProto)am->final;
    return ipc_proxy_call(am->ipc, "finishApplicationMaster", &request.base,
                          &hadoop__yarn__finish_application_master_response_proto__descriptor, 0,
                          on_finish, am, NULL);
}

int cli_am_finish(struct cli_am *am, enum cli_final final, const char *diagnostics)
{
    if (am->phase != RUNNING && am->phase != REGISTERING)
        return -ENOTCONN;
    free(am->diagnostics);
    am->diagnostics = strdup(diagnostics);
    if (!am->diagnostics)
        return -ENOMEM;
    am->final = final;
    if (am->phase == RUNNING)
        am->phase = FINISHING;
    cli_am_wake(am, 0);
    return 0;
}

/* ---- The clock ---- */

static void tick(struct cli_am *am)
{
    struct sv_error err = { 0 };
    int r = 0;

    if (am->call_open)
        return;
    if (am->new_token_arena) { /* the old token is valid until its key expires */
        (void)connect_rm(am, &am->new_token, NULL); /* keeps the old connection, ignoring */
        am->new_token_arena = sv_arena_free(am->new_token_arena);
    }
    switch (am->phase) {
    case REGISTERING:
        r = send_register(am);
        break;
    case RUNNING:
        r = send_allocate(am);
        break;
    case FINISHING:
        r = send_finish(am);
        break;
    case NEW:
    case OVER:
        return;
    }
    if (r >= 0) {
        am->call_open = true;
    } else {
        sv_error_errno(&err, r, "ResourceManager %s:%u", ipc_proxy_current(am->ipc)->host,
                       ipc_proxy_current(am->ipc)->port);
        cli_am_lost(am, &err);
    }
}

/* ---- Properties ---- */

struct yarn_attempt_id cli_am_attempt(const struct cli_am *am)
{
    return am->attempt;
}

void cli_am_progress(struct cli_am *am, float progress)
{
    am->progress = progress;
}

struct yarn_resource cli_am_headroom(const struct cli_am *am)
{
    return am->headroom;
}

int32_t cli_am_cluster_nodes(const struct cli_am *am)
{
    return am->cluster_nodes;
}

int32_t cli_am_repeated(const struct cli_am *am)
{
    return am->repeated;
}
