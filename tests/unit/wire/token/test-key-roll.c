/* token/key-roll.c: a key's ages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/token/key-roll.h"

static void rolls(void **state)
{
    struct yarn_key_roll k = { .made_ms = 0 };
    struct yarn_master_key next;
    int32_t first;

    (void)state;
    assert_int_equal(yarn_key_roll_init(&k, 32, 100), 0);
    first = k.current.key_id;
    assert_true(first > 0 && k.current.len == 32 && !k.next.len);
    assert_int_equal(yarn_key_roll_init(&k, 32, 900), 0); /* there is one */
    assert_int_equal(k.current.key_id, first);
    assert_int_equal(k.made_ms, 100);
    assert_int_equal(yarn_key_roll_due(&k, 1000, 300, 1099), YARN_KEY_ROLL_NOTHING);
    assert_int_equal(yarn_key_roll_due(&k, 1000, 300, 1100), YARN_KEY_ROLL_MAKE);
    assert_int_equal(yarn_key_roll_make(&k, 32, &next), 0);
    assert_int_equal(next.key_id, first + 1);
    assert_ptr_equal(yarn_key_roll_find(&k, next.key_id), NULL); /* not in use yet */
    yarn_key_roll_add(&k, &next, 1100);
    assert_ptr_equal(yarn_key_roll_newest(&k), &k.next);
    assert_ptr_equal(yarn_key_roll_find(&k, first), &k.current);
    assert_ptr_equal(yarn_key_roll_find(&k, next.key_id), &k.next);
    assert_int_equal(yarn_key_roll_due(&k, 1000, 300, 1399), YARN_KEY_ROLL_NOTHING);
    assert_int_equal(yarn_key_roll_due(&k, 1000, 300, 1400), YARN_KEY_ROLL_ACTIVATE);
    yarn_key_roll_activate(&k);
    assert_int_equal(k.current.key_id, next.key_id);
    assert_int_equal(k.next.len, 0);
    assert_ptr_equal(yarn_key_roll_find(&k, first), NULL);
}

static void last_id(void **state)
{
    struct yarn_key_roll k = { .current = { .key_id = INT32_MAX, .len = 8 } };
    struct yarn_master_key next;

    (void)state;
    assert_int_equal(yarn_key_roll_make(&k, 8, &next), 0);
    assert_int_equal(next.key_id, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolls),
        cmocka_unit_test(last_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
