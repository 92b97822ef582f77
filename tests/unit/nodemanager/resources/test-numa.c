/* resources/numa.c: the NUMA nodes of a container. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/resources/numa.h"

#define GB 1024

static void one_node(void **state)
{
    struct nm_numa_node nodes[] = { { 0, 2 * GB, 2 }, { 1, 4 * GB, 4 } };
    struct nm_numa_taken t;

    (void)state;
    assert_true(nm_numa_take(nodes, 2, 2 * GB, 1, &t)); /* the first that fits */
    assert_int_equal(t.memory_mb[0], 2 * GB);
    assert_int_equal(t.cpus[0], 1);
    assert_true(nm_numa_take(nodes, 2, 1 * GB, 1, &t)); /* node 0 has no memory left */
    assert_int_equal(t.memory_mb[0], 0);
    assert_int_equal(t.memory_mb[1], 1 * GB);
    assert_int_equal(nodes[0].cpus, 1);
    assert_int_equal(nodes[1].memory_mb, 3 * GB);
    assert_int_equal(nodes[1].cpus, 3);
}

static void several_nodes(void **state)
{
    struct nm_numa_node nodes[] = { { 0, 2 * GB, 1 }, { 1, 2 * GB, 3 } };
    struct nm_numa_taken t;

    (void)state;
    assert_true(nm_numa_take(nodes, 2, 3 * GB, 2, &t)); /* no node fits alone */
    assert_int_equal(t.memory_mb[0], 2 * GB);
    assert_int_equal(t.memory_mb[1], 1 * GB);
    assert_int_equal(t.cpus[0], 1);
    assert_int_equal(t.cpus[1], 1);
}

static void not_enough(void **state)
{
    struct nm_numa_node nodes[] = { { 0, 2 * GB, 1 }, { 1, 2 * GB, 3 } }, before[2];
    struct nm_numa_taken t;

    (void)state;
    memcpy(before, nodes, sizeof(nodes));
    assert_false(nm_numa_take(nodes, 2, 5 * GB, 1, &t));
    assert_false(nm_numa_take(nodes, 2, 1 * GB, 5, &t));
    assert_false(nm_numa_take(nodes, 0, 1, 1, &t));
    assert_memory_equal(before, nodes, sizeof(nodes)); /* nothing is taken */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node),
        cmocka_unit_test(several_nodes),
        cmocka_unit_test(not_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
