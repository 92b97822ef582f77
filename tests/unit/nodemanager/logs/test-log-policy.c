/* Tests nodemanager/logs/log-policy.c: Hadoop's policies by their classes, each with the exits that
 * it takes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "nodemanager/logs/log-policy.h"

#define PACKAGE "org.apache.hadoop.yarn.server.nodemanager.containermanager.logaggregation."

static enum nm_log_policy parse(const char *name)
{
    enum nm_log_policy p;

    assert_int_equal(nm_log_policy_parse(name, &p), 0);
    return p;
}

static void names(void **state)
{
    enum nm_log_policy p;

    (void)state;
    assert_int_equal(parse(PACKAGE "AllContainerLogAggregationPolicy"), NM_LOGS_ALL);
    assert_int_equal(parse("NoneContainerLogAggregationPolicy"), NM_LOGS_NONE);
    assert_int_equal(parse(PACKAGE "FailedContainerLogAggregationPolicy"), NM_LOGS_FAILED);
    assert_int_equal(nm_log_policy_parse(PACKAGE "SampleContainerLogAggregationPolicy", &p),
                     -EOPNOTSUPP);
    assert_int_equal(nm_log_policy_parse(PACKAGE "LimitSizeContainerLogAggregationPolicy", &p),
                     -EOPNOTSUPP);
    assert_int_equal(nm_log_policy_parse("AllContainer", &p), -EINVAL);
    assert_int_equal(nm_log_policy_parse("", &p), -EINVAL);
}

/* Columns: an ApplicationMaster with 0, a task with 0, with 1, with 137, with 143, with -104. */
static void decisions(void **state)
{
    static const struct {
        const char *name;
        bool wanted[6];
    } rows[] = {
        { "AllContainerLogAggregationPolicy", { 1, 1, 1, 1, 1, 1 } },
        { "NoneContainerLogAggregationPolicy", { 0, 0, 0, 0, 0, 0 } },
        { "AMOnlyLogAggregationPolicy", { 1, 0, 0, 0, 0, 0 } },
        { "AMOrFailedContainerLogAggregationPolicy", { 1, 0, 1, 0, 0, 1 } },
        { "FailedOrKilledContainerLogAggregationPolicy", { 0, 0, 1, 1, 1, 1 } },
        { "FailedContainerLogAggregationPolicy", { 0, 0, 1, 0, 0, 1 } },
    };
    static const int codes[] = { 0, 0, 1, 137, 143, -104 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < SV_ARRAY_LEN(codes); k++)
            assert_int_equal(nm_log_policy_wants(parse(rows[i].name), k == 0, codes[k]),
                             rows[i].wanted[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(decisions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
