/* rm-lite/scheduler/waiting.c: each reason for which an application waits, as the scheduler noted
 * it where it refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

#include "rm-lite/scheduler/waiting.h"
#include "tests/unit/rm-lite/placement-fixture.h"

static struct rm_wait wait_of(const struct fix *f, int i)
{
    struct rm_wait w;

    assert_int_equal(rm_sched_wait(f->s, app_id(i), &w), 0);
    return w;
}

static void waits(const struct fix *f, int i, enum rm_refusal why)
{
    assert_int_equal(wait_of(f, i).why, why);
}

static bool is_node(const struct yarn_node_id *id, int i)
{
    struct yarn_node_id n = node_id(i);

    return strcmp(id->host, n.host) == 0 && id->port == n.port;
}

static void test_waits_for_nothing(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    fix_start_with(f, 8192, "default");
    w = wait_of(f, 1);
    assert_int_equal(w.why, RM_REFUSED_NOT);
    assert_int_equal(w.containers, 0);
    assert_int_equal(rm_sched_wait(f->s, app_id(9), &w), -ENOENT);
    ask(f, 1, 1024, 2);
    w = wait_of(f, 1); /* no node was looked at yet */
    assert_int_equal(w.why, RM_REFUSED_NOT);
    assert_int_equal(w.containers, 2);
    assert_int_equal(w.asked.mem, 1024);
    assert_true(w.has_ask && !w.has_node);
    assert_int_equal(beat(f, 1), 2);
    assert_int_equal(wait_of(f, 1).containers, 0);
}

static void test_no_nodes(void **state)
{
    struct fix *f = *state;
    struct yarn_node_id id = node_id(1);

    fix_start(f);
    app(f, 1, "ann", "default", 1024);
    waits(f, 1, RM_REFUSED_EMPTY);
    node(f, 1, NULL, 8192, 8);
    waits(f, 1, RM_REFUSED_NOT);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_SCHEDULABLE,
                                                    .node_schedulable = { .node = &id } }),
                     0);
    waits(f, 1, RM_REFUSED_EMPTY); /* it is there, and drains */
    assert_int_equal(wait_of(f, 1).nodes, 1);
    assert_int_equal(wait_of(f, 1).open_nodes, 0);
}

static void test_queue_masters(void **state)
{
    struct fix *f = *state;
    struct rm_masters m;
    struct rm_wait w;

    set(f, CS "maximum-am-resource-percent", "0.25");
    fix_start(f);
    node(f, 1, NULL, 8192, 8);
    app(f, 1, "ann", "default", 2048);
    app(f, 2, "ann", "default", 1024);
    w = wait_of(f, 2);
    assert_int_equal(w.why, RM_REFUSED_QUEUE_MASTERS);
    assert_int_equal(w.limit.mem, 2048);
    assert_int_equal(w.used.mem, 2048);
    assert_string_equal(w.queue, "root.default");
    assert_false(w.active);
    assert_int_equal(rm_sched_masters(f->s, app_id(2), &m), 0);
    assert_int_equal(m.request.mem, 1024);
    assert_int_equal(m.queue_limit.mem, 2048);
    assert_int_equal(m.queue_used.mem, 2048);
    assert_int_equal(rm_sched_masters(f->s, app_id(9), &m), -ENOENT);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                    .app_removed = { .app = app_id(1) } }),
                     0);
    waits(f, 2, RM_REFUSED_NOT); /* activated */
    assert_true(wait_of(f, 2).active);
}

static void test_user_masters(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    set(f, CS "root.default.user-limit-factor", "1");
    set(f, CS "root.default.minimum-user-limit-percent", "25");
    set(f, CS "maximum-am-resource-percent", "0.5");
    fix_start(f);
    node(f, 1, NULL, 8192, 8);
    app(f, 1, "ann", "default", 1024);
    app(f, 2, "bob", "default", 1024);
    app(f, 3, "bob", "default", 1024);
    app(f, 4, "bob", "default", 1024);
    w = wait_of(f, 4);
    assert_int_equal(w.why, RM_REFUSED_USER_MASTERS);
    assert_int_equal(w.limit.mem, 2048);
    assert_int_equal(w.used.mem, 2048);
}

static void test_parallel(void **state)
{
    struct fix *f = *state;

    set(f, CS "root.default.max-parallel-apps", "1");
    set(f, CS "user.bob.max-parallel-apps", "0");
    fix_start(f);
    node(f, 1, NULL, 8192, 8);
    app(f, 1, "bob", "default", 1024);
    waits(f, 1, RM_REFUSED_PARALLEL);
    assert_null(wait_of(f, 1).queue);
    assert_int_equal(wait_of(f, 1).limit_apps, 0);
    app(f, 2, "ann", "default", 1024);
    app(f, 3, "ann", "default", 1024);
    waits(f, 3, RM_REFUSED_PARALLEL);
    assert_string_equal(wait_of(f, 3).queue, "root.default");
    assert_int_equal(wait_of(f, 3).limit_apps, 1);
}

static void test_queue_maximum(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    set(f, CS "root.a.maximum-capacity", "50");
    fix_start(f);
    node(f, 1, NULL, 8192, 8);
    app(f, 1, "ann", "a", 0);
    ask(f, 1, 1024, 5);
    assert_int_equal(beat(f, 1), 4);
    w = wait_of(f, 1);
    assert_int_equal(w.why, RM_REFUSED_QUEUE);
    assert_string_equal(w.queue, "root.a");
    assert_int_equal(w.limit.mem, 4096);
    assert_int_equal(w.used.mem, 4096);
    app(f, 2, "ann", "a", 0); /* behind it */
    ask(f, 2, 1024, 1);
    beat(f, 1);
    w = wait_of(f, 2);
    assert_int_equal(w.why, RM_REFUSED_FIFO);
    assert_int_equal(w.ahead.id, 1);
    assert_string_equal(w.queue, "root.a");
    waits(f, 1, RM_REFUSED_QUEUE);
}

static void test_queue_headroom(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    set(f, CS "root.a.maximum-capacity", "50");
    fix_start_with(f, 8192, "a");
    ask(f, 1, 3072, 2);
    assert_int_equal(beat(f, 1), 1);
    w = wait_of(f, 1);
    assert_int_equal(w.why, RM_REFUSED_HEADROOM);
    assert_int_equal(w.limit.mem - w.used.mem, 1024);
    assert_int_equal(w.asked.mem, 3072);
}

/* A queue above the leaf has no more to give. */
static void test_parent_maximum(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    set(f, CS "root.queues", "p,q");
    set(f, CS "root.p.capacity", "50");
    set(f, CS "root.q.capacity", "50");
    set(f, CS "root.p.maximum-capacity", "50");
    set(f, CS "root.p.queues", "x,y");
    set(f, CS "root.p.x.capacity", "50");
    set(f, CS "root.p.y.capacity", "50");
    fix_start_with(f, 8192, "x");
    app(f, 2, "ann", "y", 0);
    ask(f, 1, 1024, 3);
    beat(f, 1);
    ask(f, 2, 1024, 3);
    assert_int_equal(beat(f, 1), 1);
    w = wait_of(f, 2);
    assert_int_equal(w.why, RM_REFUSED_HEADROOM);
    assert_string_equal(w.queue, "root.p");
    assert_int_equal(w.limit.mem, 4096);
    assert_int_equal(w.used.mem, 4096);
}

static void test_user_limit(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    set(f, CS "root.default.user-limit-factor", "0.25");
    fix_start_with(f, 8192, "default");
    ask(f, 1, 1024, 5);
    assert_int_equal(beat(f, 1), 3); /* one above the limit, as in Hadoop */
    w = wait_of(f, 1);
    assert_int_equal(w.why, RM_REFUSED_USER);
    assert_int_equal(w.limit.mem, 2048);
    assert_int_equal(w.used.mem, 3072);
}

/* Nodes 10 to 17: too small for any container, so that the queue has more than one node. */
static void small_nodes(struct fix *f)
{
    for (int i = 10; i < 18; i++)
        node(f, i, NULL, 512, 8);
}

static void test_reserved(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    fix_start_with(f, 4096, "default");
    small_nodes(f);
    ask(f, 1, 3072, 2);
    assert_int_equal(beat(f, 1), 1);
    for (int i = 0; i < 2; i++) { /* reserved now, and still */
        w = wait_of(f, 1);
        assert_int_equal(w.why, RM_REFUSED_RESERVED);
        assert_true(w.has_node && is_node(&w.node, 1));
        assert_int_equal(w.available.mem, 1024);
        assert_int_equal(w.asked.mem, 3072);
        beat(f, 1);
    }
}

/* The node is reserved for another; what it has free is nobody else's. */
static void test_space(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    fix_start_with(f, 4096, "default");
    small_nodes(f);
    app(f, 2, "bob", "default", 0);
    ask(f, 1, 3072, 2);
    assert_int_equal(beat(f, 1), 1);
    ask(f, 2, 1024, 1);
    assert_int_equal(beat(f, 1), 0);
    waits(f, 2, RM_REFUSED_TURN);
    node(f, 2, NULL, 2048, 64);
    ask(f, 2, 1024, 3);
    assert_int_equal(beat(f, 2), 2);
    w = wait_of(f, 2);
    assert_string_equal(w.free_node.host, "");
    assert_int_equal(w.free_nodes, 1);
    assert_int_equal(w.why, RM_REFUSED_TURN);
}

static void test_largest_room(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    fix_start(f);
    node(f, 1, NULL, 4096, 64);
    node(f, 2, NULL, 8192, 64);
    app(f, 1, "ann", "default", 0);
    app(f, 2, "bob", "default", 0);
    ask(f, 1, 3072, 1);
    assert_int_equal(beat(f, 1), 1);
    ask(f, 1, 6144, 1);
    assert_int_equal(beat(f, 2), 1);
    ask(f, 2, 5120, 1);
    beat(f, 1); /* too small as a whole */
    w = wait_of(f, 2);
    assert_int_equal(w.why, RM_REFUSED_TOTAL);
    assert_false(w.fits_nowhere);
    assert_true(is_node(&w.free_node, 2) && is_node(&w.large_node, 2));
    assert_int_equal(w.largest_free.mem, 2048);
    assert_int_equal(w.largest.mem, 8192);
    assert_int_equal(w.free_nodes, 2);
}

static void test_fits_nowhere(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    fix_start_with(f, 4096, "default");
    node(f, 2, NULL, 2048, 64);
    ask(f, 1, 8192, 1);
    beat(f, 1);
    beat(f, 2);
    w = wait_of(f, 1);
    assert_int_equal(w.why, RM_REFUSED_TOTAL);
    assert_true(w.fits_nowhere && is_node(&w.large_node, 1));
    assert_int_equal(w.largest.mem, 4096);
    node(f, 3, NULL, 8192, 64);
    assert_false(wait_of(f, 1).fits_nowhere);
}

/* No node has room for the smallest container, so no application is looked at. */
static void test_full(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    fix_start_with(f, 4096, "default");
    ask(f, 1, 1024, 6);
    assert_int_equal(beat(f, 1), 4);
    w = wait_of(f, 1);
    assert_int_equal(w.why, RM_REFUSED_SPACE);
    assert_string_equal(w.free_node.host, "");
    assert_int_equal(w.free_nodes, 0);
    assert_false(w.fits_nowhere);
}

static void test_blacklist(void **state)
{
    static const char *const names[] = { "node1" };
    struct fix *f = *state;
    struct rm_wait w;

    fix_start_with(f, 8192, "default");
    ask(f, 1, 1024, 1);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                                    .ask = { .app = app_id(1),
                                                             .blacklist_add = names,
                                                             .n_blacklist_add = 1 } }),
                     0);
    assert_int_equal(beat(f, 1), 0);
    waits(f, 1, RM_REFUSED_BLACKLIST);
    node(f, 2, NULL, 512, 64);
    beat(f, 2); /* full from the start: it is not looked at */
    node(f, 3, NULL, 1024, 64);
    ask(f, 1, 2048, 1);
    ask(f, 1, 1024, 0);
    beat(f, 1);
    beat(f, 3);
    w = wait_of(f, 1);
    assert_int_equal(w.why, RM_REFUSED_TOTAL);
    assert_true(w.also & 1u << RM_REFUSED_BLACKLIST);
}

static void test_locality(void **state)
{
    struct fix *f = *state;

    set(f, CS "node-locality-delay", "40");
    fix_start_with(f, 8192, "default");
    node(f, 2, "/other", 8192, 64);
    ask_full(f, 1, 1, "node2", 1024, 1, 2, true);
    ask_full(f, 1, 1, "/other", 1024, 1, 2, true);
    ask_full(f, 1, 1, RM_ANY, 1024, 1, 2, true);
    assert_int_equal(beat(f, 1), 0);
    waits(f, 1, RM_REFUSED_DELAY);
    app(f, 2, "bob", "default", 0);
    ask_full(f, 2, 1, "node2", 1024, 1, 2, true);
    ask_full(f, 2, 1, "/other", 1024, 1, 2, false);
    ask_full(f, 2, 1, RM_ANY, 1024, 1, 2, false);
    beat(f, 1);
    waits(f, 2, RM_REFUSED_STRICT);
}

/* Above the user's limit by a reservation, of which a smaller ask has none to give back. */
static void test_unreserve(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    set(f, CS "root.default.user-limit-factor", "0.5");
    fix_start_with(f, 5120, "default");
    small_nodes(f);
    node(f, 2, NULL, 2048, 64);
    ask(f, 1, 4096, 2);
    assert_int_equal(beat(f, 1), 1);
    waits(f, 1, RM_REFUSED_RESERVED);
    ask_full(f, 1, 2, RM_ANY, 1024, 1, 1, true);
    assert_int_equal(beat(f, 2), 0);
    waits(f, 1, RM_REFUSED_UNRESERVE);
    w = wait_of(f, 1);
    assert_true(is_node(&w.node, 2));
    assert_true(w.also & 1u << RM_REFUSED_TOTAL);
}

static void test_enough_reservations(void **state)
{
    struct fix *f = *state;

    set(f, CS "reservations-continue-look-all-nodes", "false");
    fix_start_with(f, 4096, "default");
    node(f, 2, NULL, 4096, 64);
    app(f, 2, "bob", "default", 0);
    ask(f, 2, 2048, 1);
    assert_int_equal(beat(f, 1), 1);
    ask(f, 1, 3072, 1);
    beat(f, 1);
    waits(f, 1, RM_REFUSED_RESERVED);
    assert_int_equal(beat(f, 2), 0);
    waits(f, 1, RM_REFUSED_RESERVATION);
}

static void test_constraint(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct fix *f = *state;
    Request *q = request(a, 1, 2, "web", away_from(a, "web"));

    fix_start_with(f, 8192, "default");
    assert_int_equal(
        go(f,
           (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                    .ask = { .app = app_id(1), .requests = &q, .n_requests = 1 } }),
        0);
    assert_int_equal(beat(f, 1), 1);
    beat(f, 1);
    waits(f, 1, RM_REFUSED_CONSTRAINT);
    assert_int_equal(wait_of(f, 1).asked.mem, 1024);
    sv_arena_free(a);
}

/* The application that comes first takes each container. */
static void test_turn(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    set(f, CS "per-node-heartbeat.maximum-offswitch-assignments", "1");
    fix_start_with(f, 8192, "default");
    app(f, 2, "ann", "default", 0);
    ask(f, 1, 1024, 3);
    ask(f, 2, 1024, 1);
    assert_int_equal(beat(f, 1), 1);
    w = wait_of(f, 2);
    assert_int_equal(w.why, RM_REFUSED_TURN);
    assert_int_equal(w.ahead.id, 1);
}

static void test_node_left(void **state)
{
    struct fix *f = *state;
    struct yarn_node_id id = node_id(2);

    fix_start_with(f, 4096, "default");
    node(f, 2, NULL, 2048, 64);
    ask(f, 1, 3072, 1);
    beat(f, 2);
    assert_true(wait_of(f, 1).has_node);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_REMOVED,
                                                    .node_removed = { .node = &id } }),
                     0);
    assert_false(wait_of(f, 1).has_node);
    node(f, 3, NULL, 2048, 64); /* in the same place of memory */
    assert_false(wait_of(f, 1).has_node);
}

/* A request that ends is not told, and a new attempt begins without a reason. */
static void test_forgotten(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    fix_start_with(f, 4096, "default");
    ask(f, 1, 8192, 1);
    beat(f, 1);
    waits(f, 1, RM_REFUSED_TOTAL);
    ask(f, 1, 8192, 0);
    w = wait_of(f, 1);
    assert_int_equal(w.containers, 0);
    assert_false(w.has_ask);
    ask(f, 1, 8192, 1);
    beat(f, 1);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_REMOVED,
                                                    .attempt_removed = { .app = app_id(1) } }),
                     0);
    assert_int_equal(wait_of(f, 1).containers, 0);
    assert_int_equal(wait_of(f, 1).why, RM_REFUSED_NOT);
}

/* More sizes of nodes than are kept: nothing is said to fit nowhere. */
static void test_many_sizes(void **state)
{
    struct fix *f = *state;
    struct rm_wait w;

    fix_start(f);
    for (int i = 1; i <= 40; i++)
        node(f, i, NULL, 1024 * i, 41 - i);
    app(f, 1, "ann", "default", 0);
    ask_full(f, 1, 1, RM_ANY, 41 * 1024, 1, 1, true);
    for (int i = 1; i <= 40; i++)
        beat(f, i);
    w = wait_of(f, 1);
    assert_int_equal(w.why, RM_REFUSED_TOTAL);
    assert_false(w.fits_nowhere);
    assert_int_equal(w.open_nodes, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE_QUEUE(test_waits_for_nothing), ONE_QUEUE(test_no_nodes),
        ONE_QUEUE(test_queue_masters),     ONE_QUEUE(test_user_masters),
        ONE_QUEUE(test_parallel),          TWO_QUEUES(test_queue_maximum),
        TWO_QUEUES(test_queue_headroom),   ONE_QUEUE(test_parent_maximum),
        ONE_QUEUE(test_user_limit),        ONE_QUEUE(test_space),
        ONE_QUEUE(test_reserved),          ONE_QUEUE(test_largest_room),
        ONE_QUEUE(test_fits_nowhere),      ONE_QUEUE(test_full),
        ONE_QUEUE(test_blacklist),         ONE_QUEUE(test_locality),
        ONE_QUEUE(test_unreserve),         ONE_QUEUE(test_enough_reservations),
        ONE_QUEUE(test_constraint),        ONE_QUEUE(test_turn),
        ONE_QUEUE(test_node_left),         ONE_QUEUE(test_forgotten),
        ONE_QUEUE(test_many_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
