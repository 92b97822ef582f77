/* Tests client/run/cluster-maximum.c: the answers of our ResourceManager and of Apache's, and
 * hostile ones. */
#include "client/run/cluster-maximum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static struct yarn_resource overview(const char *body)
{
    return cli_maximum_of_overview(body, strlen(body));
}

static int64_t conf(const char *body)
{
    return cli_maximum_of_conf(body, strlen(body));
}

static void overviews(void **state)
{
    struct yarn_resource ours = overview("{\"schedulerType\":\"Capacity Scheduler\","
                                         "\"maximumAllocation\":{\"memory\":8192,\"vCores\":4}}");
    struct yarn_resource apaches = overview("{\"maximumAllocation\":{\"memory\":\"2048\","
                                            "\"vCores\":\"32\",\"resourceInformations\":{}}}");

    (void)state;
    assert_int_equal(ours.memory_mb, 8192);
    assert_int_equal(ours.vcores, 4);
    assert_int_equal(apaches.memory_mb, 2048);
    assert_int_equal(apaches.vcores, 32);
}

static void configurations(void **state)
{
    (void)state;
    assert_int_equal(conf("{\"property\":{\"key\":\"k\",\"value\":\"8192\",\"isFinal\":false,"
                          "\"resource\":\"yarn-default.xml\"}}"),
                     8192);
    assert_int_equal(conf("{\"property\":{\"key\":\"k\",\"value\":\"${x}\"}}"), 0);
}

static void hostile(void **state)
{
    static const char *const bodies[] = {
        "",
        "[]",
        "7",
        "{\"maximumAllocation\":[]}",
        "{\"maximumAllocation\":{\"memory\":-1,\"vCores\":true}}",
        "{\"maximumAllocation\":{\"memory\":99999999999999999,\"vCores\":\"-3\"}}",
        "{\"maximumAllocation\":{\"memory\":{},\"vCores\":1e3}}",
        "{\"property\":{\"value\":\"99999999999999999999\"}}",
        "{\"property\":[]}",
        "<configuration/>",
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bodies); i++) {
        struct yarn_resource r = overview(bodies[i]);

        assert_int_equal(r.memory_mb, 0);
        assert_int_equal(r.vcores, 0);
        assert_int_equal(conf(bodies[i]), 0);
    }
    assert_int_equal(
        overview("{\"maximumAllocation\":{\"memory\":1,\"vCores\":1099511627776}}").vcores,
        INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overviews),
        cmocka_unit_test(configurations),
        cmocka_unit_test(hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
