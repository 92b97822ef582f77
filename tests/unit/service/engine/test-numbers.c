/* Numbers of instances: lowest first, none twice, retired ones never, an end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service/engine/numbers.h"

static uint32_t take(struct svc_numbers *ns)
{
    uint32_t n;

    assert_int_equal(svc_number_take(ns, &n), 0);
    return n;
}

static void test_lowest_first(void **state)
{
    struct svc_numbers ns = { 0 };

    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(take(&ns), i);
    for (uint32_t i = 0; i < 100; i += 3)
        svc_number_give(&ns, 99 - i);
    for (uint32_t i = 0; i < 100; i += 3)
        assert_int_equal(take(&ns), i);
    assert_int_equal(take(&ns), 100);
    svc_numbers_free(&ns);
}

static void test_retired(void **state)
{
    struct svc_numbers ns = { 0 };

    (void)state;
    svc_number_retire(&ns, 0);
    svc_number_retire(&ns, 200);
    assert_int_equal(take(&ns), 1);
    assert_int_equal(take(&ns), 2);
    svc_number_give(&ns, 1);
    svc_number_retire(&ns, 1); /* after it was given back */
    assert_int_equal(take(&ns), 3);
    svc_number_retire(&ns, 2);
    svc_number_give(&ns, 2);
    assert_int_equal(take(&ns), 4);
    assert_true(svc_number_is_retired(&ns, 200));
    assert_false(svc_number_is_retired(&ns, 199));
    svc_numbers_free(&ns);
}

static void test_taken_by_name(void **state)
{
    struct svc_numbers ns = { 0 };

    (void)state;
    svc_number_take_at(&ns, 3);
    assert_int_equal(take(&ns), 0);
    assert_int_equal(take(&ns), 1);
    assert_int_equal(take(&ns), 2);
    assert_int_equal(take(&ns), 4);
    svc_numbers_free(&ns);
}

static void test_end(void **state)
{
    struct svc_numbers ns = { 0 };
    uint32_t n;

    (void)state;
    svc_number_take_at(&ns, SVC_NUMBERS_MAX - 1);
    for (uint32_t i = 0; i < SVC_NUMBERS_MAX - 1; i++)
        assert_int_equal(take(&ns), i);
    assert_int_equal(svc_number_take(&ns, &n), -ENOSPC);
    svc_numbers_free(&ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lowest_first),
        cmocka_unit_test(test_retired),
        cmocka_unit_test(test_taken_by_name),
        cmocka_unit_test(test_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
