/* common/web/exec-words.c: what is put is read again, and what a hostile peer puts is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/web/exec-words.h"

static void test_start(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct sv_exec_start s = { .terminal = true,
                               .rows = 24,
                               .columns = 300,
                               .term = "xterm-256color",
                               .arguments = { "ls", "", "a b", NULL } },
                         got;
    (void)state;
    assert_int_equal(sv_exec_put_start(&b, &s), 0);
    assert_int_equal(b.data[0], SV_EXEC_START);
    assert_int_equal(sv_exec_read_start(b.data + 1, b.len - 1, &got), 0);
    assert_true(got.terminal && got.rows == 24 && got.columns == 300);
    assert_string_equal(got.term, "xterm-256color");
    assert_string_equal(got.arguments[0], "ls");
    assert_string_equal(got.arguments[1], "");
    assert_string_equal(got.arguments[2], "a b");
    assert_null(got.arguments[3]);
    for (size_t n = 0; n < b.len - 1; n++) /* cut anywhere: another request, or none */
        (void)!sv_exec_read_start(b.data + 1, n, &got);
    s.term = "\033[31m"; /* no terminal's name */
    b.len = 0;
    assert_int_equal(sv_exec_put_start(&b, &s), 0);
    assert_int_equal(sv_exec_read_start(b.data + 1, b.len - 1, &got), 0);
    assert_string_equal(got.term, "");
}

#define REFUSED(bytes)                                                                             \
    assert_int_equal(sv_exec_read_start((const uint8_t *)(bytes), sizeof(bytes) - 1, &got),        \
                     -EBADMSG)

static void test_refused_starts(void **state)
{
    struct sv_exec_start got;
    uint8_t many[5 + 1 + 2 * (SV_EXEC_ARGUMENTS_MAX + 1)] = { 0 };
    (void)state;
    REFUSED("");
    REFUSED("\0\0\1\0\1");
    REFUSED("\0\0\1\0\1\0");        /* no argument */
    REFUSED("\0\0\1\0\1\0\0");      /* an empty one first */
    REFUSED("\2\0\1\0\1\0ls\0");    /* no boolean */
    REFUSED("\0\0\1\0\1\0ls");      /* no NUL */
    REFUSED("\0\0\1\0\1a=b\0ls\0"); /* a name that could be two variables */
    for (size_t i = 6; i < sizeof(many); i += 2)
        many[i] = 'x';
    assert_int_equal(sv_exec_read_start(many, sizeof(many), &got), -EBADMSG);
    assert_int_equal(sv_exec_read_start(many, sizeof(many) - 2, &got), 0);
}

static void test_large_starts(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    static char text[SV_EXEC_START_MAX];
    struct sv_exec_start s = { .term = "", .arguments = { text, NULL } };
    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    assert_int_equal(sv_exec_put_start(&b, &s), -E2BIG);
    text[sizeof(text) - 16] = '\0';
    b.len = 0;
    assert_int_equal(sv_exec_put_start(&b, &s), 0);
}

static void test_size(void **state)
{
    uint16_t rows, columns;
    (void)state;
    assert_int_equal(sv_exec_read_size((const uint8_t *)"\0\x18\1\0", 4, &rows, &columns), 0);
    assert_true(rows == 24 && columns == 256);
    assert_int_equal(sv_exec_read_size((const uint8_t *)"\0\x18\1\0", 3, &rows, &columns),
                     -EBADMSG);
    assert_int_equal(sv_exec_read_size((const uint8_t *)"\0\x18\1\0\0", 5, &rows, &columns),
                     -EBADMSG);
}

static void test_end(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct sv_exec_end e = { .reason = SV_EXEC_FAILED, .code = 255, .text = "no" }, got;
    static const uint8_t hostile[] = "\0\7ab\033[2J\xff\n";
    static uint8_t large[2 + 4096];
    (void)state;
    assert_int_equal(sv_exec_put_end(&b, &e), 0);
    assert_int_equal(b.data[0], SV_EXEC_END);
    assert_int_equal(sv_exec_read_end(b.data + 1, b.len - 1, &got), 0);
    assert_true(got.reason == SV_EXEC_FAILED && got.code == 255);
    assert_string_equal(got.text, "no");
    assert_int_equal(sv_exec_read_end(hostile, sizeof(hostile) - 1, &got), 0);
    assert_true(got.reason == SV_EXEC_EXITED && got.code == 7);
    assert_string_equal(got.text, "ab [2J\xef\xbf\xbd ");
    memset(large, 'x', sizeof(large));
    large[0] = 0;
    assert_int_equal(sv_exec_read_end(large, sizeof(large), &got), 0);
    assert_int_equal(strlen(got.text), SV_EXEC_TEXT_MAX - 1);
    large[0] = 2;
    assert_int_equal(sv_exec_read_end(large, sizeof(large), &got), -EBADMSG);
    assert_int_equal(sv_exec_read_end(large, 1, &got), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),        cmocka_unit_test(test_refused_starts),
        cmocka_unit_test(test_large_starts), cmocka_unit_test(test_size),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
