/* Tests service/am/containers.c. */
#include "service/am/containers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static const struct yarn_node_id node = { "n1", 8041 };
static const struct yarn_resource resource = { .memory_mb = 256, .vcores = 1 };

static struct yarn_container_id id(int64_t n)
{
    return (struct yarn_container_id){ { { 1, 1 }, 1 }, n };
}

static void kept_by_id(void **state)
{
    struct svc_containers c = { 0 };
    struct svc_container *one;

    (void)state;
    one = svc_containers_add(&c, id(1), &node, &resource, NULL);
    assert_non_null(one);
    assert_null(svc_containers_add(&c, id(1), &node, &resource, "")); /* there already */
    assert_non_null(svc_containers_add(&c, id(2), &node, &resource, "n1:8042"));
    assert_int_equal(c.n, 2);
    assert_ptr_equal(svc_containers_find(&c, id(1)), one);
    assert_null(svc_containers_find(&c, id(3)));
    svc_containers_remove(&c, id(1));
    svc_containers_remove(&c, id(1));
    assert_null(svc_containers_find(&c, id(1)));
    assert_int_equal(c.n, 1);
    svc_containers_clear(&c);
    assert_int_equal(c.n, 0);
}

static void addresses(void **state)
{
    struct svc_containers c = { 0 };
    struct svc_container *one = svc_containers_add(&c, id(1), &node, &resource, "");

    (void)state;
    assert_int_equal(svc_container_address(one, "", NULL), 0);
    assert_null(one->ip);
    assert_int_equal(svc_container_address(one, "10.0.0.1", ""), 1);
    assert_int_equal(svc_container_address(one, "10.0.0.1", "c1"), 1);
    assert_int_equal(svc_container_address(one, "10.0.0.1", "c1"), 0);
    assert_int_equal(svc_container_address(one, "", ""), 0); /* known ones stay */
    assert_string_equal(one->ip, "10.0.0.1");
    assert_string_equal(one->host, "c1");
    svc_containers_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(kept_by_id), cmocka_unit_test(addresses) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
