/* Tests service/am/facts/containers.c. */
#include "service/am/facts/containers.h"

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

static void one_started(struct svc_containers *c, int64_t n, const char *instance)
{
    struct svc_container *one = svc_containers_add(c, id(n), &node, &resource, "");

    assert_non_null(one);
    assert_int_equal(svc_container_name(one, instance), 0);
    one->started_ms = 1;
}

/* The last one of each instance, by its name. */
static void ended(void **state)
{
    struct svc_containers c = { 0 };

    (void)state;
    one_started(&c, 1, "web-0");
    one_started(&c, 2, "web-1");
    assert_non_null(svc_containers_add(&c, id(3), &node, &resource, ""));
    svc_containers_end(&c, id(1), true);
    svc_containers_end(&c, id(3), true); /* it had no name, and never started */
    svc_containers_end(&c, id(9), true);
    assert_int_equal(c.n, 1);
    assert_null(svc_containers_find(&c, id(1)));
    assert_true(svc_containers_ended(&c, "web-0")->succeeded);
    assert_null(svc_containers_ended(&c, "web-1"));
    one_started(&c, 4, "web-0");
    svc_containers_end(&c, id(4), false);
    assert_int_equal(svc_containers_ended(&c, "web-0")->id.id, 4);
    assert_false(svc_containers_ended(&c, "web-0")->succeeded);
    svc_containers_forget(&c, "web-0");
    svc_containers_forget(&c, "web-0");
    assert_null(svc_containers_ended(&c, "web-0"));
    svc_containers_end(&c, id(2), false);
    svc_containers_clear(&c);
    assert_null(c.ended);
}

/* States of files are bounded for all containers together. */
static void localized(void **state)
{
    struct svc_containers c = { 0 };
    struct svc_container *one = svc_containers_add(&c, id(1), &node, &resource, ""),
                         *two = svc_containers_add(&c, id(2), &node, &resource, "");
    char *large = malloc(SVC_LOCALIZED_MAX);

    (void)state;
    assert_non_null(large);
    memset(large, ' ', SVC_LOCALIZED_MAX);
    large[SVC_LOCALIZED_MAX - 1] = '\0';
    svc_containers_localized(&c, one, strdup("[]"));
    assert_int_equal(c.localized, 2);
    svc_containers_localized(&c, two, large); /* one byte too much */
    assert_null(two->localized);
    svc_containers_localized(&c, two, strdup("[1]"));
    svc_containers_localized(&c, one, NULL);
    assert_int_equal(c.localized, 3);
    svc_containers_remove(&c, id(2));
    assert_int_equal(c.localized, 0);
    svc_containers_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(kept_by_id), cmocka_unit_test(addresses),
                                        cmocka_unit_test(ended), cmocka_unit_test(localized) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
