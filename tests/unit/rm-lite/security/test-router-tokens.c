/* rm-lite/security/router-tokens.c: a job of a federation brings a token of a Router, which its
 * member renews and cancels in the state store; others' are refused, and a store that is not open
 * yet is waited for. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "federation/store/store.h"
#include "federation/store/token-info.h"
#include "rm-lite/security/token-renewer-internal.h"

#define NUMBER 7
#define LIFE_MS 3600000

static struct fed_store *store;

static struct {
    bool done;
    int error;
    int64_t renew_ms;
} row;

static void on_row(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    row.done = true;
    row.error = a->error;
    row.renew_ms = a->n ? a->tokens[0].renew_ms : 0;
}

static void call(struct fix *f, const struct fed_request *q, fed_done done)
{
    row.done = false;
    assert_int_equal(fed_store_call(store, q, done, NULL, NULL), 0);
    while (!row.done)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
}

static void on_done(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    row.done = true;
    row.error = a->error;
}

/* The token as a Router has stored it. */
static struct yarn_token stored(struct fix *f, struct sv_arena *a, const char *renewer)
{
    struct yarn_delegation_token what = { .owner = "ann",
                                          .sequence = NUMBER,
                                          .issue_ms = sv_wall_ms(),
                                          .max_ms = sv_wall_ms() + 7 * LIFE_MS,
                                          .key_id = 3 };
    struct yarn_token t = { .kind = YARN_KIND_RM_DELEGATION,
                            .service = "127.0.0.1:8050",
                            .password = (const uint8_t *)"secret",
                            .password_len = 6 };
    const struct fed_token_info info = { t.password, t.password_len, sv_wall_ms() + 1000 };

    snprintf(what.renewer, sizeof(what.renewer), "%s", renewer);
    assert_int_equal(yarn_delegation_token_encode(a, &what, &t.id, &t.id_len), 0);
    call(f,
         &(struct fed_request){ .op = FED_TOKEN_ADD,
                                .token = { .sequence = NUMBER,
                                           .identifier = t.id,
                                           .identifier_len = t.id_len,
                                           .info = fed_token_info_write(a, &info),
                                           .renew_ms = info.renew_ms } },
         on_done);
    assert_int_equal(row.error, 0);
    return t;
}

static struct rm_app *submit_with(struct fix *f, struct sv_arena *a, const struct yarn_token *t)
{
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    struct yarn_credentials c = { 0 };
    struct sv_buf b = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    struct submission s;
    struct rm_app *app;

    assert_int_equal(yarn_credentials_add(a, &c, "router", t), 0);
    assert_int_equal(yarn_credentials_write(&c, &b), 0);
    submission_init(f, &s);
    clc.has_tokens = true;
    clc.tokens = (ProtobufCBinaryData){ b.len, b.data };
    s.ctx.am_container_spec = &clc;
    app = submit_ctx(f, &s);
    sv_buf_free(&b);
    return app;
}

static void open_all(struct fix *f)
{
    struct sv_error err = { 0 };

    setup_with(f, NULL);
    assert_int_equal(fed_store_open_memory(f->event, &store), 0);
    f->rm->conf.federation = true;
    f->rm->fed_store = store;
    if (rm_token_renewer_new(f->rm, &(struct rm_token_renewer_config){ 0 }, &err) < 0)
        fail_msg("%s", err.text);
}

static void close_all(struct fix *f)
{
    f->rm->fed_store = NULL;
    store = fed_store_free(store);
    teardown(f);
}

static void turn(struct fix *f)
{
    f->rm->renewer->ticked_ms = 0; /* as after a second */
    rm_token_renewer_tick(f->rm);
    assert_true(sd_event_run(f->event, 1000) >= 0);
}

static void decided(struct fix *f, const struct rm_app *app)
{
    while (app->state == RM_APP_ST_NEW) /* ends by the test's limit if it stays */
        turn(f);
    settle(f);
}

static void read_row(struct fix *f)
{
    call(f, &(struct fed_request){ .op = FED_TOKEN_GET, .token = { .sequence = NUMBER } }, on_row);
}

static void test_renewed_and_cancelled(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_token t;
    struct rm_app *app;
    struct fix f;

    (void)state;
    open_all(&f);
    t = stored(&f, a, f.rm->login_user);
    app = submit_with(&f, a, &t);
    decided(&f, app);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    read_row(&f);
    assert_true(row.error == 0 && row.renew_ms > sv_wall_ms() + LIFE_MS);
    kill_app(&f, app);
    while (row.error != -ENOENT) {
        turn(&f);
        read_row(&f);
    }
    close_all(&f);
}

static void refused(const char *renewer, bool forged, const char *words)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_token t;
    struct rm_app *app;
    struct fix f;

    open_all(&f);
    t = stored(&f, a, renewer ?: f.rm->login_user);
    if (forged)
        t.password = (const uint8_t *)"guess!";
    app = submit_with(&f, a, &t);
    decided(&f, app);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    if (!strstr(app->diagnostics, words))
        fail_msg("\"%s\" lacks \"%s\"", app->diagnostics, words);
    read_row(&f);
    assert_true(row.error == 0 && row.renew_ms < sv_wall_ms() + LIFE_MS); /* as it was */
    close_all(&f);
}

static void test_refused(void **state)
{
    (void)state;
    refused("oozie", false, "with non-matching renewer oozie");
    refused(NULL, true, "with wrong password");
}

/* A store that is opened after the daemon has its applications back. */
static void test_late_store(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_token t;
    struct rm_app *app;
    struct fix f;

    (void)state;
    open_all(&f);
    t = stored(&f, a, f.rm->login_user);
    f.rm->fed_store = NULL;
    app = submit_with(&f, a, &t);
    for (int i = 0; i < 5; i++)
        turn(&f);
    assert_int_equal(app->state, RM_APP_ST_NEW);
    f.rm->fed_store = store;
    decided(&f, app);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_renewed_and_cancelled),
                                        cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_late_store) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
