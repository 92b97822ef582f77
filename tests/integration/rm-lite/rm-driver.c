/* Plays everything around a ResourceManager over real IPC: NodeManagers (their RPC server
 * included), a client and ApplicationMasters. Works with any ResourceManager that speaks Hadoop's
 * protocol.
 *
 *     rm-driver CLIENT_PORT TRACKER_PORT AM_PORT SCENARIO
 *
 * Each check is one line "ok TEXT" or "FAIL TEXT"; scenario `restart` prints RESTART and waits for
 * a line on stdin while tests/integration/rm-lite/test-rm kills and starts the ResourceManager;
 * `page` prints PAUSE while its application runs, and $CROWD others wait. Masters register
 * $TRACKING_URL; applications are named $APP_NAME, and $MODIFY_ACL is their MODIFY_APP list. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

#define NODES 20
#define MAX_CONTAINERS 4000
#define PATIENCE_MS 120000 /* for hangs alone: the machine may be busy with other suites */

typedef Hadoop__Yarn__NodeHeartbeatResponseProto HeartbeatResponse;
typedef Hadoop__Yarn__AllocateResponseProto AllocateResponse;

struct held { /* a container on a node */
    struct yarn_container_id id;
    bool complete, acked;
    int32_t exit;
};

struct node {
    struct yarn_node_id id;
    int32_t response_id;
    struct ipc_client *rm;
    struct ipc_server *server; /* its ContainerManagementProtocol */
    struct held held[MAX_CONTAINERS];
    size_t n_held;
    int apps_cleaned, cleanups, removed;
};

static struct {
    sd_event *event;
    uint16_t client_port, tracker_port, am_port;
    struct ipc_client *client;
    struct yarn_master_key container_key, nm_key;
    struct node nodes[NODES];
    int n_nodes, starts, stops, bad_tokens;
    uint8_t amrm_id[1024], amrm_password[64];
    struct yarn_token amrm;
    struct yarn_container_id master;
    char env_base[128], env_time[64];
    int failed;
} g;

static void check(bool good, const char *fmt, ...) _printf_(2, 3);
static void check(bool good, const char *fmt, ...)
{
    va_list ap;

    printf("%s ", good ? "ok" : "FAIL");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    (void)fflush(stdout);
    g.failed += !good;
}

static void die(const char *what, const struct sv_error *err)
{
    printf("FAIL %s: %s\n", what, err ? err->text : "");
    exit(EXIT_FAILURE);
}

static struct ipc_client *open_client(uint16_t port, const char *protocol, const char *user,
                                      const struct yarn_token *token)
{
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = port,
                                     .protocol = protocol,
                                     .version = 1,
                                     .user = user,
                                     .token = token,
                                     .call_ms = PATIENCE_MS };
    struct ipc_client *c;
    struct sv_error err = { 0 };

    if (ipc_client_new(g.event, &cfg, &c, &err) < 0)
        die("ipc_client_new", &err);
    return c;
}

/* Makes one call; returns the answer, or NULL and the reason in *ret_class and err. */
static const void *call(struct sv_arena *a, struct ipc_client *c, const char *method,
                        const ProtobufCMessage *q, const ProtobufCMessageDescriptor *d,
                        const char **ret_class, struct sv_error *err)
{
    ProtobufCMessage *m = NULL;
    int r;

    memset(err, 0, sizeof(*err));
    *ret_class = "";
    r = ipc_client_call_sync(c, method, q, d, a, &m, ret_class, err);
    return r < 0 ? NULL : m;
}

static const void *must(struct sv_arena *a, struct ipc_client *c, const char *method,
                        const ProtobufCMessage *q, const ProtobufCMessageDescriptor *d)
{
    struct sv_error err;
    const char *class;
    const void *m = call(a, c, method, q, d, &class, &err);

    if (!m)
        die(method, &err);
    return m;
}

static void refused(struct ipc_client *c, const char *method, const ProtobufCMessage *q,
                    const ProtobufCMessageDescriptor *d, const char *class, const char *text)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err;
    const char *got;
    bool refusal = !call(a, c, method, q, d, &got, &err);

    check(refusal && sv_streq(got, class) && strstr(err.text, text),
          "%s is refused with %s: \"%s\" %s %s", method, class, text, got,
          refusal && sv_streq(got, class) ? "" : err.text);
}

/* ------------------------------------------------- the NodeManagers' own server */

static void take_credentials(const Hadoop__Yarn__ContainerLaunchContextProto *clc)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials cred = { 0 };

    for (size_t i = 0; i < clc->n_environment; i++) {
        if (sv_streq(clc->environment[i]->key, "APPLICATION_WEB_PROXY_BASE"))
            (void)snprintf(g.env_base, sizeof(g.env_base), "%s", clc->environment[i]->value);
        if (sv_streq(clc->environment[i]->key, "APP_SUBMIT_TIME_ENV"))
            (void)snprintf(g.env_time, sizeof(g.env_time), "%s", clc->environment[i]->value);
    }
    if (yarn_credentials_parse(clc->tokens.data, clc->tokens.len, a, &cred, NULL) < 0)
        return;
    for (size_t i = 0; i < cred.n_tokens; i++) {
        const struct yarn_token *t = &cred.tokens[i].token;

        if (!sv_streq(t->kind, YARN_KIND_AMRM) || t->id_len > sizeof(g.amrm_id) ||
            t->password_len > sizeof(g.amrm_password))
            continue;
        memcpy(g.amrm_id, t->id, t->id_len);
        memcpy(g.amrm_password, t->password, t->password_len);
        g.amrm = (struct yarn_token){ g.amrm_id,       t->id_len,      g.amrm_password,
                                      t->password_len, YARN_KIND_AMRM, "" };
    }
}

/* Is the token signed with the master key that registerNodeManager gave? */
static bool signed_well(const Hadoop__Common__TokenProto *t, const struct yarn_master_key *key)
{
    uint8_t want[YARN_TOKEN_PASSWORD_MAX];
    size_t n;

    return yarn_token_password(YARN_HMAC_SHA1, key, t->identifier.data, t->identifier.len, want,
                               &n) >= 0 &&
           yarn_bytes_equal(want, n, t->password.data, t->password.len);
}

static void on_startContainers(struct ipc_call *c, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Yarn__StartContainersRequestProto *q =
        (const Hadoop__Yarn__StartContainersRequestProto *)request;
    Hadoop__Yarn__StartContainersResponseProto resp =
        HADOOP__YARN__START_CONTAINERS_RESPONSE_PROTO__INIT;
    Hadoop__Common__TokenProto *t = q->start_container_request[0]->container_token;
    struct yarn_container_token id;

    (void)userdata;
    if (!signed_well(t, &g.container_key) ||
        yarn_container_token_decode(t->identifier.data, t->identifier.len, &id, NULL) < 0) {
        g.bad_tokens++;
        ipc_call_fail(c, JAVA_INVALID_TOKEN, "bad container token");
        return;
    }
    g.master = id.container;
    g.starts++;
    take_credentials(q->start_container_request[0]->container_launch_context);
    for (int i = 0; i < g.n_nodes; i++) {
        char text[300];

        if (sv_streq(yarn_node_id_text(&g.nodes[i].id, text), id.nm_addr))
            g.nodes[i].held[g.nodes[i].n_held++].id = id.container;
    }
    ipc_call_reply(c, &resp.base);
}

static void on_stopContainers(struct ipc_call *c, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Yarn__StopContainersResponseProto resp =
        HADOOP__YARN__STOP_CONTAINERS_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    g.stops++;
    ipc_call_reply(c, &resp.base);
}

static int verify_nm_token(const uint8_t *id, size_t len, uint8_t ret[64], size_t *ret_len,
                           char user[256], const char **class, struct sv_error *err, void *data)
{
    struct yarn_nm_token t;
    int r = yarn_nm_token_decode(id, len, &t, err);

    (void)class;
    (void)data;
    if (r < 0)
        return r;
    if (t.key_id != g.nm_key.key_id)
        return sv_error_set(err, -EACCES, "unknown key %d", t.key_id);
    yarn_attempt_id_text(t.attempt, user);
    return yarn_token_password(YARN_HMAC_SHA1, &g.nm_key, id, len, ret, ret_len);
}

#define on_getContainerStatuses NULL
#define on_increaseContainersResource NULL
#define on_updateContainer NULL
#define on_signalToContainer NULL
#define on_localize NULL
#define on_reInitializeContainer NULL
#define on_restartContainer NULL
#define on_rollbackLastReInitialization NULL
#define on_commitLastReInitialization NULL
#define on_getLocalizationStatuses NULL
#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method nm_methods[] = { YARN_CONTAINER_MANAGEMENT_METHODS(ROW) };
static const struct ipc_protocol nm_protocol = { YARN_CONTAINER_MANAGEMENT_PROTOCOL, 1, nm_methods,
                                                 SV_ARRAY_LEN(nm_methods) };
static const struct ipc_protocol *const nm_protocols[] = { &nm_protocol, NULL };

/* ----------------------------------------------------------------- NodeManagers */

static void take_key(const Hadoop__Yarn__MasterKeyProto *m, struct yarn_master_key *k)
{
    if (!m || m->bytes.len > sizeof(k->bytes))
        return;
    k->key_id = m->key_id;
    k->len = m->bytes.len;
    memcpy(k->bytes, m->bytes.data, m->bytes.len);
}

static Hadoop__Yarn__NodeActionProto register_node(struct node *n, bool with_containers)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__RegisterNodeManagerResponseProto *resp;

    q.node_id = yarn_node_id_to(a, &n->id);
    q.has_http_port = true;
    q.http_port = 8042;
    q.resource = yarn_resource_to(a, (struct yarn_resource){ 65536, 64 });
    q.nm_version = (char *)(uintptr_t) "3.4.2";
    q.container_statuses = sv_newn(a, Hadoop__Yarn__NMContainerStatusProto *, n->n_held + 1);
    for (size_t i = 0; with_containers && i < n->n_held; i++) {
        Hadoop__Yarn__NMContainerStatusProto *m = sv_new(a, Hadoop__Yarn__NMContainerStatusProto);

        if (n->held[i].complete)
            continue;
        hadoop__yarn__nmcontainer_status_proto__init(m);
        m->container_id = yarn_container_id_to(a, n->held[i].id);
        m->has_container_state = true;
        m->container_state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
        m->resource = yarn_resource_to(a, (struct yarn_resource){ 1024, 1 });
        q.container_statuses[q.n_container_statuses++] = m;
    }
    resp = must(a, n->rm, "registerNodeManager", &q.base,
                &hadoop__yarn__register_node_manager_response_proto__descriptor);
    take_key(resp->container_token_master_key, &g.container_key);
    take_key(resp->nm_token_master_key, &g.nm_key);
    n->response_id = 0;
    return resp->nodeaction;
}

static struct node *add_node(void)
{
    struct ipc_server_config cfg = { .host = "127.0.0.1",
                                     .verify_token = verify_nm_token,
                                     .protocols = nm_protocols };
    struct node *n = &g.nodes[g.n_nodes];
    struct sv_error err = { 0 };

    if (ipc_server_new(g.event, &cfg, &n->server, &err) < 0)
        die("server of a node", &err);
    (void)snprintf(n->id.host, sizeof(n->id.host), "127.0.0.1");
    n->id.port = ipc_server_port(n->server);
    n->rm = open_client(g.tracker_port, YARN_RESOURCE_TRACKER_PROTOCOL, "yarn", NULL);
    g.n_nodes++;
    if (register_node(n, false) != HADOOP__YARN__NODE_ACTION_PROTO__NORMAL)
        die("registerNodeManager: not NORMAL", NULL);
    return n;
}

static struct held *find_held(struct node *n, const Hadoop__Yarn__ContainerIdProto *m)
{
    struct yarn_container_id id;

    if (yarn_container_id_from(m, &id) < 0)
        return NULL;
    for (size_t i = 0; i < n->n_held; i++)
        if (yarn_container_id_cmp(n->held[i].id, id) == 0)
            return &n->held[i];
    return NULL;
}

/* Fills the report by NODE_HEALTH: "good" for a healthy node, else one with invalid numbers. */
static void fill_health(struct sv_arena *a, Hadoop__Yarn__NodeStatusProto *st)
{
    const char *report = getenv("NODE_HEALTH");
    bool good = sv_streq(report, "good");
    Hadoop__Yarn__ResourceUtilizationProto *use;

    st->nodehealthstatus->has_is_node_healthy = st->nodehealthstatus->is_node_healthy = true;
    if (!report)
        return;
    use = sv_new(a, Hadoop__Yarn__ResourceUtilizationProto);
    hadoop__yarn__resource_utilization_proto__init(use);
    use->has_pmem = use->has_vmem = use->has_cpu = true;
    use->pmem = good ? 8192 : INT32_MIN;
    use->cpu = good ? 16.5f : -NAN;
    st->node_utilization = use;
    st->containers_utilization = use;
    st->nodehealthstatus->health_report = (char *)(uintptr_t)(good ? "all is well" : report);
    st->nodehealthstatus->has_last_health_report_time = true;
    st->nodehealthstatus->last_health_report_time = good ? sv_wall_ms() - 5000 : INT64_MAX;
}

/* Sends one heartbeat with `response_id`; completed containers are repeated until they are
 * acknowledged. */
static const HeartbeatResponse *beat_with(struct sv_arena *a, struct node *n, int32_t response_id)
{
    Hadoop__Yarn__NodeHeartbeatRequestProto q = HADOOP__YARN__NODE_HEARTBEAT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeStatusProto st = HADOOP__YARN__NODE_STATUS_PROTO__INIT;
    Hadoop__Yarn__NodeHealthStatusProto health = HADOOP__YARN__NODE_HEALTH_STATUS_PROTO__INIT;
    Hadoop__Yarn__MasterKeyProto ck = HADOOP__YARN__MASTER_KEY_PROTO__INIT, nk = ck;
    const HeartbeatResponse *resp;

    st.node_id = yarn_node_id_to(a, &n->id);
    st.has_response_id = true;
    st.response_id = response_id;
    st.nodehealthstatus = &health;
    fill_health(a, &st);
    ck.has_key_id = nk.has_key_id = true;
    ck.key_id = g.container_key.key_id;
    nk.key_id = g.nm_key.key_id;
    q.last_known_container_token_master_key = &ck;
    q.last_known_nm_token_master_key = &nk;
    st.containersstatuses = sv_newn(a, Hadoop__Yarn__ContainerStatusProto *, n->n_held + 1);
    for (size_t i = 0; i < n->n_held; i++) {
        Hadoop__Yarn__ContainerStatusProto *m = sv_new(a, Hadoop__Yarn__ContainerStatusProto);

        if (n->held[i].acked)
            continue;
        hadoop__yarn__container_status_proto__init(m);
        m->container_id = yarn_container_id_to(a, n->held[i].id);
        m->has_state = m->has_exit_status = true;
        m->state = n->held[i].complete ? HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE
                                       : HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
        m->exit_status = n->held[i].complete ? n->held[i].exit : -1000;
        m->diagnostics = (char *)(uintptr_t) "";
        st.containersstatuses[st.n_containersstatuses++] = m;
    }
    q.node_status = &st;
    resp = must(a, n->rm, "nodeHeartbeat", &q.base,
                &hadoop__yarn__node_heartbeat_response_proto__descriptor);
    take_key(resp->container_token_master_key, &g.container_key);
    take_key(resp->nm_token_master_key, &g.nm_key);
    for (size_t i = 0; i < resp->n_containers_to_be_removed_from_nm; i++) {
        struct held *h = find_held(n, resp->containers_to_be_removed_from_nm[i]);

        n->removed++;
        if (h)
            h->acked = true;
    }
    for (size_t i = 0; i < resp->n_containers_to_cleanup; i++) {
        struct held *h = find_held(n, resp->containers_to_cleanup[i]);

        n->cleanups++;
        if (h && !h->complete) {
            h->complete = true;
            h->exit = 143;
        }
    }
    n->apps_cleaned += (int)resp->n_applications_to_cleanup;
    return resp;
}

static void beat(struct node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    n->response_id = beat_with(a, n, n->response_id)->response_id;
}

static void end_held(struct node *n, struct yarn_container_id id, int32_t code)
{
    for (size_t i = 0; i < n->n_held; i++)
        if (yarn_container_id_cmp(n->held[i].id, id) == 0) {
            n->held[i].complete = true;
            n->held[i].exit = code;
        }
}

/* ----------------------------------------------------------------------- client */

static struct yarn_app_id submit(const char *queue, int32_t attempts)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetNewApplicationRequestProto nq =
        HADOOP__YARN__GET_NEW_APPLICATION_REQUEST_PROTO__INIT;
    Hadoop__Yarn__SubmitApplicationRequestProto q =
        HADOOP__YARN__SUBMIT_APPLICATION_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ApplicationSubmissionContextProto ctx =
        HADOOP__YARN__APPLICATION_SUBMISSION_CONTEXT_PROTO__INIT;
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    const Hadoop__Yarn__GetNewApplicationResponseProto *resp;
    struct yarn_app_id id;
    char *cmd = (char *)(uintptr_t) "true";
    Hadoop__Yarn__ApplicationACLMapProto view = HADOOP__YARN__APPLICATION_ACLMAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationACLMapProto modify = HADOOP__YARN__APPLICATION_ACLMAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationACLMapProto *acls[] = { &view, &modify };

    view.has_accesstype = true;
    view.accesstype = HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP;
    view.acl = (char *)(uintptr_t) "eve daemon"; /* a user, and a group that each system has */
    modify.has_accesstype = true;
    modify.accesstype = HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP;
    modify.acl = getenv("MODIFY_ACL") ? getenv("MODIFY_ACL") : (char *)(uintptr_t) " ";
    resp = must(a, g.client, "getNewApplication", &nq.base,
                &hadoop__yarn__get_new_application_response_proto__descriptor);
    if (yarn_app_id_from(resp->application_id, &id) < 0)
        die("getNewApplication: no id", NULL);
    clc.command = &cmd;
    clc.n_command = 1;
    clc.application_acls = acls;
    clc.n_application_acls = 2;
    ctx.application_id = resp->application_id;
    ctx.application_name = getenv("APP_NAME") ? getenv("APP_NAME") : (char *)(uintptr_t) "driver";
    ctx.queue = (char *)(uintptr_t)queue;
    ctx.am_container_spec = &clc;
    ctx.resource = yarn_resource_to(a, (struct yarn_resource){ 1024, 1 });
    ctx.has_maxappattempts = true;
    ctx.maxappattempts = attempts;
    q.application_submission_context = &ctx;
    (void)must(a, g.client, "submitApplication", &q.base,
               &hadoop__yarn__submit_application_response_proto__descriptor);
    return id;
}

static const Hadoop__Yarn__ApplicationReportProto *report(struct sv_arena *a, struct yarn_app_id id)
{
    Hadoop__Yarn__GetApplicationReportRequestProto q =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__GetApplicationReportResponseProto *resp;

    q.application_id = yarn_app_id_to(a, id);
    resp = must(a, g.client, "getApplicationReport", &q.base,
                &hadoop__yarn__get_application_report_response_proto__descriptor);
    return resp->application_report;
}

/* Heartbeats until the application is in the state; false after PATIENCE_MS. */
static bool wait_state(struct yarn_app_id id, int state)
{
    int64_t until = sv_now_ms() + PATIENCE_MS;

    while (sv_now_ms() < until) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

        for (int i = 0; i < g.n_nodes; i++)
            beat(&g.nodes[i]);
        if ((int)report(a, id)->yarn_application_state == state)
            return true;
        (void)sd_event_run(g.event, 20000);
    }
    return false;
}

static bool wait_start(int starts)
{
    int64_t until = sv_now_ms() + PATIENCE_MS;

    while (g.starts < starts && sv_now_ms() < until) {
        for (int i = 0; i < g.n_nodes; i++)
            beat(&g.nodes[i]);
        (void)sd_event_run(g.event, 20000);
    }
    return g.starts >= starts;
}

/* ----------------------------------------------------------- ApplicationMaster */

struct master {
    struct ipc_client *c;
    int32_t response_id;
    size_t containers, done;
    int64_t exits; /* sum of exit codes */
};

static void master_open(struct master *m)
{
    memset(m, 0, sizeof(*m));
    m->c = open_client(g.am_port, YARN_APPLICATION_MASTER_PROTOCOL, NULL, &g.amrm);
}

static const Hadoop__Yarn__RegisterApplicationMasterResponseProto *
master_register(struct sv_arena *a, struct master *m)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    q.host = (char *)(uintptr_t) "127.0.0.1";
    q.has_rpc_port = true;
    q.rpc_port = 4711;
    q.tracking_url = getenv("TRACKING_URL") ? getenv("TRACKING_URL") : (char *)(uintptr_t) "";
    m->response_id = 0;
    return must(a, m->c, "registerApplicationMaster", &q.base,
                &hadoop__yarn__register_application_master_response_proto__descriptor);
}

static void fill_ask(struct sv_arena *a, Hadoop__Yarn__AllocateRequestProto *q, int32_t count,
                     int64_t memory)
{
    Hadoop__Yarn__ResourceRequestProto *m = sv_new(a, Hadoop__Yarn__ResourceRequestProto);

    hadoop__yarn__resource_request_proto__init(m);
    m->priority = sv_new(a, Hadoop__Yarn__PriorityProto);
    hadoop__yarn__priority_proto__init(m->priority);
    m->priority->has_priority = true;
    m->priority->priority = 1;
    m->resource_name = (char *)(uintptr_t) "*";
    m->capability = yarn_resource_to(a, (struct yarn_resource){ memory, 1 });
    m->has_num_containers = true;
    m->num_containers = count;
    q->ask = sv_newn(a, Hadoop__Yarn__ResourceRequestProto *, 1);
    q->ask[0] = m;
    q->n_ask = 1;
}

/* Places new containers on their nodes; counts ended ones. */
static void take_answer(struct master *m, const AllocateResponse *resp)
{
    for (size_t i = 0; i < resp->n_allocated_containers; i++) {
        const Hadoop__Yarn__ContainerProto *c = resp->allocated_containers[i];
        struct yarn_node_id nid;

        if (!signed_well(c->container_token, &g.container_key))
            g.bad_tokens++;
        if (yarn_node_id_from(c->nodeid, &nid) < 0)
            continue;
        for (int k = 0; k < g.n_nodes; k++)
            if (g.nodes[k].id.port == nid.port) {
                struct node *n = &g.nodes[k];

                if (n->n_held < MAX_CONTAINERS &&
                    yarn_container_id_from(c->id, &n->held[n->n_held].id) >= 0)
                    n->n_held++;
            }
        m->containers++;
    }
    for (size_t i = 0; i < resp->n_nm_tokens; i++)
        if (!signed_well(resp->nm_tokens[i]->token, &g.nm_key))
            g.bad_tokens++;
    for (size_t i = 0; i < resp->n_completed_container_statuses; i++) {
        m->done++;
        m->exits += resp->completed_container_statuses[i]->exit_status;
    }
}

static const AllocateResponse *allocate(struct sv_arena *a, struct master *m, int32_t ask)
{
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    const AllocateResponse *resp;

    q.has_response_id = q.has_progress = true;
    q.response_id = m->response_id;
    q.progress = 0.5f;
    if (ask >= 0)
        fill_ask(a, &q, ask, 1024);
    resp = must(a, m->c, "allocate", &q.base, &hadoop__yarn__allocate_response_proto__descriptor);
    m->response_id = resp->response_id;
    take_answer(m, resp);
    return resp;
}

static bool finish(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__FinishApplicationMasterRequestProto q =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__FinishApplicationMasterResponseProto *resp;

    q.has_final_application_status = true;
    q.final_application_status = HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_SUCCEEDED;
    q.diagnostics = (char *)(uintptr_t) "well done";
    resp = must(a, m->c, "finishApplicationMaster", &q.base,
                &hadoop__yarn__finish_application_master_response_proto__descriptor);
    return resp->isunregistered;
}

#include "tests/integration/rm-lite/rm-driver-scenarios.h"

int main(int argc, char **argv)
{
    uint64_t port[3];

    sv_log_init("rm-driver");
    if (argc != 5)
        return EXIT_FAILURE;
    for (int i = 0; i < 3; i++)
        if (sv_parse_u64(argv[i + 1], 1, 65535, &port[i]) < 0)
            return EXIT_FAILURE;
    g.client_port = (uint16_t)port[0];
    g.tracker_port = (uint16_t)port[1];
    g.am_port = (uint16_t)port[2];
    if (sd_event_new(&g.event) < 0)
        return EXIT_FAILURE;
    g.client = open_client(g.client_port, YARN_APPLICATION_CLIENT_PROTOCOL, "ann", NULL);
    for (size_t i = 0; i < SV_ARRAY_LEN(scenarios); i++)
        if (strcmp(argv[4], scenarios[i].name) == 0) {
            scenarios[i].run();
            return g.failed ? EXIT_FAILURE : EXIT_SUCCESS;
        }
    return EXIT_FAILURE;
}
