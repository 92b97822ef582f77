/* How much preemption may take, at its exact values: written for faults of
 * tests/mutants/scheduler.faults that the other tests did not notice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."

static void preemptive(struct fix *f, const char *per_round)
{
    set(f, "yarn.resourcemanager.scheduler.monitor.enable", "true");
    set(f, PREEMPTION "total_preemption_per_round", per_round);
    set(f, PREEMPTION "natural_termination_factor", "1");
    set(f, PREEMPTION "max_ignored_over_capacity", "0");
    set(f, PREEMPTION "max_wait_before_kill", "1000");
}

static size_t preempt(struct fix *f, int64_t ms, enum rm_decision_type type)
{
    size_t n = 0;

    f->now += ms;
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_PREEMPT }), 0);
    for (size_t i = 0; i < f->n; i++)
        n += f->d[i].type == type;
    return n;
}

/* Containers that have been killed and not ended yet count as gone, also after a refresh. */
static void test_killed_once(void **state)
{
    struct sv_error err = { 0 };
    struct fix f;

    (void)state;
    for (int refreshed = 0; refreshed <= 1; refreshed++) {
        two_queues(&f, "50", "50");
        preemptive(&f, "1");
        fix_start(&f);
        node(&f, 1, NULL, 16384, 64);
        app(&f, 1, "ann", "a", 0);
        ask(&f, 1, 1024, 16);
        assert_int_equal(beat(&f, 1), 16);
        app(&f, 2, "bob", "b", 0);
        ask(&f, 2, 1024, 4);
        assert_int_equal(preempt(&f, 0, RM_DECIDE_PREEMPT), 4);
        assert_int_equal(preempt(&f, 1000, RM_DECIDE_PREEMPTED), 4);
        if (refreshed)
            assert_int_equal(reconfigure(&f, f.conf, &err), 0);
        for (int i = 0; i < 3; i++) {
            (void)preempt(&f, 1000, RM_DECIDE_PREEMPT);
            assert_int_equal(f.n, 0);
        }
        fix_end(&f);
    }
}

/* Both queues above their guarantees contribute to the resources preempted in a round. */
static void test_total_preemption_counts_both_queues(void **state)
{
    size_t of[3] = { 0 };
    struct fix f;

    (void)state;
    one_queue(&f);
    set(&f, CS "root.queues", "a,b,c");
    set(&f, CS "root.a.capacity", "25");
    set(&f, CS "root.b.capacity", "25");
    set(&f, CS "root.c.capacity", "50");
    preemptive(&f, "0.25");
    fix_start(&f);
    node(&f, 1, NULL, 16384, 64);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "b", 0);
    ask(&f, 1, 1024, 8);
    ask(&f, 2, 1024, 8);
    assert_int_equal(beat(&f, 1), 16);
    app(&f, 3, "cid", "c", 0);
    ask(&f, 3, 1024, 8);
    assert_int_equal(preempt(&f, 0, RM_DECIDE_PREEMPT), 4);
    for (size_t i = 0; i < f.n; i++)
        of[f.d[i].app.id]++;
    assert_int_equal(of[1], 2);
    assert_int_equal(of[2], 2);
    fix_end(&f);
}

/* Inside queue a only applications and users decide. */
static void inside(struct fix *f, const char *order)
{
    set(f, CS "root.a.maximum-capacity", "50");
    set(f, CS "minimum-user-limit-percent", "50");
    preemptive(f, "1");
    set(f, PREEMPTION "intra-queue-preemption.enabled", "true");
    set(f, PREEMPTION "intra-queue-preemption.preemption-order-policy", order);
    set(f, PREEMPTION "intra-queue-preemption.max-allowable-limit", "1");
}

/* The older of two applications with the same user and priority waits: nothing is preempted. */
static void test_same_priority_gives_nothing(void **state)
{
    struct fix *f = *state;

    inside(f, "priority_first");
    fix_start_with(f, 16384, "a");
    app(f, 2, "ann", "a", 0);
    ask(f, 2, 1024, 8);
    assert_int_equal(beat(f, 1), 8);
    ask(f, 1, 1024, 4);
    assert_int_equal(preempt(f, 3000, RM_DECIDE_PREEMPT), 0);
}

/* ann is above the limit by less than a container: it stays. */
static void test_user_keeps_the_limit(void **state)
{
    struct fix *f = *state;

    inside(f, "userlimit_first");
    fix_start_with(f, 16384, "a");
    ask(f, 1, 3072, 2); /* 6144 of 8192; with bob the limit is half */
    assert_int_equal(beat(f, 1), 2);
    app(f, 2, "bob", "a", 0);
    ask(f, 2, 2048, 2);
    (void)beat(f, 1);
    assert_int_equal(app_used(f, 2), 2048);
    assert_int_equal(preempt(f, 3000, RM_DECIDE_PREEMPT), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_once),
        cmocka_unit_test(test_total_preemption_counts_both_queues),
        TWO_QUEUES(test_same_priority_gives_nothing),
        TWO_QUEUES(test_user_keeps_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
