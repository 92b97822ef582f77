/* GET and POST against a server of the test: requests, and when it closes; many requests; the first
 * GET without libcurl; and the error without libcurl. TLS is in test-logs-webhdfs. */
#include "client/http/fetch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WITHOUT "TEST_FETCH_WITHOUT"
#define OK "HTTP/1.1 200 OK\r\n"
#define MAX 64

struct test {
    sd_event *event;
    struct cli_fetch *fetch;
    sd_event_source *accepts;
    int fd, connection; /* the server's */
    char url[64];
    const char *answer; /* NULL: none */
    size_t size, sent;
    bool stays, post;   /* stays: the server keeps the connection */
    bool plain;         /* cli_fetch_plain_first(): what it gives up comes a second time */
    const char *method; /* of cli_fetch_send(), with `json` */
    const char *json;
    char request[512];
    int status, calls, connections;
    char body[MAX + 1], why[256];
};

/* The client may close before it has read all. */
static int on_writable(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct test *t = userdata;
    ssize_t n = send(fd, t->answer + t->sent, t->size - t->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    (void)revents;
    t->sent += n > 0 ? (size_t)n : 0;
    if (t->sent < t->size && (n >= 0 || errno == EAGAIN))
        return 0;
    assert_true(sd_event_source_set_enabled(s, SD_EVENT_OFF) >= 0);
    if (!t->stays)
        shutdown(fd, SHUT_WR);
    return 0;
}

static int on_request(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct test *t = userdata;
    ssize_t n = read(fd, t->request, sizeof(t->request) - 1);

    (void)revents;
    assert_true(n > 0);
    t->request[n] = '\0';
    assert_true(sd_event_source_set_enabled(s, SD_EVENT_OFF) >= 0);
    s = sd_event_source_unref(s);
    assert_true(sd_event_add_io(t->event, NULL, fd, EPOLLOUT, on_writable, t) >= 0);
    return 0;
}

static int on_accept(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct test *t = userdata;
    sd_event_source *io = NULL;

    (void)s;
    (void)revents;
    t->connections++;
    if (t->connection)
        close(t->connection);
    t->sent = 0;
    t->connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(t->connection >= 0);
    if (t->answer)
        assert_true(sd_event_add_io(t->event, &io, t->connection, EPOLLIN, on_request, t) >= 0);
    return 0;
}

static void on_answer(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct test *t = userdata;

    t->calls++;
    t->status = status;
    assert_true(len <= MAX && !body[len]);
    assert_true((status < 0) == (why != NULL));
    snprintf(t->body, sizeof(t->body), "%s", body);
    snprintf(t->why, sizeof(t->why), "%s", why ? why : "");
    sd_event_exit(t->event, 0);
}

static void begin(struct test *t)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sa);

    assert_true(sd_event_new(&t->event) >= 0);
    assert_int_equal(cli_fetch_new(t->event, &t->fetch), 0);
    if (t->plain)
        cli_fetch_plain_first(t->fetch);
    t->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(t->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(t->fd, 5), 0);
    assert_int_equal(getsockname(t->fd, (struct sockaddr *)&sa, &len), 0);
    snprintf(t->url, sizeof(t->url), "http://127.0.0.1:%d/path?q", ntohs(sa.sin_port));
    assert_true(sd_event_add_io(t->event, &t->accepts, t->fd, EPOLLIN, on_accept, t) >= 0);
}

/* The port stays the test's. */
static void stop_listening(struct test *t)
{
    t->accepts = sd_event_source_disable_unref(t->accepts);
    assert_int_equal(shutdown(t->fd, SHUT_RDWR), 0);
}

static void end(struct test *t)
{
    sd_event_source_disable_unref(t->accepts);
    t->fetch = cli_fetch_free(t->fetch);
    sd_event_unref(t->event);
    close(t->fd);
    if (t->connection)
        close(t->connection);
}

static void request(struct test *t)
{
    if (t->method)
        assert_int_equal(cli_fetch_send(t->fetch, t->method, t->url, t->json, MAX, on_answer, t),
                         0);
    else if (t->post)
        assert_int_equal(cli_fetch_post(t->fetch, t->url, "X: y", on_answer, t), 0);
    else
        assert_int_equal(cli_fetch_get(t->fetch, t->url, MAX, on_answer, t), 0);
    assert_int_equal(t->calls, 0); /* only from the loop */
    assert_true(sd_event_loop(t->event) >= 0);
    assert_int_equal(t->calls, 1);
    assert_true(t->connections <= 1 + t->plain);
    end(t);
}

static void answered(const char *answer, bool stays, int status, const char *body)
{
    struct test t = { .answer = answer, .size = strlen(answer), .stays = stays };
    static const char line[] = "GET /path?q HTTP/1.1\r\n";

    begin(&t);
    request(&t);
    assert_int_equal(t.status, status);
    assert_string_equal(t.body, body);
    assert_memory_equal(t.request, line, strlen(line));
    assert_non_null(
        strstr(t.request, "\r\nAccept: application/json, ")); /* Apache's /conf is XML else */
}

static void test_answers(void **state)
{
    (void)state;
    answered(OK "\r\n{}", false, 200, "{}");
    answered(OK "Content-Length: 2\r\n\r\n{}", true, 200, "{}");
    answered(OK "Content-Length: 2\r\n\r\n{} and more", true, 200, "{}");
    answered(OK "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", true, 200, "{}");
    answered("HTTP/1.0 503\r\nContent-Length: 0\r\n\r\n", true, 503, "");
}

/* The Location is the server's own address: a second connection would be seen. */
static void test_redirect(void **state)
{
    struct test t = { .stays = true };
    char answer[160];

    (void)state;
    begin(&t);
    t.answer = answer;
    t.size = (size_t)snprintf(answer, sizeof(answer),
                              "HTTP/1.1 302\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", t.url);
    request(&t);
    assert_int_equal(t.status, 302);
}

static void test_post(void **state)
{
    static const char answer[] = OK "Content-Length: 2\r\n\r\n{}";
    struct test t = { .answer = answer, .size = strlen(answer), .stays = true, .post = true };

    (void)state;
    begin(&t);
    request(&t);
    assert_int_equal(t.status, 200);
    assert_memory_equal(t.request, "POST /path?q HTTP/1.1\r\n", 23);
    assert_non_null(strstr(t.request, "\r\nX: y\r\n"));
    assert_non_null(strstr(t.request, "\r\nContent-Length: 0\r\n"));
}

static void sent(const char *method, const char *json, const char *head, const char *body)
{
    static const char answer[] = OK "Content-Length: 2\r\n\r\n{}";
    struct test t = {
        .answer = answer, .size = strlen(answer), .stays = true, .method = method, .json = json
    };

    begin(&t);
    request(&t);
    assert_int_equal(t.status, 200);
    assert_memory_equal(t.request, head, strlen(head));
    assert_non_null(strstr(t.request, "\r\n\r\n"));
    assert_string_equal(strstr(t.request, "\r\n\r\n") + 4, body);
    assert_true((strstr(t.request, "\r\nContent-Type: application/json\r\n") != NULL) ==
                (json != NULL));
}

static void test_send(void **state)
{
    (void)state;
    sent("PUT", "{\"a\":1}", "PUT /path?q HTTP/1.1\r\n", "{\"a\":1}");
    sent("POST", "[]", "POST /path?q HTTP/1.1\r\n", "[]");
    sent("DELETE", NULL, "DELETE /path?q HTTP/1.1\r\n", "");
}

static void test_truncated(void **state)
{
    char text[1000] = OK "\r\n", body[MAX + 1] = "";

    (void)state;
    memset(text + strlen(text), 'x', 500);
    memset(body, 'x', MAX);
    answered(text, true, 200, body);
}

static void test_not_whole(void **state)
{
    (void)state;
    answered("", false, -EIO, "");
    answered(OK "Content-Length: 3\r\n\r\n{}", false, -EIO, "{}");
    answered("220 mail\r\n", true, -EIO, "");
}

/* One header that does not end, and headers without end. */
static void test_headers(void **state)
{
    size_t size = 200000;
    char *text = malloc(size + 1);

    (void)state;
    assert_non_null(text);
    memset(text, 'x', size);
    text[size] = '\0';
    memcpy(text, OK "X: ", strlen(OK "X: "));
    answered(text, true, -EIO, "");
    for (size_t at = strlen(OK); at + 100 < size; at += 100)
        memcpy(text + at + 96, "\r\nX:", 4);
    answered(text, true, -EIO, "");
    free(text);
}

/* With and without libcurl first: the answer is late, or nobody listens. */
static void no_answer(bool plain)
{
    struct test silent = { .plain = plain }, absent = { .plain = plain };

    begin(&silent);
    cli_fetch_patience(silent.fetch, 1);
    request(&silent);
    assert_int_equal(silent.status, -ETIMEDOUT);
    begin(&absent);
    stop_listening(&absent);
    request(&absent);
    assert_int_equal(absent.status, -ECONNREFUSED);
    assert_non_null(strstr(absent.why, "connect"));
}

static void test_no_answer(void **state)
{
    (void)state;
    no_answer(false);
    no_answer(true);
}

static void test_urls(void **state)
{
    static const char *const wrong[] = { "file:///etc/hostname", "http://:1/", "http://host:65536/",
                                         "http://host:x/", "" };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct test t = { 0 };

        begin(&t);
        snprintf(t.url, sizeof(t.url), "%s", wrong[i]);
        request(&t);
        assert_int_equal(t.status, -EIO);
    }
}

/* More requests than are under way at the same time: some wait until the others are answered. */
struct many {
    sd_event *event;
    int answered, canceled, wanted;
};

static void on_many(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct many *m = userdata;

    (void)body;
    (void)len;
    (void)why;
    m->answered += status == -ECONNREFUSED;
    m->canceled += status == -ECANCELED;
    if (m->answered == m->wanted)
        sd_event_exit(m->event, 0);
}

static void on_lacking(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct many *m = userdata;

    (void)body;
    (void)len;
    (void)why;
    (void)sd_event_exit(m->event, -status); /* failing: the loop would not end */
}

static void test_many(void **state)
{
    struct many m = { .wanted = 1000 };
    struct test t = { 0 }, canceled = { 0 };

    (void)state;
    begin(&t);
    stop_listening(&t);
    m.event = t.event;
    for (int i = 0; i < m.wanted; i++)
        assert_int_equal(cli_fetch_get(t.fetch, t.url, 64, on_many, &m), 0);
    assert_true(sd_event_loop(m.event) >= 0);
    end(&t);
    begin(&canceled);
    for (int i = 0; i < 200; i++)
        assert_int_equal(cli_fetch_post(canceled.fetch, canceled.url, "X: y", on_many, &m), 0);
    end(&canceled);
    assert_int_equal(m.canceled, 200);
    assert_int_equal(m.answered, 1000);
}

static void plainly(const char *answer, bool stays, int status, const char *body, int connections)
{
    struct test t = { .answer = answer, .size = strlen(answer), .stays = stays, .plain = true };

    begin(&t);
    request(&t);
    assert_int_equal(t.status, status);
    assert_string_equal(t.body, body);
    assert_int_equal(t.connections, connections);
    assert_memory_equal(t.request, "GET /path?q HTTP/1.1\r\n", 22);
    assert_non_null(strstr(t.request, "\r\nHost: 127.0.0.1:"));
    assert_non_null(strstr(t.request, "\r\nAccept: application/json, "));
}

/* A simple answer is taken as it is; of any other, libcurl asks again, and its word holds. */
static void test_plain(void **state)
{
    char large[200] = OK "Content-Length: 100\r\n\r\n", body[MAX + 1] = "";

    (void)state;
    plainly(OK "Content-Length: 2\r\n\r\n{}", true, 200, "{}", 1);
    plainly(OK "Content-Length: 2\r\n\r\n{}", false, 200, "{}", 1);
    plainly("HTTP/1.0 503\r\nContent-Length: 0\r\n\r\n", true, 503, "", 1);
    plainly(OK "\r\n{}", false, 200, "{}", 2);
    plainly(OK "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", true, 200, "{}", 2);
    plainly(OK "Content-Length: 3\r\n\r\n{}", false, -EIO, "{}", 2);
    plainly("220 mail\r\n", false, -EIO, "", 2);
    memset(large + strlen(large), 'x', 100);
    memset(body, 'x', MAX);
    plainly(large, true, 200, body, 2);
}

static void test_plain_wrong_url(void **state)
{
    struct test wrong = { .plain = true };

    (void)state;
    begin(&wrong);
    snprintf(wrong.url, sizeof(wrong.url), "http://:1/");
    request(&wrong);
    assert_int_equal(wrong.status, -EIO);
    assert_int_equal(wrong.connections, 0);
}

/* A request with a header goes by libcurl at once; requests that are open at the end are canceled.
 */
static void test_plain_first_alone(void **state)
{
    static const char answer[] = OK "Content-Length: 2\r\n\r\n{}";
    struct test t = { .answer = answer, .size = strlen(answer), .plain = true, .post = true },
                canceled = { .plain = true };
    struct many m = { 0 };

    (void)state;
    begin(&t);
    request(&t);
    assert_int_equal(t.status, 200);
    begin(&canceled);
    for (int i = 0; i < 3; i++)
        assert_int_equal(cli_fetch_get(canceled.fetch, canceled.url, 64, on_many, &m), 0);
    end(&canceled);
    assert_int_equal(m.canceled, 3);
}

/* In a process whose libcurl is an empty file: at once, and after a first GET without it. */
static int without(void)
{
    struct many m = { .wanted = 1 };
    struct cli_fetch *f = NULL;

    if (sd_event_new(&m.event) < 0 || cli_fetch_new(m.event, &f) < 0)
        return 1;
    if (cli_fetch_get(f, "http://127.0.0.1:1/", 64, on_answer, NULL) != -ELIBACC)
        return 2;
    cli_fetch_plain_first(f);
    if (cli_fetch_get(f, "http://127.0.0.1:1/", 64, on_lacking, &m) < 0)
        return 3;
    return sd_event_loop(m.event) == ELIBACC ? 0 : 4;
}

static void test_no_library(void **state)
{
    char place[] = "/tmp/test-fetch.XXXXXX", path[64], said[1024];
    int out[2], status;
    size_t length = 0;
    ssize_t n;
    pid_t pid;
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(place));
    (void)snprintf(path, sizeof(path), "%s/libcurl.so.4", place);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(pipe(out), 0);
    pid = fork();
    if (pid == 0) {
        (void)dup2(out[1], STDERR_FILENO);
        close(out[0]);
        (void)setenv("LD_LIBRARY_PATH", place, 1);
        (void)setenv(WITHOUT, "1", 1);
        (void)execl("/proc/self/exe", "test-fetch", (char *)NULL);
        _exit(99);
    }
    close(out[1]);
    while ((n = read(out[0], said + length, sizeof(said) - 1 - length)) > 0)
        length += (size_t)n; /* to its end: a closed pipe would kill the writer */
    said[length] = '\0';
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    unlink(path);
    rmdir(place);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_non_null(strstr(said, "selvedge: HTTP needs libcurl: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_redirect),
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_send),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_not_whole),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_plain_wrong_url),
        cmocka_unit_test(test_plain_first_alone),
    };

    if (getenv(WITHOUT))
        _exit(without()); /* what it has not freed does not count */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
