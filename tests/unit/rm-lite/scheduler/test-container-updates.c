/* rm-lite/scheduler/container-updates.c: containers that become smaller, larger or uncounted, and
 * what an increase waits for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

/* An update of a container of application `i`. */
static int update(struct fix *f, int i, int64_t number, int64_t mem, int64_t vcores)
{
    return go(
        f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_UPDATE,
                                    .container_update = { .container = { { app_id(i), 1 }, number },
                                                          .resource = { mem, vcores, { 0 } } } });
}

/* The size that the last event gave a container, or -1. */
static int64_t updated(const struct fix *f, int i, int64_t number)
{
    for (size_t k = 0; k < f->n; k++)
        if (f->d[k].type == RM_DECIDE_UPDATED && f->d[k].app.id == i &&
            f->d[k].container.id == number)
            return f->d[k].resource.mem;
    return -1;
}

static struct rm_node_usage node_usage(const struct fix *f, int i)
{
    struct yarn_node_id id = node_id(i);
    struct rm_node_usage u;

    assert_int_equal(rm_sched_node_usage(f->s, &id, &u), 0);
    return u;
}

static struct rm_queue_info queue(const struct fix *f, const char *name)
{
    struct rm_queue_info q;

    assert_int_equal(rm_sched_queue(f->s, name, &q), 0);
    return q;
}

/* Application `i` gets one container of this size, its first one, on node 1. */
static void one(struct fix *f, int i, int64_t mem)
{
    ask(f, i, mem, 1);
    assert_int_equal(beat(f, 1), 1);
    assert_int_equal(count_app(f, i), 1);
}

static bool waits(const struct fix *f, int i, int64_t number)
{
    return rm_sched_container_waits(f->s, (struct yarn_container_id){ { app_id(i), 1 }, number });
}

static void test_decrease(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 8192, "default");
    one(f, 1, 4096);
    assert_int_equal(update(f, 1, 1, 1024, 1), 0);
    assert_int_equal(f->n, 1);
    assert_int_equal(updated(f, 1, 1), 1024);
    assert_string_equal(f->d[0].node.host, "node1");
    assert_int_equal(app_used(f, 1), 1024);
    assert_int_equal(node_usage(f, 1).used.mem, 1024);
    assert_int_equal(queue(f, "default").used.mem, 1024);
    assert_int_equal(queue(f, "default").containers, 1);
    assert_int_equal(update(f, 1, 1, 1024, 1), 0); /* as it is: decided as well */
    assert_int_equal(updated(f, 1, 1), 1024);
    assert_int_equal(update(f, 1, 2, 1024, 1), -ENOENT);
    assert_int_equal(update(f, 1, 1, -1, 1), -EINVAL);
    container_done(f, 1, 1);
    assert_int_equal(queue(f, "root").used.mem, 0);
}

/* The next pass allocates the resources that a decrease has freed. */
static void test_decrease_makes_room(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 4096, "default");
    one(f, 1, 4096);
    ask(f, 1, 2048, 1);
    allocation_passes(f);
    assert_int_equal(app_used(f, 1), 4096);
    assert_int_equal(update(f, 1, 1, 2048, 1), 0);
    assert_int_equal(allocation_pass(f), 1);
    assert_int_equal(app_used(f, 1), 4096);
}

static void test_increase(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 8192, "default");
    one(f, 1, 1024);
    assert_int_equal(update(f, 1, 1, 4096, 2), 0);
    assert_int_equal(f->n, 0);
    assert_true(waits(f, 1, 1));
    assert_int_equal(app_usage(f, 1).pending.mem, 3072);
    assert_int_equal(allocation_pass(f), 0); /* nothing new */
    assert_int_equal(updated(f, 1, 1), 4096);
    assert_false(waits(f, 1, 1));
    assert_int_equal(app_used(f, 1), 4096);
    assert_int_equal(app_usage(f, 1).used.vcores, 2);
    assert_int_equal(app_usage(f, 1).pending.mem, 0);
    assert_int_equal(app_usage(f, 1).containers, 1);
    assert_int_equal(node_usage(f, 1).used.mem, 4096);
    assert_int_equal(update(f, 1, 1, 8192, 1), 0); /* more memory; fewer cores are left */
    beat(f, 1);
    assert_int_equal(updated(f, 1, 1), 8192);
    assert_int_equal(app_usage(f, 1).used.vcores, 2);
}

/* It waits for its own node, which is reserved for it, whatever is free elsewhere. */
static void test_increase_waits_for_its_node(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 5120, "default");
    app(f, 2, "bob", "default", 0);
    one(f, 1, 1024);
    one(f, 2, 3072);
    node(f, 2, NULL, 8192, 8);
    assert_int_equal(update(f, 1, 1, 3072, 1), 0);
    allocation_passes(f);
    beat(f, 2);
    assert_true(waits(f, 1, 1));
    beat(f, 1);
    assert_int_equal(app_usage(f, 1).reserved.mem, 2048);
    ask(f, 2, 1024, 1); /* another's ask does not take what is kept for it */
    assert_int_equal(beat(f, 1), 0);
    container_done(f, 2, 1);
    allocation_passes(f);
    assert_int_equal(app_usage(f, 1).used.mem, 3072);
    assert_int_equal(app_usage(f, 1).reserved.mem, 0);
    assert_int_equal(app_used(f, 2), 1024);
}

/* An increase above the node's size keeps nothing from others. */
static void test_increase_above_the_node(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 4096, "default");
    node(f, 2, NULL, 16384, 16); /* not heard of: the queue has room */
    one(f, 1, 1024);
    assert_int_equal(update(f, 1, 1, 5120, 1), 0);
    beat(f, 1);
    beat(f, 1);
    assert_int_equal(app_usage(f, 1).reserved.mem, 0);
    assert_true(waits(f, 1, 1));
    ask(f, 1, 2048, 1);
    assert_int_equal(beat(f, 1), 1);
}

/* The latest one counts. */
static void test_replaced(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 8192, "default");
    one(f, 1, 2048);
    assert_int_equal(update(f, 1, 1, 8192, 1), 0);
    assert_int_equal(update(f, 1, 1, 4096, 1), 0);
    assert_int_equal(app_usage(f, 1).pending.mem, 2048);
    beat(f, 1);
    assert_int_equal(updated(f, 1, 1), 4096);
    assert_int_equal(update(f, 1, 1, 8192, 1), 0);
    assert_int_equal(update(f, 1, 1, 1024, 1), 0);
    assert_int_equal(updated(f, 1, 1), 1024);
    assert_int_equal(app_usage(f, 1).pending.mem, 0);
    beat(f, 1);
    assert_int_equal(f->n, 0);
}

static void test_limit_of_the_queue(void **state)
{
    struct fix *f = *state;

    set(f, CS "root.a.maximum-capacity", "50");
    fix_start_with(f, 8192, "a");
    one(f, 1, 2048);
    assert_int_equal(update(f, 1, 1, 5120, 1), 0);
    beat(f, 1);
    assert_true(waits(f, 1, 1));
    assert_int_equal(update(f, 1, 1, 4096, 1), 0);
    beat(f, 1);
    assert_int_equal(updated(f, 1, 1), 4096);
}

static void test_limit_of_the_user(void **state)
{
    struct fix *f = *state;

    set(f, CS "user-limit-factor", "0.25");
    fix_start_with(f, 8192, "default");
    one(f, 1, 2048);
    one(f, 1, 1024); /* one container above the limit is let in */
    assert_int_equal(update(f, 1, 1, 3072, 1), 0);
    beat(f, 1);
    beat(f, 1);
    assert_true(waits(f, 1, 1));
    container_done(f, 1, 2);
    beat(f, 1);
    assert_int_equal(updated(f, 1, 1), 3072);
}

/* An increase is served after the application's new containers, whatever their priority. */
static void test_order(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 4096, "default");
    one(f, 1, 1024);
    assert_int_equal(update(f, 1, 1, 3072, 1), 0);
    ask_full(f, 1, 9, RM_ANY, 2048, 1, 1, true);
    assert_int_equal(beat(f, 1), 1);
    assert_int_equal(updated(f, 1, 1), -1);
    container_done(f, 1, 2);
    beat(f, 1);
    assert_int_equal(updated(f, 1, 1), 3072);
}

/* The ends of containers, attempts, nodes and applications take the increase with them. */
static void test_ends(void **state)
{
    struct fix *f = *state;
    struct yarn_node_id id = node_id(1);

    fix_start_with(f, 4096, "default");
    app(f, 2, "bob", "default", 0);
    one(f, 1, 1024);
    one(f, 2, 2048);
    node(f, 2, NULL, 8192, 8); /* so that the queue has room for a reservation */
    assert_int_equal(update(f, 1, 1, 3072, 1), 0);
    beat(f, 1);
    assert_int_equal(app_usage(f, 1).reserved.mem, 2048);
    container_done(f, 1, 1);
    assert_int_equal(app_usage(f, 1).reserved.mem, 0);
    assert_int_equal(app_usage(f, 1).pending_containers, 0);
    one(f, 1, 1024);
    assert_int_equal(update(f, 1, 2, 3072, 1), 0);
    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_REMOVED,
                                       .attempt_removed = { .app = app_id(1),
                                                            .keep_containers = true } }),
        0);
    assert_false(waits(f, 1, 2));
    assert_int_equal(queue(f, "default").pending.mem, 0);
    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_ADDED,
                                       .attempt_added = { .app = app_id(1), .attempt = 2 } }),
        0);
    assert_int_equal(update(f, 1, 2, 2048, 1), 0);
    beat(f, 1);
    assert_int_equal(updated(f, 1, 2), 2048);
    assert_int_equal(update(f, 1, 2, 4096, 1), 0);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_REMOVED,
                                                    .node_removed = { .node = &id } }),
                     0);
    assert_int_equal(queue(f, "default").pending.mem, 0);
    assert_int_equal(queue(f, "default").used.mem, 0);
}

/* Without a resource it is counted nowhere; with one again it waits for room, as new. */
static void test_uncounted(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 4096, "default");
    app(f, 2, "bob", "default", 0);
    one(f, 1, 4096);
    assert_int_equal(update(f, 1, 1, 0, 0), 0);
    assert_int_equal(updated(f, 1, 1), 0);
    assert_int_equal(app_used(f, 1), 0);
    assert_int_equal(app_usage(f, 1).containers, 0);
    assert_int_equal(queue(f, "default").containers, 0);
    assert_int_equal(node_usage(f, 1).used.mem, 0);
    assert_int_equal(node_usage(f, 1).containers, 1);
    one(f, 2, 4096);
    assert_int_equal(update(f, 1, 1, 4096, 1), 0);
    beat(f, 1);
    assert_true(waits(f, 1, 1));
    container_done(f, 2, 1);
    beat(f, 1);
    assert_int_equal(updated(f, 1, 1), 4096);
    assert_int_equal(queue(f, "default").containers, 1);
    assert_int_equal(update(f, 1, 1, 0, 0), 0);
    container_done(f, 1, 1);
    assert_int_equal(queue(f, "default").containers, 0);
    assert_int_equal(queue(f, "default").used.mem, 0);
}

/* Two NodeManagers of one host: the increase is for one of them. */
static void test_two_nodes_of_a_host(void **state)
{
    struct yarn_node_id other = node_id(1);
    struct fix *f = *state;

    other.port++;
    fix_start_with(f, 2048, "default");
    one(f, 1, 1024);
    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_ADDED,
                                       .node_added = { .node = &other, .total = { 8192, 8 } } }),
        0);
    assert_int_equal(update(f, 1, 1, 2048, 1), 0);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_HEARTBEAT,
                                                    .node_heartbeat = { .node = &other } }),
                     0);
    assert_int_equal(f->n, 0);
    beat(f, 1);
    assert_int_equal(updated(f, 1, 1), 2048);
}

/* Increases count among the application's asks; one too many changes nothing. */
static void test_bound(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 8192, "default");
    one(f, 1, 1024);
    for (int i = 1; i <= RM_MAX_ASK_GROUPS; i++)
        ask_full(f, 1, i, RM_ANY, 65536, 1, 1, true);
    assert_int_equal(update(f, 1, 1, 2048, 1), -E2BIG);
    assert_false(waits(f, 1, 1));
    assert_int_equal(app_usage(f, 1).pending_containers, RM_MAX_ASK_GROUPS);
    ask_full(f, 1, 1, RM_ANY, 65536, 1, 0, true);
    assert_int_equal(update(f, 1, 1, 2048, 1), 0);
    beat(f, 1);
    assert_int_equal(updated(f, 1, 1), 2048);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE_QUEUE(test_decrease),
        ONE_QUEUE(test_decrease_makes_room),
        ONE_QUEUE(test_increase),
        ONE_QUEUE(test_increase_waits_for_its_node),
        ONE_QUEUE(test_increase_above_the_node),
        ONE_QUEUE(test_replaced),
        TWO_QUEUES(test_limit_of_the_queue),
        ONE_QUEUE(test_limit_of_the_user),
        ONE_QUEUE(test_order),
        ONE_QUEUE(test_ends),
        ONE_QUEUE(test_uncounted),
        ONE_QUEUE(test_two_nodes_of_a_host),
        ONE_QUEUE(test_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
