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

static void test_ends(void **state)
{
    static const struct {
        int code;
        const char *diagnostics, *name;
    } ends[] = {
        { 0, NULL, "success" },
        { 1, NULL, "exit_code" },
        { 128, NULL, "exit_code" },
        { 137, NULL, "signal" },
        { 154, NULL, "lost" },
        { -1, NULL, "not_started" },
        { -1000, NULL, "not_started" },
        { -100, NULL, "lost" },
        { -100, "Container released on a *lost* node", "lost" },
        { -100, "Container released by application", "master" },
        { -100, "Container of a completed application", "application" },
        { -100, "Container expired since it was unused", "not_started" },
        { -101, NULL, "disks" },
        { -102, NULL, "preempted" },
        { -103, NULL, "memory" },
        { -104, NULL, "memory" },
        { -105, NULL, "master" },
        { -106, NULL, "resourcemanager" },
        { -107, NULL, "application" },
        { -108, NULL, "scheduler" },
        { -109, NULL, "logs" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        assert_string_equal(sv_end_name(sv_exit_end(ends[i].code, ends[i].diagnostics)),
                            ends[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_status),
        cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
