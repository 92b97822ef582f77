/* rm-lite/fsm/app-lifetime.c: an application that outlives its LIFETIME timeout is killed, also
 * after a restart; its end can be moved; dates. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/periodic.h"
#include "wire/ipc/ipc-client.h"

#define LIFETIME HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME

static struct rm_app *submit_with(struct fix *f, int64_t seconds)
{
    Hadoop__Yarn__ApplicationTimeoutMapProto row =
        HADOOP__YARN__APPLICATION_TIMEOUT_MAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationTimeoutMapProto *rows[] = { &row };
    struct submission s;

    submission_init(f, &s);
    row.has_application_timeout_type = row.has_timeout = true;
    row.application_timeout_type = LIFETIME;
    row.timeout = seconds;
    s.ctx.application_timeouts = rows;
    s.ctx.n_application_timeouts = 1;
    return submit_ctx(f, &s);
}

static void test_end_of_lifetime(void **state)
{
    struct rm_app *app, *other;
    struct fix f;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit_with(&f, 60);
    other = submit(&f, false, 1);
    assert_int_equal(app->lifetime_s, 60);
    rm_lifetime_enforce(f.rm, app->submit_ms + 59999);
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    app->submit_ms -= 60000;
    rm_periodic_run(f.rm);
    settle(&f);
    assert_true(app->state == RM_APP_ST_KILLED || app->state == RM_APP_ST_KILLING);
    rm_attempt_post(app->current, RM_ATT_EV_CONTAINER_FINISHED, NULL);
    settle(&f);
    assert_int_equal(other->state, RM_APP_ST_ACCEPTED);
    teardown(&f);
}

/* default-application-lifetime and maximum-application-lifetime, kept with the submission. */
static void test_lifetime_of_the_queue(void **state)
{
    static const char *const keys[][2] = {
        { "yarn.scheduler.capacity.root.maximum-application-lifetime", "3600" },
        { "yarn.scheduler.capacity.root.default.default-application-lifetime", "100" },
        { NULL, NULL },
    };
    struct yarn_app_id id;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    app = submit(&f, false, 1);
    id = app->id;
    assert_int_equal(app->lifetime_s, 100);
    assert_int_equal(submit_with(&f, 60)->lifetime_s, 60);
    assert_int_equal(submit_with(&f, 7200)->lifetime_s, 3600);
    stop(&f);
    f.keys = NULL; /* the queue has none after the restart */
    start(&f);
    app = rm_app_find(f.rm, id);
    assert_int_equal(app->lifetime_s, 100);
    teardown(&f);
}

static void test_after_a_restart(void **state)
{
    struct yarn_app_id id;
    struct rm_app *app;
    struct fix f;
    int64_t end;

    (void)state;
    setup(&f);
    app = submit_with(&f, 60);
    id = app->id;
    end = app->submit_ms + 3600 * 1000;
    assert_int_equal(rm_lifetime_set_end(app, end), 0);
    settle(&f);
    stop(&f);
    start(&f);
    app = rm_app_find(f.rm, id);
    assert_non_null(app);
    assert_int_equal(rm_lifetime_end_ms(app), end);
    teardown(&f);
}

static void test_refused(void **state)
{
    struct sv_error err = { 0 };
    Hadoop__Yarn__ApplicationTimeoutMapProto row =
        HADOOP__YARN__APPLICATION_TIMEOUT_MAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationTimeoutMapProto *rows[] = { &row };
    struct submission s;
    const char *class;
    struct fix f;

    (void)state;
    setup(&f);
    submission_init(&f, &s);
    row.has_application_timeout_type = row.has_timeout = true;
    row.application_timeout_type = LIFETIME;
    row.timeout = -1;
    s.ctx.application_timeouts = rows;
    s.ctx.n_application_timeouts = 1;
    assert_true(rm_app_submit(f.rm, &s.ctx, "ann", &class, &err) < 0);
    assert_string_equal(class, JAVA_YARN_EXCEPTION);
    assert_string_equal(err.text, "Invalid application timeout, value=-1 for type=LIFETIME");
    assert_int_equal(rm_lifetime_end_ms(submit_with(&f, INT64_MAX)), 0);
    teardown(&f);
}

/* updateApplicationTimeouts: the class of the refusal, or "" and the date of the report. */
static const char *update(struct fix *f, const struct rm_app *app, const char *date, char *ret_text)
{
    static char class_copy[160];
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = f->rm->client_port,
                                           .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                           .version = 1,
                                           .user = "ann" };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UpdateApplicationTimeoutsRequestProto q =
        HADOOP__YARN__UPDATE_APPLICATION_TIMEOUTS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ApplicationUpdateTimeoutMapProto row =
        HADOOP__YARN__APPLICATION_UPDATE_TIMEOUT_MAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationUpdateTimeoutMapProto *rows[] = { &row };
    struct sv_error err = { 0 };
    const char *class = NULL;
    ProtobufCMessage *m = NULL;
    struct ipc_client *c;
    int r;

    q.applicationid = yarn_app_id_to(a, app->id);
    row.has_application_timeout_type = true;
    row.application_timeout_type = LIFETIME;
    row.expire_time = (char *)(uintptr_t)date;
    q.application_timeouts = rows;
    q.n_application_timeouts = date ? 1 : 0;
    assert_int_equal(ipc_client_new(f->event, &cfg, &c, NULL), 0);
    r = ipc_client_call_sync(c, "updateApplicationTimeouts", &q.base,
                             &hadoop__yarn__update_application_timeouts_response_proto__descriptor,
                             a, &m, &class, &err);
    (void)snprintf(ret_text, SV_ERROR_TEXT_MAX, "%s", r < 0 ? err.text : "");
    (void)snprintf(class_copy, sizeof(class_copy), "%s", r < 0 && class ? class : "");
    ipc_client_free(c);
    return class_copy;
}

static void test_update(void **state)
{
    char text[SV_ERROR_TEXT_MAX], date[RM_LIFETIME_DATE_MAX];
    struct rm_app *app;
    struct fix f;
    int64_t left;

    (void)state;
    setup(&f);
    app = submit_with(&f, 0);
    rm_lifetime_report(app, date, &left);
    assert_string_equal(date, "UNLIMITED");
    assert_int_equal(left, -1);
    assert_string_equal(update(&f, app, "2001-01-01T00:00:00.000+0000", text), JAVA_YARN_EXCEPTION);
    assert_non_null(strstr(text, "Expire time is less than current time, current-time="));
    assert_non_null(strstr(text, " expire-time=2001-01-01T00:00:00.000+0000"));
    assert_string_equal(update(&f, app, "soon", text), "java.time.format.DateTimeParseException");
    assert_non_null(strstr(text, "Text 'soon' could not be parsed at index 0"));
    assert_string_equal(update(&f, app, NULL, text), JAVA_YARN_EXCEPTION);
    assert_string_equal(update(&f, app, "2099-01-01T00:00:00.000+0000", text), "");
    rm_lifetime_report(app, date, &left);
    assert_int_equal(strncmp(date, "2099-01-01T00:00:0", 18), 0);
    assert_true(left > 0);
    teardown(&f);
}

static void test_dates(void **state)
{
    static const char *const bad[] = { "",
                                       "2099-01-01T00:00:00.000",
                                       "2099-02-30T00:00:00.000+0000",
                                       "2099-01-01T25:00:00.000+0000",
                                       "2099-01-01 00:00:00.000+0000",
                                       "2099-01-01T00:00:00.000+00:00",
                                       "2099-01-01T00:00:00.000+0000x",
                                       "-099-01-01T00:00:00.000+0000",
                                       "2099-01-01T00:00:00.000Z" };
    char text[RM_LIFETIME_DATE_MAX];
    int64_t ms;

    (void)state;
    assert_int_equal(rm_lifetime_parse("2023-11-14T23:13:20.123+0100", &ms), 0);
    assert_int_equal(ms, 1700000000123);
    rm_lifetime_format(ms, text);
    assert_string_equal(text, "2023-11-14T22:13:20.123+0000");
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(rm_lifetime_parse(bad[i], &ms), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_lifetime), cmocka_unit_test(test_lifetime_of_the_queue),
        cmocka_unit_test(test_after_a_restart), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_update),          cmocka_unit_test(test_dates),
    };

    return cmocka_run_group_tests_name("app-lifetime", tests, NULL, NULL);
}
