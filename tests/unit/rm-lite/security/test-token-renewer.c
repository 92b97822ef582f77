/* rm-lite/security/token-renewer.c and namenodes.c with a NameNode of the test: an application
 * starts when its tokens were renewed, is refused when one was not, and lets go of them at its end.
 */
#include "tests/unit/rm-lite/peer-calls.h"

#include "rm-lite/security/delegation.h"
#include "rm-lite/security/namenodes.h"
#include "rm-lite/security/system-credentials.h"
#include "rm-lite/security/token-renewer-internal.h"
#include "rm-lite/security/token-renewer.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods-hdfs.h"
#include "wire/token/writable.h"

static struct {
    struct ipc_server *server;
    sd_event *event;
    int renewals, cancels, given;
    bool refuses, refuses_proxies; /* tokens; who acts for others */
    bool slow;                     /* a renewal is not answered, but kept: */
    struct ipc_call *kept;
    int64_t life_ms, max_ms; /* of its tokens; 0: 100 s, no end */
    char user[64], real_user[64];
} nn;

static void on_renew_answer(struct ipc_call *call)
{
    Hadoop__Common__RenewDelegationTokenResponseProto m =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;

    m.newexpirytime = (uint64_t)(sv_wall_ms() + (nn.life_ms ? nn.life_ms : 100000));
    ipc_call_reply(call, &m.base);
}

static void on_renew(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    assert_non_null(((const Hadoop__Common__RenewDelegationTokenRequestProto *)request)->token);
    nn.renewals++;
    if (nn.slow) {
        nn.kept = call;
        return;
    }
    if (nn.refuses) {
        ipc_call_fail(call, "org.apache.hadoop.security.token.SecretManager$InvalidToken",
                      "token can't be found in cache");
        return;
    }
    on_renew_answer(call);
}

static void on_cancel(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Common__CancelDelegationTokenResponseProto m =
        HADOOP__COMMON__CANCEL_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    nn.cancels++;
    ipc_call_reply(call, &m.base);
}

/* As a NameNode that lets the ResourceManager act for others. */
static void on_get(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const struct ipc_peer *peer = ipc_call_peer(call);
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Common__GetDelegationTokenResponseProto m =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;
    struct yarn_delegation_token id = { .sequence = ++nn.given,
                                        .max_ms = nn.max_ms ? nn.max_ms : INT64_MAX };
    struct yarn_token t = { .kind = YARN_KIND_HDFS_DELEGATION,
                            .service = "",
                            .password = (const uint8_t *)"secret",
                            .password_len = 6 };

    (void)userdata;
    snprintf(nn.user, sizeof(nn.user), "%s", peer->user);
    snprintf(nn.real_user, sizeof(nn.real_user), "%s", peer->real_user ? peer->real_user : "");
    snprintf(id.owner, sizeof(id.owner), "%s", peer->user);
    snprintf(id.renewer, sizeof(id.renewer), "%s",
             ((const Hadoop__Common__GetDelegationTokenRequestProto *)request)->renewer);
    assert_int_equal(yarn_delegation_token_encode_writable(a, &id, &t.id, &t.id_len), 0);
    m.token = yarn_token_to(a, &t);
    ipc_call_reply(call, &m.base);
}

static int on_proxy(void *userdata, const struct ipc_peer *peer, struct sv_error *err)
{
    (void)userdata;
    return nn.refuses_proxies ? sv_error_set(err, -EACCES, "User: %s is not allowed to impersonate",
                                             peer->real_user)
                              : 0;
}

static const struct ipc_method methods[] = {
    { "getDelegationToken", &hadoop__common__get_delegation_token_request_proto__descriptor,
      &hadoop__common__get_delegation_token_response_proto__descriptor, on_get },
    { "renewDelegationToken", &hadoop__common__renew_delegation_token_request_proto__descriptor,
      &hadoop__common__renew_delegation_token_response_proto__descriptor, on_renew },
    { "cancelDelegationToken", &hadoop__common__cancel_delegation_token_request_proto__descriptor,
      &hadoop__common__cancel_delegation_token_response_proto__descriptor, on_cancel },
};
static const struct ipc_protocol protocol = { .name = HDFS_CLIENT_PROTOCOL,
                                              .version = 1,
                                              .methods = methods,
                                              .n_methods = SV_ARRAY_LEN(methods) };
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

static char service[64]; /* "127.0.0.1:port" */

static void serve(uint16_t port)
{
    const struct ipc_server_config cfg = {
        .port = port, .allow_simple = true, .impersonation = on_proxy, .protocols = protocols
    };
    struct sv_error err = { 0 };

    if (ipc_server_new(nn.event, &cfg, &nn.server, &err) < 0)
        fail_msg("%s", err.text);
}

static void renewer_new(struct fix *f)
{
    struct sv_error err = { 0 };
    struct rm_namenode *n;

    assert_int_equal(rm_token_renewer_new(f->rm, &(struct rm_token_renewer_config){ 0 }, &err), 0);
    while (rm_namenodes_find(f->rm->renewer->namenodes, "192.0.2.1:1", NULL, &n, NULL) == -EAGAIN)
        assert_true(sd_event_run(f->event, 10000) >= 0); /* addresses are being looked up */
}

/* `proxy`: yarn.resourcemanager.proxy-user-privileges.enabled. */
static void open_as(struct fix *f, const char *proxy)
{
    static char url[64];
    static const char *keys[][2] = { { "fs.defaultFS", url },
                                     { "yarn.resourcemanager.proxy-user-privileges.enabled", NULL },
                                     { "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms",
                                       "1" },
                                     { 0 } };

    memset(&nn, 0, sizeof(nn));
    assert_true(sd_event_new(&nn.event) >= 0);
    serve(0);
    snprintf(url, sizeof(url), "hdfs://localhost:%u", ipc_server_port(nn.server));
    snprintf(service, sizeof(service), "127.0.0.1:%u", ipc_server_port(nn.server));
    keys[1][1] = proxy;
    setup_with(f, keys);
    sv_log_set_level(SV_LOG_ERR);
    renewer_new(f);
}

static void open_all(struct fix *f)
{
    open_as(f, "false");
}

static void close_all(struct fix *f)
{
    teardown(f);
    ipc_server_free(nn.server);
    sd_event_unref(nn.event);
}

/* As after a second. */
static void tick(struct fix *f)
{
    f->rm->renewer->ticked_ms = 0;
    rm_token_renewer_tick(f->rm);
}

static void run_both(struct fix *f)
{
    assert_true(sd_event_run(f->event, 1000) >= 0);
    assert_true(sd_event_run(nn.event, 1000) >= 0);
}

/* Both loops, until `n` calls were answered or an application has left NEW. */
static void turn(struct fix *f, const struct rm_app *app, int calls)
{
    int64_t until = sv_now_ms() + 10000;

    while (app ? app->state == RM_APP_ST_NEW : nn.cancels < calls) {
        assert_true(sv_now_ms() < until);
        run_both(f);
        tick(f);
    }
    settle(f);
}

static struct sv_buf token_conf; /* of the next submission; empty: none */

static struct rm_app *submit_with(struct fix *f, const char *at, const char *renewer)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_delegation_token named = { .owner = "ann",
                                           .sequence = 7,
                                           .max_ms = nn.max_ms ? nn.max_ms : INT64_MAX };
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    struct yarn_token t = { .kind = YARN_KIND_HDFS_DELEGATION,
                            .service = at,
                            .password = (const uint8_t *)"secret",
                            .password_len = 6 };
    struct yarn_credentials c = { 0 };
    struct sv_buf b = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    struct submission s;
    struct rm_app *app;

    snprintf(named.renewer, sizeof(named.renewer), "%s", renewer);
    assert_int_equal(yarn_delegation_token_encode_writable(a, &named, &t.id, &t.id_len), 0);
    assert_int_equal(yarn_credentials_add(a, &c, "nn", &t), 0);
    assert_int_equal(yarn_credentials_write(&c, &b), 0);
    submission_init(f, &s);
    clc.has_tokens = true;
    clc.tokens = (ProtobufCBinaryData){ b.len, b.data };
    clc.has_tokens_conf = token_conf.len > 0;
    clc.tokens_conf = (ProtobufCBinaryData){ token_conf.len, token_conf.data };
    s.ctx.am_container_spec = &clc;
    app = submit_ctx(f, &s);
    sv_buf_free(&b);
    sv_buf_free(&token_conf);
    return app;
}

/* The nameservice "far" has one NameNode; Hadoop's Configuration as bytes. */
static void far_is(const char *namenode)
{
    const char *const keys[][2] = { { "dfs.nameservices", "far" },
                                    { "dfs.ha.namenodes.far", "nn1" },
                                    { "dfs.namenode.rpc-address.far.nn1", namenode },
                                    { "dfs.namenode.kerberos.principal.pattern", "*" } };

    token_conf = (struct sv_buf)SV_BUF_INIT(4096);
    assert_int_equal(ipc_writable_put_vlong(&token_conf, SV_ARRAY_LEN(keys)), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++) {
        assert_int_equal(ipc_writable_put_text(&token_conf, keys[i][0]), 0);
        assert_int_equal(ipc_writable_put_text(&token_conf, keys[i][1]), 0);
        assert_int_equal(sv_buf_put_u32(&token_conf, UINT32_MAX), 0);
    }
}

static void test_renewed_and_cancelled(void **state)
{
    struct fix f;
    struct rm_app *app;

    (void)state;
    open_all(&f);
    app = submit_with(&f, service, "yarn");
    assert_int_equal(app->state, RM_APP_ST_NEW);
    turn(&f, app, 0);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    assert_int_equal(nn.renewals, 1);
    kill_app(&f, app);
    turn(&f, NULL, 1);
    assert_int_equal(nn.cancels, 1);
    close_all(&f);
}

static void test_refused(void **state)
{
    struct fix f;
    struct rm_app *app;

    (void)state;
    open_all(&f);
    nn.refuses = true;
    app = submit_with(&f, service, "yarn");
    turn(&f, app, 0);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    assert_non_null(strstr(app->diagnostics, "Failed to renew token: Kind: HDFS_DELEGATION_TOKEN"));
    assert_non_null(strstr(app->diagnostics, "can't be found in cache"));
    close_all(&f);
}

static void test_foreign_namenode(void **state)
{
    struct fix f;
    struct rm_app *app;

    (void)state;
    open_all(&f);
    app = submit_with(&f, "192.0.2.1:8020", "yarn");
    turn(&f, app, 0);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    assert_non_null(strstr(app->diagnostics, "is in neither core-site.xml nor hdfs-site.xml"));
    assert_int_equal(nn.renewals, 0);
    close_all(&f);
}

/* A NameNode that does not answer delays the jobs that have its tokens alone. */
static void test_slow(void **state)
{
    struct fix f;
    struct submission s;
    struct rm_app *waits, *other;

    (void)state;
    open_all(&f);
    nn.slow = true;
    waits = submit_with(&f, service, "yarn");
    while (!nn.kept)
        run_both(&f);
    submission_init(&f, &s);
    other = submit_ctx(&f, &s);
    turn(&f, other, 0);
    assert_int_equal(other->state, RM_APP_ST_ACCEPTED);
    assert_int_equal(waits->state, RM_APP_ST_NEW);
    nn.slow = false;
    on_renew_answer(nn.kept);
    turn(&f, waits, 0);
    assert_int_equal(waits->state, RM_APP_ST_ACCEPTED);
    close_all(&f);
}

/* A NameNode that is away when a job comes, and there again later. */
static void test_comes_back(void **state)
{
    struct fix f;
    struct rm_app *app;
    uint16_t port;

    (void)state;
    open_all(&f);
    port = ipc_server_port(nn.server);
    nn.server = ipc_server_free(nn.server);
    app = submit_with(&f, service, "yarn");
    for (int i = 0; i < 50; i++)
        run_both(&f);
    assert_int_equal(app->state, RM_APP_ST_NEW);
    serve(port);
    turn(&f, app, 0);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    close_all(&f);
}

/* After a restart the tokens of jobs are renewed again; of a job whose token has ended meanwhile
 * its user gets another. */
static void test_recovered(void **state)
{
    static const bool ended[] = { false, true };
    struct yarn_app_id id;
    struct sv_error err = { 0 };
    struct rm_app *app;
    struct fix f;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(ended); i++) {
        open_as(&f, "true");
        app = submit_with(&f, service, "yarn");
        turn(&f, app, 0);
        id = app->id;
        stop(&f);
        start(&f);
        nn.refuses = ended[i];
        renewer_new(&f);
        app = rm_app_find(f.rm, id);
        assert_non_null(app);
        assert_int_equal(rm_token_renewer_admit(app, &err), 1); /* as at the start */
        while (nn.renewals < 2 || (ended[i] && nn.given == 0)) {
            run_both(&f);
            tick(&f);
        }
        assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
        assert_int_equal(nn.given, ended[i] ? 1 : 0);
        close_all(&f);
    }
}

/* A nameservice that only the job knows, of a NameNode that the ResourceManager knows. */
static void test_nameservice_of_the_job(void **state)
{
    struct fix f;
    struct rm_app *app;

    (void)state;
    open_all(&f);
    far_is(service);
    app = submit_with(&f, "ha-hdfs:far", "yarn");
    turn(&f, app, 0);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    assert_int_equal(nn.renewals, 1);
    kill_app(&f, app); /* its configuration goes, its token is cancelled nevertheless */
    turn(&f, NULL, 1);
    close_all(&f);
}

/* The job may not send the ResourceManager's ticket to a host of its choice. */
static void test_job_names_other_namenodes(void **state)
{
    static const char *const others[] = { "192.0.2.1:8020", "127.0.0.1:1", "evil.example:8020" };
    struct fix f;
    struct rm_app *app;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(others); i++) {
        open_all(&f);
        far_is(others[i]);
        app = submit_with(&f, "ha-hdfs:far", "yarn");
        turn(&f, app, 0);
        assert_int_equal(app->state, RM_APP_ST_FAILED);
        assert_non_null(strstr(app->diagnostics, "is in neither core-site.xml nor hdfs-site.xml"));
        close_all(&f);
    }
}

static void test_malformed_conf(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct fix f;
    struct submission s;
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    struct sv_error err = { 0 };
    const char *class;
    uint8_t *large = sv_arena_calloc(a, 12801, 1);

    (void)state;
    open_all(&f);
    submission_init(&f, &s);
    s.ctx.am_container_spec = &clc;
    clc.has_tokens_conf = true;
    clc.tokens_conf = (ProtobufCBinaryData){ 5, (uint8_t *)(uintptr_t) "\x7fjunk" };
    assert_true(rm_app_submit(f.rm, &s.ctx, "ann", &class, &err) < 0);
    assert_non_null(strstr(err.text, "tokens_conf: malformed"));
    clc.tokens_conf = (ProtobufCBinaryData){ 12801, large };
    assert_true(rm_app_submit(f.rm, &s.ctx, "ann", &class, &err) < 0);
    assert_string_equal(err.text,
                        "Exceed yarn.resourcemanager.delegation-token.max-conf-size-bytes = 12800 "
                        "bytes, current conf size = 12801 bytes.");
    close_all(&f);
}

/* ---- System credentials ---- */

static size_t rows(struct fix *f, const struct rm_credentials_row **ret)
{
    size_t n = 0;

    assert_true(rm_system_credentials_take(rm_token_renewer_system(f->rm), ret, &n));
    return n;
}

static void until_given(struct fix *f, int n)
{
    int64_t until = sv_now_ms() + 10000;

    while (nn.given < n) {
        assert_true(sv_now_ms() < until);
        run_both(f);
        tick(f);
    }
}

/* An application without a token of HDFS gets one of its user, and starts when nodes have it. */
static void test_token_of_the_user(void **state)
{
    const struct rm_credentials_row *row;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials c;
    struct fix f;
    struct submission s;
    struct rm_app *app;
    int64_t before;

    (void)state;
    open_as(&f, "true");
    before = rm_system_credentials_sequence(rm_token_renewer_system(f.rm));
    assert_int_equal(rows(&f, &row), 0);
    submission_init(&f, &s);
    app = submit_ctx(&f, &s);
    assert_int_equal(app->state, RM_APP_ST_NEW);
    turn(&f, app, 0);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    assert_string_equal(nn.user, "ann");
    assert_string_equal(nn.real_user, f.rm->login_user);
    assert_int_equal(rm_system_credentials_sequence(rm_token_renewer_system(f.rm)), before + 1);
    assert_int_equal(rows(&f, &row), 1);
    assert_int_equal(row->app.id, app->id.id);
    assert_int_equal(yarn_credentials_parse(row->bytes, row->len, a, &c, NULL), 0);
    assert_int_equal(c.n_tokens, 1);
    assert_string_equal(c.tokens[0].token.service, service);
    kill_app(&f, app);
    turn(&f, NULL, 1); /* it is cancelled as the job's own would be */
    assert_int_equal(nn.renewals, 1);
    assert_int_equal(rows(&f, &row), 0);
    close_all(&f);
}

static const Hadoop__Yarn__NodeHeartbeatResponseProto *
beat(struct fix *f, struct sv_arena *a, Hadoop__Yarn__NodeIdProto *node, int32_t id, int64_t has)
{
    Hadoop__Yarn__NodeHeartbeatRequestProto q = HADOOP__YARN__NODE_HEARTBEAT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeStatusProto status = HADOOP__YARN__NODE_STATUS_PROTO__INIT;

    status.node_id = node;
    status.has_response_id = true;
    status.response_id = id;
    q.node_status = &status;
    q.has_tokensequenceno = true;
    q.tokensequenceno = has;
    return peer_must(
        f, a,
        &(struct peer_call){ .protocol = YARN_RESOURCE_TRACKER_PROTOCOL,
                             .method = "nodeHeartbeat",
                             .port = f->rm->tracker_port,
                             .user = "yarn",
                             .request = &q.base,
                             .answer = &hadoop__yarn__node_heartbeat_response_proto__descriptor });
}

static void register_node(struct fix *f, struct sv_arena *a, Hadoop__Yarn__NodeIdProto *node)
{
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ResourceProto size = HADOOP__YARN__RESOURCE_PROTO__INIT;

    size.has_memory = size.has_virtual_cores = true;
    size.memory = 4096;
    size.virtual_cores = 4;
    q.node_id = node;
    q.has_http_port = true;
    q.http_port = 1;
    q.resource = &size;
    (void)peer_must(
        f, a,
        &(struct peer_call){ .protocol = YARN_RESOURCE_TRACKER_PROTOCOL,
                             .method = "registerNodeManager",
                             .port = f->rm->tracker_port,
                             .user = "yarn",
                             .request = &q.base,
                             .answer =
                                 &hadoop__yarn__register_node_manager_response_proto__descriptor });
}

/* A node gets the tokens of all applications once; an answer that is repeated has none of them. */
static void test_nodes_are_told(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__NodeIdProto node = HADOOP__YARN__NODE_ID_PROTO__INIT;
    const Hadoop__Yarn__NodeHeartbeatResponseProto *m;
    struct fix f;
    struct submission s;
    struct rm_app *app;
    int64_t has;

    (void)state;
    open_as(&f, "true");
    node.host = (char *)(uintptr_t) "localhost";
    node.has_port = true;
    node.port = 45454;
    register_node(&f, a, &node);
    m = beat(&f, a, &node, 0, 0);
    assert_true(m->has_tokensequenceno);
    assert_int_equal(m->n_system_credentials_for_apps, 0);
    has = m->tokensequenceno;
    submission_init(&f, &s);
    app = submit_ctx(&f, &s);
    turn(&f, app, 0);
    m = beat(&f, a, &node, 1, has);
    assert_int_equal(m->n_system_credentials_for_apps, 1);
    assert_int_equal(m->system_credentials_for_apps[0]->appid->id, app->id.id);
    assert_true(m->system_credentials_for_apps[0]->credentialsforapp.len > 20);
    assert_int_equal(m->tokensequenceno, has + 1);
    m = beat(&f, a, &node, 1, has); /* the answer was lost: the old one */
    assert_false(m->has_tokensequenceno);
    m = beat(&f, a, &node, 2, has);
    assert_int_equal(m->n_system_credentials_for_apps, 1);
    m = beat(&f, a, &node, 3, m->tokensequenceno);
    assert_false(m->has_tokensequenceno);
    assert_int_equal(m->n_system_credentials_for_apps, 0);
    close_all(&f);
}

/* Whoever may not act for others does not hinder jobs that need no HDFS. */
static void test_no_proxy(void **state)
{
    struct fix f;
    struct submission s;
    struct rm_app *app;

    (void)state;
    open_as(&f, "true");
    nn.refuses_proxies = true;
    submission_init(&f, &s);
    app = submit_ctx(&f, &s);
    turn(&f, app, 0);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    close_all(&f);
}

/* A NameNode that is away keeps no job waiting that needs nothing of it. */
static void test_no_namenode(void **state)
{
    struct fix f;
    struct submission s;
    struct rm_app *app;

    (void)state;
    open_as(&f, "true");
    nn.server = ipc_server_free(nn.server);
    f.rm->renewer->first_token_ms = 20;
    submission_init(&f, &s);
    app = submit_ctx(&f, &s);
    assert_int_equal(app->state, RM_APP_ST_NEW);
    turn(&f, app, 0);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    close_all(&f);
}

/* The job's token cannot be renewed for longer: it gets another, and the old one is not cancelled
 * under the containers that have it. */
static void test_replaced_near_its_end(void **state)
{
    const struct rm_credentials_row *row;
    struct rm_renewals_counts counts;
    struct fix f;
    struct rm_app *app;

    (void)state;
    open_as(&f, "true");
    nn.life_ms = 1500;
    nn.max_ms = sv_wall_ms() + 5000;
    app = submit_with(&f, service, "yarn");
    turn(&f, app, 0);
    assert_int_equal(nn.given, 0);
    until_given(&f, 1);
    while (nn.renewals < 3) { /* the old one twice, the new one */
        run_both(&f);
        tick(&f);
    }
    assert_int_equal(rows(&f, &row), 1);
    assert_int_equal(nn.cancels, 0);
    rm_token_renewer_counts(f.rm, &counts);
    assert_int_equal(counts.tokens, 1);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    close_all(&f);
}

static void test_without_renewer(void **state)
{
    struct fix f;

    (void)state;
    open_all(&f);
    assert_int_equal(submit_with(&f, service, "")->state, RM_APP_ST_ACCEPTED);
    assert_int_equal(nn.renewals, 0);
    close_all(&f);
}

static void test_killed_while_it_waits(void **state)
{
    struct fix f;
    struct rm_app *app;

    (void)state;
    open_all(&f);
    app = submit_with(&f, service, "yarn");
    kill_app(&f, app);
    assert_int_equal(app->state, RM_APP_ST_KILLED);
    close_all(&f);
}

static void test_own_token(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct fix f;
    struct yarn_token t;
    struct yarn_credentials c = { 0 };
    struct sv_buf b = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    struct sv_error err = { 0 };
    struct submission s;
    const char *class;
    struct rm_app *app;

    (void)state;
    open_all(&f);
    assert_int_equal(rm_delegation_issue(f.rm, a, "ann", "yarn", NULL, &t, &class, &err), 0);
    settle(&f);
    assert_int_equal(yarn_credentials_add(a, &c, "rm", &t), 0);
    assert_int_equal(yarn_credentials_write(&c, &b), 0);
    submission_init(&f, &s);
    clc.has_tokens = true;
    clc.tokens = (ProtobufCBinaryData){ b.len, b.data };
    s.ctx.am_container_spec = &clc;
    app = submit_ctx(&f, &s);
    sv_buf_free(&b);
    turn(&f, app, 0);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    kill_app(&f, app);
    while (rm_delegation_count(f.rm) > 0) { /* ends by the test's limit if it stays */
        tick(&f);
        sd_event_run(f.event, 1000);
    }
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_renewed_and_cancelled),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_foreign_namenode),
        cmocka_unit_test(test_without_renewer),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_comes_back),
        cmocka_unit_test(test_recovered),
        cmocka_unit_test(test_nameservice_of_the_job),
        cmocka_unit_test(test_job_names_other_namenodes),
        cmocka_unit_test(test_malformed_conf),
        cmocka_unit_test(test_token_of_the_user),
        cmocka_unit_test(test_nodes_are_told),
        cmocka_unit_test(test_no_proxy),
        cmocka_unit_test(test_no_namenode),
        cmocka_unit_test(test_replaced_near_its_end),
        cmocka_unit_test(test_killed_while_it_waits),
        cmocka_unit_test(test_own_token),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
