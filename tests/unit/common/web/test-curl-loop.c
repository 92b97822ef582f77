/* Requests of libcurl's on an event loop, by both tables of its functions, against a server on the
 * same loop. */
#include "common/web/curl-loop.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/silent-name-server.h"

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
#define REQUESTS 5

struct request {
    struct test *t;
    CURL *easy;
    char body[16];
    size_t len;
    CURLcode result;
};

struct test {
    const struct sv_curl *curl;
    sd_event *event;
    struct sv_curl_loop *loop;
    sd_event_source *accepts;
    int listener, connections, most_connections;
    uint16_t port;
    bool silent, again; /* again: the end of a request begins the next one */
    int begun, ended, wanted;
    struct request requests[REQUESTS];
};

static int on_request(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct test *t = userdata;
    char request[4096];

    (void)revents;
    assert_true(read(fd, request, sizeof(request)) > 0);
    assert_int_equal(write(fd, ANSWER, strlen(ANSWER)), strlen(ANSWER));
    sd_event_source_disable_unref(s);
    close(fd);
    t->connections--;
    return 0;
}

static int on_connection(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct test *t = userdata;
    sd_event_source *io = NULL;
    int c = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

    (void)s;
    (void)revents;
    assert_true(c >= 0);
    t->connections++;
    t->most_connections = SV_MAX(t->most_connections, t->connections);
    if (t->silent)
        return 0;
    assert_true(sd_event_add_io(t->event, &io, c, EPOLLIN, on_request, t) >= 0);
    return 0;
}

static size_t on_data(char *data, size_t size, size_t n, void *userdata)
{
    struct request *q = userdata;

    assert_true(q->len + size * n < sizeof(q->body));
    memcpy(q->body + q->len, data, size * n);
    q->len += size * n;
    return size * n;
}

static void begin(struct test *t, const char *host, long timeout_ms)
{
    struct request *q = &t->requests[t->begun++];
    char url[64];

    (void)snprintf(url, sizeof(url), "http://%s:%d/", host, t->port);
    q->t = t;
    q->easy = t->curl->easy_init();
    assert_non_null(q->easy);
    t->curl->easy_setopt(q->easy, CURLOPT_URL, url);
    t->curl->easy_setopt(q->easy, CURLOPT_PROXY, "");
    t->curl->easy_setopt(q->easy, CURLOPT_NOSIGNAL, 1L);
    t->curl->easy_setopt(q->easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    t->curl->easy_setopt(q->easy, CURLOPT_WRITEFUNCTION, on_data);
    t->curl->easy_setopt(q->easy, CURLOPT_WRITEDATA, q);
    t->curl->easy_setopt(q->easy, CURLOPT_PRIVATE, q);
    assert_int_equal(sv_curl_loop_add(t->loop, q->easy), 0);
}

static void on_done(CURL *easy, CURLcode result, void *userdata)
{
    struct request *q = userdata;
    struct test *t = q->t;

    assert_ptr_equal(easy, q->easy);
    q->result = result;
    t->curl->easy_cleanup(easy);
    q->easy = NULL;
    if (++t->ended == t->wanted)
        sd_event_exit(t->event, 0);
    else if (t->again)
        begin(t, "127.0.0.1", 60000);
}

static void start(struct test *t)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sa);

    assert_true(sd_event_new(&t->event) >= 0);
    assert_int_equal(sv_curl_loop_new(t->curl, t->event, on_done, &t->loop), 0);
    t->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(t->listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(t->listener, REQUESTS), 0);
    assert_int_equal(getsockname(t->listener, (struct sockaddr *)&sa, &len), 0);
    t->port = ntohs(sa.sin_port);
    assert_true(sd_event_add_io(t->event, &t->accepts, t->listener, EPOLLIN, on_connection, t) >=
                0);
}

static void run(struct test *t, int wanted)
{
    t->wanted = wanted;
    assert_true(sd_event_loop(t->event) >= 0);
    assert_int_equal(t->ended, wanted);
}

static void stop(struct test *t)
{
    t->loop = sv_curl_loop_free(t->loop);
    sd_event_source_disable_unref(t->accepts);
    sd_event_unref(t->event);
    close(t->listener);
}

static const struct sv_curl *loaded(void)
{
    const struct sv_curl *curl = NULL;

    assert_int_equal(sv_curl_load(&curl, NULL), 0);
    return curl;
}

static void answered(const struct sv_curl *curl)
{
    struct test t = { .curl = curl };

    start(&t);
    for (int i = 0; i < REQUESTS; i++)
        begin(&t, i % 2 ? "localhost" : "127.0.0.1", 60000);
    run(&t, REQUESTS);
    for (int i = 0; i < REQUESTS; i++) {
        assert_int_equal(t.requests[i].result, CURLE_OK);
        assert_string_equal(t.requests[i].body, "hello");
    }
    stop(&t);
}

static void test_answers(void **state)
{
    (void)state;
    answered(&sv_curl_linked);
    answered(loaded());
}

static void test_one_after_the_other(void **state)
{
    struct test t = { .curl = loaded(), .again = true };

    (void)state;
    start(&t);
    begin(&t, "127.0.0.1", 60000);
    run(&t, REQUESTS);
    assert_string_equal(t.requests[REQUESTS - 1].body, "hello");
    stop(&t);
}

static void test_connections(void **state)
{
    struct test t = { .curl = loaded() };

    (void)state;
    start(&t);
    sv_curl_loop_connections(t.loop, 1, 0);
    for (int i = 0; i < REQUESTS; i++)
        begin(&t, "127.0.0.1", 60000);
    run(&t, REQUESTS);
    assert_int_equal(t.most_connections, 1);
    stop(&t);
}

/* No answer in time, and nobody who listens. */
static void test_failures(void **state)
{
    struct test t = { .curl = loaded(), .silent = true }, absent = { .curl = t.curl };

    (void)state;
    start(&t);
    begin(&t, "127.0.0.1", 1);
    run(&t, 1);
    assert_int_equal(t.requests[0].result, CURLE_OPERATION_TIMEDOUT);
    stop(&t);
    start(&absent);
    absent.accepts = sd_event_source_disable_unref(absent.accepts);
    assert_int_equal(shutdown(absent.listener, SHUT_RDWR), 0);
    begin(&absent, "127.0.0.1", 60000);
    run(&absent, 1);
    assert_int_equal(absent.requests[0].result, CURLE_COULDNT_CONNECT);
    stop(&absent);
}

/* One that is removed while its server is silent does not end; the next one does. */
static void test_removed(void **state)
{
    struct test t = { .curl = loaded(), .silent = true };

    (void)state;
    start(&t);
    begin(&t, "127.0.0.1", 60000);
    while (t.connections == 0)
        assert_true(sd_event_run(t.event, UINT64_MAX) >= 0);
    sv_curl_loop_remove(t.loop, t.requests[0].easy);
    t.curl->easy_cleanup(t.requests[0].easy);
    t.silent = false;
    begin(&t, "127.0.0.1", 60000);
    run(&t, 1);
    assert_int_equal(t.requests[0].len, 0);
    assert_string_equal(t.requests[1].body, "hello");
    stop(&t);
}

/* ---- A name server that does not answer ---- */

/* Neither the removal of a request nor its end by time waits for the thread that asks it. */
static void silent_server(const struct sv_curl *curl)
{
    struct test t = { .curl = curl };
    const int before = atomic_load(&silent_names.asked);

    silent_names_begin();
    start(&t);
    begin(&t, SILENT_HOST, 60000);
    while (atomic_load(&silent_names.asked) == before)
        assert_true(sd_event_run(t.event, 1000) >= 0);
    sv_curl_loop_remove(t.loop, t.requests[0].easy);
    t.curl->easy_cleanup(t.requests[0].easy);
    begin(&t, SILENT_HOST, 1);
    run(&t, 1);
    assert_int_equal(t.requests[1].result, CURLE_OPERATION_TIMEDOUT);
    stop(&t);
    silent_names_answer();
    silent_names_end();
}

static void test_silent_name_server(void **state)
{
    (void)state;
    silent_server(&sv_curl_linked);
    silent_server(loaded());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),     cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_connections), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_removed),     cmocka_unit_test(test_silent_name_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
