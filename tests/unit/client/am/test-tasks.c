/* Tests client/am/tasks.c: assignment, lost containers, exit codes. */
#include "client/am/tasks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "client/job/job.h"

static struct cli_job_group groups[3];
static struct cli_job job = { .groups = groups };

static struct cli_tasks *one_group(int32_t instances, int32_t tries, int32_t restarts)
{
    groups[0] = (struct cli_job_group){ .name = "", .instances = instances, .restarts = restarts };
    job.n_groups = 1;
    job.tries = tries;
    job.at_once = 0;
    return cli_tasks_new(&job);
}

static int32_t wanted(const struct cli_tasks *t, size_t group)
{
    int32_t n[CLI_GROUPS_MAX];

    cli_tasks_wanted(t, n);
    return n[group];
}

static struct cli_allocation container(int64_t n)
{
    return (struct cli_allocation){
        .id = { .attempt = { .app = { 1, 1 }, .attempt = 1 }, .id = n },
        .node = { "node", 8041 },
        .http_address = "node:8042",
    };
}

static void all_succeed(void **state)
{
    struct cli_tasks *t = one_group(2, 3, 0);
    struct cli_allocation a = container(2), b = container(3), surplus = container(4);
    int32_t failed;

    (void)state;
    assert_int_equal(wanted(t, 0), 2);
    assert_int_equal(cli_tasks_assign(t, 0, &a)->instance, 0);
    assert_int_equal(cli_tasks_assign(t, 0, &b)->instance, 1);
    assert_null(cli_tasks_assign(t, 0, &surplus));
    assert_int_equal(wanted(t, 0), 0);
    assert_int_equal(cli_tasks_started(t, a.id, 0, NULL)->state, CLI_TASK_RUNNING);
    /* An exit may be reported before the answer to the start. */
    assert_int_equal(cli_tasks_completed(t, b.id, 0, "")->state, CLI_TASK_DONE);
    assert_null(cli_tasks_started(t, b.id, 0, NULL));
    assert_false(cli_tasks_all_done(t));
    assert_int_equal(cli_tasks_completed(t, a.id, 0, "")->state, CLI_TASK_DONE);
    assert_null(cli_tasks_completed(t, a.id, 1, "told twice"));
    assert_true(cli_tasks_all_done(t));
    assert_int_equal(cli_tasks_exit_code(t, &failed, NULL), 0);
    assert_int_equal(failed, 0);
    cli_tasks_free(t);
}

static void failed_tasks_restart(void **state)
{
    struct cli_tasks *t = one_group(1, 1, 2);
    struct cli_allocation c = container(2);

    (void)state;
    for (int32_t i = 0; i < 3; i++) {
        c = container(2 + i);
        assert_int_equal(cli_tasks_assign(t, 0, &c)->instance, 0);
        assert_int_equal(cli_tasks_completed(t, c.id, 5, "")->state,
                         i < 2 ? CLI_TASK_WAITING : CLI_TASK_DONE);
    }
    assert_int_equal(cli_tasks_get(t, 0)->exit_status, 5);
    assert_true(cli_tasks_all_done(t));
    cli_tasks_free(t);
}

static void lost_tasks_restart(void **state)
{
    static const int32_t lost[] = { -100, -101, -102 };
    struct cli_tasks *t = one_group(1, 4, 0);
    const struct cli_task *first;
    int32_t failed;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct cli_allocation c = container(2 + i);

        assert_int_equal(cli_tasks_assign(t, 0, &c)->tries, i + 1);
        assert_int_equal(cli_tasks_completed(t, c.id, lost[i], "node lost")->state,
                         CLI_TASK_WAITING);
        assert_int_equal(wanted(t, 0), 1);
    }
    struct cli_allocation last = container(9);

    assert_non_null(cli_tasks_assign(t, 0, &last));
    assert_int_equal(cli_tasks_completed(t, last.id, -100, "node lost")->state, CLI_TASK_DONE);
    assert_int_equal(cli_tasks_exit_code(t, &failed, &first), 1);
    assert_int_equal(failed, 1);
    assert_int_equal(first->exit_status, -100);
    cli_tasks_free(t);
}

static void refused_start_retries_in_new_container(void **state)
{
    struct cli_tasks *t = one_group(1, 2, 0);
    struct cli_allocation a = container(2), b = container(3);

    (void)state;
    assert_non_null(cli_tasks_assign(t, 0, &a));
    assert_int_equal(cli_tasks_started(t, a.id, -111, "refused")->state, CLI_TASK_WAITING);
    assert_null(cli_tasks_completed(t, a.id, -100, "released"));
    assert_non_null(cli_tasks_assign(t, 0, &b));
    assert_int_equal(cli_tasks_started(t, b.id, -111, "refused")->state, CLI_TASK_DONE);
    assert_string_equal(cli_tasks_get(t, 0)->diagnostics, "refused");
    cli_tasks_free(t);
}

static void exit_codes_are_preserved(void **state)
{
    struct cli_tasks *t = one_group(3, 3, 0);
    struct cli_allocation c[] = { container(2), container(3), container(4) };
    static const int32_t codes[] = { 0, 137, 7 };
    const struct cli_task *first;
    int32_t failed;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_non_null(cli_tasks_assign(t, 0, &c[i]));
    for (int i = 2; i >= 0; i--)
        assert_int_equal(cli_tasks_completed(t, c[i].id, codes[i], "")->state, CLI_TASK_DONE);
    assert_int_equal(cli_tasks_exit_code(t, &failed, &first), 137);
    assert_int_equal(failed, 2);
    assert_int_equal(first->instance, 1);
    cli_tasks_free(t);
}

/* A browser or a monitor that polls for ever must not keep the job's ApplicationMaster. */
static void table_is_awaited(void **state)
{
    const int64_t end = 100000;

    (void)state;
    assert_true(cli_table_awaited(end + 9000, end, 0));
    assert_false(cli_table_awaited(end + 11000, end, 0));
    assert_true(cli_table_awaited(end + 11000, end, end + 8000));
    assert_false(cli_table_awaited(end + 13000, end, end + 8000));
    assert_true(cli_table_awaited(end + 59000, end, end + 58000));
    assert_false(cli_table_awaited(end + 61000, end, end + 60900));
}

/* Sizes of their own, restarts of their own, a part of the instances. */
static void several_groups(void **state)
{
    static int32_t only[] = { 1, 4 };
    struct cli_allocation a = container(2), b = container(3), c = container(4), d = container(5);
    struct cli_tasks *t;

    (void)state;
    groups[0] = (struct cli_job_group){ .name = "one", .instances = 1 };
    groups[1] = (struct cli_job_group){
        .name = "two", .instances = 5, .restarts = 1, .only = only, .n_only = 2
    };
    job = (struct cli_job){ .groups = groups, .n_groups = 2, .tries = 3 };
    t = cli_tasks_new(&job);
    assert_int_equal(cli_tasks_count(t), 3);
    assert_int_equal(wanted(t, 0), 1);
    assert_int_equal(wanted(t, 1), 2);
    assert_int_equal(cli_tasks_assign(t, 1, &a)->number, 1);
    assert_int_equal(cli_tasks_assign(t, 1, &b)->number, 4);
    assert_null(cli_tasks_assign(t, 1, &c));
    assert_null(cli_tasks_assign(t, 2, &c)); /* there is no such group */
    assert_int_equal(cli_tasks_assign(t, 0, &c)->instance, 0);
    assert_int_equal(cli_tasks_completed(t, c.id, 1, "")->state, CLI_TASK_DONE);
    assert_int_equal(cli_tasks_completed(t, b.id, 1, "")->state, CLI_TASK_WAITING);
    assert_int_equal(wanted(t, 1), 1);
    assert_int_equal(cli_tasks_assign(t, 1, &d)->instance, 2);
    assert_int_equal(cli_tasks_completed(t, d.id, 0, "")->state, CLI_TASK_DONE);
    assert_int_equal(cli_tasks_completed(t, a.id, 0, "")->state, CLI_TASK_DONE);
    assert_true(cli_tasks_all_done(t));
    cli_tasks_free(t);
}

/* Limits of a group, and of all: no more containers are asked for, and a surplus one is not taken.
 */
static void at_once(void **state)
{
    struct cli_allocation a[] = { container(2), container(3), container(4), container(5) };
    struct cli_tasks *t;

    (void)state;
    groups[0] = (struct cli_job_group){ .name = "one", .instances = 5, .at_once = 2 };
    groups[1] = (struct cli_job_group){ .name = "two", .instances = 5 };
    job = (struct cli_job){ .groups = groups, .n_groups = 2, .tries = 3, .at_once = 3 };
    t = cli_tasks_new(&job);
    assert_int_equal(wanted(t, 0), 2);
    assert_int_equal(wanted(t, 1), 1);
    for (size_t i = 0; i < 2; i++)
        assert_non_null(cli_tasks_assign(t, 0, &a[i]));
    assert_null(cli_tasks_assign(t, 0, &a[2]));
    assert_int_equal(wanted(t, 0), 0);
    assert_int_equal(wanted(t, 1), 1);
    assert_non_null(cli_tasks_assign(t, 1, &a[2]));
    assert_null(cli_tasks_assign(t, 1, &a[3]));
    assert_int_equal(wanted(t, 1), 0);
    assert_non_null(cli_tasks_started(t, a[0].id, 0, NULL)); /* running counts as well */
    assert_int_equal(wanted(t, 0), 0);
    assert_int_equal(cli_tasks_completed(t, a[2].id, 0, "")->state, CLI_TASK_DONE);
    assert_int_equal(wanted(t, 1), 1);
    assert_int_equal(cli_tasks_completed(t, a[0].id, 0, "")->state, CLI_TASK_DONE);
    assert_int_equal(wanted(t, 0), 1);
    assert_int_equal(wanted(t, 1), 1);
    cli_tasks_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_succeed),
        cmocka_unit_test(several_groups),
        cmocka_unit_test(at_once),
        cmocka_unit_test(lost_tasks_restart),
        cmocka_unit_test(failed_tasks_restart),
        cmocka_unit_test(refused_start_retries_in_new_container),
        cmocka_unit_test(exit_codes_are_preserved),
        cmocka_unit_test(table_is_awaited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
