/* rm-lite/security/token-renewer.c and namenodes.c with a NameNode of the test: an application
 * starts when its tokens were renewed, is refused when one was not, and lets go of them at its end.
 */
#include "tests/unit/rm-lite/security/namenode-fixture.h"

#include "rm-lite/security/delegation.h"

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
        cmocka_unit_test(test_killed_while_it_waits),
        cmocka_unit_test(test_own_token),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
