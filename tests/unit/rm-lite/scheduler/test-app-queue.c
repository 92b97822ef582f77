/* rm-lite/scheduler/app-queue.c: the move of an application to another leaf queue, and its
 * refusals. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

static int move(struct fix *f, int i, const char *queue, struct sv_error *err)
{
    struct rm_sched_event ev = { .type = RM_SCHED_APP_MOVED,
                                 .app_moved = { .app = app_id(i), .queue = queue } };

    return rm_sched_handle(f->s, &ev, f->now, &f->d, &f->n, err);
}

static void refused(struct fix *f, int i, const char *queue, int r, const char *words)
{
    struct sv_error err = { 0 };

    assert_int_equal(move(f, i, queue, &err), r);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" is not in: %s", words, err.text);
}

static struct rm_queue_info info(const struct fix *f, const char *queue)
{
    struct rm_queue_info q;

    assert_int_equal(rm_sched_queue(f->s, queue, &q), 0);
    return q;
}

static void holds(const struct fix *f, const char *queue, int64_t used, int64_t reserved,
                  int64_t pending, int containers, int active)
{
    struct rm_queue_info q = info(f, queue);

    assert_int_equal(q.used.mem, used);
    assert_int_equal(q.reserved.mem, reserved);
    assert_int_equal(q.pending.mem, pending);
    assert_int_equal(q.containers, containers);
    assert_int_equal(q.active_apps, active);
    assert_int_equal(q.am_used.mem, active * 1024);
    assert_int_equal(q.users, active);
}

/* Master, two containers, a reservation and an ask go along; root stays as it is. */
static void test_all_of_it_moves(void **state)
{
    struct rm_app_usage use;
    struct rm_res root;
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    fix_start(&f);
    node(&f, 1, "/r", 8192, 16);
    node(&f, 2, "/r", 8192, 16);
    assert_true(app(&f, 1, "ann", "a", 1024));
    ask(&f, 1, 2048, 2);
    assert_int_equal(beat(&f, 1), 3);
    ask(&f, 1, 4096, 2);
    assert_int_equal(beat(&f, 1), 0); /* 3 GiB are left: reserved */
    holds(&f, "a", 5120 + 4096, 4096, 8192, 3, 1);
    holds(&f, "b", 0, 0, 0, 0, 0);
    root = info(&f, "root").used;
    assert_int_equal(move(&f, 1, "b", NULL), 0);
    holds(&f, "a", 0, 0, 0, 0, 0);
    holds(&f, "b", 5120 + 4096, 4096, 8192, 3, 1);
    assert_true(rm_res_equal(info(&f, "root").used, root));
    assert_int_equal(rm_sched_app_usage(f.s, app_id(1), &use), 0);
    assert_string_equal(use.queue_path, "root.b");
    assert_int_equal(use.containers, 3);
    assert_int_equal(beat(&f, 2), 2);                 /* its asks are served in the new queue */
    assert_int_equal(move(&f, 1, "root.b", NULL), 0); /* where it is */
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                     .app_removed = { .app = app_id(1) } }),
                     0);
    holds(&f, "b", 0, 0, 0, 0, 0);
    fix_end(&f);
}

static void test_refusals(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "40", "40");
    set(&f, CS "root.queues", "a,b,closed,above");
    set(&f, CS "root.closed.capacity", "10");
    set(&f, CS "root.closed.state", "STOPPED");
    set(&f, CS "root.above.capacity", "10");
    set(&f, CS "root.above.queues", "below");
    set(&f, CS "root.above.below.capacity", "100");
    set(&f, CS "root.b.maximum-applications", "2");
    set(&f, CS "root.b.user-limit-factor", "0.5");
    fix_start(&f);
    node(&f, 1, "/r", 65536, 64);
    for (int i = 1; i <= 3; i++)
        assert_true(app(&f, i, i == 3 ? "bob" : "ann", "a", 1024));
    assert_true(app(&f, 4, "eve", "a", 1024));
    assert_int_equal(beat(&f, 1), 4);
    refused(&f, 1, "nowhere", -EINVAL, "The specified Queue: nowhere doesn't exist");
    refused(&f, 1, "above", -EINVAL, "The specified Queue: above is not a Leaf Queue.");
    refused(&f, 1, "closed", -EACCES,
            "AccessControlException: Queue root.closed is STOPPED. Cannot accept submission of "
            "application: application_");
    assert_int_equal(move(&f, 1, "b", NULL), 0);
    refused(&f, 2, "b", -EACCES, "Queue root.b already has 1 applications from user ann cannot");
    assert_int_equal(move(&f, 3, "b", NULL), 0);
    refused(&f, 4, "b", -EACCES, "Queue root.b already has 2 applications, cannot accept");
    refused(&f, 9, "b", -ENOENT, "not in the scheduler");
    holds(&f, "a", 2048, 0, 0, 2, 2);
    holds(&f, "b", 2048, 0, 0, 2, 2);
    fix_end(&f);
}

/* The limits of the target hold an application back, with its containers; the place that it leaves
 * lets another run. */
static void test_limits_of_both_queues(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.a.max-parallel-apps", "1");
    set(&f, CS "root.b.max-parallel-apps", "1");
    fix_start(&f);
    node(&f, 1, "/r", 65536, 64);
    assert_true(app(&f, 1, "ann", "a", 1024));
    assert_true(app(&f, 2, "ann", "a", 1024)); /* waits for the first */
    assert_true(app(&f, 3, "bob", "b", 1024));
    assert_int_equal(beat(&f, 1), 2);
    assert_int_equal(move(&f, 1, "b", NULL), 0);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(count_app(&f, 2), 1);
    ask(&f, 1, 1024, 1);
    assert_int_equal(beat(&f, 1), 0);
    assert_int_equal(info(&f, "b").containers, 2);
    assert_int_equal(info(&f, "b").active_apps, 1);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                     .app_removed = { .app = app_id(3) } }),
                     0);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(count_app(&f, 1), 1);
    fix_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_of_it_moves),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_limits_of_both_queues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
