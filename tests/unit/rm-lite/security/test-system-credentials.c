/* rm-lite/security/system-credentials.c with token-renewer.c and a NameNode of the test: tokens of
 * HDFS for the users of jobs, and in heartbeats to nodes. */
#include "tests/unit/rm-lite/security/namenode-fixture.h"

#include "rm-lite/security/system-credentials.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_of_the_user),
        cmocka_unit_test(test_nodes_are_told),
        cmocka_unit_test(test_no_proxy),
        cmocka_unit_test(test_no_namenode),
        cmocka_unit_test(test_replaced_near_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
