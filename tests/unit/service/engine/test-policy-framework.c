/* Frameworks: states of tasks, requests, retries, completion, shrinking, migration. */
#include "tests/unit/service/framework-fixture.h"

static struct world w;
static struct framework f;

/* ---- states (facts 1.7) ----------------------------------------------------------------------*/

static void test_life(void **state)
{
    struct svc_fw_view v;
    size_t i;

    (void)state;
    framework_init(&f, 1);
    f.setup.wall_ms = 1000000;
    framework_make(&w, &f);
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_N_TASK_STATES);
    world_start(&w);
    v = view_of(&w, "role0-0");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(v.task.created_ms, 1001000);
    assert_false(v.has_container || v.task.exited);
    w.now = 2000;
    i = allocate_for(&w, "role0-0", "h3");
    assert_int_equal(w.ops_of[SVC_OP_LAUNCH], 1);
    v = view_of(&w, "role0-0");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_LAUNCHED);
    assert_string_equal(v.task.host, "h3");
    assert_string_equal(v.task.container, "container_1700000000000_0007_01_000001");
    assert_int_equal(v.task.launched_ms, 1002000);
    started(&w, i);
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_RUNNING);
    w.now = 3000;
    ended_with(&w, i, 0, "done");
    v = view_of(&w, "role0-0");
    assert_int_equal(v.task.state, SVC_FW_TASK_COMPLETED);
    assert_int_equal(v.task.ended_ms, 1003000);
    assert_int_equal(v.task.completed_ms, 1003000);
    assert_int_equal(v.task.exit_code, 0);
    assert_int_equal(v.task.exit_type, SVC_FW_SUCCEEDED);
    assert_string_equal(v.task.exit_diagnostics, "done");
    assert_true(v.has_container); /* a completed task keeps it */
    assert_string_equal(v.task.host, "h3");
    assert_true(w.unregistered && w.success);
    framework_free(&w, &f);
}

/* A retried task has nothing of its last container, but for counts. */
static void test_retry_clears(void **state)
{
    struct svc_fw_view v;
    size_t i;

    (void)state;
    framework_init(&f, 1);
    f.roles[0].retry = (struct svc_fw_retry_policy){ .max_retries = 1 };
    framework_start(&w, &f);
    i = run_task(&w, "role0-0");
    ended_with(&w, i, 3, "x");
    v = view_of(&w, "role0-0");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_REQUESTED);
    assert_false(v.has_container || v.task.exited || v.task.launched_ms || v.task.ended_ms);
    assert_int_equal(v.task.retries.retried, 1);
    assert_int_equal(v.task.retries.unknown, 1);
    i = run_task(&w, "role0-0");
    ended_with(&w, i, 222, "y");
    v = view_of(&w, "role0-0");
    assert_int_equal(v.task.state, SVC_FW_TASK_COMPLETED);
    assert_int_equal(v.task.retries.unknown, 1); /* the last attempt is not counted */
    assert_int_equal(v.task.exit_code, 222);
    assert_true(w.unregistered && !w.success);
    assert_int_equal(end_of(&w).code, 222);
    framework_free(&w, &f);
}

/* Priorities are 0, 1, 2, …, the lowest index first; an unknown one's container goes back. */
static void test_priorities(void **state)
{
    struct svc_allocated a;
    size_t i;

    (void)state;
    framework_init(&f, 2);
    f.roles[0].tasks = 3;
    framework_start(&w, &f);
    assert_int_equal(w.n_asks, 4);
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(w.ask[k].priority, k);
    assert_string_equal(w.ask[1].asked_for, "role0-1");
    assert_string_equal(w.ask[3].asked_for, "role1-0");
    i = offer(&w, ask_for(&w, "role0-2"), "h0"); /* any order */
    deliver(&w, i);
    assert_int_equal(task_state(&w, "role0-2"), SVC_FW_CONTAINER_LAUNCHED);
    i = offer(&w, ask_for(&w, "role0-0"), "h0");
    a = allocated_of(&w, i);
    a.priority = 77;
    svc_engine_allocated(w.e, w.now, &a);
    carry_out(&w);
    assert_int_equal(w.box[i].state, RELEASED);
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_REQUESTED);
    framework_free(&w, &f);
}

static void test_request_timeout(void **state)
{
    int64_t first;

    (void)state;
    framework_init(&f, 1);
    framework_start(&w, &f);
    first = w.due;
    assert_in_range(first, 1000 + 10000, 1000 + 200000);
    timer(&w, first - 1);
    assert_int_equal(w.ops_of[SVC_OP_CANCEL], 0);
    timer(&w, first);
    assert_int_equal(w.ops_of[SVC_OP_CANCEL], 1);
    assert_int_equal(w.ops_of[SVC_OP_ASK], 1);
    assert_int_equal(ask_for(&w, "role0-0")->priority, 1);
    framework_free(&w, &f);
}

/* No node for it: asked for again after 30 to 150 s. */
static void test_no_node(void **state)
{
    (void)state;
    framework_init(&f, 1);
    framework_start(&w, &f);
    svc_engine_rejected(w.e, w.now, ask_for(&w, "role0-0")->id, 0, "no node has 2 GPUs");
    w.n_asks = 0;
    w.due = INT64_MAX;
    carry_out(&w);
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_TASK_WAITING);
    assert_in_range(svc_engine_due(w.e), 1000 + 30000, 1000 + 150000);
    assert_string_equal(component(&w, 0).reason, "no node has 2 GPUs");
    timer(&w, svc_engine_due(w.e));
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(ask_for(&w, "role0-0")->priority, 1);
    framework_free(&w, &f);
}

/* The master has no use for it: at once, then after 1 s, 2 s, … another one. */
static void test_refused(void **state)
{
    int64_t wait = 0;

    (void)state;
    framework_init(&f, 1);
    framework_start(&w, &f);
    for (int k = 0; k < 9; k++) {
        size_t i = offer(&w, ask_for(&w, "role0-0"), "h0");
        struct svc_allocated a = allocated_of(&w, i);

        a.refused = true;
        svc_engine_allocated(w.e, w.now, &a);
        carry_out(&w);
        assert_int_equal(w.box[i].state, RELEASED);
        if (k > 0) {
            assert_int_equal(task_state(&w, "role0-0"), SVC_FW_TASK_WAITING);
            wait = svc_engine_due(w.e) - w.now;
            timer(&w, svc_engine_due(w.e));
        }
        assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_REQUESTED);
    }
    assert_int_equal(wait, 60000);
    framework_free(&w, &f);
}

static void test_start_failed(void **state)
{
    struct svc_fw_view v;
    size_t i;

    (void)state;
    framework_init(&f, 1);
    f.roles[0].retry.fancy = true;
    framework_start(&w, &f);
    i = allocate_for(&w, "role0-0", "h0");
    svc_engine_start_failed(w.e, w.now, box_id(i), "no disk");
    carry_out(&w);
    assert_int_equal(w.box[i].state, RELEASED);
    v = view_of(&w, "role0-0");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_COMPLETED);
    assert_int_equal(v.task.exit_code, -7150);
    assert_string_equal(v.task.exit_diagnostics, "no disk");
    ended_with(&w, i, YARN_EXIT_ABORTED, "released");
    v = view_of(&w, "role0-0");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(v.task.retries.transient_normal, 1);
    assert_int_equal(v.task.retries.retried, 0);
    framework_free(&w, &f);
    framework_init(&f, 1); /* and without a retry */
    framework_start(&w, &f);
    i = allocate_for(&w, "role0-0", "h0");
    svc_engine_start_failed(w.e, w.now, box_id(i), "no disk");
    carry_out(&w);
    ended_with(&w, i, YARN_EXIT_ABORTED, "released");
    assert_true(w.unregistered && !w.success);
    assert_int_equal(end_of(&w).code, -7150);
    assert_string_equal(end_of(&w).diagnostics, "no disk");
    framework_free(&w, &f);
}

static void test_migrate(void **state)
{
    struct svc_fw_view v;
    size_t i;

    (void)state;
    framework_init(&f, 1);
    f.roles[0].retry.fancy = true;
    framework_start(&w, &f);
    i = run_task(&w, "role0-0");
    assert_int_equal(migrate(&w, i), 0);
    assert_int_equal(w.box[i].state, RELEASED);
    v = view_of(&w, "role0-0");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_COMPLETED);
    assert_int_equal(v.task.exit_code, -7153);
    assert_int_equal(migrate(&w, i), -ESRCH);
    assert_int_equal(w.n_asks, 0); /* one container a task */
    ended_with(&w, i, 0, "it ended well meanwhile");
    v = view_of(&w, "role0-0");
    assert_int_equal(v.task.state, SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(v.task.retries.transient_normal, 1);
    i = allocate_for(&w, "role0-0", "h1"); /* before it started, too */
    assert_int_equal(migrate(&w, i), 0);
    ended_with(&w, i, YARN_EXIT_ABORTED, "");
    assert_int_equal(view_of(&w, "role0-0").task.retries.transient_normal, 2);
    framework_free(&w, &f);
    framework_init(&f, 1); /* the hazard: without retries it fails the application */
    framework_start(&w, &f);
    i = run_task(&w, "role0-0");
    assert_int_equal(migrate(&w, i), 0);
    ended_with(&w, i, 0, "");
    assert_true(w.unregistered && !w.success);
    assert_int_equal(end_of(&w).code, -7153);
    assert_int_equal(end_of(&w).type, SVC_FW_TRANSIENT_NORMAL);
    framework_free(&w, &f);
}

/* ---- counts ----------------------------------------------------------------------------------*/

static void test_tail_shrinks(void **state)
{
    size_t boxes[4];
    char name[16];

    (void)state;
    framework_init(&f, 1);
    f.roles[0].tasks = 4;
    f.roles[0].retry = (struct svc_fw_retry_policy){ .max_retries = -1 };
    framework_start(&w, &f);
    for (int k = 0; k < 3; k++) {
        (void)snprintf(name, sizeof(name), "role0-%d", k);
        boxes[k] = run_task(&w, name);
    }
    assert_int_equal(flex(&w, "role0", 1), 0);
    assert_int_equal(w.ops_of[SVC_OP_CANCEL], 1); /* the fourth was not allocated */
    assert_int_equal(w.box[boxes[0]].state, RUNNING);
    assert_int_equal(w.box[boxes[1]].state, RELEASED);
    assert_int_equal(w.box[boxes[2]].state, RELEASED);
    assert_int_equal(task_state(&w, "role0-1"), SVC_FW_N_TASK_STATES);
    assert_int_equal(task_state(&w, "role0-3"), SVC_FW_N_TASK_STATES);
    w.now = 5000;
    assert_int_equal(flex(&w, "role0", 3), 0); /* new tasks of old names, whose containers end */
    assert_int_equal(task_state(&w, "role0-1"), SVC_FW_TASK_WAITING);
    assert_int_equal(view_of(&w, "role0-1").task.created_ms, 5000);
    assert_int_equal(w.n_asks, 0);
    ended_with(&w, boxes[1], 1, "killed");
    assert_int_equal(task_state(&w, "role0-1"), SVC_FW_CONTAINER_REQUESTED);
    assert_int_equal(view_of(&w, "role0-1").task.retries.unknown, 0); /* nothing was retried */
    assert_int_equal(flex(&w, "role0", 2), 0);
    ended_with(&w, boxes[2], 1, "killed");
    assert_int_equal(task_state(&w, "role0-2"), SVC_FW_N_TASK_STATES);
    assert_false(w.unregistered);
    framework_free(&w, &f);
}

static void test_anti_affinity(void **state)
{
    size_t a, b, c;

    (void)state;
    framework_init(&f, 2);
    f.d.anti_affine = true;
    f.roles[0].tasks = 2;
    f.roles[0].retry.max_retries = -1;
    framework_start(&w, &f);
    a = allocate_for(&w, "role0-0", "h0");
    assert_int_equal(w.n_blacklisted, 1);  /* or the ResourceManager may give h0 for ever */
    b = allocate_for(&w, "role1-0", "h0"); /* of another role: the whole framework counts */
    assert_int_equal(w.box[b].state, RELEASED);
    assert_int_equal(w.n_blacklisted, 1);
    assert_int_equal(task_state(&w, "role1-0"), SVC_FW_CONTAINER_REQUESTED);
    b = allocate_for(&w, "role1-0", "h1");
    c = allocate_for(&w, "role0-1", "h1");
    assert_int_equal(w.box[c].state, RELEASED);
    assert_int_equal(w.n_blacklisted, 2);
    started(&w, a);
    ended_with(&w, a, 1, "x"); /* h0 is free again */
    assert_int_equal(w.n_blacklisted, 1);
    c = allocate_for(&w, "role0-1", "h0");
    assert_int_equal(w.box[c].state, LAUNCHED);
    framework_free(&w, &f);
}

/* The launcher's set of hosts was not counted: one of two on a host took both out. */
static void test_hosts_are_counted(void **state)
{
    size_t a, b, c;

    (void)state;
    framework_init(&f, 1);
    f.roles[0].tasks = 3;
    f.roles[0].retry.max_retries = -1;
    framework_start(&w, &f);
    a = run_task(&w, "role0-0");
    b = run_task(&w, "role0-1"); /* two on h0 */
    ended_with(&w, a, 1, "x");
    f.d.anti_affine = true; /* as an update would */
    c = allocate_for(&w, "role0-2", "h0");
    assert_int_equal(w.box[c].state, RELEASED);
    ended_with(&w, b, 1, "x");
    c = allocate_for(&w, "role0-2", "h0");
    assert_int_equal(w.box[c].state, LAUNCHED);
    framework_free(&w, &f);
}

/* It counts from an update on, in both directions; requests for GPUs choose their host. */
static void test_anti_affinity_is_updated(void **state)
{
    struct svc_fw_role roles[ROLES];
    struct svc_fw_descriptor d;

    (void)state;
    framework_init(&f, 2);
    framework_start(&w, &f);
    allocate_for(&w, "role0-0", "h0");
    allocate_for(&w, "role1-0", "h1");
    assert_int_equal(w.n_blacklisted, 0);
    d = f.d;
    memcpy(roles, f.roles, sizeof(roles));
    d.roles = roles;
    d.anti_affine = true;
    assert_int_equal(svc_fw_update(w.e, w.now, &d, NULL), 0);
    carry_out(&w);
    assert_int_equal(w.n_blacklisted, 2);
    svc_engine_resync(w.e, w.now); /* they are told again */
    carry_out(&w);
    assert_int_equal(w.n_blacklisted, 4);
    w.n_blacklisted = 2;
    roles[1].resource.gpus = 1;
    assert_int_equal(svc_fw_update(w.e, w.now, &d, NULL), 0);
    carry_out(&w);
    assert_int_equal(w.n_blacklisted, 0);
    framework_free(&w, &f);
}

/* ---- completion (facts 1.5) ------------------------------------------------------------------*/

/* Tasks of one role end in turn with these statuses; the last one ends the application. */
static void test_completion(void **state)
{
    static const struct {
        int32_t min_failed, min_succeeded, tasks;
        int32_t statuses[4];
        int n;                 /* of them */
        int32_t code, trigger; /* -1: no task's */
        const char *message;
    } v[] = {
        { 1, 1, 3, { 0 }, 1, 0, 0, "SucceededTaskCount 1 has reached MinSucceededTaskCount 1" },
        { 1, 0, 3, { 0, 5 }, 2, 5, 1, "FailedTaskCount 1 has reached MinFailedTaskCount 1" },
        { 2, 0, 4, { 5, 0, 6 }, 3, 6, 2, "FailedTaskCount 2 has reached MinFailedTaskCount 2" },
        { 2, 2, 4, { 0, 6, 0 }, 3, 0, 2, "SucceededTaskCount 2" },
        { 0, 0, 3, { 5, 6, 7 }, 3, 0, -1, "TotalTaskCount: 3, FailedTaskCount: 3" },
        { 3, 0, 3, { 5, 0, 7 }, 3, 0, -1, "TotalTaskCount: 3, FailedTaskCount: 2" },
        { 3, 3, 2, { 0, 0 }, 2, 0, -1, "TotalTaskCount: 2, FailedTaskCount: 0" },
        { 1, 0, 1, { 139 }, 1, 139, 0, "TaskRole [PS]" },
    };

    (void)state;
    for (size_t k = 0; k < SV_ARRAY_LEN(v); k++) {
        size_t box[4];
        struct svc_fw_end end;
        char name[16];

        framework_init(&f, 1);
        f.roles[0].tasks = v[k].tasks;
        f.roles[0].min_failed = v[k].min_failed;
        f.roles[0].min_succeeded = v[k].min_succeeded;
        framework_start(&w, &f);
        for (int i = 0; i < v[k].tasks; i++) {
            (void)snprintf(name, sizeof(name), "role0-%d", i);
            box[i] = run_task(&w, name);
        }
        for (int i = 0; i < v[k].n; i++) {
            assert_false(w.unregistered);
            ended_with(&w, box[i], v[k].statuses[i], "why");
        }
        assert_true(w.unregistered);
        end = end_of(&w);
        assert_int_equal(end.code, v[k].code);
        assert_int_equal(w.success, v[k].code == 0);
        if (!strstr(end.trigger, v[k].message))
            fail_msg("row %zu: %s", k, end.trigger);
        if (v[k].trigger < 0) {
            assert_null(end.role);
        } else {
            assert_string_equal(end.role, "PS");
            assert_int_equal(end.task, v[k].trigger);
        }
        framework_free(&w, &f);
    }
}

/* Counts are a role's own. */
static void test_completion_by_role(void **state)
{
    size_t a, b;

    (void)state;
    framework_init(&f, 2);
    f.roles[0].min_failed = f.roles[1].min_failed = 2;
    f.roles[1].tasks = 2;
    framework_start(&w, &f);
    a = run_task(&w, "role0-0");
    b = run_task(&w, "role1-0");
    ended_with(&w, a, 1, "");
    ended_with(&w, b, 1, "");
    assert_false(w.unregistered);
    ended_with(&w, run_task(&w, "role1-1"), 1, "");
    assert_true(w.unregistered);
    assert_string_equal(end_of(&w).role, "worker");
    framework_free(&w, &f);
}

/* The launcher went on for ever with ended tasks alone, and with none. */
static void test_gaps(void **state)
{
    (void)state;
    framework_init(&f, 2);
    f.roles[0].tasks = 3;
    f.roles[0].min_failed = 0;
    f.roles[1].tasks = 0;
    framework_start(&w, &f);
    ended_with(&w, run_task(&w, "role0-0"), 1, "");
    assert_false(w.unregistered);
    assert_int_equal(flex(&w, "role0", 1), 0);
    assert_true(w.unregistered && w.success);
    assert_int_equal(end_of(&w).code, 0);
    framework_free(&w, &f);
    framework_init(&f, 1);
    f.roles[0].tasks = 0;
    framework_start(&w, &f);
    assert_true(w.unregistered && w.success);
    assert_non_null(strstr(end_of(&w).trigger, "TotalTaskCount: 0, FailedTaskCount: 0"));
    framework_free(&w, &f);
    framework_init(&f, 1);
    framework_start(&w, &f);
    run_task(&w, "role0-0");
    assert_int_equal(flex(&w, "role0", 0), 0);
    assert_true(w.unregistered && w.success);
    framework_free(&w, &f);
}

/* New policies hold from the next end on. */
static void test_update(void **state)
{
    static struct svc_fw_role roles[ROLES];
    struct svc_fw_descriptor d;
    struct sv_error err = { 0 };
    size_t a;

    (void)state;
    framework_init(&f, 1);
    f.roles[0].tasks = 2;
    framework_start(&w, &f);
    a = run_task(&w, "role0-0");
    memcpy(roles, f.roles, sizeof(roles));
    d = f.d;
    d.roles = roles;
    roles[0].retry.max_retries = 1;
    roles[0].min_failed = 0;
    assert_int_equal(svc_fw_update(w.e, w.now, &d, &err), 0);
    ended_with(&w, a, 1, "");
    assert_int_equal(view_of(&w, "role0-0").task.retries.retried, 1);
    roles[0].name = "another";
    d.n_roles = 1;
    f.d.roles = f.roles;
    assert_int_equal(svc_fw_update(w.e, w.now, &f.d, &err), -EINVAL);
    roles[0].name = f.roles[0].name;
    framework_free(&w, &f);
}

static void test_stop_and_finish(void **state)
{
    size_t a;

    (void)state;
    framework_init(&f, 1);
    framework_start(&w, &f);
    a = run_task(&w, "role0-0");
    svc_engine_stop(w.e, w.now, "its user stops it");
    carry_out(&w);
    assert_true(w.unregistered);
    assert_int_equal(end_of(&w).code, -7351);
    assert_int_equal(end_of(&w).type, SVC_FW_NON_TRANSIENT);
    assert_int_equal(w.box[a].state, RUNNING); /* the ResourceManager's to end */
    assert_int_equal(task_state(&w, "role0-0"), SVC_FW_CONTAINER_RUNNING);
    framework_free(&w, &f);
    framework_init(&f, 1);
    framework_make(&w, &f); /* before its start, too */
    svc_fw_finish(w.e, w.now, SVC_FW_EXIT_AM_NON_TRANSIENT, "no token");
    carry_out(&w);
    assert_true(w.unregistered && !w.success);
    assert_int_equal(end_of(&w).code, -7251);
    assert_string_equal(end_of(&w).diagnostics, "no token");
    framework_free(&w, &f);
}

/* ---- progress --------------------------------------------------------------------------------*/

static void test_progress(void **state)
{
    struct svc_fw_state s;

    (void)state;
    framework_init(&f, 1);
    f.roles[0].tasks = 4;
    f.roles[0].min_failed = 0;
    framework_start(&w, &f);
    svc_fw_state(w.e, &s);
    assert_true(s.progress == 0 && s.total == 4 && s.outstanding == 4);
    ended_with(&w, run_task(&w, "role0-1"), 1, "");
    svc_fw_state(w.e, &s);
    assert_true(s.progress == 0.25 && s.final == 1 && s.outstanding == 3);
    framework_free(&w, &f);
}

/* More tasks than the engine takes. */
static void test_bounds(void **state)
{
    struct svc_definition *d;
    struct svc_options *o;
    struct sv_error err = { 0 };
    char fast[] = "fast";
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    (void)state;
    framework_init(&f, 3);
    f.d.master_label = "slow";
    f.roles[1].label = fast;
    assert_int_equal(svc_fw_definition(&f.d, a, &d, &o, &err), 0);
    memset(fast, 'x', strlen(fast)); /* the descriptor goes with the next update */
    assert_string_equal(o[1].label, "fast");
    memcpy(fast, "fast", strlen(fast));
    assert_string_equal(o[0].label, "slow");
    assert_string_equal(o[1].label, "fast");
    f.d.label = "some";
    assert_int_equal(svc_fw_definition(&f.d, a, &d, &o, &err), 0);
    assert_string_equal(o[0].label, "some");
    for (size_t i = 0; i < 3; i++)
        f.roles[i].tasks = SVC_FW_TASKS_MAX;
    assert_int_equal(svc_fw_definition(&f.d, a, &d, &o, &err), -EINVAL);
    assert_non_null(strstr(err.text, "150000 tasks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_retry_clears),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_request_timeout),
        cmocka_unit_test(test_no_node),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_start_failed),
        cmocka_unit_test(test_migrate),
        cmocka_unit_test(test_tail_shrinks),
        cmocka_unit_test(test_anti_affinity),
        cmocka_unit_test(test_anti_affinity_is_updated),
        cmocka_unit_test(test_hosts_are_counted),
        cmocka_unit_test(test_completion),
        cmocka_unit_test(test_completion_by_role),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_stop_and_finish),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
