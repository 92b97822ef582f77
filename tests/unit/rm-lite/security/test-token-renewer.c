/* rm-lite/security/token-renewer.c and namenodes.c with a NameNode of the test: an application
 * starts when its tokens were renewed, is refused when one was not, and lets go of them at its end.
 */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "rm-lite/security/delegation.h"
#include "rm-lite/security/token-renewer.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods-hdfs.h"

static struct {
    struct ipc_server *server;
    sd_event *event;
    int renewals, cancels;
    bool refuses;
} nn;

static void on_renew(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Common__RenewDelegationTokenResponseProto m =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;

    (void)userdata;
    assert_non_null(((const Hadoop__Common__RenewDelegationTokenRequestProto *)request)->token);
    nn.renewals++;
    if (nn.refuses) {
        ipc_call_fail(call, "org.apache.hadoop.security.token.SecretManager$InvalidToken",
                      "token can't be found in cache");
        return;
    }
    m.newexpirytime = (uint64_t)(sv_wall_ms() + 100000);
    ipc_call_reply(call, &m.base);
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

static const struct ipc_method methods[] = {
    { "renewDelegationToken", &hadoop__common__renew_delegation_token_request_proto__descriptor,
      &hadoop__common__renew_delegation_token_response_proto__descriptor, on_renew },
    { "cancelDelegationToken", &hadoop__common__cancel_delegation_token_request_proto__descriptor,
      &hadoop__common__cancel_delegation_token_response_proto__descriptor, on_cancel },
};
static const struct ipc_protocol protocol = {
    .name = HDFS_CLIENT_PROTOCOL, .version = 1, .methods = methods, .n_methods = 2
};
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

static char service[64]; /* "127.0.0.1:port" */

static void open_all(struct fix *f)
{
    static char url[64];
    static const char *const keys[][2] = { { "fs.defaultFS", url }, { 0 } };
    const struct ipc_server_config cfg = { .allow_simple = true, .protocols = protocols };
    struct sv_error err = { 0 };

    memset(&nn, 0, sizeof(nn));
    assert_true(sd_event_new(&nn.event) >= 0);
    assert_int_equal(ipc_server_new(nn.event, &cfg, &nn.server, NULL), 0);
    snprintf(url, sizeof(url), "hdfs://localhost:%u", ipc_server_port(nn.server));
    snprintf(service, sizeof(service), "127.0.0.1:%u", ipc_server_port(nn.server));
    setup_with(f, keys);
    assert_int_equal(rm_token_renewer_new(f->rm, &(struct rm_token_renewer_config){ 0 }, &err), 0);
}

static void close_all(struct fix *f)
{
    teardown(f);
    ipc_server_free(nn.server);
    sd_event_unref(nn.event);
}

/* Both loops, until `n` calls were answered or an application has left NEW. */
static void turn(struct fix *f, const struct rm_app *app, int calls)
{
    int64_t until = sv_now_ms() + 10000;

    while (app ? app->state == RM_APP_ST_NEW : nn.cancels < calls) {
        assert_true(sv_now_ms() < until);
        assert_true(sd_event_run(f->event, 1000) >= 0);
        assert_true(sd_event_run(nn.event, 1000) >= 0);
        rm_token_renewer_tick(f->rm);
    }
    settle(f);
}

static struct rm_app *submit_with(struct fix *f, const char *at, const char *renewer)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_delegation_token named = { .owner = "ann", .sequence = 7, .max_ms = INT64_MAX };
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
    s.ctx.am_container_spec = &clc;
    app = submit_ctx(f, &s);
    sv_buf_free(&b);
    return app;
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
        rm_token_renewer_tick(f.rm);
        sd_event_run(f.event, 100000);
    }
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_renewed_and_cancelled), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_foreign_namenode),      cmocka_unit_test(test_without_renewer),
        cmocka_unit_test(test_killed_while_it_waits), cmocka_unit_test(test_own_token),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
