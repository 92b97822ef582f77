/* Tests client/core/moment.c: moments as people type them, and what is none. */
#include "client/core/moment.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
/* after the three above */
#include <cmocka.h>

#define NOW 1764374400000 /* 2025-11-29 00:00 UTC */
#define HOUR 3600000LL

static void taken(void **state)
{
    static const struct {
        const char *text;
        bool utc;
        int64_t ms;
    } rows[] = {
        { "7d", false, NOW - 7 * 24 * HOUR },
        { "12h", true, NOW - 12 * HOUR },
        { "90m", false, NOW - 90 * 60000 },
        { "0s", false, NOW },
        { "1970-01-01", true, 0 },
        { "2025-11-28", true, NOW - 24 * HOUR },
        { "2025-11-28", false, NOW - 22 * HOUR }, /* the zone below is two hours behind */
        { "2025-11-28Z", false, NOW - 24 * HOUR },
        { "2025-11-28T12:30", true, NOW - 11 * HOUR - HOUR / 2 },
        { "2025-11-28 12:30", true, NOW - 11 * HOUR - HOUR / 2 },
        { "2025-11-28T12:30:05Z", false, NOW - 11 * HOUR - HOUR / 2 + 5000 },
        { "2025-11-28T12:30", false, NOW - 9 * HOUR - HOUR / 2 },
        { "2024-02-29", true, 1709164800000 },
        { "2999-01-01", true, 32472144000000 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        int64_t ms = -1;

        if (cli_moment_parse(rows[i].text, NOW, rows[i].utc, &ms) < 0 || ms != rows[i].ms)
            fail_msg("%s: %lld, not %lld", rows[i].text, (long long)ms, (long long)rows[i].ms);
    }
}

static void refused(void **state)
{
    static const char *const rows[] = { "",
                                        "7",
                                        "x",
                                        "-1d",
                                        "7w",
                                        "99999999999999999d",
                                        "99999d",
                                        "2025",
                                        "2025-11",
                                        "2025-02-30",
                                        "2025-13-01",
                                        "2025-11-28T",
                                        "2025-11-28T25:00",
                                        "2025-11-28ZZ",
                                        "2025-11-28 12:30 ",
                                        "1960-01-01",
                                        "yesterday",
                                        "2025-11-28T12:30:05+01:00" };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        int64_t ms = 42;

        if (cli_moment_parse(rows[i], NOW, true, &ms) != -EINVAL || ms != 42)
            fail_msg("%s: %lld", rows[i], (long long)ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(taken), cmocka_unit_test(refused) };

    setenv("TZ", "WEST+2", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
