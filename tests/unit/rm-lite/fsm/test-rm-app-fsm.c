/* rm-lite/fsm/rm-app-fsm.c, rm-app-attempt-fsm.c and rm-app-manager.c: which submissions are
 * accepted, how many attempts an application has, and events that cross on their way. */
#include "rm-lite/core/queue-counters.h"
#include "tests/unit/rm-lite/rm-fixture.h"

/* ------------------------------------------------------------------- submissions */

static int refused(struct fix *f, struct submission *s, const char **ret_class,
                   struct sv_error *err)
{
    unsigned before = HASH_COUNT(f->rm->apps);
    int r;

    *err = (struct sv_error){ 0 };
    r = rm_app_submit(f->rm, &s->ctx, "ann", ret_class, err);
    assert_int_equal(HASH_COUNT(f->rm->apps), before);
    return r;
}

static void test_submission_is_repeated(void **state)
{
    struct sv_error err = { 0 };
    struct submission s;
    const char *class;
    struct fix f;

    (void)state;
    setup(&f);
    submission_init(&f, &s);
    assert_non_null(submit_ctx(&f, &s));
    assert_int_equal(refused(&f, &s, &class, &err), 0); /* answered as the first one */
    rm_queue_counters_gather(f.rm);
    assert_int_equal(rm_queue_counters_find(f.rm, "root.default", NULL)->sum[RM_COUNT_SUBMITTED],
                     1);
    teardown(&f);
}

static void test_refused_submissions(void **state)
{
    char ok[] = "ok", umlaut[] = "gr\xc3\xbcn", label[] = "gpu", big[102];
    char *tags[11] = { ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, ok };
    struct sv_error err;
    struct submission s;
    const char *class;
    struct fix f;

    (void)state;
    setup(&f);
    submission_init(&f, &s);
    s.ctx.application_id = NULL;
    assert_true(refused(&f, &s, &class, &err) < 0);
    assert_non_null(strstr(err.text, "Invalid application id"));

    submission_init(&f, &s);
    s.ctx.applicationtags = tags;
    s.ctx.n_applicationtags = 11;
    assert_true(refused(&f, &s, &class, &err) < 0);
    assert_non_null(strstr(err.text, "a maximum of only 10 are allowed!"));
    s.ctx.n_applicationtags = 1;
    tags[0] = umlaut;
    assert_true(refused(&f, &s, &class, &err) < 0);
    assert_non_null(strstr(err.text, "A tag can only have ASCII characters!"));
    memset(big, 'x', sizeof(big) - 1);
    big[101] = 0;
    tags[0] = big;
    assert_true(refused(&f, &s, &class, &err) < 0);
    assert_non_null(strstr(err.text, "maximum allowed length of a tag is 100"));

    submission_init(&f, &s);
    s.ctx.node_label_expression = label;
    assert_true(refused(&f, &s, &class, &err) < 0);
    assert_string_equal(class, JAVA_INVALID_LABEL_REQUEST);

    submission_init(&f, &s);
    s.res.memory = 1 << 20;
    assert_true(refused(&f, &s, &class, &err) < 0);
    assert_string_equal(class, JAVA_INVALID_RESOURCE_REQUEST);
    assert_non_null(strstr(err.text, "Requested resource type=[memory-mb]"));

    submission_init(&f, &s);
    s.ctx.resource = NULL;
    assert_true(refused(&f, &s, &class, &err) < 0);
    assert_non_null(strstr(err.text, "no resources requested"));
    teardown(&f);
}

static void test_fields_are_cut(void **state)
{
    static const char *const keys[][2] = { { "yarn.resourcemanager.am.global.max-attempts", "5" },
                                           { "yarn.cluster.max-application-priority", "3" },
                                           { NULL, NULL } };
    char type[] = "A-TYPE-OF-MORE-THAN-TWENTY-CHARACTERS";
    Hadoop__Yarn__PriorityProto priority = HADOOP__YARN__PRIORITY_PROTO__INIT;
    struct submission s;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    submission_init(&f, &s);
    s.ctx.maxappattempts = 100;
    s.ctx.applicationtype = type;
    priority.has_priority = true;
    priority.priority = 9;
    s.ctx.priority = &priority;
    app = submit_ctx(&f, &s);
    assert_int_equal(app->max_attempts, 5);
    assert_int_equal(app->priority, 3);
    assert_string_equal(app->type, "A-TYPE-OF-MORE-THAN-");
    assert_string_equal(app->name, "N/A");
    assert_string_equal(app->queue, "root.default");
    teardown(&f);
}

/* ---------------------------------------------------------------------- attempts */

static void fail_master(struct fix *f, struct rm_app *app)
{
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 1, "");
    settle(f);
}

static void test_validity_interval(void **state)
{
    struct submission s;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    submission_init(&f, &s);
    s.ctx.has_attempt_failures_validity_interval = true;
    s.ctx.attempt_failures_validity_interval = 10000;
    sv_clock_set_test(sv_now_ms(), sv_wall_ms());
    app = submit_ctx(&f, &s);
    fail_master(&f, app);
    sv_clock_set_test(sv_now_ms(), sv_wall_ms() + 10000);
    fail_master(&f, app); /* the first failure is too old to count */
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    assert_int_equal(app->current->id.attempt, 3);
    sv_clock_set_test(sv_now_ms(), sv_wall_ms() + 9999);
    fail_master(&f, app);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    assert_non_null(strstr(app->diagnostics, "failed 2 times in previous 10000 milliseconds due"));
    sv_clock_reset();
    teardown(&f);
}

static void test_global_limit_in_diagnostics(void **state)
{
    static const char *const keys[][2] = { { "yarn.resourcemanager.am.global.max-attempts", "5" },
                                           { NULL, NULL } };
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    add_node(&f, 1);
    app = submit(&f, false, 1);
    fail_master(&f, app);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    assert_non_null(strstr(app->diagnostics, "failed 1 times (global limit =5) due to AM "));
    teardown(&f);
}

static void test_launch_failure(void **state)
{
    struct rm_node *n;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 1);
    rm_attempt_post(app->current, RM_ATT_EV_LAUNCH_FAILED, "Error launching it. Got exception: x");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    assert_non_null(strstr(app->diagnostics, "due to Error launching it. Got exception: x"));
    assert_non_null(n->to_cleanup); /* the NodeManager may have started it after all */
    teardown(&f);
}

static void test_unmanaged_failure(void **state)
{
    struct rm_app *app;
    struct fix f;
    char expected[256];

    (void)state;
    setup(&f);
    app = submit(&f, true, 2);
    rm_attempt_post(app->current, RM_ATT_EV_FAIL, "no reason");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FAILED); /* no second attempt: it could not be started */
    (void)snprintf(expected, sizeof(expected),
                   "Unmanaged application %s failed due to no reason. Failing the application.",
                   app->id_str);
    assert_string_equal(app->diagnostics, expected);
    teardown(&f);
}

/* A home's AMRMProxy submits its masters with 1 GiB, on a cluster that they take nothing of. */
static void test_unmanaged_size(void **state)
{
    struct submission s;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    submission_init(&f, &s);
    s.ctx.has_unmanaged_am = true;
    s.ctx.unmanaged_am = true;
    s.res.memory = 8192;
    app = submit_ctx(&f, &s);
    assert_non_null(app);
    settle(&f);
    assert_int_equal(app->am_resource.mem, 1024); /* the smallest container here */
    teardown(&f);
}

/* ------------------------------------------------------------- events that cross */

/* A quick master registers before the answer to its launch has been read. */
static void test_register_before_launched(void **state)
{
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 1);
    rm_attempt_post(app->current, RM_ATT_EV_REGISTERED, NULL);
    assert_int_equal(app->current->state, RM_ATT_ST_RUNNING);
    rm_attempt_post(app->current, RM_ATT_EV_LAUNCHED, NULL);
    rm_attempt_post(app->current, RM_ATT_EV_LAUNCH_FAILED, "timed out");
    assert_int_equal(app->current->state, RM_ATT_ST_RUNNING);
    assert_int_equal(app->state, RM_APP_ST_RUNNING);
    teardown(&f);
}

/* The master's container ends before its final state is on disk: FINISHING is skipped. */
static void test_exit_while_saving(void **state)
{
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    rm_attempt_post_unregistered(app->current, F(FAILED), "gave up");
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 1, "");
    assert_int_equal(app->current->state, RM_ATT_ST_FINAL_SAVING);
    settle(&f);
    assert_int_equal(app->current->state, RM_ATT_ST_FINISHED);
    assert_int_equal(app->state, RM_APP_ST_FINISHED);
    assert_int_equal(rm_app_wire_final(app), F(FAILED)); /* the ApplicationMaster's result */
    assert_string_equal(app->diagnostics, "gave up");
    teardown(&f);
}

static void test_kill_while_saving(void **state)
{
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    rm_attempt_post_unregistered(app->current, F(SUCCEEDED), NULL);
    rm_app_post(app, RM_APP_EV_KILL, "too late");
    assert_int_equal(app->state, RM_APP_ST_KILLING);
    assert_int_equal(rm_app_wire_state(app), W(RUNNING));
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FINISHING); /* it had unregistered before */
    assert_int_equal(rm_app_wire_final(app), F(SUCCEEDED));
    teardown(&f);
}

static int answers;
static bool answered_final;

static void answer(struct rm_attempt *att)
{
    att->finish_call = NULL;
    answers++;
    answered_final = rm_app_final_stored(att->app);
}

static struct ipc_call *some_call(void)
{
    static int call; /* only its address is used */

    return (struct ipc_call *)(void *)&call;
}

/* finishApplicationMaster is answered when the final state of the application is on disk. */
static void test_finish_is_answered_after_the_store(void **state)
{
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    answers = 0;
    app->current->finish_call = some_call();
    app->current->finish_answer = answer;
    rm_attempt_post_unregistered(app->current, F(SUCCEEDED), NULL);
    rm_store_flush(f.rm); /* the attempt's state; the application's is written now */
    assert_int_equal(answers, 0);
    rm_store_flush(f.rm);
    assert_int_equal(answers, 1);
    assert_true(answered_final);
    settle(&f);
    assert_int_equal(answers, 1);
    teardown(&f);
}

/* An attempt that ends otherwise leaves no call without an answer. */
static void test_finish_is_answered_at_the_end(void **state)
{
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 2);
    run_master(&f, app);
    answers = 0;
    app->current->finish_call = some_call();
    app->current->finish_answer = answer;
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 1, "");
    settle(&f);
    assert_int_equal(answers, 1);
    assert_false(answered_final); /* a second attempt runs */
    teardown(&f);
}

/* A node that reports an ended application must clean it up. */
static void test_node_reports_ended_application(void **state)
{
    struct rm_node *n;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, true, 1);
    rm_app_post(app, RM_APP_EV_RUNNING_ON_NODE, n->key);
    assert_true(rm_set_has(app->ran_on, n->key));
    assert_null(n->apps_to_cleanup);
    kill_app(&f, app);
    assert_non_null(n->apps_to_cleanup);
    rm_node_clear_lists(n);
    rm_app_post(app, RM_APP_EV_RUNNING_ON_NODE, n->key);
    assert_non_null(n->apps_to_cleanup);
    assert_int_equal(yarn_app_id_cmp(n->apps_to_cleanup->id, app->id), 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submission_is_repeated),
        cmocka_unit_test(test_refused_submissions),
        cmocka_unit_test(test_fields_are_cut),
        cmocka_unit_test(test_validity_interval),
        cmocka_unit_test(test_global_limit_in_diagnostics),
        cmocka_unit_test(test_launch_failure),
        cmocka_unit_test(test_unmanaged_failure),
        cmocka_unit_test(test_unmanaged_size),
        cmocka_unit_test(test_register_before_launched),
        cmocka_unit_test(test_exit_while_saving),
        cmocka_unit_test(test_kill_while_saving),
        cmocka_unit_test(test_finish_is_answered_after_the_store),
        cmocka_unit_test(test_finish_is_answered_at_the_end),
        cmocka_unit_test(test_node_reports_ended_application),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
