/* Tests common/late-library.c: symbols are found once, and a library or symbol that is not there is
 * named, with a remedy. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "common/late-library.h"

static double (*cosine)(double);
static int (*nothing)(void);

static const struct sv_late_symbol good[] = { { "cos", &cosine } };
static const struct sv_late_symbol bad[] = { { "cos", &cosine }, { "no_such_symbol", &nothing } };

static void test_found(void **state)
{
    struct sv_late_library l = { .soname = "libm.so.6", .missing = "x", .product = "libc" };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(sv_late_load(&l, good, 1, &err), 0);
    assert_true(cosine(0) == 1);
    cosine = NULL;
    assert_int_equal(sv_late_load(&l, good, 1, &err), 0); /* loaded: nothing is done */
    assert_null(cosine);
}

static void test_refused(void **state)
{
    struct sv_late_library none = { .soname = "libnone.so.9",
                                    .missing = "sums need libnone",
                                    .product = "libnone" };
    struct sv_late_library old = { .soname = "libm.so.6", .missing = "x", .product = "libc" };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(sv_late_load(&none, good, 1, &err), -ELIBACC);
    assert_non_null(strstr(err.text, "sums need libnone: libnone.so.9: cannot open"));
    assert_int_equal(sv_late_load(&old, bad, 2, &err), -ELIBACC);
    assert_string_equal(err.text, "libm.so.6 has no no_such_symbol: a newer libc is needed");
    assert_null(nothing);
    assert_int_equal(sv_late_load(&old, good, 1, &err), 0); /* the next call tries again */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_found),
                                        cmocka_unit_test(test_refused) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
