/* Tests client/http/plain-answer.c: simple answers, however they are cut, and those that it leaves
 * to libcurl. */
#include "client/http/plain-answer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK "HTTP/1.1 200 OK\r\n"
#define MAX 10

/* No part of it is an answer: the whole is. */
static void taken(const char *text, int status, const char *body)
{
    struct cli_plain_answer a = { 0 };
    size_t len = strlen(text);

    for (size_t n = 0; n < len; n++)
        assert_int_equal(cli_plain_answer(text, n, MAX, &a), -EAGAIN);
    assert_int_equal(cli_plain_answer(text, len, MAX, &a), 0);
    assert_int_equal(a.status, status);
    assert_int_equal(a.len, strlen(body));
    assert_int_equal(a.body + a.len, len);
    assert_memory_equal(text + a.body, body, a.len);
}

static void test_taken(void **state)
{
    (void)state;
    taken(OK "Content-Length: 2\r\n\r\n{}", 200, "{}");
    taken(OK "content-length:\t2 \r\nX: y\r\nEmpty:\r\n\r\n\r\n", 200, "\r\n");
    taken("HTTP/1.0 404\r\nContent-Length: 0\r\n\r\n", 404, "");
    taken("HTTP/1.1 302 \r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n", 302, "");
    taken(OK "Content-Length: 000000010\r\n\r\n0123456789", 200, "0123456789");
}

static void test_left(void **state)
{
    static const char *const texts[] = {
        "HTTP/2 200\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.2 200\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 20\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 2000\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 204 None\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 600\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
        "\r\n\r\n",
        OK "\r\n",
        OK "Content-Length: 11\r\n\r\n",
        OK "Content-Length: 1\r\n\r\n{}",
        OK "Content-Length: -1\r\n\r\n",
        OK "Content-Length: +1\r\n\r\n{",
        OK "Content-Length: \r\n\r\n",
        OK "Content-Length: 1 1\r\n\r\n{",
        OK "Content-Length: 18446744073709551616\r\n\r\n",
        OK "Content-Length: 1\r\nContent-Length: 1\r\n\r\n{",
        OK "Content-Length : 1\r\n\r\n{",
        OK "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n{",
        OK "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n{",
        OK "X: y\r\n folded\r\nContent-Length: 1\r\n\r\n{",
        OK "no colon\r\nContent-Length: 1\r\n\r\n{",
        OK ": y\r\nContent-Length: 1\r\n\r\n{",
        OK "X: a\nContent-Length: 1\r\n\r\n{",
        OK "X: a\rb\r\nContent-Length: 1\r\n\r\n{",
    };
    struct cli_plain_answer a;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(texts); i++)
        assert_int_equal(cli_plain_answer(texts[i], strlen(texts[i]), MAX, &a), -EPROTO);
}

static void test_head(void **state)
{
    static char text[2 * CLI_PLAIN_HEAD_MAX];
    struct cli_plain_answer a;

    (void)state;
    memset(text, 'x', sizeof(text));
    assert_int_equal(cli_plain_answer(text, CLI_PLAIN_HEAD_MAX - 1, MAX, &a), -EAGAIN);
    assert_int_equal(cli_plain_answer(text, CLI_PLAIN_HEAD_MAX, MAX, &a), -EPROTO);
    assert_int_equal(cli_plain_answer(OK "X: \0\r\nContent-Length: 0\r\n\r\n",
                                      sizeof(OK "X: \0\r\nContent-Length: 0\r\n\r\n") - 1, MAX, &a),
                     -EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
