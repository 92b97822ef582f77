/* rm-lite/web/pages/page-timeline.c: the last lines of what a container has written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rm-lite/web/pages/page-timeline.h"

static void last_lines(void **state)
{
    (void)state;
    assert_string_equal(rm_page_last_lines("", 3), "");
    assert_string_equal(rm_page_last_lines("\n\n", 3), "\n\n");
    assert_string_equal(rm_page_last_lines("a\nb\nc\nd\n", 2), "c\nd\n");
    assert_string_equal(rm_page_last_lines("a\nb", 5), "a\nb");
    assert_string_equal(
        rm_page_last_lines("Exit code: 1\nLast 9 bytes of prelaunch.err :\nLast 12 bytes of "
                           "stderr :\none\ntwo\nthree\n\n",
                           2),
        "two\nthree\n\n");
    assert_string_equal(rm_page_last_lines("Last 12 bytes of stderr :", 2),
                        "Last 12 bytes of stderr :");
    assert_string_equal(rm_page_last_lines("Last call:\nx", 5), "Last call:\nx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_lines),
    };

    return cmocka_run_group_tests_name("page-timeline", tests, NULL, NULL);
}
