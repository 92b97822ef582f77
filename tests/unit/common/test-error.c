/* Tests common/error.c: texts are cut, wrapped and never overrun. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/error.h"

static void test_set(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(sv_error_set(&err, -EINVAL, "%s: bad %d", "thing", 7), -EINVAL);
    assert_int_equal(err.code, -EINVAL);
    assert_string_equal(err.text, "thing: bad 7");
    assert_int_equal(sv_error_set(NULL, -EPERM, "nobody reads this"), -EPERM);
}

static void test_errno(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(sv_error_errno(&err, -ENOENT, "/a/b"), -ENOENT);
    assert_string_equal(err.text, "/a/b: No such file or directory");
    (void)sv_error_errno(&err, -99999, "x");
    assert_string_equal(err.text, "x: error 99999");
}

static void test_wrap(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    (void)sv_error_set(&err, -EACCES, "open failed");
    assert_int_equal(sv_error_wrap(&err, "container %d", 3), -EACCES);
    assert_string_equal(err.text, "container 3: open failed");
    /* an argument that points into the text itself */
    (void)sv_error_set(&err, -EACCES, "again: %s", err.text);
    assert_string_equal(err.text, "again: container 3: open failed");
    assert_true(sv_error_wrap(NULL, "x") < 0);
}

static void test_cut(void **state)
{
    struct sv_error err = { 0 };
    char big[3 * SV_ERROR_TEXT_MAX];

    (void)state;
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    (void)sv_error_set(&err, -EINVAL, "%s", big);
    assert_int_equal(strlen(err.text), SV_ERROR_TEXT_MAX - 1);
    assert_string_equal(err.text + SV_ERROR_TEXT_MAX - 4, "...");
    (void)sv_error_errno(&err, -EINVAL, "%s", big);
    assert_int_equal(strlen(err.text), SV_ERROR_TEXT_MAX - 1);
    (void)sv_error_wrap(&err, "w");
    assert_memory_equal(err.text, "w: xxx", 6);
    assert_int_equal(strlen(err.text), SV_ERROR_TEXT_MAX - 1);
    /* every length around the limit */
    for (size_t n = SV_ERROR_TEXT_MAX - 40; n < SV_ERROR_TEXT_MAX + 3; n++) {
        big[n] = '\0';
        (void)sv_error_errno(&err, -EINVAL, "%s", big);
        assert_true(strlen(err.text) < SV_ERROR_TEXT_MAX);
        big[n] = 'x';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
