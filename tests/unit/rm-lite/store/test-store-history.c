/* rm-lite/store/store-history.c: the row of an ended application is there once its end is, is kept
 * by number and age, and is read a turn at a time. */
#include "tests/unit/rm-lite/store/history-fixture.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "rm-lite/periodic.h"
#include "rm-lite/scheduler/resource-types.h"

static int64_t rows(const struct fix *f)
{
    return rm_store_history_count(f->rm);
}

static struct rm_past_app found(const struct fix *f, struct sv_arena *a, struct yarn_app_id id)
{
    struct rm_past_app past;

    assert_int_equal(rm_store_history_find(f->rm, id, a, &past), 0);
    return past;
}

static const struct rm_past_key newest = { .finish_ms = INT64_MAX };

struct seen {
    struct yarn_app_id first, last;
    int n, stop_after;
};

static bool see(const struct rm_past_app *past, void *userdata)
{
    struct seen *s = userdata;

    if (s->n++ == 0)
        s->first = past->id;
    else
        assert_true(past->id.id < s->last.id);
    s->last = past->id;
    return s->n != s->stop_after;
}

/* ---- Ends ---- */

static void end_is_written(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct submission s;
    struct rm_past_app past;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    submission_init(&f, &s);
    s.ctx.unmanaged_am = true;
    s.ctx.application_name = (char *)(uintptr_t) "a job";
    app = submit_ctx(&f, &s);
    assert_int_equal(rows(&f), 0);
    kill_app(&f, app);
    assert_int_equal(app->state, RM_APP_ST_KILLED);
    assert_int_equal(rows(&f), 1);
    past = found(&f, a, s.app_id);
    assert_string_equal(past.user, "ann");
    assert_string_equal(past.queue, app->queue);
    assert_string_equal(past.name, "a job");
    assert_string_equal(past.type, app->type);
    assert_string_equal(past.diagnostics, "Application was killed by user ann");
    assert_null(past.view_acl);
    assert_int_equal(past.state, RM_APP_ST_KILLED);
    assert_int_equal(past.final_status, F(KILLED));
    assert_int_equal(past.start_ms, app->start_ms);
    assert_int_equal(past.finish_ms, app->finish_ms);
    assert_int_equal(past.attempts, 1);
    assert_int_equal(past.n_used, 2);

    stop(&f);
    start(&f);
    assert_int_equal(rows(&f), 1);
    assert_string_equal(found(&f, a, s.app_id).name, "a job");
    sv_arena_free(a);
    teardown(&f);
}

/* A row holds the usage until the last container has ended, not until the master unregistered. */
static void usage_after_unregistering(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct rm_past_app before, after;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    (void)add_node(&f, 1);
    app = submit(&f, false, 1);
    heartbeat(&f, f.rm->nodes);
    run_master(&f, app);
    rm_attempt_post_unregistered(app->current, F(SUCCEEDED), "");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FINISHING);
    before = found(&f, a, app->id);
    assert_int_equal(before.state, RM_APP_ST_FINISHED);
    app->seconds.memory_ms += 5000000; /* as if its master stayed */
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 0, "");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FINISHED);
    after = found(&f, a, app->id);
    assert_int_equal(after.final_status, F(SUCCEEDED));
    assert_int_equal(after.finish_ms, before.finish_ms);
    assert_true(after.used[0].used_ms >= before.used[0].used_ms + 5000000);
    assert_int_equal(rows(&f), 1);
    sv_arena_free(a);
    teardown(&f);
}

/* Runs `act` in a process that then dies without closing the store. */
static void die_after(struct fix *f, void (*act)(struct fix *f))
{
    int status;
    pid_t pid;

    stop(f);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sd_event *event;

        if (sd_event_new(&event) < 0)
            _exit(1);
        f->event = event;
        start(f);
        act(f);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    start(f);
}

static void end_without_write(struct fix *f)
{
    struct rm_app *app = submit(f, true, 1);

    SV_DISPATCH_BATCH(f->rm->dispatcher);
    rm_app_post(app, RM_APP_EV_KILL, "killed");
    sv_dispatcher_run(f->rm->dispatcher);
    if (app->state == RM_APP_ST_KILLED)
        _exit(1); /* it ended before it was written */
}

static void end_and_write(struct fix *f)
{
    kill_app(f, submit(f, true, 1));
}

static void killed_daemon(void **state)
{
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    die_after(&f, end_without_write);
    app = f.rm->app_list;
    assert_non_null(app); /* it was submitted, and has not ended */
    assert_false(rm_app_is_final(app));
    assert_int_equal(rows(&f), 0);
    kill_app(&f, app);
    assert_int_equal(rows(&f), 1);
    die_after(&f, end_and_write);
    assert_int_equal(rows(&f), 2);
    assert_int_equal(HASH_COUNT(f.rm->apps), 2);
    teardown(&f);
}

/* ---- An older store ---- */

static void store_without_history(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct yarn_app_id id;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    app = submit(&f, true, 1);
    id = app->id;
    kill_app(&f, app);
    (void)submit(&f, true, 1); /* has not ended */
    stop(&f);
    sql(&f, "DROP TABLE history");
    start(&f);
    assert_int_equal(rows(&f), 1);
    assert_int_equal(found(&f, a, id).state, RM_APP_ST_KILLED);
    stop(&f);
    sql(&f, "UPDATE history SET name='kept'");
    start(&f);
    assert_string_equal(found(&f, a, id).name, "kept"); /* not written again */
    sv_arena_free(a);
    teardown(&f);
}

static void damaged_rows_are_skipped(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct rm_past_key at = newest;
    struct rm_past_app past;
    struct seen s = { 0 };
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, 6);
    stop(&f);
    sql(&f, "UPDATE history SET state=3 WHERE id=1; UPDATE history SET final=77 WHERE id=2;"
            "UPDATE history SET user=NULL, memory=-5, type1='gpu', used1='x' WHERE id=3;"
            "UPDATE history SET name=x'ff00fe' WHERE id=4; UPDATE history SET ts=-1 WHERE id=5");
    start(&f);
    assert_int_equal(rm_store_history_walk(f.rm, &at, INT64_MIN, see, &s), 1);
    assert_int_equal(s.n, 3);
    assert_int_equal(rm_store_history_find(f.rm, (struct yarn_app_id){ TS, 1 }, a, &past), -ENOENT);
    past = found(&f, a, (struct yarn_app_id){ TS, 3 });
    assert_string_equal(past.user, "");
    assert_int_equal(past.used[0].used_ms, 0);
    assert_int_equal(past.n_used, 3);
    assert_int_equal(past.used[2].used_ms, 0);
    sv_arena_free(a);
    teardown(&f);
}

/* ---- Columns ---- */

static void texts_are_cut(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct rm_past_app past;
    struct rm_app *app;
    char text[3001];
    struct fix f;

    (void)state;
    setup(&f);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    app = submit(&f, true, 1);
    rm_set_text(&app->name, text);
    rm_set_text(&app->view_acl, text); /* its start would admit somebody else */
    rm_app_post(app, RM_APP_EV_KILL, text);
    settle(&f);
    past = found(&f, a, app->id);
    assert_int_equal(strlen(past.name), RM_PAST_NAME_MAX);
    assert_int_equal(strlen(past.diagnostics), RM_PAST_DIAGNOSTICS_MAX);
    assert_null(past.view_acl);
    app = submit(&f, true, 1);
    rm_set_text(&app->view_acl, "bob staff");
    kill_app(&f, app);
    assert_string_equal(found(&f, a, app->id).view_acl, "bob staff");
    sv_arena_free(a);
    teardown(&f);
}

static void other_types(void **state)
{
    static const char *const keys[][2] = { { "yarn.resource-types", "yarn.io/gpu,licence" },
                                           { 0 } };
    struct sv_arena *a = sv_arena_new(0);
    struct rm_past_app past;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    app = submit(&f, true, 1);
    app->seconds.extra_ms[rm_types_index(rm_types(), "yarn.io/gpu")] = 7000;
    kill_app(&f, app);
    past = found(&f, a, app->id);
    assert_int_equal(past.n_used, 3);
    assert_string_equal(past.used[2].type, "yarn.io/gpu");
    assert_int_equal(past.used[2].used_ms, 7000);
    sv_arena_free(a);
    teardown(&f);
}

/* ---- Reading ---- */

static void walks(void **state)
{
    struct rm_past_key at = newest, middle;
    struct seen s = { 0 };
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, 1200);
    assert_int_equal(rows(&f), 1200);
    assert_int_equal(rm_store_history_walk(f.rm, &at, INT64_MIN, see, &s), 0);
    assert_int_equal(s.n, RM_PAST_TURN); /* a turn */
    assert_int_equal(s.first.id, 1200);
    assert_int_equal(rm_store_history_walk(f.rm, &at, INT64_MIN, see, &s), 0);
    assert_int_equal(rm_store_history_walk(f.rm, &at, INT64_MIN, see, &s), 1);
    assert_int_equal(s.n, 1200);
    assert_int_equal(s.last.id, 1);

    at = newest;
    s = (struct seen){ .stop_after = 10 };
    assert_int_equal(rm_store_history_walk(f.rm, &at, INT64_MIN, see, &s), 0);
    assert_int_equal(at.id.id, 1191);
    middle = at;
    s = (struct seen){ .n = 0 }; /* down to the end of number 1185, and no further */
    assert_int_equal(rm_store_history_walk(f.rm, &at, middle.finish_ms - 6 * ROW_MS, see, &s), 1);
    assert_int_equal(s.n, 6);
    assert_int_equal(s.last.id, 1185);
    teardown(&f);
}

/* ---- Limits ---- */

static void by_number(void **state)
{
    static const char *const keys[][2] = { { "selvedge.rm.history.max-applications", "500" },
                                           { 0 } };
    struct rm_past_key at = newest;
    struct seen s = { 0 };
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    fill(&f, 1000);
    for (int left = 1000; left > 500; left = SV_MAX(left - RM_PAST_DELETE_TURN, 500)) {
        assert_int_equal(rows(&f), left);
        (void)rm_periodic_run(f.rm);
        settle(&f);
    }
    (void)rm_periodic_run(f.rm);
    assert_int_equal(rows(&f), 500);
    assert_int_equal(rm_store_history_walk(f.rm, &at, INT64_MIN, see, &s), 1);
    assert_int_equal(s.n, 500);
    assert_int_equal(s.last.id, 501); /* the oldest are gone */
    kill_app(&f, submit(&f, true, 1));
    assert_int_equal(rows(&f), 501);
    (void)rm_periodic_run(f.rm);
    assert_int_equal(rows(&f), 500);
    teardown(&f);
}

static void by_age(void **state)
{
    static const char *const keys[][2] = { { "selvedge.rm.history.max-age-ms", "100s" }, { 0 } };
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    fill(&f, 150);
    rm_store_history_prune(f.rm, sv_wall_ms());
    assert_in_range(rows(&f), 95, 101);
    assert_true(rm_store_history_oldest(f.rm) >= sv_wall_ms() - 110000);
    rm_store_history_prune(f.rm, sv_wall_ms() + 200000);
    assert_int_equal(rows(&f), 0);
    assert_int_equal(rm_store_history_oldest(f.rm), INT64_MAX);
    rm_store_history_prune(f.rm, INT64_MAX);
    teardown(&f);
}

static void off(void **state)
{
    static const char *const none[][2] = { { "selvedge.rm.history.max-applications", "0" }, { 0 } };
    static const char *const no_store[][2] = { { "yarn.resourcemanager.recovery.enabled", "false" },
                                               { 0 } };
    struct sv_arena *a = sv_arena_new(0);
    struct rm_past_key at = newest;
    struct seen s = { 0 };
    struct rm_past_app past;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, 3);
    stop(&f);
    f.keys = none;
    start(&f);
    (void)rm_periodic_run(f.rm); /* what an earlier configuration kept */
    kill_app(&f, submit(&f, true, 1));
    assert_int_equal(rows(&f), 0);
    assert_false(rm_store_keeps_history(f.rm));
    teardown(&f);

    setup_with(&f, no_store);
    app = submit(&f, true, 1);
    kill_app(&f, app);
    assert_false(rm_store_keeps_history(f.rm));
    assert_int_equal(rm_store_history_find(f.rm, app->id, a, &past), -ENOENT);
    assert_int_equal(rm_store_history_walk(f.rm, &at, INT64_MIN, see, &s), 1);
    sv_arena_free(a);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(end_is_written),
        cmocka_unit_test(usage_after_unregistering),
        cmocka_unit_test(killed_daemon),
        cmocka_unit_test(store_without_history),
        cmocka_unit_test(texts_are_cut),
        cmocka_unit_test(damaged_rows_are_skipped),
        cmocka_unit_test(other_types),
        cmocka_unit_test(walks),
        cmocka_unit_test(by_number),
        cmocka_unit_test(by_age),
        cmocka_unit_test(off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
