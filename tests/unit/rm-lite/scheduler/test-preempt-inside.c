/* rm-lite/scheduler/preempt-inside.c: preemption between applications of one queue, by priority or
 * because a user is above the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

#define MONITOR "yarn.resourcemanager.scheduler.monitor."
#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."
#define INSIDE PREEMPTION "intra-queue-preemption."

static void configure(struct fix *f, const char *order)
{
    two_queues(f, "50", "50");
    set(f, CS "root.a.maximum-capacity", "50");
    set(f, MONITOR "enable", "true");
    set(f, PREEMPTION "total_preemption_per_round", "1");
    set(f, INSIDE "enabled", "true");
    set(f, INSIDE "preemption-order-policy", order);
}

/* Application 1 of ann uses the 50 containers of queue a; application 2 is of `user`, has
 * `priority` and a master, and asks for `count`. */
static void filled(struct fix *f, const char *user, int priority, int count)
{
    fix_start(f);
    node(f, 1, NULL, 100 * 1024, 1000);
    assert_true(app_prio(f, 1, "ann", "a", 1024, 1));
    assert_true(app_prio(f, 2, user, "a", 1024, priority));
    assert_int_equal(beat(f, 1), 2);
    ask(f, 1, 1024, 1000);
    assert_int_equal(beat(f, 1), 48);
    ask(f, 2, 1024, count);
    assert_int_equal(beat(f, 1), 0);
}

static int announced(struct fix *f, int app)
{
    int n = 0;

    f->now += 3000;
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_PREEMPT }), 0);
    for (size_t i = 0; i < f->n; i++) {
        assert_int_equal(f->d[i].type, RM_DECIDE_PREEMPT);
        assert_int_equal(f->d[i].app.id, app);
        n++;
    }
    return n;
}

static void test_priority(void **state)
{
    static const struct {
        const char *what, *order, *user;
        int priority, count, gone;
    } rows[] = {
        { "more priority, other user", "priority_first", "bob", 5, 7, 7 },
        { "more priority, same user", "priority_first", "ann", 5, 7, 7 },
        { "same user, users' limits first", "userlimit_first", "ann", 5, 7, 0 },
        { "at most a fifth of the guarantee", "priority_first", "bob", 5, 40, 10 },
        { "the same priority and user", "priority_first", "ann", 1, 7, 0 },
        { "less priority", "priority_first", "bob", 0, 7, 0 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct fix f;

        configure(&f, rows[i].order);
        filled(&f, rows[i].user, rows[i].priority, rows[i].count);
        if (announced(&f, 1) != rows[i].gone)
            fail_msg("%s: %zu", rows[i].what, f.n);
        for (size_t k = 0; k < f.n; k++) /* the newest first, never the master */
            assert_int_equal(f.d[k].container.id, 49 - k);
        fix_end(&f);
    }
}

/* bob has less than his half of the queue: ann gives, but keeps hers. */
static void test_users_limit(void **state)
{
    struct fix f;
    int rounds = 0, gone = 0, n;

    (void)state;
    configure(&f, "userlimit_first");
    set(&f, CS "minimum-user-limit-percent", "50");
    set(&f, PREEMPTION "max_wait_before_kill", "0");
    filled(&f, "bob", 1, 100);
    do {
        struct yarn_container_id ids[100];

        n = 0;
        f.now += 3000;
        assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_PREEMPT }), 0);
        for (size_t i = 0; i < f.n; i++) {
            assert_int_equal(f.d[i].app.id, 1);
            if (f.d[i].type == RM_DECIDE_PREEMPTED)
                ids[n++] = f.d[i].container;
        }
        for (int i = 0; i < n; i++)
            (void)go(&f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                                  .container_done = { .container = ids[i] } });
        (void)beat(&f, 1);
        gone += n;
    } while (++rounds < 20);
    assert_in_range(gone, 22, 24); /* of 49, until hers are the half */
    assert_int_equal(n, 0);
    fix_end(&f);
}

static void test_off(void **state)
{
    static const struct {
        const char *what, *key, *value;
    } rows[] = {
        { "off", INSIDE "enabled", "false" },
        { "off for the queue", CS "root.a.intra-queue-preemption.disable_preemption", "true" },
        { "off for all queues", CS "root.intra-queue-preemption.disable_preemption", "true" },
        { "below the threshold", INSIDE "minimum-threshold", "1.01" },
        { "nothing may go", INSIDE "max-allowable-limit", "0" },
        { "only observed", PREEMPTION "observe_only", "true" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct fix f;

        configure(&f, "priority_first");
        set(&f, rows[i].key, rows[i].value);
        filled(&f, "bob", 5, 7);
        if (announced(&f, 1) != 0)
            fail_msg("%s: %zu", rows[i].what, f.n);
        fix_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_priority),
        cmocka_unit_test(test_users_limit),
        cmocka_unit_test(test_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
