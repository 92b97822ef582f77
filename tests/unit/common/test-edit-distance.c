/* Tests common/edit-distance.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/edit-distance.h"

static void test_known_distances(void **state)
{
    (void)state;
    assert_int_equal(sv_edit_distance("", ""), 0);
    assert_int_equal(sv_edit_distance("ps", "ps"), 0);
    assert_int_equal(sv_edit_distance("pss", "ps"), 1);
    assert_int_equal(sv_edit_distance("", "abc"), 3);
    assert_int_equal(sv_edit_distance("abc", ""), 3);
    assert_int_equal(sv_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(sv_edit_distance("flaw", "lawn"), 2);
    assert_int_equal(sv_edit_distance("hlep", "help"), 1); /* two letters exchanged */
    assert_int_equal(sv_edit_distance("memroy-mb", "memory-mb"), 1);
    assert_int_equal(sv_edit_distance("ca", "abc"), 3); /* no letter is edited twice */
}

static void test_long_names_are_cut(void **state)
{
    char a[4 * SV_EDIT_NAME_MAX + 1], b[4 * SV_EDIT_NAME_MAX + 1];

    (void)state;
    memset(a, 'a', sizeof(a) - 1);
    memset(b, 'a', sizeof(b) - 1);
    a[sizeof(a) - 1] = b[sizeof(b) - 1] = '\0';
    b[2 * SV_EDIT_NAME_MAX] = 'b';
    assert_int_equal(sv_edit_distance(a, b), 0);
    b[0] = 'b';
    assert_int_equal(sv_edit_distance(a, b), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_distances),
        cmocka_unit_test(test_long_names_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
