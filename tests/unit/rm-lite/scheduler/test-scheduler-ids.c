/* rm-lite/scheduler/scheduler-ids.c: containers by id and by application, whatever the numbers that
 * nodes report; containers of a node in the order in which they came. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

static struct yarn_container_id id_of(int attempt, int64_t number)
{
    return (struct yarn_container_id){ { app_id(1), attempt }, number };
}

static int recover(struct fix *f, int attempt, int64_t number)
{
    struct yarn_node_id node = node_id(1);

    return go(f,
              (struct rm_sched_event){
                  .type = RM_SCHED_CONTAINER_RECOVERED,
                  .container_recovered = {
                      .node = &node, .resource = { 1, 1 }, .container = id_of(attempt, number) } });
}

static int done(struct fix *f, int attempt, int64_t number)
{
    return go(f,
              (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                       .container_done = { .container = id_of(attempt, number) } });
}

static void start(struct fix *f)
{
    fix_conf(f);
    fix_start(f);
    node(f, 1, NULL, 1 << 20, 1 << 20);
    assert_true(app(f, 1, "ann", "default", 0));
}

/* Both ends of the blocks, both signs, both ends of the type, two attempts. */
static void test_numbers(void **state)
{
    static const int64_t numbers[] = { 0,
                                       1,
                                       RM_BLOCK - 1,
                                       RM_BLOCK,
                                       -1,
                                       -RM_BLOCK,
                                       -RM_BLOCK - 1,
                                       INT64_MAX,
                                       INT64_MIN,
                                       (INT64_C(7) << RM_EPOCH_SHIFT) | 3 };
    struct fix f;

    (void)state;
    start(&f);
    for (int attempt = 1; attempt <= 2; attempt++)
        for (size_t i = 0; i < SV_ARRAY_LEN(numbers); i++) {
            assert_int_equal(done(&f, attempt, numbers[i]), -ENOENT);
            assert_int_equal(recover(&f, attempt, numbers[i]), 0);
            assert_int_equal(recover(&f, attempt, numbers[i]), -EEXIST);
        }
    for (int attempt = 1; attempt <= 2; attempt++)
        for (size_t i = 0; i < SV_ARRAY_LEN(numbers); i++) {
            const struct rm_sched_container *c =
                rm_sched_container_find(f.s, id_of(attempt, numbers[i]));

            assert_non_null(c);
            assert_true(yarn_container_id_cmp(rm_container_id(c), id_of(attempt, numbers[i])) == 0);
            assert_int_equal(done(&f, attempt, numbers[i]), 0);
            assert_int_equal(done(&f, attempt, numbers[i]), -ENOENT);
        }
    assert_null(rm_app_first(f.s, f.s->apps));
    assert_null(rm_app_last(f.s, f.s->apps));
    fix_end(&f);
}

/* Walks the rest of the application's containers, forwards and backwards. */
static void check_walk(struct fix *f, int64_t n, int64_t step)
{
    const struct rm_sched_container *c = rm_app_first(f->s, f->s->apps);
    int64_t at;

    for (at = 0; at < n; at += step, c = rm_app_next(f->s, c)) {
        assert_non_null(c);
        assert_int_equal(c->number, at);
    }
    assert_null(c);
    c = rm_app_last(f->s, f->s->apps);
    for (at -= step; at >= 0; at -= step, c = rm_app_previous(f->s, c)) {
        assert_non_null(c);
        assert_int_equal(c->number, at);
    }
    assert_null(c);
}

static void test_walk(void **state)
{
    const int64_t n = 10 * RM_BLOCK + 1;
    struct fix f;

    (void)state;
    start(&f);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(recover(&f, 1, i), 0);
    check_walk(&f, n, 1);
    for (int64_t i = 0; i < n; i++)
        if (i % 3 != 0)
            assert_int_equal(done(&f, 1, i), 0);
    check_walk(&f, n, 3);
    for (int64_t i = 0; i < n; i += 3)
        if (i % (3 * RM_BLOCK) != 0) /* whole blocks are empty now */
            assert_int_equal(done(&f, 1, i), 0);
    check_walk(&f, n, 3 * RM_BLOCK);
    fix_end(&f);
}

/* More than fit into the node's record, some of them ended: the rest is reported in order. */
static void test_node_order(void **state)
{
    struct yarn_node_id node = node_id(1);
    struct fix f;
    size_t at = 0;

    (void)state;
    start(&f);
    for (int64_t i = 0; i < 100; i++)
        assert_int_equal(recover(&f, 1, 1000 - i), 0);
    for (int64_t i = 0; i < 100; i += 7)
        assert_int_equal(done(&f, 1, 1000 - i), 0);
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_NODE_REMOVED,
                                                     .node_removed = { .node = &node } }),
                     0);
    for (int64_t i = 0; i < 100; i++) {
        if (i % 7 == 0)
            continue;
        assert_true(at < f.n);
        assert_int_equal(f.d[at].type, RM_DECIDE_LOST);
        assert_int_equal(f.d[at].container.id, 1000 - i);
        assert_string_equal(f.d[at++].node.host, node.host);
    }
    assert_int_equal(at, f.n);
    assert_int_equal(f.s->root->containers, 0);
    fix_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_node_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
