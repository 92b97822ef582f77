/* common/log.c: one escaped line a message, levels. The journal itself needs a running journald. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"

static char got[16384];

/* Runs fn with stderr in a pipe; the text lands in got. */
static void capture(void (*fn)(void))
{
    int p[2], saved = dup(STDERR_FILENO);
    ssize_t n;

    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_true(dup2(p[1], STDERR_FILENO) >= 0);
    fn();
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    (void)sv_close(p[1]);
    n = read(p[0], got, sizeof(got) - 1);
    assert_true(n >= 0);
    got[n] = '\0';
    (void)sv_close(p[0]);
    (void)sv_close(saved);
}

static void hostile(void)
{
    sv_log(SV_LOG_WARNING, "container_1_0001_01_000001", "name \"%s\"",
           "a\n2026-01-01T00:00:00.000Z err nodemanager: forged\x1b[2J\xff");
}

static void too_long(void)
{
    static char big[10000];

    memset(big, '\n', sizeof(big) - 1);
    sv_log_err("%s", big);
}

static void quiet(void)
{
    sv_log_debug("not shown");
}

static void bad_level(void)
{
    assert_int_equal(setenv("SELVEDGE_LOG_LEVEL", "loud\n", 1), 0);
    sv_log_init("test");
    assert_int_equal(setenv("SELVEDGE_LOG_LEVEL", "debug", 1), 0);
    sv_log_init("test");
}

static void test_line(void **state)
{
    (void)state;
    sv_log_init("test");
    sv_clock_set_test(1, 1767323045678);
    capture(hostile);
    assert_string_equal(got, "2026-01-02T03:04:05.678Z warning tests: container_1_0001_01_000001: "
                             "name \"a\\x0a2026-01-01T00:00:00.000Z err nodemanager: "
                             "forged\\x1b[2J\\xff\"\n");
    sv_clock_reset();
}

static void test_long(void **state)
{
    (void)state;
    capture(too_long);
    assert_true(strlen(got) < 5000);
    assert_ptr_equal(strchr(got, '\n'), got + strlen(got) - 1);
}

static void test_levels(void **state)
{
    (void)state;
    capture(quiet);
    assert_string_equal(got, "");
    capture(bad_level);
    assert_non_null(strstr(got, "\"loud\\x0a\" is not a level"));
    assert_int_equal(sv_log_get_level(), SV_LOG_DEBUG);
    capture(quiet);
    assert_non_null(strstr(got, "not shown"));
    sv_log_set_level(SV_LOG_INFO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_levels),
    };

    assert_int_equal(unsetenv("SELVEDGE_LOG_LEVEL"), 0);
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
