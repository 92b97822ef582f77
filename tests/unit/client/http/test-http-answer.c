/* The head of a server's answer. */
#include "client/http/http-answer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define OK "HTTP/1.1 200 OK\r\n"

static void is_read(const char *text, int status, int64_t announced, const char *body)
{
    struct cli_http_answer a;

    assert_int_equal(cli_http_answer(text, strlen(text), &a), 0);
    assert_int_equal(a.status, status);
    assert_int_equal(a.announced, announced);
    assert_string_equal(text + a.head, body);
}

static void test_heads(void **state)
{
    (void)state;
    is_read(OK "\r\n{}", 200, -1, "{}");
    is_read(OK "Content-Length: 2\r\nServer: x\r\n\r\n{}", 200, 2, "{}");
    is_read(OK "content-LENGTH:\t2 \r\n\r\n{}", 200, 2, "{}");
    is_read("HTTP/1.0 404\r\n\r\n", 404, -1, "");
    is_read("HTTP/1.0 307 Temporary Redirect\nLocation: http://other/\n\nbody", 307, -1, "body");
    is_read(OK "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 200, 2, "{}");
    is_read(OK "Transfer-Encoding: identity\r\n\r\n\r\n", 200, -1, "\r\n");
    is_read(OK "no colon\r\nContent-Lengths: x\r\n\r\n", 200, -1, "");
}

static void test_parts(void **state)
{
    static const char text[] = OK "Content-Length: 2\r\n\r\n";
    struct cli_http_answer a;

    (void)state;
    for (size_t n = 0; n < sizeof(text) - 1; n++)
        assert_int_equal(cli_http_answer(text, n, &a), -EAGAIN);
    assert_int_equal(cli_http_answer(text, sizeof(text) - 1, &a), 0);
}

static void test_wrong(void **state)
{
    static const char *const wrong[] = {
        "\r\n\r\n",
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 600 OK\r\n\r\n",
        "HTTP/1.1 2000\r\n\r\n",
        "HTTP/1.1 2\r\n\r\n",
        OK "Content-Length: -1\r\n\r\n",
        OK "Content-Length: 2x\r\n\r\n",
        OK "Content-Length:\r\n\r\n",
        OK "Content-Length: 99999999999999999999999\r\n\r\n",
        OK "Content-Length: 2\r\nContent-Length: 3\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\n",
        OK "Content-Encoding: gzip\r\n\r\n",
    };
    struct cli_http_answer a;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(cli_http_answer(wrong[i], strlen(wrong[i]), &a), -EPROTO);
}

static void test_endless_head(void **state)
{
    static char text[2 * CLI_HTTP_HEAD_MAX];
    struct cli_http_answer a;

    (void)state;
    memset(text, 'a', sizeof(text));
    memcpy(text, OK, strlen(OK));
    assert_int_equal(cli_http_answer(text, CLI_HTTP_HEAD_MAX - 1, &a), -EAGAIN);
    assert_int_equal(cli_http_answer(text, sizeof(text), &a), -EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_endless_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
