/* rm-lite/scheduler/reservations.c: when a node is reserved, and when it is given back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

static int32_t containers(struct fix *f, int i)
{
    struct rm_app_usage u;

    assert_int_equal(rm_sched_app_usage(f->s, app_id(i), &u), 0);
    return u.containers;
}

static int32_t reserved(struct fix *f, int i)
{
    struct rm_app_usage u;

    assert_int_equal(rm_sched_app_usage(f->s, app_id(i), &u), 0);
    return u.reserved_containers;
}

static void beats(struct fix *f, int from, int to, int rounds)
{
    for (int k = 0; k < rounds; k++)
        for (int i = from; i <= to; i++)
            beat(f, i);
}

/* 67 nodes come first and are full before the other 33: their reservations must not block resources
 * that are free on the others. */
static void test_full_nodes_are_not_reserved(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    for (int i = 1; i <= 100; i++)
        node(&f, i, NULL, 2048, 8);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 1000);
    beats(&f, 1, 67, 3);
    assert_int_equal(containers(&f, 1), 134);
    beats(&f, 1, 100, 5);
    assert_int_equal(containers(&f, 1), 200);
    assert_int_equal(reserved(&f, 1), 0);
    fix_end(&f);
}

/* As above with 1 GB free on each node, too little for the requested 2 GB: the first nodes are
 * reserved up to the queue's limit, and each is exchanged for a node with free resources. */
static void exchange(bool look, int32_t want)
{
    struct fix f;

    fix_conf(&f);
    if (!look)
        set(&f, CS "reservations-continue-look-all-nodes", "false");
    fix_start(&f);
    for (int i = 1; i <= 100; i++)
        node(&f, i, NULL, 5120, 16);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 2048, 1000);
    beats(&f, 1, 72, 3);
    assert_int_equal(containers(&f, 1), 144);
    assert_true(reserved(&f, 1) > 60);
    beats(&f, 1, 100, 5);
    assert_int_equal(containers(&f, 1), want);
    fix_end(&f);
}

static void test_reservations_are_exchanged(void **state)
{
    (void)state;
    exchange(true, 200);
    exchange(false, 250 - 72); /* limit of the queue less reservations */
}

/* One user's reservations do not keep this user from a node with free resources. */
static void test_user_limit_counts_after_the_exchange(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "user-limit-factor", "1");
    fix_start(&f);
    node(&f, 1, NULL, 5120, 16);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "b", 0);
    ask(&f, 2, 3072, 1);
    assert_int_equal(beat(&f, 1), 1);
    ask(&f, 1, 4096, 1);
    beat(&f, 1); /* reserved: above nothing yet */
    node(&f, 2, NULL, 5120, 16);
    beat(&f, 1);
    assert_int_equal(reserved(&f, 1), 1);
    assert_int_equal(beat(&f, 2), 1);
    assert_int_equal(count_app(&f, 1), 1);
    assert_int_equal(reserved(&f, 1), 0);
    fix_end(&f);
}

/* One ask, one reservation; a second one only after the first node was seen too small again and
 * again, and none for asks as large as a node. */
static void test_starvation(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    for (int i = 1; i <= 3; i++)
        node(&f, i, NULL, 4096, 16);
    node(&f, 4, NULL, 65536, 64); /* never heard of: the queue has space */
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "ann", "default", 0);
    ask(&f, 1, 3072, 3);
    beats(&f, 1, 3, 1);
    assert_int_equal(containers(&f, 1), 3);
    ask(&f, 2, 2048, 1);
    beats(&f, 1, 3, 1);
    assert_int_equal(reserved(&f, 2), 1);
    beats(&f, 1, 3, 1); /* one more: 1 * (1 - 2048/8192) is not a whole ask */
    assert_int_equal(reserved(&f, 2), 1);
    beats(&f, 1, 1, 1);
    beats(&f, 2, 2, 1);
    assert_int_equal(reserved(&f, 2), 2);
    beats(&f, 1, 2, 1); /* it keeps both: neither was wrong */
    assert_int_equal(reserved(&f, 2), 2);
    container_done(&f, 1, 3); /* on node 3, which is not reserved */
    assert_int_equal(beat(&f, 3), 1);
    assert_int_equal(count_app(&f, 2), 1);
    beats(&f, 1, 2, 1);
    assert_int_equal(reserved(&f, 2), 0); /* satisfied elsewhere: given back */
    fix_end(&f);
}

/* Small asks of other applications do not take resources freed on a node before its heartbeat could
 * reserve it. */
static void test_pass_reserves_what_ends(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    node(&f, 1, NULL, 4096, 16);
    node(&f, 2, NULL, 65536, 64);
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "ann", "default", 0);
    app(&f, 3, "ann", "default", 0);
    ask(&f, 1, 1024, 4);
    beats(&f, 1, 1, 4);
    ask(&f, 2, 2048, 1);
    ask(&f, 3, 1024, 100);
    container_done(&f, 1, 1);
    assert_int_equal(
        go(&f, (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 1000 } }), 0);
    assert_int_equal(count_app(&f, 3), 0);
    assert_int_equal(reserved(&f, 2), 1);
    container_done(&f, 1, 2);
    assert_int_equal(
        go(&f, (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 1000 } }), 0);
    assert_int_equal(containers(&f, 2), 1);
    fix_end(&f);
}

/* A node that becomes smaller than the ask never has room for it. */
static void test_smaller_node(void **state)
{
    struct yarn_node_id id = node_id(1);
    struct fix f;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    node(&f, 1, NULL, 4096, 16);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 1);
    assert_int_equal(beat(&f, 1), 1);
    node(&f, 2, NULL, 8192, 16); /* never heard of: the queue has space */
    ask(&f, 1, 4096, 1);
    beats(&f, 1, 1, 1);
    assert_int_equal(reserved(&f, 1), 1);
    for (int mem = 4096; mem >= 3072; mem -= 1024) {
        assert_int_equal(
            go(&f,
               (struct rm_sched_event){ .type = RM_SCHED_NODE_RESIZED,
                                        .node_resized = { .node = &id, .total = { mem, 16 } } }),
            0);
        assert_int_equal(reserved(&f, 1), mem == 4096);
    }
    fix_end(&f);
}

/* Others' containers end; the own master waits for the ask. */
static void test_not_beside_the_own_master(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    fix_start(&f);
    node(&f, 1, NULL, 4096, 16);
    app(&f, 1, "ann", "default", 1024);
    assert_int_equal(beat(&f, 1), 1);
    node(&f, 2, NULL, 8192, 16); /* never heard of: the queue has space */
    app(&f, 2, "ann", "default", 0);
    ask(&f, 1, 4096, 1);
    beats(&f, 1, 1, 3);
    assert_int_equal(reserved(&f, 1), 0);
    ask(&f, 1, 4096, 0);
    ask(&f, 1, 3072, 1); /* fits beside it */
    ask(&f, 2, 1024, 1);
    assert_int_equal(beat(&f, 1), 1);
    assert_int_equal(count_app(&f, 1), 1);
    ask(&f, 1, 3072, 1);
    ask(&f, 2, 1024, 0);
    container_done(&f, 1, 2);
    ask(&f, 1, 3072, 0);
    ask(&f, 2, 4096, 1); /* another's master: it ends */
    beats(&f, 1, 1, 1);
    assert_int_equal(reserved(&f, 2), 1);
    fix_end(&f);
}

/* An ask with a reserved node tries for another one, as that is slow to empty. The queue's limit
 * stops it there, which does not block asks behind it. */
static void test_second_reservation_stops_nobody(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    set(&f, CS "reservations-continue-look-all-nodes", "false");
    fix_start(&f);
    node(&f, 1, NULL, 4096, 8);
    node(&f, 2, NULL, 4096, 8);
    for (int i = 1; i <= 3; i++)
        app(&f, i, "ann", "default", 0);
    ask_full(&f, 3, 1, RM_ANY, 1024, 5, 1, true);
    assert_int_equal(beat(&f, 1), 1);
    ask_full(&f, 1, 1, RM_ANY, 2048, 6, 1, true);
    beats(&f, 1, 1, 4);
    assert_int_equal(reserved(&f, 1), 1);
    ask(&f, 2, 1024, 1); /* 5 + 6 + 1 of 16 vcores, and the first needs 6 more */
    assert_int_equal(beat(&f, 2), 1);
    assert_int_equal(count_app(&f, 2), 1);
    fix_end(&f);
}

/* An ask whose user is above the limit, and is served only from its reservation, does not block
 * others either. */
static void test_exchange_above_the_limit_stops_nobody(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    set(&f, CS "minimum-user-limit-percent", "50");
    fix_start(&f);
    node(&f, 1, NULL, 8192, 8);
    node(&f, 2, NULL, 8192, 8);
    app(&f, 1, "ann", "default", 0);
    app(&f, 2, "bob", "default", 0);
    ask_full(&f, 2, 1, RM_ANY, 1024, 6, 1, true);
    assert_int_equal(beat(&f, 2), 1);
    ask(&f, 1, 1024, 6);
    beats(&f, 1, 1, 6);
    assert_int_equal(containers(&f, 1), 6);
    ask(&f, 2, 1024, 1);
    ask_full(&f, 1, 1, RM_ANY, 4096, 3, 1, true);
    beats(&f, 1, 1, 1);
    assert_int_equal(reserved(&f, 1), 1);
    ask_full(&f, 1, 0, RM_ANY, 1024, 5, 1, true); /* 6 + 6 + 5 of 16 vcores without it */
    beats(&f, 2, 2, 1);
    assert_int_equal(containers(&f, 2), 2);
    fix_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_nodes_are_not_reserved),
        cmocka_unit_test(test_reservations_are_exchanged),
        cmocka_unit_test(test_user_limit_counts_after_the_exchange),
        cmocka_unit_test(test_starvation),
        cmocka_unit_test(test_pass_reserves_what_ends),
        cmocka_unit_test(test_smaller_node),
        cmocka_unit_test(test_not_beside_the_own_master),
        cmocka_unit_test(test_second_reservation_stops_nobody),
        cmocka_unit_test(test_exchange_above_the_limit_stops_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
