/* web/log-frame.c: the lines around a log file are those of Hadoop's NodeManager, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nodemanager/web/log-frame.h"

static struct nm_log_frame frame = { .container = "container_1_0001_01_000002",
                                     .node = "host:8041",
                                     .file = "stdout",
                                     .length = 12,
                                     .modified_s = 1700000000 };

static void check(const char *want_before, const char *want_after)
{
    char *before = NULL, *after = NULL;

    assert_int_equal(nm_log_frame(&frame, &before, &after), 0);
    assert_string_equal(before, want_before);
    assert_string_equal(after, want_after);
    free(before);
    free(after);
}

#define STARS "***********************************************************************\n\n"

static void test_lines(void **state)
{
    static const char before[] = "Container: container_1_0001_01_000002 on host:8041\n"
                                 "LogAggregationType: LOCAL\n"
                                 "==================================================\n"
                                 "LogType:stdout\n"
                                 "LogLastModifiedTime:Tue Nov 14 22:13:20 +0000 2023\n"
                                 "LogLength:12\n"
                                 "LogContents:\n";

    (void)state;
    check(before, "End of LogType:stdout.\n" STARS);
    frame.running = true;
    check(before, "End of LogType:stdout.This log file belongs to a running container "
                  "(container_1_0001_01_000002) and so may not be complete.\n" STARS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests_name("log-frame", tests, NULL, NULL);
}
