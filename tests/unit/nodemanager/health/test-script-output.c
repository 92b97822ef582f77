/* health/script-output.c: which output makes a node unhealthy, and the report of it. Each output is
 * read whole, and byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/health/script-output.h"

static void read_in_parts(const char *p, size_t n, size_t part, char ret[NM_SCRIPT_REPORT_MAX])
{
    struct nm_script_output o;

    memset(&o, 'x', sizeof(o));
    nm_script_output_begin(&o);
    for (size_t i = 0; i < n; i += part)
        nm_script_output_add(&o, p + i, SV_MIN(part, n - i));
    nm_script_output_report(&o, ret);
    assert_int_equal(o.failed, *ret != 0);
}

static void expect(const char *p, size_t n, const char *report)
{
    char text[NM_SCRIPT_REPORT_MAX];

    for (size_t part = 1; part <= 7; part++) {
        read_in_parts(p, n, part, text);
        assert_string_equal(text, report);
    }
    read_in_parts(p, n, n ? n : 1, text);
    assert_string_equal(text, report);
}

/* As in Hadoop: the line's begin, upper case, and all of the output is the report. */
static void lines(void **state)
{
    static const struct {
        const char *output;
        bool failed;
    } rows[] = {
        { "", false },
        { "OK\n", false },
        { "ERROR", true },
        { "ERROR disk is broken\n", true },
        { "checked\nERROR disk is broken\nmore\n", true },
        { "checked\n\nERROR", true },
        { "ERRORS\n", true },
        { " ERROR\n", false },
        { "Error\n", false },
        { "ERRO\nR\n", false },
        { "EERROR\n", false },
        { "no ERROR\n", false },
        { "\r\nERROR\r\n", true },
        { "\xc3\xa4\nERROR \xc3\xa4\n", true },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        expect(rows[i].output, strlen(rows[i].output), rows[i].failed ? rows[i].output : "");
}

/* Bytes that are no text of UTF-8. */
static void any_bytes(void **state)
{
    (void)state;
    expect("ERROR \xff\0.\n", 10, "ERROR \xef\xbf\xbd\xef\xbf\xbd.\n");
    expect("ERROR \xe2\x82", 8, "ERROR \xef\xbf\xbd\xef\xbf\xbd");
}

/* The report of a long output: its first lines with ERROR, wherever they are, no half character. */
static void long_output(void **state)
{
    static char output[100000];
    char report[NM_SCRIPT_REPORT_MAX];

    (void)state;
    memset(output, 'x', sizeof(output));
    expect(output, sizeof(output), "");
    memcpy(output + 50000, "\nERROR one\nfine\nERROR two\n", 26);
    expect(output, sizeof(output), "ERROR one\nERROR two\n...");

    memset(output, '\xff', sizeof(output));
    memcpy(output, "ERROR", 5);
    read_in_parts(output, sizeof(output), 1000, report);
    assert_int_equal(strlen(report), 5 + 338 * 3 + 3); /* 1024 has room for 338 more */
    assert_string_equal(report + strlen(report) - 6, "\xef\xbf\xbd...");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lines), cmocka_unit_test(any_bytes),
                                        cmocka_unit_test(long_output) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
