/* Tests common/web/web-gate.c and the gate of http-exchange.c over real sockets: handlers that
 * wait, tickets that are judged late, clients and servers that go meanwhile, too many, headers at
 * their limit. */
#include "tests/unit/common/web/gated-server.h"

/* A handler that waits is called again; the ticket, which does for once, is judged once. */
static void handler_waits(void **state)
{
    int fd;
    const char *a;

    (void)state;
    serve("kerberos", true, false);
    later = 2;
    fd = connect_client();
    request(fd, "GET", "/later", with("alice"));
    while (calls < 3) {
        judge();
        turn(1000);
        sv_http_retry(http);
    }
    a = answer(fd);
    has(a, "user <alice>");
    has(a, "Set-Cookie: " ALICE);
    assert_int_equal(asked, 1);
}

/* A wake-up that is not of the acceptor's changes nothing. */
static void judged_late(void **state)
{
    int fd;

    (void)state;
    serve("kerberos", true, false);
    fd = connect_client();
    request(fd, "GET", "/", with("alice"));
    while (asked == 0)
        turn(1000);
    assert_int_equal(gate.waiting, 1);
    for (int i = 0; i < 3; i++) {
        sv_http_retry(http);
        turn(1000);
    }
    assert_int_equal(asked, 1);
    assert_int_equal(calls, 0);
    has(answer(fd), "user <alice>");
}

static void client_goes(void **state)
{
    int fd;

    (void)state;
    serve("kerberos", true, false);
    fd = connect_client();
    request(fd, "GET", "/", with("alice"));
    while (asked == 0)
        turn(1000);
    sv_close(fd);
    turn(1000);
    judge();
    while (open_questions > 0)
        turn(1000);
    assert_int_equal(gate.waiting, 0);
    has(get("/", with("alice")), "user <alice>");
}

static void server_goes(void **state)
{
    int fd;

    (void)state;
    serve("kerberos", true, false);
    fd = connect_client();
    request(fd, "GET", "/", with("alice"));
    while (asked == 0)
        turn(1000);
    http = sv_http_free(http);
    assert_int_equal(open_questions, 0);
    assert_int_equal(gate.waiting, 0);
    sv_close(fd);
}

static void too_many(void **state)
{
    int fds[SV_WEB_GATE_WAITING_MAX];
    const char *a;
    int fd;

    (void)state;
    serve("kerberos", true, false);
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++) {
        fds[i] = connect_client();
        request(fds[i], "GET", "/", with("alice"));
    }
    while (asked < SV_ARRAY_LEN(fds))
        turn(1000);
    fd = connect_client();
    request(fd, "GET", "/", with("alice"));
    for (int i = 0; i < 20; i++)
        turn(1000);
    assert_int_equal(asked, SV_WEB_GATE_WAITING_MAX);
    a = answer(fd); /* which judges the others */
    has(a, " 503 ");
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++)
        has(answer(fds[i]), "user <alice>");
}

/* A header with the largest ticket, one with a larger one, and one beyond the connection's
 * memory. */
static void sizes(void **state)
{
    _cleanup_free_ char *ticket = malloc(SV_WEB_TOKEN_MAX + 30001);
    const char *a;

    (void)state;
    serve("kerberos", true, false);
    memset(ticket, 'x', SV_WEB_TOKEN_MAX + 30000);
    memcpy(ticket, "replay", 7); /* the acceptor of this test reads text */
    memset(ticket + 7, 'x', SV_WEB_TOKEN_MAX + 30000 - 7);
    for (size_t extra = 0; extra <= 30000; extra += extra ? 29700 : 300) {
        _cleanup_free_ char *value = NULL, *headers = NULL;

        assert_int_equal(
            sv_spnego_challenge((const uint8_t *)ticket, SV_WEB_TOKEN_MAX + extra, &value), 0);
        assert_int_equal(sv_asprintf(&headers, "Authorization: %s\r\n", value), 0);
        a = get("/", headers);
        if (extra < 1000 || *a) /* a client that goes on sending may lose the answer */
            has(a, extra ? " 431 " : " 403 ");
        if (extra < 1000)
            has(a, extra ? "larger than 48 KiB" : "Request is a replay");
    }
    has(get("/", with("alice")), "user <alice>");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(handler_waits), TEST(judged_late), TEST(client_goes),
        TEST(server_goes),   TEST(too_many),    TEST(sizes),
    };

    return cmocka_run_group_tests_name("web-gate-waits", tests, NULL, NULL);
}
