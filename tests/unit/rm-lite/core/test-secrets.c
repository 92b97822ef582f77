/* rm-lite/core/secrets.c: creation, announcement, use and end of token keys. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/core/secrets.h"

#define ROLL 100000
#define DELAY 30000
#define T0 1000000

static struct rm_secrets fresh(void)
{
    struct rm_secrets s = { .hmac = YARN_HMAC_SHA1, .key_len = 32 };

    for (int k = 1; k < RM_SECRETS; k++) {
        s.roll_ms[k] = ROLL;
        s.delay_ms[k] = DELAY;
    }
    assert_int_equal(rm_secrets_init(&s, T0, NULL), 0);
    return s;
}

static void test_fresh_keys(void **state)
{
    struct rm_secrets s = fresh();

    (void)state;
    for (int k = 1; k < RM_SECRETS; k++) {
        assert_int_equal(s.keys[k].current.len, 32);
        assert_true(s.keys[k].current.key_id > 0);
        assert_int_equal(s.keys[k].next.len, 0);
    }
    assert_memory_not_equal(s.keys[1].current.bytes, s.keys[2].current.bytes, 32);
    assert_int_equal(rm_secrets_init(&s, T0 + 5, NULL), 0); /* keeps existing keys */
    assert_int_equal(s.keys[1].made_ms, T0);
}

static void test_roll(void **state)
{
    struct rm_secrets s = fresh();
    int32_t old = s.keys[RM_SECRET_NM].current.key_id;

    (void)state;
    assert_int_equal(rm_secrets_tick(&s, T0 + ROLL - 1, NULL), 0);
    assert_int_equal(rm_secrets_tick(&s, T0 + ROLL, NULL), 1);
    /* announced at once, used when every node has had the time to learn it */
    assert_int_equal(rm_secrets_announce(&s, RM_SECRET_NM)->key_id, old + 1);
    assert_int_equal(rm_secrets_signing(&s, RM_SECRET_NM)->key_id, old);
    /* AMRM tokens: only this process verifies them */
    assert_int_equal(rm_secrets_signing(&s, RM_SECRET_AMRM)->key_id,
                     s.keys[RM_SECRET_AMRM].next.key_id);
    assert_int_equal(rm_secrets_tick(&s, T0 + ROLL + DELAY - 1, NULL), 0);
    assert_int_equal(rm_secrets_tick(&s, T0 + ROLL + DELAY, NULL), 1);
    assert_int_equal(rm_secrets_signing(&s, RM_SECRET_NM)->key_id, old + 1);
    assert_int_equal(s.keys[RM_SECRET_NM].next.len, 0);
    assert_int_equal(rm_secrets_tick(&s, T0 + 2 * ROLL - 1, NULL), 0);
    assert_int_equal(rm_secrets_tick(&s, T0 + 2 * ROLL, NULL), 1);
}

static void test_passwords_over_a_roll(void **state)
{
    struct rm_secrets s = fresh();
    int32_t old = s.keys[RM_SECRET_AMRM].current.key_id;
    uint8_t before[64], after[64];
    size_t n, m;

    (void)state;
    assert_int_equal(
        rm_secrets_password(&s, RM_SECRET_AMRM, old, (const uint8_t *)"id", 2, before, &n), 0);
    assert_int_equal(n, 20);
    assert_int_equal(rm_secrets_tick(&s, T0 + ROLL, NULL), 1);
    assert_int_equal(
        rm_secrets_password(&s, RM_SECRET_AMRM, old, (const uint8_t *)"id", 2, after, &m), 0);
    assert_memory_equal(before, after, n);
    assert_int_equal(rm_secrets_tick(&s, T0 + ROLL + DELAY, NULL), 1);
    assert_int_equal(
        rm_secrets_password(&s, RM_SECRET_AMRM, old, (const uint8_t *)"id", 2, after, &m), -ENOKEY);
    assert_int_equal(
        rm_secrets_password(&s, RM_SECRET_AMRM, 0, (const uint8_t *)"id", 2, after, &m), -ENOKEY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh_keys),
        cmocka_unit_test(test_roll),
        cmocka_unit_test(test_passwords_over_a_roll),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
