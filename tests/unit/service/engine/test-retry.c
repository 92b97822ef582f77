/* Retry policies: each type of exit with each kind of policy, the presets, delays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "service/engine/retry.h"

#define OK SVC_FW_SUCCEEDED
#define TN SVC_FW_TRANSIENT_NORMAL
#define TC SVC_FW_TRANSIENT_CONFLICT
#define NT SVC_FW_NON_TRANSIENT
#define U SVC_FW_UNKNOWN

static int32_t *counter(struct svc_fw_retries *c, enum svc_fw_type t)
{
    int32_t *const counters[] = { &c->succeeded, &c->transient_normal, &c->transient_conflict,
                                  &c->non_transient, &c->unknown };

    return counters[t];
}

static void test_decisions(void **state)
{
    static const struct {
        bool fancy;
        int32_t max;
        int32_t retried; /* before */
        enum svc_fw_type type;
        enum svc_fw_decision decision;
        bool counts; /* in `retried` */
    } v[] = {
        /* Without more than a count: all types but success alike. */
        { false, 0, 0, OK, SVC_FW_END, false },
        { false, 0, 0, TN, SVC_FW_END, false },
        { false, 0, 0, TC, SVC_FW_END, false },
        { false, 0, 0, NT, SVC_FW_END, false },
        { false, 0, 0, U, SVC_FW_END, false },
        { false, 3, 0, OK, SVC_FW_END, false },
        { false, 3, 2, TN, SVC_FW_RETRY, true },
        { false, 3, 2, TC, SVC_FW_RETRY, true }, /* at once: backoff is fancy */
        { false, 3, 2, NT, SVC_FW_RETRY, true },
        { false, 3, 2, U, SVC_FW_RETRY, true },
        { false, 3, 3, U, SVC_FW_END, false },
        { false, 3, 4, U, SVC_FW_END, false },
        /* Without an end. */
        { false, -1, 1000, OK, SVC_FW_END, false },
        { false, -1, 1000, TN, SVC_FW_RETRY, true },
        { false, -1, 1000, TC, SVC_FW_RETRY, true },
        { false, -1, 1000, NT, SVC_FW_RETRY, true },
        { false, -1, 1000, U, SVC_FW_RETRY, true },
        { false, -2, 1000, OK, SVC_FW_RETRY, true },
        { false, -2, 1000, NT, SVC_FW_RETRY, true },
        /* By type. */
        { true, 0, 0, OK, SVC_FW_END, false },
        { true, 0, 0, TN, SVC_FW_RETRY, false },
        { true, 0, 0, TC, SVC_FW_RETRY_LATER, false },
        { true, 0, 0, NT, SVC_FW_END, false },
        { true, 0, 0, U, SVC_FW_END, false },
        { true, 3, 3, TN, SVC_FW_RETRY, false },
        { true, 3, 3, TC, SVC_FW_RETRY_LATER, false },
        { true, 3, 2, U, SVC_FW_RETRY, true },
        { true, 3, 3, U, SVC_FW_END, false },
        { true, 3, 0, NT, SVC_FW_END, false },
        { true, -1, 7, U, SVC_FW_RETRY, true },
        { true, -1, 7, OK, SVC_FW_END, false },
        { true, -1, 7, NT, SVC_FW_END, false },
        { true, -2, 7, OK, SVC_FW_RETRY, true },
        { true, -2, 7, NT, SVC_FW_END, false },
        /* Counters do not overflow. */
        { false, -1, INT32_MAX, U, SVC_FW_RETRY, false },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(v); i++) {
        struct svc_fw_retry_policy p = { .fancy = v[i].fancy, .max_retries = v[i].max };
        struct svc_fw_retries before = { v[i].retried, 10, 20, 30, 40, 50 }, after,
                              expected = before;
        enum svc_fw_decision got = svc_fw_decide(&p, v[i].type, &before, &after);

        if (got != v[i].decision)
            fail_msg("row %zu: %d", i, (int)got);
        if (got != SVC_FW_END) {
            ++*counter(&expected, v[i].type);
            expected.retried += v[i].counts;
        }
        assert_memory_equal(&after, &expected, sizeof(after));
        assert_int_equal(svc_fw_decide(&p, v[i].type, &before, &before), v[i].decision);
        assert_memory_equal(&before, &expected, sizeof(before));
    }
}

/* Seconds: more conflicts, a wider range above the least. */
static void test_backoff(void **state)
{
    static const struct {
        int32_t conflicts;
        int64_t most;
    } v[] = { { 0, 600 },  { 1, 1100 },   { 3, 2100 },         { 5, 3100 },
              { 6, 3600 }, { 100, 3600 }, { INT32_MAX, 3600 }, { -1, 600 } };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(v); i++) {
        int64_t low = INT64_MAX, high = 0;

        for (uint64_t random = 0; random < 7000; random++) {
            int64_t s = svc_fw_backoff_s(v[i].conflicts, 600, 3600, random * 2654435761u);

            low = SV_MIN(low, s);
            high = SV_MAX(high, s);
        }
        assert_true(low >= 600 && low < 610);
        assert_true(high <= v[i].most && high > v[i].most - 10);
    }
    assert_int_equal(svc_fw_backoff_s(6, 5, 5, UINT64_MAX), 5);
    assert_int_equal(svc_fw_backoff_s(6, 5, 4, UINT64_MAX), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_backoff),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
