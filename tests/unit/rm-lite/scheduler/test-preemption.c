/* rm-lite/scheduler/preempt-shares.c, preemption.c: which containers of which queues are announced
 * to their masters and killed, and when none is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

#define MONITOR "yarn.resourcemanager.scheduler.monitor."
#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."

/* Queues that are preempted at once and whole. */
static void configure(struct fix *f, const char *a, const char *b)
{
    two_queues(f, a, b);
    set(f, MONITOR "enable", "true");
    set(f, PREEMPTION "total_preemption_per_round", "1");
    set(f, PREEMPTION "natural_termination_factor", "1");
    set(f, PREEMPTION "max_ignored_over_capacity", "0");
}

/* One round after `ms`; the containers that were announced or, with `killed`, are to be killed. */
static int preempt(struct fix *f, int64_t ms, bool killed)
{
    int n = 0;

    f->now += ms;
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_PREEMPT }), 0);
    for (size_t i = 0; i < f->n; i++)
        n += f->d[i].type == (killed ? RM_DECIDE_PREEMPTED : RM_DECIDE_PREEMPT);
    return n;
}

static int of_app(const struct fix *f, int app)
{
    int n = 0;

    for (size_t i = 0; i < f->n; i++)
        n += f->d[i].app.id == app;
    return n;
}

/* Acts like the daemon on containers to be killed. */
static void kill_all(struct fix *f)
{
    struct yarn_container_id ids[200];
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        if (f->d[i].type == RM_DECIDE_PREEMPTED)
            ids[n++] = f->d[i].container;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(
            go(f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                           .container_done = { .container = ids[i] } }),
            0);
}

static int64_t used(struct fix *f, int i)
{
    struct rm_app_usage u;

    assert_int_equal(rm_sched_app_usage(f->s, app_id(i), &u), 0);
    return u.used.mem / 1024;
}

/* App 1 of queue a fills 100 GiB; app 2 of queue b asks for `count` of `mem`. */
static void filled(struct fix *f, int64_t mem, int count)
{
    fix_start(f);
    node(f, 1, NULL, 100 * 1024, 1000);
    app(f, 1, "ann", "a", 1024);
    ask(f, 1, 1024, 1000);
    assert_int_equal(beat(f, 1), 100);
    app(f, 2, "bob", "b", 0);
    if (count)
        ask(f, 2, mem, count);
    assert_int_equal(beat(f, 1), 0);
}

static void test_announced_then_killed(void **state)
{
    struct fix f;

    (void)state;
    configure(&f, "60", "40");
    filled(&f, 2048, 15);
    assert_int_equal(rm_sched_preempt_interval(f.s), 3000);
    assert_int_equal(preempt(&f, 0, false), 30);
    assert_int_equal(of_app(&f, 1), 30);
    for (int i = 0; i < 30; i++) /* the newest first */
        assert_int_equal(f.d[i].container.id, 100 - i);
    assert_int_equal(preempt(&f, 3000, false), 0); /* once */
    assert_int_equal(preempt(&f, 11999, true), 0);
    assert_int_equal(preempt(&f, 1, true), 30);
    assert_int_equal(preempt(&f, 3000, true), 0); /* they are on their way */
    f.now -= 3000;
    assert_int_equal(preempt(&f, 0, true), 0);
    fix_end(&f);
}

static void test_the_room_goes_to_who_asked(void **state)
{
    struct fix f;

    (void)state;
    configure(&f, "60", "40");
    filled(&f, 2048, 15);
    (void)preempt(&f, 0, false);
    assert_int_equal(preempt(&f, 15000, true), 30);
    kill_all(&f);
    assert_int_equal(beat(&f, 1), 15);
    assert_int_equal(used(&f, 1), 70);
    assert_int_equal(used(&f, 2), 30);
    assert_int_equal(preempt(&f, 3000, false), 0); /* a is above its 60, but nobody asks */
    ask(&f, 2, 1024, 50);
    assert_int_equal(preempt(&f, 3000, false), 10); /* up to the guarantee, no more */
    fix_end(&f);
}

static void test_nothing_to_gain(void **state)
{
    static const struct {
        const char *what, *key, *value;
        int64_t mem;
        int count;
    } rows[] = {
        { "off", MONITOR "enable", "false", 1024, 30 },
        { "observed only", PREEMPTION "observe_only", "true", 1024, 30 },
        { "nobody asks", MONITOR "enable", "true", 0, 0 },
        { "larger than any node", "yarn.scheduler.maximum-allocation-mb", "409600", 204800, 1 },
        { "may not be preempted", CS "root.a.disable_preemption", "true", 1024, 30 },
        { "may not, inherited", CS "root.disable_preemption", "true", 1024, 30 },
        { "within the dead zone", PREEMPTION "max_ignored_over_capacity", "0.7", 1024, 30 },
        { "no more in a round", PREEMPTION "total_preemption_per_round", "0.005", 1024, 30 },
        { "at its maximum", CS "root.b.maximum-capacity", "40", 0, 0 },
        { "users have their limit", CS "root.b.user-limit-factor", "0.01", 1024, 30 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct fix f;

        configure(&f, "60", "40");
        set(&f, rows[i].key, rows[i].value);
        filled(&f, rows[i].mem, rows[i].count);
        if (preempt(&f, 0, false) > (strstr(rows[i].key, "user-limit") ? 1 : 0))
            fail_msg("%s: preempted", rows[i].what);
        if (strcmp(rows[i].what, "off") == 0)
            assert_int_equal(rm_sched_preempt_interval(f.s), 0);
        fix_end(&f);
    }
}

static void test_taken_back(void **state)
{
    struct fix f;

    (void)state;
    configure(&f, "60", "40");
    filled(&f, 1024, 30);
    assert_int_equal(preempt(&f, 0, false), 30);
    ask(&f, 2, 1024, 0);
    assert_int_equal(preempt(&f, 15000, true), 0);
    assert_int_equal(f.n, 0);
    assert_int_equal(preempt(&f, 18000, true), 0);
    ask(&f, 2, 1024, 30); /* long after: announced again, not killed at once */
    assert_int_equal(preempt(&f, 3000, true), 0);
    assert_int_equal(f.n, 30);
    assert_int_equal(preempt(&f, 90000, true), 30); /* rounds that are rare kill all the same */
    fix_end(&f);
}

static void test_limits_of_a_pass(void **state)
{
    struct fix f;

    (void)state;
    configure(&f, "60", "40");
    set(&f, PREEMPTION "total_preemption_per_round", "0.1");
    filled(&f, 1024, 40);
    assert_int_equal(preempt(&f, 0, false), 10);
    assert_int_equal(preempt(&f, 15000, true), 10);
    kill_all(&f);
    assert_int_equal(beat(&f, 1), 10);
    assert_int_equal(preempt(&f, 3000, false), 10); /* the next ones */
    fix_end(&f);
    configure(&f, "60", "40");
    set(&f, PREEMPTION "natural_termination_factor", "0.2");
    filled(&f, 1024, 40);
    assert_int_equal(preempt(&f, 0, false), 8);
    fix_end(&f);
}

/* Masters go last, and only above their share of the guarantee. */
static void test_masters_last(void **state)
{
    struct fix f;

    (void)state;
    configure(&f, "10", "90");
    set(&f, CS "maximum-am-resource-percent", "0.2"); /* 2 GiB of the 10 */
    set(&f, CS "root.a.maximum-am-resource-percent", "1");
    fix_start(&f);
    node(&f, 1, NULL, 20 * 1024, 1000);
    for (int i = 1; i <= 4; i++)
        app(&f, i, "ann", "a", 4096);
    ask(&f, 1, 2048, 2);
    assert_int_equal(beat(&f, 1), 6);
    app(&f, 9, "bob", "b", 0);
    ask(&f, 9, 1024, 100);
    assert_int_equal(preempt(&f, 0, false), 6); /* 18 GiB of 20; a's master share is 2 */
    assert_int_equal(f.d[0].app.id, 1);
    assert_int_equal(f.d[1].app.id, 1);
    assert_int_equal(f.d[2].app.id, 4); /* then masters, the last application's first */
    assert_int_equal(f.d[2].container.id, 1);
    assert_int_equal(f.d[4].app.id, 2);
    fix_end(&f);
    configure(&f, "50", "50");
    fix_start(&f);
    node(&f, 1, NULL, 20 * 1024, 1000);
    for (int i = 1; i <= 5; i++)
        app(&f, i, "ann", "a", 4096); /* masters alone: the queue's share of them is all of it */
    assert_int_equal(beat(&f, 1), 5);
    app(&f, 9, "bob", "b", 0);
    ask(&f, 9, 1024, 100);
    assert_int_equal(preempt(&f, 0, false), 3); /* 10 GiB; the rest fits the share */
    fix_end(&f);
}

static void test_two_queues_above(void **state)
{
    struct fix f;

    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        configure(&f, "20", "20");
        set(&f, CS "root.queues", "a,b,c");
        set(&f, CS "root.c.capacity", "60");
        if (keep)
            set(&f, CS "root.b.disable_preemption", "true");
        fix_start(&f);
        node(&f, 1, NULL, 100 * 1024, 1000);
        app(&f, 1, "ann", "a", 0);
        app(&f, 2, "bob", "b", 0);
        ask(&f, 1, 1024, 100);
        ask(&f, 2, 1024, 100);
        assert_int_equal(beat(&f, 1), 100); /* 50 each */
        app(&f, 3, "cat", "c", 0);
        ask(&f, 3, 1024, 20);
        assert_int_equal(preempt(&f, 0, false), 20);
        assert_int_equal(of_app(&f, 1), keep ? 20 : 10);
        assert_int_equal(of_app(&f, 2), keep ? 0 : 10);
        fix_end(&f);
    }
}

/* A queue below its guarantee takes from its sibling, not from its cousins within their parent's.
 */
static void test_hierarchy(void **state)
{
    struct fix f;

    (void)state;
    configure(&f, "50", "50");
    set(&f, CS "root.a.queues", "x,y");
    set(&f, CS "root.a.x.capacity", "50");
    set(&f, CS "root.a.y.capacity", "50");
    fix_start(&f);
    node(&f, 1, NULL, 100 * 1024, 1000);
    app(&f, 1, "ann", "x", 0);
    app(&f, 2, "bob", "b", 0);
    ask(&f, 1, 1024, 50);
    ask(&f, 2, 1024, 50);
    assert_int_equal(beat(&f, 1), 100);
    app(&f, 3, "cat", "y", 0);
    ask(&f, 3, 1024, 100);
    assert_int_equal(preempt(&f, 0, false), 25);
    assert_int_equal(of_app(&f, 1), 25);
    fix_end(&f);
}

/* Reservations go before containers, and the larger priority number before the smaller. */
static void test_order_within(void **state)
{
    struct fix f;
    int unreserved = 0;

    (void)state;
    configure(&f, "20", "80");
    fix_start(&f);
    node(&f, 1, NULL, 16 * 1024, 1000);
    node(&f, 2, NULL, 16 * 1024, 1000);
    app(&f, 1, "ann", "a", 0);
    ask_full(&f, 1, 20, RM_ANY, 1024, 1, 10, true);
    assert_int_equal(beat(&f, 1), 10);
    ask_full(&f, 1, 10, RM_ANY, 1024, 1, 4, true);
    assert_int_equal(beat(&f, 1), 4);
    ask_full(&f, 1, 30, RM_ANY, 4096, 1, 1, true);
    assert_int_equal(beat(&f, 1), 0);
    assert_int_equal(f.d[0].type, RM_DECIDE_RESERVED);
    app(&f, 2, "bob", "b", 0);
    ask(&f, 2, 1024, 100);
    assert_int_equal(beat(&f, 2), 14);          /* reservations count */
    assert_int_equal(preempt(&f, 0, false), 8); /* of 14 and the reserved 4 GiB it keeps 6.4 */
    for (size_t i = 0; i < f.n; i++) {
        unreserved += f.d[i].type == RM_DECIDE_UNRESERVED;
        if (f.d[i].type == RM_DECIDE_PREEMPT)
            assert_in_range(f.d[i].container.id, 1, 10); /* of priority 20 */
    }
    assert_int_equal(unreserved, 1);
    fix_end(&f);
}

static void ask_gpus(struct fix *f, int i, int64_t gpus, int count)
{
    struct rm_ask a = { 1, -1, RM_ANY, { 1024, 1, { gpus } }, count, true };

    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                       .ask = { .app = app_id(i), .asks = &a, .n_asks = 1 } }),
        0);
}

/* Where GPUs are short, containers without them stay, however new they are. */
static void test_what_does_not_help_stays(void **state)
{
    struct yarn_node_id id = node_id(1);
    struct fix f;

    (void)state;
    configure(&f, "50", "50");
    set(&f, "yarn.resource-types", "yarn.io/gpu");
    fix_start(&f);
    assert_int_equal(
        go(&f,
           (struct rm_sched_event){ .type = RM_SCHED_NODE_ADDED,
                                    .node_added = { .node = &id, .total = { 65536, 64, { 4 } } } }),
        0);
    app(&f, 1, "ann", "a", 1024);
    app(&f, 2, "bob", "b", 0);
    assert_int_equal(beat(&f, 1), 1);
    ask_gpus(&f, 1, 1, 4);
    assert_int_equal(beat(&f, 1), 4);
    ask(&f, 1, 1024, 2);
    assert_int_equal(beat(&f, 1), 2);
    ask_gpus(&f, 2, 1, 2);
    assert_int_equal(preempt(&f, 3000, false), 2);
    assert_int_equal(f.d[0].container.id, 5); /* 6 and 7 are newer */
    assert_int_equal(f.d[1].container.id, 4);
    fix_end(&f);
}

static void test_refused(void **state)
{
    static const char *const bad[][3] = {
        { MONITOR "policies", "org.example.Mine", "the policy is" },
        { PREEMPTION "preemption-to-balance-queue-after-satisfied.enabled", "true",
          "is not supported" },
        { PREEMPTION "intra-queue-preemption.preemption-order-policy", "mine", "priority_first" },
        { PREEMPTION "intra-queue-preemption.max-allowable-limit", "2", "between 0 and 1" },
        { PREEMPTION "total_preemption_per_round", "1.5", "between 0 and 1" },
        { PREEMPTION "monitoring_interval", "0", "monitoring_interval" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct sv_error err = { 0 };
        struct fix f;

        configure(&f, "50", "50");
        set(&f, bad[i][0], bad[i][1]);
        if (rm_sched_new(f.conf, 0, &f.s, &err) >= 0)
            fail_msg("%s=%s is taken", bad[i][0], bad[i][1]);
        if (!strstr(err.text, bad[i][2]))
            fail_msg("%s=%s: %s", bad[i][0], bad[i][1], err.text);
        f.conf = sv_conf_free(f.conf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_announced_then_killed),
        cmocka_unit_test(test_the_room_goes_to_who_asked),
        cmocka_unit_test(test_nothing_to_gain),
        cmocka_unit_test(test_taken_back),
        cmocka_unit_test(test_limits_of_a_pass),
        cmocka_unit_test(test_masters_last),
        cmocka_unit_test(test_two_queues_above),
        cmocka_unit_test(test_hierarchy),
        cmocka_unit_test(test_order_within),
        cmocka_unit_test(test_what_does_not_help_stays),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
