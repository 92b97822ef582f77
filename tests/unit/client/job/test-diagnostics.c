/* Tests client/job/diagnostics.c: truncation of long diagnostics, and the lines printed for a
 * person. */
#include "client/job/diagnostics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "common/str.h"

#define FIRST "Container exited with a non-zero exit code 1. Error file: prelaunch.err.\n"
#define EMPTY "Last 4096 bytes of prelaunch.err :\n\n"
#define HEADING "Last 4096 bytes of stderr :\n"

static char *tail_of(const char *text, int lines)
{
    static char shown[16384];
    char *printed = NULL;
    size_t size;
    FILE *out = open_memstream(&printed, &size);

    sv_escape(shown, sizeof(shown), text);
    (void)cli_diagnostics_tail(shown, lines, "| ", out);
    fclose(out);
    return printed;
}

static void tails(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        { FIRST EMPTY HEADING "one\ntwo\n\nthree\n\n", "| two\n| three\n" },
        { FIRST EMPTY HEADING "one\x1b[2J\xff", "| one\\x1b[2J\\xff\n" },
        { FIRST EMPTY HEADING "", "" },
        { FIRST EMPTY, "" },
        { FIRST "Last words :\nx\n", "" },
        { "", "" },
        { "Last ", "" },
        { HEADING HEADING "end", "| end\n" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        char *printed = tail_of(cases[i].text, 2);

        assert_string_equal(printed, cases[i].wanted);
        free(printed);
    }
}

static void summaries(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        { "exit code 7: 1 of 1\nmore", "exit code 7: 1 of 1" },
        { "failed 2 times\nFailing this attempt.Diagnostics: [2026-01-02 03:04:05.678]No space\nx",
          "failed 2 times: No space" },
        { "failed\nFailing this attempt.Diagnostics: For more detailed output, x", "failed" },
        { "failed\nFailing this attempt.Diagnostics: killedFor more detailed output, x",
          "failed: killed" },
        { "failed\nFailing this attempt.Diagnostics: [open", "failed: [open" },
        { "", "" },
    };
    char shown[64];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        cli_diagnostics_summary(cases[i].text, shown, sizeof(shown));
        assert_string_equal(shown, cases[i].wanted);
    }
    cli_diagnostics_summary(cases[1].text, shown, 20);
    assert_string_equal(shown, "failed 2 times: No ");
}

/* The end stays, however long it is, and the tail's heading with it. */
static void copies(void **state)
{
    char text[6000] = FIRST EMPTY HEADING, copy[512], *printed;

    (void)state;
    for (int i = 0; i < 400; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "line %d\n", i);
    cli_diagnostics_copy(copy, sizeof(copy), text);
    assert_true(sv_has_prefix(copy, FIRST HEADING));
    assert_true(sv_has_suffix(copy, "line 398\nline 399\n"));
    printed = tail_of(copy, 1);
    assert_string_equal(printed, "| line 399\n");
    free(printed);
    cli_diagnostics_copy(copy, sizeof(copy), "short");
    assert_string_equal(copy, "short");
    for (size_t size = 1; size < 300; size++) {
        cli_diagnostics_copy(copy, size, text);
        assert_true(strlen(copy) < size);
    }
    memset(text, 'x', sizeof(text) - 1);
    cli_diagnostics_copy(copy, sizeof(copy), text);
    assert_int_equal(strlen(copy), sizeof(copy) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(tails), cmocka_unit_test(summaries),
                                        cmocka_unit_test(copies) };

    return cmocka_run_group_tests_name("client/diagnostics", tests, NULL, NULL);
}
