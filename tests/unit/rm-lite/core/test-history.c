/* rm-lite/core/history.h: samples by step, gaps, waits summed up the queues, an hour at most,
 * queues that go. */
#include "rm-lite/core/history.h"

#include "rm-lite/scheduler/scheduler.h"
#include "tests/unit/rm-lite/rm-fixture.h"

#define STEP RM_HISTORY_STEP_MS

static size_t samples(const struct fix *f, const char *path, enum rm_figure figure, float *ret)
{
    return rm_history_samples(f->rm, path, figure, ret);
}

static void test_samples(void **state)
{
    float v[RM_HISTORY_SAMPLES];
    struct rm_history_now now;
    struct fix f;
    int64_t at;

    (void)state;
    setup(&f);
    at = (rm_history_last(f.rm) + 2) * STEP;
    (void)add_node(&f, 1);
    rm_history_waited(f.rm, "root.default", 5); /* not known yet: no harm */
    rm_history_tick(f.rm, at);
    rm_history_waited(f.rm, "root.default", 100);
    rm_history_waited(f.rm, "root.default", 300);
    rm_history_tick(f.rm, at + 1); /* the same step */
    rm_history_tick(f.rm, at + STEP);
    rm_history_tick(f.rm, at + 4 * STEP); /* two were missed */
    assert_int_equal(rm_history_last(f.rm), at / STEP + 4);
    for (int k = 0; k < 2; k++) {
        size_t n = samples(&f, k ? "root" : "root.default", RM_FIGURE_WAIT_MS, v);

        assert_true(n >= 5);
        assert_true(v[n - 5] < 0 && v[n - 4] > 199 && v[n - 4] < 201);
        assert_true(v[n - 3] < 0 && v[n - 2] < 0 && v[n - 1] < 0);
    }
    assert_true(samples(&f, "root", RM_FIGURE_CONTAINERS, v) >= 5);
    assert_int_equal(samples(&f, "root.nosuch", RM_FIGURE_CONTAINERS, v), 0);
    assert_int_equal(rm_history_now(f.rm, "root", at + 4 * STEP, &now), 0);
    assert_int_equal(now.at, rm_history_last(f.rm) + 1);
    assert_true(now.full[RM_FIGURE_MEMORY_MB] > 0 && now.full[RM_FIGURE_CONTAINERS] < 0);
    assert_int_equal(rm_history_now(f.rm, "nosuch", at, &now), -ENOENT);
    teardown(&f);
}

static void test_an_hour(void **state)
{
    float v[RM_HISTORY_SAMPLES];
    struct fix f;
    int64_t at;

    (void)state;
    setup(&f);
    at = (rm_history_last(f.rm) + 2) * STEP;
    for (int i = 0; i < 2 * RM_HISTORY_SAMPLES; i++)
        rm_history_tick(f.rm, at + (int64_t)i * STEP);
    assert_int_equal(samples(&f, "root", RM_FIGURE_VCORES, v), RM_HISTORY_SAMPLES);
    assert_true(v[0] >= 0 && v[RM_HISTORY_SAMPLES - 1] >= 0);
    rm_history_tick(f.rm, at + (int64_t)9 * RM_HISTORY_SAMPLES * STEP); /* the machine slept */
    assert_int_equal(samples(&f, "root", RM_FIGURE_VCORES, v), RM_HISTORY_SAMPLES);
    assert_true(v[0] < 0 && v[RM_HISTORY_SAMPLES - 2] < 0 && v[RM_HISTORY_SAMPLES - 1] >= 0);
    teardown(&f);
}

/* An ask that waits for a node: its container knows for how long. */
static void test_wait(void **state)
{
    struct sv_histogram before;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    app = submit(&f, false, 1);
    before = f.rm->counters.waits;
    (void)add_node(&f, 1);
    for (struct rm_node *n = f.rm->nodes; n; n = n->hh.next)
        heartbeat(&f, n);
    run_master(&f, app);
    assert_int_equal(sv_histogram_count(&f.rm->counters.waits), sv_histogram_count(&before) + 1);
    assert_int_equal(f.rm->app_counts[RM_APP_ST_RUNNING], 1);
    assert_int_equal(sv_histogram_count(&f.rm->counters.app_starts), 1);
    assert_true(app->changes > 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_an_hour),
        cmocka_unit_test(test_wait),
    };

    return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
