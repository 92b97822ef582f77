/* The limits of queues and users at their exact values: written for faults of
 * tests/mutants/scheduler.faults that the other tests did not notice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

/* The first application's next container does not fit the queue: no smaller one of another passes.
 */
static void test_nobody_passes_at_the_queues_limit(void **state)
{
    struct fix *f = *state;

    set(f, CS "root.a.maximum-capacity", "50");
    fix_start_with(f, 8192, "a");
    app(f, 2, "bob", "a", 0);
    ask(f, 1, 3072, 2);
    ask(f, 2, 1024, 1);
    assert_int_equal(beat(f, 1), 1);
    assert_int_equal(app_used(f, 1), 3072);
    assert_int_equal(app_used(f, 2), 0);
}

/* The minimum of 100 %: the first user may have all, although two ask. */
static void test_minimum_of_a_users_limit(void **state)
{
    struct fix *f = *state;

    set(f, CS "minimum-user-limit-percent", "100");
    fix_start_with(f, 8192, "default");
    app(f, 2, "bob", "default", 0);
    ask(f, 1, 1024, 8);
    ask(f, 2, 1024, 8);
    assert_int_equal(beat(f, 1), 8);
    assert_int_equal(count_app(f, 1), 8);
}

/* Above the queue's guarantee the limit grows with the queue's usage. */
static void test_users_limit_grows(void **state)
{
    struct fix *f = *state;

    set(f, CS "user-limit-factor", "2");
    fix_start_with(f, 16384, "a");
    ask(f, 1, 1024, 100);
    assert_int_equal(beat(f, 1), 16);
}

/* A user stopped by the limit has free capacity elsewhere when a container ends: an allocation pass
 * finds it there. */
static void test_users_limit_wakes(void **state)
{
    struct fix *f = *state;

    set(f, CS "user-limit-factor", "0.5");
    fix_start(f);
    node(f, 1, "/r1", 4096, 64);
    node(f, 2, "/r2", 4096, 64);
    app(f, 1, "ann", "default", 0);
    ask(f, 1, 4096, 1);
    assert_int_equal(beat(f, 1), 1);
    beat(f, 2);
    ask(f, 1, 1024, 10);
    allocation_passes(f);
    assert_int_equal(app_used(f, 1), 5120); /* the limit and one container, as in Hadoop */
    ask_full(f, 1, 1, RM_ANY, 1024, 1, 0, true);
    ask_full(f, 1, 1, "node2", 2048, 1, 1, true);
    ask_full(f, 1, 1, "/r2", 2048, 1, 1, false);
    ask_full(f, 1, 1, RM_ANY, 2048, 1, 1, false);
    allocation_passes(f);
    assert_int_equal(app_used(f, 1), 5120);
    container_done(f, 1, 1); /* on node 1 */
    allocation_passes(f);
    assert_int_equal(app_used(f, 1), 3072);
}

/* A queue's limit has space again: an allocation pass looks at all nodes, not only where a
 * container ended. */
static void test_queues_limit_wakes(void **state)
{
    struct fix *f = *state;

    set(f, CS "root.a.maximum-capacity", "50");
    fix_start(f);
    node(f, 1, "/r1", 4096, 64);
    node(f, 2, "/r2", 4096, 64);
    app(f, 1, "ann", "a", 0);
    ask(f, 1, 4096, 1);
    assert_int_equal(beat(f, 1), 1);
    beat(f, 2);
    ask_full(f, 1, 1, "node2", 2048, 1, 1, true);
    ask_full(f, 1, 1, "/r2", 2048, 1, 1, false);
    ask_full(f, 1, 1, RM_ANY, 2048, 1, 1, false);
    while (rm_sched_pass_waiting(f->s))
        assert_int_equal(allocation_pass(f), 0);
    container_done(f, 1, 1);
    allocation_passes(f);
    assert_int_equal(app_used(f, 1), 2048);
}

static void test_masters_share_of_a_queue(void **state)
{
    struct fix *f = *state;

    set(f, CS "root.a.maximum-capacity", "50");
    set(f, CS "maximum-am-resource-percent", "0.25");
    fix_start(f);
    node(f, 1, NULL, 16384, 64);
    app(f, 1, "ann", "a", 1024); /* the share is 2048 */
    app(f, 2, "bob", "a", 1024);
    app(f, 3, "cid", "a", 1024);
    assert_true(app_usage(f, 2).active);
    assert_false(app_usage(f, 3).active);
}

static void test_masters_share_of_a_user(void **state)
{
    struct fix *f = *state;

    set(f, CS "root.a.maximum-capacity", "50");
    set(f, CS "maximum-am-resource-percent", "0.5");
    set(f, CS "user-limit-factor", "1");
    set(f, CS "root.a.minimum-user-limit-percent", "50");
    fix_start(f);
    node(f, 1, NULL, 16384, 64);
    app(f, 1, "bob", "a", 1024); /* the share is 4096, of each of two users 2048 */
    for (int i = 2; i <= 4; i++)
        app(f, i, "ann", "a", 1024);
    assert_true(app_usage(f, 3).active);
    assert_false(app_usage(f, 4).active);
}

/* Two of a queue, one of a user; different users, so that each limit is met alone. */
static void test_numbers_of_applications(void **state)
{
    struct fix *f = *state;

    set(f, CS "root.a.maximum-applications", "2");
    set(f, CS "root.b.maximum-applications", "4");
    set(f, CS "root.b.user-limit-factor", "0.5");
    fix_start(f);
    assert_true(app(f, 1, "ann", "a", 0));
    assert_true(app(f, 2, "bob", "a", 0));
    assert_false(app(f, 3, "cid", "a", 0));
    assert_true(app(f, 4, "ann", "b", 0));
    assert_true(app(f, 5, "ann", "b", 0));
    assert_false(app(f, 6, "ann", "b", 0));
    assert_true(app(f, 7, "bob", "b", 0));
}

/* Headroom is the minimum of the remaining limits of user, queue and cluster. */
static void test_headroom(void **state)
{
    struct fix *f = *state;

    set(f, CS "root.a.maximum-capacity", "50");
    fix_start_with(f, 16384, "a");
    app(f, 2, "bob", "a", 0);
    app(f, 3, "cid", "b", 0);
    assert_int_equal(app_usage(f, 1).headroom.mem, 8192); /* the user's limit */
    ask(f, 2, 1024, 6);
    assert_int_equal(beat(f, 1), 6);
    assert_int_equal(app_usage(f, 1).headroom.mem, 2048); /* remaining in the queue */
    ask(f, 3, 1024, 9);
    assert_int_equal(beat(f, 1), 9);
    assert_int_equal(app_usage(f, 1).headroom.mem, 1024); /* remaining in the cluster */
}

static void test_share_of_a_nested_queue(void **state)
{
    struct rm_queue_info info;
    struct fix *f = *state;

    set(f, CS "root.b.queues", "x,y");
    set(f, CS "root.b.x.capacity", "50");
    set(f, CS "root.b.y.capacity", "50");
    fix_start(f);
    assert_int_equal(rm_sched_queue(f->s, "root.b.x", &info), 0);
    assert_true(info.abs_capacity == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWO_QUEUES(test_nobody_passes_at_the_queues_limit),
        ONE_QUEUE(test_minimum_of_a_users_limit),
        TWO_QUEUES(test_users_limit_grows),
        ONE_QUEUE(test_users_limit_wakes),
        TWO_QUEUES(test_queues_limit_wakes),
        TWO_QUEUES(test_masters_share_of_a_queue),
        TWO_QUEUES(test_masters_share_of_a_user),
        TWO_QUEUES(test_numbers_of_applications),
        TWO_QUEUES(test_headroom),
        TWO_QUEUES(test_share_of_a_nested_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
