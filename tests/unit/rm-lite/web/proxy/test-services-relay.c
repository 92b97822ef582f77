/* rm-lite/web/proxy/services-relay.c with a server at the socket that says what it was sent: the
 * caller's name is the ResourceManager's to say, bodies may be larger than elsewhere, nothing
 * reaches the server of a caller without a name. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/fd.h"
#include "common/str.h"

static char socket_path[] = "/tmp/test-relay-XXXXXX";
static const char *const keys[][2] = { { "yarn.webapp.api-service.enable", "true" },
                                       { "selvedge.resourcemanager.services.socket", socket_path },
                                       { NULL, NULL } };

struct peer { /* selvedge-services' place */
    int listening;
    char got[8192]; /* the last request's head, and the number of its bytes */
    size_t n;
    const char *answer;
};

static void open_peer(struct peer *p)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };

    *p = (struct peer){ .listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                        .answer = "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\n"
                                  "Set-Cookie: a=b\r\nContent-Length: 2\r\n\r\n{}" };
    (void)unlink(socket_path);
    (void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", socket_path);
    assert_int_equal(bind(p->listening, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(p->listening, 8), 0);
}

static size_t body_length(const char *head)
{
    const char *at = strstr(head, "Content-Length: ");
    int64_t n = 0;
    char number[24] = "";

    if (!at)
        return 0;
    (void)snprintf(number, sizeof(number), "%.*s", (int)strspn(at + 16, "0123456789"), at + 16);
    assert_int_equal(sv_parse_i64(number, 0, INT64_MAX, &n), 0);
    return (size_t)n;
}

/* Takes a request that has come, and answers it. */
static void serve_peer(struct fix *f, struct peer *p)
{
    _cleanup_close_ int fd = accept4(p->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    static char bytes[5 << 20];
    const char *end = NULL;

    if (fd < 0)
        return;
    p->n = 0;
    while (!end || p->n < (size_t)(end - bytes) + 4 + body_length(p->got)) {
        ssize_t k = recv(fd, bytes + p->n, sizeof(bytes) - 1 - p->n, 0);

        if (k < 0) {
            assert_int_equal(errno, EAGAIN);
            assert_true(sd_event_run(f->event, 1000) >= 0);
            continue;
        }
        assert_true(k > 0);
        p->n += (size_t)k;
        bytes[p->n] = '\0';
        end = strstr(bytes, "\r\n\r\n");
        (void)snprintf(p->got, sizeof(p->got), "%.*s", end ? (int)(end - bytes) : 0, bytes);
    }
    assert_int_equal(send(fd, p->answer, strlen(p->answer), MSG_NOSIGNAL), strlen(p->answer));
}

static char answer[8192];

/* Sends a request and returns the status of its answer, which is in `answer`. */
static int ask(struct fix *f, struct peer *p, const char *head, size_t body)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons(f->rm->web_port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t n = strlen(head), sent = 0, got = 0;
    char *text = calloc(1, n + body + 1);
    int64_t status;
    ssize_t k;

    assert_non_null(text);
    memcpy(text, head, n);
    memset(text + n, 'x', body);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    p->got[0] = '\0';
    for (;;) {
        if (sent < n + body &&
            (k = send(fd, text + sent, n + body - sent, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
            sent += (size_t)k;
        k = recv(fd, answer + got, sizeof(answer) - 1 - got, MSG_DONTWAIT);
        if (k == 0 || (k < 0 && errno != EAGAIN))
            break;
        if (k > 0)
            got += (size_t)k;
        assert_true(sd_event_run(f->event, 1000) >= 0);
        serve_peer(f, p);
    }
    free(text);
    close(fd);
    answer[got] = '\0';
    assert_true(got > 12);
    answer[12] = '\0';
    assert_int_equal(sv_parse_i64(answer + 9, 200, 599, &status), 0);
    answer[12] = ' ';
    return (int)status;
}

#define HTTP(line, headers) line " HTTP/1.1\r\nHost: rm\r\nConnection: close\r\n" headers "\r\n"

static void test_requests(void **state)
{
    struct peer p;
    struct fix f;

    (void)state;
    open_peer(&p);
    setup_with(&f, keys);
    assert_int_equal(ask(&f, &p, HTTP("GET /app/v1/services/a%2Fb?user.name=ann&x=1", ""), 0), 202);
    assert_non_null(strstr(answer, "\r\n\r\n{}"));
    assert_null(strstr(answer, "a=b")); /* its cookie; ours says who ann is */
    assert_non_null(strstr(answer, "Set-Cookie: hadoop.auth=\"u=ann&"));
    assert_true(sv_has_prefix(p.got, "GET /app/v1/services/a%2Fb?user.name=ann&x=1 HTTP/1.1\r\n"));
    assert_non_null(strstr(p.got, "\r\nSelvedge-User: ann"));
    /* a caller's own header is not passed on */
    assert_int_equal(ask(&f, &p,
                         HTTP("PUT /app/v1/services/x?user.name=ann",
                              "Selvedge-User: root\r\nContent-Type: application/json\r\n"
                              "Cookie: c\r\nContent-Length: 3\r\n"),
                         3),
                     202);
    assert_null(strstr(p.got, "root"));
    assert_null(strstr(p.got, "Cookie"));
    assert_non_null(strstr(p.got, "\r\nContent-Type: application/json"));
    assert_int_equal(ask(&f, &p, HTTP("DELETE /app/v1/services/x?user.name=ann", ""), 0), 202);
    assert_true(sv_has_prefix(p.got, "DELETE "));
    p.answer = "HTTP/1.1 204 No Content\r\n\r\n";
    assert_int_equal(ask(&f, &p, HTTP("GET /app/v1/services/x?user.name=ann", ""), 0), 204);
    p.answer = "nonsense\r\n\r\n";
    assert_int_equal(ask(&f, &p, HTTP("GET /app/v1/services/x?user.name=ann", ""), 0), 503);
    teardown(&f);
    close(p.listening);
}

static void test_refusals(void **state)
{
    struct peer p;
    struct fix f;

    (void)state;
    open_peer(&p);
    setup_with(&f, keys);
    assert_int_equal(ask(&f, &p, HTTP("GET /app/v1/services/x", ""), 0), 401);
    assert_int_equal(ask(&f, &p, HTTP("GET /app/v1/services/x?user.name=a%0d%0ab", ""), 0), 401);
    assert_int_equal(ask(&f, &p, HTTP("GET /%61pp/v1/services/x?user.name=ann", ""), 0), 400);
    assert_int_equal(ask(&f, &p, HTTP("GET /app/v1/servicesx?user.name=ann", ""), 0), 404);
    assert_string_equal(p.got, "");
    f.rm->conf.web_put = false;
    assert_int_equal(ask(&f, &p, HTTP("DELETE /app/v1/services/x?user.name=ann", ""), 0), 403);
    assert_string_equal(p.got, "");
    assert_int_equal(ask(&f, &p, HTTP("GET /app/v1/services/x?user.name=ann", ""), 0), 202);
    close(p.listening);
    assert_int_equal(ask(&f, &p, HTTP("GET /app/v1/services/x?user.name=ann", ""), 0), 503);
    assert_non_null(strstr(answer, "selvedge-services"));
    teardown(&f);
}

static void test_bodies(void **state)
{
    struct peer p;
    struct fix f;

    (void)state;
    open_peer(&p);
    setup_with(&f, keys);
    assert_int_equal(ask(&f, &p,
                         HTTP("POST /app/v1/services?user.name=ann", "Content-Length: 4194304\r\n"),
                         4 << 20),
                     202);
    assert_true(p.n > 4 << 20);
    assert_int_equal(
        ask(&f, &p, HTTP("POST /app/v1/services?user.name=ann", "Content-Length: 4194305\r\n"), 0),
        413);
    assert_int_equal(
        ask(&f, &p, HTTP("POST /ws/v1/cluster/apps?user.name=ann", "Content-Length: 131073\r\n"),
            0),
        413);
    teardown(&f);
    close(p.listening);
}

static void test_switched_off(void **state)
{
    struct peer p;
    struct fix f;

    (void)state;
    open_peer(&p);
    setup(&f);
    assert_int_equal(ask(&f, &p, HTTP("GET /app/v1/services/version?user.name=ann", ""), 0), 404);
    assert_int_equal(
        ask(&f, &p, HTTP("PUT /app/v1/services/x?user.name=ann", "Content-Length: 131073\r\n"), 0),
        413);
    teardown(&f);
    close(p.listening);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_requests),
                                        cmocka_unit_test(test_refusals),
                                        cmocka_unit_test(test_bodies),
                                        cmocka_unit_test(test_switched_off) };
    int fd = mkstemp(socket_path), r;

    if (fd < 0)
        return 1;
    close(fd);
    r = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(socket_path);
    return r;
}
