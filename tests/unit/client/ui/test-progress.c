/* Tests client/ui/progress.c: the line for terminals of any width, and the output to a terminal. */
#include "client/ui/progress.h"

#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* after the four above */
#include <cmocka.h>

#define TEXT "3 of 20 done, 5 running" /* 23 columns */

static void lines(void **state)
{
    static const struct {
        double share;
        unsigned columns;
        const char *wanted;
    } cases[] = {
        { 0.5, 80, "[##########..........] " TEXT },
        { 0, 80, "[....................] " TEXT },
        { 1, 80, "[####################] " TEXT },
        { 7, 80, "[####################] " TEXT },
        { -1, 80, TEXT },             /* not known */
        { 0.4, 32, "[##...] " TEXT }, /* 31 columns: the last one stays free */
        { 0.4, 31, TEXT },            /* too little room for a bar */
        { 0.4, 24, TEXT },
        { 0.4, 10, "3 of 20 d" },
        { 0.4, 1, "3" },
        { 0.4, 0, "3" },
    };
    char buf[CLI_PROGRESS_MAX], text[2 * CLI_PROGRESS_MAX];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++)
        assert_string_equal(cli_progress_line(cases[i].share, TEXT, cases[i].columns, buf),
                            cases[i].wanted);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(strlen(cli_progress_line(0.5, text, 100000, buf)), CLI_PROGRESS_MAX - 1);
}

struct terminal {
    int ours;
    FILE *theirs;
};

static void open_terminal(struct terminal *t, unsigned short columns)
{
    struct winsize size = { .ws_row = 24, .ws_col = columns };
    int fd;

    assert_int_equal(openpty(&t->ours, &fd, NULL, NULL, &size), 0);
    t->theirs = fdopen(fd, "w");
    assert_non_null(t->theirs);
}

static void close_terminal(struct terminal *t)
{
    (void)fclose(t->theirs);
    (void)close(t->ours);
}

/* All that was written up to an end mark. */
static void seen(struct terminal *t, const char *wanted)
{
    char text[4096];
    size_t n = 0;

    fputs("=", t->theirs);
    (void)fflush(t->theirs);
    while (n == 0 || text[n - 1] != '=') {
        ssize_t k = read(t->ours, text + n, sizeof(text) - 1 - n);

        assert_true(k > 0);
        n += (size_t)k;
    }
    text[n - 1] = '\0';
    assert_string_equal(text, wanted);
}

static void on_a_terminal(void **state)
{
    const struct cli_output o = { .format = CLI_TABLE };
    struct terminal t;

    (void)state;
    setenv("TERM", "xterm", 1);
    open_terminal(&t, 40);
    assert_true(cli_progress_begin(&o, t.theirs));
    cli_progress_show(0.5, "half");
    cli_progress_show(0.5, "half"); /* no change: not drawn again */
    seen(&t, "\r[##########..........] half\033[K");
    cli_progress_yield(t.theirs, true);
    seen(&t, "\r\033[K");
    cli_progress_yield(t.theirs, true); /* nothing to remove */
    seen(&t, "");
    cli_progress_show(0.5, "half"); /* it comes back */
    seen(&t, "\r[##########..........] half\033[K");
    cli_progress_yield(t.theirs, false);
    cli_progress_show(0.6, "more"); /* not into somebody's line */
    seen(&t, "\r\033[K");
    cli_progress_yield(t.theirs, true);
    cli_progress_show(-1, "a text that is longer than this terminal is wide");
    seen(&t, "\ra text that is longer than this termina\033[K");
    cli_progress_end();
    cli_progress_show(1, "late");
    seen(&t, "\r\033[K");
    assert_false(cli_progress_on());
    close_terminal(&t);
}

static void elsewhere(void **state)
{
    const struct cli_output usual = { .format = CLI_TABLE }, quiet = { .quiet = true },
                            json = { .format = CLI_JSON }, yaml = { .format = CLI_YAML };
    struct terminal t;
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    setenv("TERM", "xterm", 1);
    open_terminal(&t, 80);
    assert_false(cli_progress_begin(&quiet, t.theirs));
    assert_false(cli_progress_begin(&json, t.theirs));
    assert_false(cli_progress_begin(&yaml, t.theirs));
    assert_false(cli_progress_begin(&usual, file));
    setenv("TERM", "dumb", 1);
    assert_false(cli_progress_begin(&usual, t.theirs));
    unsetenv("TERM");
    assert_false(cli_progress_begin(&usual, t.theirs));
    cli_progress_show(0.5, "half");
    cli_progress_yield(t.theirs, true);
    seen(&t, "");
    setenv("TERM", "xterm", 1);
    assert_true(cli_progress_begin(&usual, t.theirs));
    cli_progress_show(0.5, "half");
    cli_progress_yield(file, false); /* output to a file leaves the line as it is */
    cli_progress_show(1, "all");
    seen(&t, "\r[##########..........] half\033[K\r[####################] all\033[K");
    cli_progress_end();
    close_terminal(&t);
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(on_a_terminal),
        cmocka_unit_test(elsewhere),
    };

    return cmocka_run_group_tests_name("client/progress", tests, NULL, NULL);
}
