/* A framework whose master died: what it told of tasks is where the next attempt goes on. */
#include "tests/unit/service/framework-fixture.h"

static struct world w;
static struct framework f;
static char ids[16][YARN_ID_TEXT_MAX];

/* A container of the attempt before, which runs on h<i>. */
static size_t kept_box(const char *name)
{
    size_t i = w.n_boxes++;

    w.box[i] = (struct box){ .state = RUNNING };
    (void)snprintf(w.box[i].host, sizeof(w.box[i].host), "h%zu", i);
    (void)snprintf(w.box[i].name, sizeof(w.box[i].name), "%s", name);
    w.alive[w.n_alive++] = i;
    return i;
}

static struct svc_fw_task told(int32_t index, enum svc_fw_task_state state)
{
    return (struct svc_fw_task){ .index = index,
                                 .state = state,
                                 .retries = { .retried = 2, .unknown = 1, .transient_normal = 1 },
                                 .created_ms = 100,
                                 .lost = -1 };
}

static struct svc_fw_task told_with(int32_t index, enum svc_fw_task_state state, size_t box)
{
    struct svc_fw_task t = told(index, state);

    t.container = yarn_container_id_text(box_id(box), ids[box]);
    t.host = w.box[box].host;
    t.launched_ms = 200;
    return t;
}

static int restore(const struct svc_fw_task *t)
{
    int r = svc_fw_restore(w.e, w.now, 0, t, NULL, NULL);

    carry_out(&w);
    return r;
}

static void make(int32_t tasks)
{
    framework_init(&f, 1);
    f.roles[0].tasks = tasks;
    f.roles[0].retry.max_retries = 3;
    f.roles[0].min_failed = 2;
    framework_make(&w, &f);
}

static void test_each_state(void **state)
{
    struct svc_fw_task t;
    struct svc_fw_view v;
    size_t launched, running, ending, allocated;

    (void)state;
    make(8);
    launched = kept_box("role0-2");
    running = kept_box("role0-3");
    ending = kept_box("role0-4");
    allocated = kept_box("role0-5");
    w.box[allocated].state = OFFERED;
    t = told(0, SVC_FW_TASK_WAITING);
    assert_int_equal(restore(&t), 0);
    t = told(1, SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(restore(&t), 0);
    t = told_with(2, SVC_FW_CONTAINER_LAUNCHED, launched);
    assert_int_equal(restore(&t), 0);
    t = told_with(3, SVC_FW_CONTAINER_RUNNING, running);
    assert_int_equal(restore(&t), 0);
    t = told_with(4, SVC_FW_CONTAINER_COMPLETED, ending);
    t.exited = true;
    t.exit_code = -7153;
    t.exit_type = SVC_FW_TRANSIENT_NORMAL;
    t.exit_diagnostics = "migrates";
    assert_int_equal(restore(&t), 0);
    assert_int_equal(w.box[ending].state, RELEASED);
    t = told_with(5, SVC_FW_CONTAINER_ALLOCATED, allocated);
    w.box[allocated].state = RUNNING; /* the engine can not know */
    assert_int_equal(restore(&t), 0);
    assert_int_equal(w.box[allocated].state, RELEASED);
    t = told(6, SVC_FW_TASK_COMPLETED);
    t.exited = true;
    t.exit_code = 7;
    t.exit_type = SVC_FW_UNKNOWN;
    t.completed_ms = 900;
    t.ended_ms = 890;
    t.container = "container_1700000000000_0007_01_000099";
    t.host = "h9";
    t.exit_diagnostics = "gone";
    assert_int_equal(restore(&t), 0);
    world_start(&w); /* 7 was never told */
    assert_int_equal(w.n_asks, 3);
    assert_non_null(ask_for(&w, "role0-0"));
    assert_non_null(ask_for(&w, "role0-1"));
    assert_non_null(ask_for(&w, "role0-7"));
    assert_int_equal(view_of(&w, "role0-7").task.retries.retried, 0);
    assert_int_equal(view_of(&w, "role0-0").task.retries.retried, 2);
    assert_int_equal(view_of(&w, "role0-0").task.created_ms, 100);
    v = view_of(&w, "role0-2");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_RUNNING);
    assert_int_equal(v.task.launched_ms, 200);
    assert_string_equal(v.task.host, "h0");
    v = view_of(&w, "role0-6");
    assert_int_equal(v.task.state, SVC_FW_TASK_COMPLETED);
    assert_int_equal(v.task.exit_code, 7);
    assert_int_equal(v.task.completed_ms, 900);
    assert_int_equal(v.task.ended_ms, 890);
    assert_string_equal(v.task.host, "h9");
    assert_string_equal(v.task.exit_diagnostics, "gone");
    assert_int_equal(task_state(&w, "role0-4"), SVC_FW_CONTAINER_COMPLETED);
    ended_with(&w, ending, 0, "");
    v = view_of(&w, "role0-4");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(v.task.retries.retried, 3);
    assert_int_equal(v.task.retries.transient_normal, 2);
    assert_int_equal(task_state(&w, "role0-5"), SVC_FW_TASK_WAITING);
    ended_with(&w, allocated, 1, "");
    v = view_of(&w, "role0-5");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(v.task.retries.retried, 2); /* uncounted */
    ended_with(&w, running, 1, "x");             /* the container's end counts as ever */
    assert_int_equal(view_of(&w, "role0-3").task.retries.retried, 3);
    framework_free(&w, &f);
}

/* The ResourceManager hands over what is known already, and a stranger. */
static void test_handed_over(void **state)
{
    struct svc_allocated a;
    struct svc_fw_task t;
    size_t known, stranger;

    (void)state;
    make(1);
    known = kept_box("role0-0");
    stranger = kept_box("");
    t = told_with(0, SVC_FW_CONTAINER_RUNNING, known);
    assert_int_equal(restore(&t), 0);
    a = allocated_of(&w, known);
    svc_engine_recovered(w.e, w.now, &a, "");
    carry_out(&w);
    a = allocated_of(&w, stranger);
    svc_engine_recovered(w.e, w.now, &a, "");
    carry_out(&w);
    assert_int_equal(w.box[known].state, RUNNING);
    assert_int_equal(w.box[stranger].state, RELEASED);
    world_start(&w);
    assert_int_equal(w.n_asks, 0);
    assert_int_equal(migrate(&w, known), 0);
    assert_int_equal(w.box[known].state, RELEASED);
    framework_free(&w, &f);
}

/* Not listed by the ResourceManager: lost, by and by. */
static void test_lost_meanwhile(void **state)
{
    struct svc_fw_task t;
    size_t i;

    (void)state;
    make(1);
    i = kept_box("role0-0");
    t = told_with(0, SVC_FW_CONTAINER_LAUNCHED, i);
    assert_int_equal(restore(&t), 0);
    world_start(&w);
    w.box[i].lost = true;
    for (int k = 0; k < 7; k++)
        list_containers(&w, i);
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(view_of(&w, "role0-0").task.retries.retried, 3);
    framework_free(&w, &f);
}

/* The master died between a task's end and the application's. */
static void test_completion_again(void **state)
{
    struct svc_fw_task t;

    (void)state;
    make(4);
    for (int32_t k = 0; k < 3; k++) {
        t = told(k, SVC_FW_TASK_COMPLETED);
        t.exited = true;
        t.exit_code = k == 0 ? 0 : 10 + k;
        t.exit_type = k == 0 ? SVC_FW_SUCCEEDED : SVC_FW_UNKNOWN;
        assert_int_equal(restore(&t), 0);
    }
    assert_false(w.unregistered);
    world_start(&w);
    assert_true(w.unregistered && !w.success);
    assert_int_equal(end_of(&w).code, 11);
    assert_non_null(strstr(end_of(&w).trigger, "FailedTaskCount 2 has reached"));
    framework_free(&w, &f);
    make(2);
    for (int32_t k = 0; k < 2; k++) {
        t = told(k, SVC_FW_TASK_COMPLETED);
        t.exited = true;
        assert_int_equal(restore(&t), 0);
    }
    world_start(&w);
    assert_true(w.unregistered && w.success);
    framework_free(&w, &f);
}

static void test_refusals(void **state)
{
    struct svc_fw_task t = told(0, SVC_FW_TASK_WAITING);

    (void)state;
    make(2);
    assert_int_equal(restore(&t), 0);
    assert_int_equal(restore(&t), -EINVAL); /* twice */
    t.index = 2;
    assert_int_equal(restore(&t), -ERANGE);
    t.index = -1;
    assert_int_equal(restore(&t), -EINVAL);
    t.index = 1;
    assert_int_equal(svc_fw_restore(w.e, w.now, 1, &t, NULL, NULL), -EINVAL);
    t.state = SVC_FW_CONTAINER_RUNNING;
    t.container = "container_x";
    assert_int_equal(restore(&t), -EINVAL);
    world_start(&w);
    t.container = NULL;
    assert_int_equal(restore(&t), -EINVAL); /* too late */
    assert_int_equal(w.n_asks, 2);
    framework_free(&w, &f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_state),     cmocka_unit_test(test_handed_over),
        cmocka_unit_test(test_lost_meanwhile), cmocka_unit_test(test_completion_again),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
