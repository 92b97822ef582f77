/* Containers that the ResourceManager lists: those of tasks that are missing, and those of none. */
#include "tests/unit/service/framework-fixture.h"

static struct world w;
static struct framework f;

static void start_two(int32_t max_lost)
{
    framework_init(&f, 1);
    f.roles[0].tasks = 2;
    f.roles[0].retry.fancy = true;
    f.d.max_lost = max_lost;
    framework_start(&w, &f);
}

/* Missing more than max_lost times in a row: the end of its container, and a new one. */
static void test_lost(void **state)
{
    static const struct {
        int32_t max, times;
    } v[] = { { -2, 7 }, { 0, 1 }, { 3, 4 } };

    (void)state;
    for (size_t k = 0; k < SV_ARRAY_LEN(v); k++) {
        size_t a, b;

        start_two(v[k].max);
        a = run_task(&w, "role0-0");
        b = run_task(&w, "role0-1");
        w.box[a].lost = true;
        for (int32_t i = 1; i < v[k].times; i++) {
            list_containers(&w, a);
            assert_int_equal(view_of(&w, "role0-0").task.lost, i);
            assert_int_equal(view_of(&w, "role0-1").task.lost, 0);
        }
        assert_int_equal(w.box[a].state, RUNNING);
        list_containers(&w, a);
        assert_int_equal(w.ops_of[SVC_OP_STOP], 1);
        assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_REQUESTED);
        assert_int_equal(view_of(&w, "role0-0").task.retries.transient_normal, 1);
        assert_int_equal(w.box[b].state, RUNNING);
        box_gone(&w, a);
        framework_free(&w, &f);
    }
}

static void test_lost_without_retry(void **state)
{
    size_t a;

    (void)state;
    framework_init(&f, 1);
    f.d.max_lost = 0;
    framework_start(&w, &f);
    a = run_task(&w, "role0-0");
    list_containers(&w, a);
    assert_true(w.unregistered && !w.success);
    assert_int_equal(end_of(&w).code, -7151);
    framework_free(&w, &f);
}

/* -1: never. A list without it in between starts the count anew, and so does a list that failed. */
static void test_counts_begin_anew(void **state)
{
    size_t a;

    (void)state;
    start_two(-1);
    a = run_task(&w, "role0-0");
    for (int i = 0; i < 50; i++)
        list_containers(&w, a);
    assert_int_equal(w.box[a].state, RUNNING);
    assert_int_equal(view_of(&w, "role0-0").task.lost, 50);
    framework_free(&w, &f);
    start_two(2);
    a = run_task(&w, "role0-0");
    for (int i = 0; i < 10; i++) {
        list_containers(&w, a);
        list_containers(&w, a);
        assert_int_equal(view_of(&w, "role0-0").task.lost, 2);
        if (i % 2)
            list_containers(&w, SIZE_MAX);
        else
            svc_fw_list_end(w.e, w.now, false);
        assert_int_equal(view_of(&w, "role0-0").task.lost, 0);
    }
    carry_out(&w);
    assert_int_equal(w.box[a].state, RUNNING);
    framework_free(&w, &f);
}

/* A container of no task: released once it was listed more than max_exceed times in a row. */
static void test_exceeds(void **state)
{
    const struct yarn_container_id stranger = { .attempt = { .app = { .id = 7 } }, .id = 99 };

    (void)state;
    start_two(-2);
    run_task(&w, "role0-0");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            const struct svc_op *ops;
            size_t n, released = 0;

            svc_fw_listed(w.e, w.now, &stranger, 1);
            svc_fw_list_end(w.e, w.now, true);
            ops = svc_engine_ops(w.e, &n);
            for (size_t k = 0; k < n; k++)
                if (ops[k].type == SVC_OP_RELEASE) {
                    released++;
                    assert_int_equal(ops[k].container.id, 99);
                }
            assert_int_equal(released, i == 2);
        }
    }
    for (int i = 0; i < 10; i++) { /* not in a row */
        size_t n;
        const struct svc_op *ops;

        if (i % 3)
            svc_fw_listed(w.e, w.now, &stranger, 1);
        svc_fw_list_end(w.e, w.now, true);
        ops = svc_engine_ops(w.e, &n);
        for (size_t k = 0; k < n; k++)
            assert_int_not_equal(ops[k].type, SVC_OP_RELEASE);
    }
    framework_free(&w, &f);
}

/* A container that is to end, and is listed on: released again. One that is not listed ended. */
static void test_ending_ones(void **state)
{
    size_t a;

    (void)state;
    start_two(-2);
    a = run_task(&w, "role0-0");
    assert_int_equal(migrate(&w, a), 0);
    list_containers(&w, SIZE_MAX);
    list_containers(&w, SIZE_MAX);
    assert_int_equal(w.ops_of[SVC_OP_RELEASE], 0);
    list_containers(&w, SIZE_MAX);
    assert_int_equal(w.ops_of[SVC_OP_RELEASE], 1);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_COMPLETED);
        list_containers(&w, a);
    }
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(view_of(&w, "role0-0").task.retries.transient_normal, 1);
    assert_int_equal(view_of(&w, "role0-0").task.retries.retried, 0);
    framework_free(&w, &f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_lost_without_retry),
        cmocka_unit_test(test_counts_begin_anew),
        cmocka_unit_test(test_exceeds),
        cmocka_unit_test(test_ending_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
