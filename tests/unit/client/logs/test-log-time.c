/* The time of a log's last change. */
#include "client/logs/log-time.h"

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_zones(void **state)
{
    int64_t t = 0;

    (void)state;
    assert_int_equal(cli_log_time_parse("Mon Nov 23 07:31:11 +0000 2026", &t), 0);
    assert_int_equal(t, 1795419071);
    assert_int_equal(cli_log_time_parse("Mon Nov 23 09:31:11 +0200 2026", &t), 0);
    assert_int_equal(t, 1795419071);
    assert_int_equal(cli_log_time_parse("Sun Nov 22 23:31:11 -0800 2026", &t), 0);
    assert_int_equal(t, 1795419071);
}

static void test_other_text(void **state)
{
    static const char *const wrong[] = { "",
                                         "yesterday",
                                         "Mon Nov 23 07:31:11 +0000",
                                         "Mon Nov 23 07:31:11 +0000 2026 and more",
                                         "Mon Nov 33 07:31:11 +0000 2026",
                                         "2026-11-23T07:31:11Z" };
    int64_t t = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(cli_log_time_parse(wrong[i], &t), -EINVAL);
    assert_int_equal(t, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zones),
        cmocka_unit_test(test_other_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
