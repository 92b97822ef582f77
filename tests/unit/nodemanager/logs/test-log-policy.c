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
    assert_int_equal(parse(PACKAGE "SampleContainerLogAggregationPolicy"), NM_LOGS_SAMPLE);
    assert_int_equal(parse("LimitSizeContainerLogAggregationPolicy"), NM_LOGS_LIMIT_SIZE);
    assert_int_equal(nm_log_policy_parse("AllContainer", &p), -EINVAL);
    assert_int_equal(nm_log_policy_parse("", &p), -EINVAL);
}

/* Columns: an ApplicationMaster with 0, a task with 0, with 1, with 137, with 143, with -104, with
 * -109. */
static void decisions(void **state)
{
    static const struct {
        const char *name;
        bool wanted[7];
    } rows[] = {
        { "AllContainerLogAggregationPolicy", { 1, 1, 1, 1, 1, 1, 1 } },
        { "NoneContainerLogAggregationPolicy", { 0, 0, 0, 0, 0, 0, 0 } },
        { "AMOnlyLogAggregationPolicy", { 1, 0, 0, 0, 0, 0, 0 } },
        { "AMOrFailedContainerLogAggregationPolicy", { 1, 0, 1, 0, 0, 1, 1 } },
        { "FailedOrKilledContainerLogAggregationPolicy", { 0, 0, 1, 1, 1, 1, 1 } },
        { "FailedContainerLogAggregationPolicy", { 0, 0, 1, 0, 0, 1, 1 } },
        { "SampleContainerLogAggregationPolicy", { 1, 0, 1, 1, 1, 1, 1 } },
        { "LimitSizeContainerLogAggregationPolicy", { 1, 1, 1, 1, 1, 1, 0 } },
    };
    static const struct nm_log_sample none = { 0, 0 };
    static const int codes[] = { 0, 0, 1, 137, 143, -104, -109 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < SV_ARRAY_LEN(codes); k++)
            assert_int_equal(nm_log_policy_wants(parse(rows[i].name), none, k == 0, 2, codes[k]),
                             rows[i].wanted[k]);
}

/* Counts how many of 100 successful tasks, numbered from 2, are sampled. */
static int sampled(const char *parameters, int result)
{
    struct nm_log_sample s;
    int n = 0;

    assert_int_equal(nm_log_sample_parse(parameters, &s), result);
    for (int64_t number = 2; number < 102; number++)
        n += nm_log_policy_wants(NM_LOGS_SAMPLE, s, false, number, 0);
    return n;
}

static void samples(void **state)
{
    (void)state;
    assert_int_equal(sampled("", 0), 20 + 80 / 5);
    assert_int_equal(sampled("SR:0.5,MIN:50", 0), 50 + 50 / 2);
    assert_int_equal(sampled(" MIN:0 , SR:0.1", 0), 10);
    assert_int_equal(sampled("SR:0", 0), 20);
    assert_int_equal(sampled("SR:1", 0), 100);
    assert_int_equal(sampled("MIN:1000", 0), 100);
    for (const char *const *bad =
             (const char *const[]){ "SR:2", "SR:-1", "SR:nan", "SR:", "SR:0.5x", "MIN:-1", "MIN:x",
                                    "HI:1", "0.5", NULL };
         *bad; bad++)
        assert_int_equal(sampled(*bad, -EINVAL), 36);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(decisions),
        cmocka_unit_test(samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
