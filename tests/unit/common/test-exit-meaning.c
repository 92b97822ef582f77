/* common/exit-meaning.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/exit-meaning.h"

static void test_wait_status(void **state)
{
    char text[64];

    (void)state;
    assert_string_equal(sv_exit_text("tar", 0, text, sizeof(text)), "tar exited with 0");
    assert_string_equal(sv_exit_text("tar", 2 << 8, text, sizeof(text)), "tar exited with 2");
    assert_string_equal(sv_exit_text("tar", 137 << 8, text, sizeof(text)),
                        "tar exited with 137: killed by SIGKILL");
    assert_string_equal(sv_exit_text("tar", 11, text, sizeof(text)), "tar was killed by signal 11");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
