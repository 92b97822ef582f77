/* Tests client/logs/log-tail.c: the last lines, whatever the pieces they arrive in. */
#include "client/logs/log-tail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static void last(uint64_t lines, const char *text, size_t piece, const char *wanted)
{
    struct cli_tail t;

    cli_tail_init(&t, lines);
    for (size_t at = 0, n = strlen(text); at < n; at += piece)
        cli_tail_put(&t, text + at, SV_MIN(piece, n - at));
    cli_tail_trim(&t);
    assert_int_equal(t.b.len, strlen(wanted));
    assert_memory_equal(t.b.len ? (char *)t.b.data : "", wanted, t.b.len);
    cli_tail_free(&t);
}

static void lines(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 20; piece += 6) {
        last(2, "one\ntwo\nthree\n", piece, "two\nthree\n");
        last(1, "one\ntwo\nthree", piece, "three");
        last(1, "one\n\n", piece, "\n");
        last(3, "one\ntwo\nthree\n", piece, "one\ntwo\nthree\n");
        last(9, "one\ntwo", piece, "one\ntwo");
        last(0, "one\ntwo\n", piece, "");
        last(5, "", piece, "");
    }
}

/* 100 MiB: the lines stay in bounds; a line without end keeps its last bytes. */
static void large(void **state)
{
    static char block[1 << 20];
    struct cli_tail t;

    (void)state;
    memset(block, 'x', sizeof(block));
    cli_tail_init(&t, 3);
    for (int i = 0; i < 100; i++) {
        block[sizeof(block) - 1] = i % 10 == 9 ? '\n' : 'x';
        cli_tail_put(&t, block, sizeof(block));
        assert_true(t.b.len <= 2 * CLI_TAIL_BYTES + (1 << 20));
    }
    cli_tail_trim(&t);
    assert_int_equal(t.b.len, 30 << 20);
    cli_tail_clear(&t);
    memset(block, 'y', sizeof(block));
    for (int i = 0; i < 80; i++)
        cli_tail_put(&t, block, sizeof(block));
    cli_tail_trim(&t);
    assert_int_equal(t.b.len, CLI_TAIL_BYTES);
    cli_tail_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lines), cmocka_unit_test(large) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
