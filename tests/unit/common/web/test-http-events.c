/* common/web/http-events.c over real sockets: one sample an object and period for all of its
 * streams, the bounds on streams, a client that does not read, an object that ends, a server that
 * ends. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/web/http-events.h"

#define STREAMS 32
#define STREAMS_OF_ADDRESS 8

static sd_event *event;
static struct sv_http *http;
static struct sv_http_events *events;
static struct sv_error err;
static unsigned samples, answers;
static bool over;
static size_t size; /* of an event's data, or 0: a number */

static int sampler(const char *object, struct sv_http_reading *before,
                   char ret[static SV_HTTP_EVENT_MAX], void *userdata)
{
    assert_ptr_equal(userdata, &samples);
    if (over || strcmp(object, "/none") == 0)
        return -ENOENT;
    samples++;
    before->value++;
    if (size) {
        memset(ret, 'x', size);
        ret[size] = 0;
    } else
        (void)snprintf(ret, SV_HTTP_EVENT_MAX, "%s %llu", object,
                       (unsigned long long)before->value);
    return 0;
}

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    (void)userdata;
    answers++;
    return sv_http_events_open(events, req, req->path, ret);
}

/* With small buffers in the kernel, so that a client that does not read is soon one that blocks. */
static int listening(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ 4096 }, sizeof(int)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 64), 0);
    return fd;
}

static int setup(void **state)
{
    const struct sv_http_events_config config = { .period_ms = 1,
                                                  .max = STREAMS,
                                                  .max_per_address = STREAMS_OF_ADDRESS,
                                                  .sampler = sampler,
                                                  .userdata = &samples };

    (void)state;
    samples = answers = 0;
    over = false;
    size = 0;
    if (sd_event_new(&event) < 0 || sv_http_events_new(event, &config, &events) < 0)
        return -1;
    return sv_http_new_on(event, listening(), NULL, handler, NULL, &http, &err);
}

static int teardown(void **state)
{
    (void)state;
    events = sv_http_events_free(events);
    http = sv_http_free(http);
    event = sd_event_unref(event);
    sv_clock_reset();
    return 0;
}

/* From 127.0.0.`host`; runs the loop until the handler has it. `room`: bytes that the kernel keeps,
 * or 0. */
static int ask(const char *path, unsigned char host, int room)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) },
                       from = { .sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(0x7f000000u + host) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unsigned before = answers;
    char text[256];

    if (room)
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
    (void)snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    while (answers == before)
        assert_true(sd_event_run(event, 5 * 1000000) > 0);
    return fd;
}

static char arrived[64 << 10];

/* Runs the loop until `part` has arrived, or the server closes (NULL). */
static const char *receive(int fd, const char *part)
{
    size_t n = 0;

    for (;;) {
        ssize_t got = recv(fd, arrived + n, sizeof(arrived) - n - 1, MSG_DONTWAIT);

        n += got > 0 ? (size_t)got : 0;
        arrived[n] = 0;
        if (part && strstr(arrived, part))
            return arrived;
        if (got == 0 || (got < 0 && errno == ECONNRESET)) {
            assert_null(part);
            return arrived;
        }
        (void)sd_event_run(event, 100000);
    }
}

static void test_events(void **state)
{
    int one = ask("/a", 1, 0), two = ask("/a", 1, 0), other = ask("/b", 1, 0);
    const char *text;

    (void)state;
    text = receive(one, "data: /a 3\n\n");
    assert_non_null(strstr(text, "HTTP/1.1 200 "));
    assert_non_null(strstr(text, "Content-Type: text/event-stream\r\n"));
    assert_non_null(strstr(text, "Cache-Control: no-store\r\n"));
    assert_non_null(strstr(text, "retry: 5000\n"));
    assert_null(strstr(text, "/b "));
    (void)receive(two, "data: /a 3\n\n"); /* the same sample */
    (void)receive(other, "data: /b 2\n\n");
    assert_int_equal(sv_http_events_count(events), 3);
    close(one);
    close(two);
    close(other);
    while (sv_http_events_count(events))
        assert_true(sd_event_run(event, 5 * 1000000) > 0);
    samples = 0;
    while (sd_event_run(event, 20000) > 0) /* no timer runs any more */
        ;
    assert_int_equal(samples, 0);
}

static void test_bounds(void **state)
{
    int fds[STREAMS], refused;

    (void)state;
    for (unsigned i = 0; i < STREAMS; i++) {
        fds[i] = ask("/a", (unsigned char)(1 + i / STREAMS_OF_ADDRESS), 0);
        if (i == STREAMS_OF_ADDRESS - 1) {
            refused = ask("/a", 1, 0);
            assert_non_null(strstr(receive(refused, "\r\n\r\n"), "HTTP/1.1 503 "));
            close(refused);
        }
    }
    refused = ask("/a", 100, 0);
    assert_non_null(strstr(receive(refused, "\r\n\r\n"), "HTTP/1.1 503 "));
    close(refused);
    close(fds[0]); /* its place is free again */
    while (sv_http_events_count(events) == STREAMS)
        assert_true(sd_event_run(event, 5 * 1000000) > 0);
    fds[0] = ask("/a", 100, 0);
    (void)receive(fds[0], "data: /a ");
    for (unsigned i = 0; i < STREAMS; i++)
        close(fds[i]);
}

/* A client that never reads holds one event in memory, however many there were, and another one
 * gets all. */
static void test_slow_client(void **state)
{
    int slow = ask("/a", 1, 2048), quick = ask("/b", 1, 0);
    static char sink[64 << 10];
    ssize_t got, sum = 0;
    unsigned taken;

    (void)state;
    size = SV_HTTP_EVENT_MAX - 1;
    for (samples = 0; samples < 400;) {
        (void)sd_event_run(event, 100000);
        (void)!recv(quick, sink, sizeof(sink), MSG_DONTWAIT);
    }
    taken = samples / 2; /* of each object */
    over = true;
    while (sv_http_events_count(events))
        assert_true(sd_event_run(event, 5 * 1000000) > 0);
    for (;;) {
        got = recv(slow, sink, sizeof(sink), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            break;
        sum += got > 0 ? got : 0;
        (void)sd_event_run(event, 1000);
        if (sum && got < 0 && sd_event_run(event, 200000) == 0)
            break;
    }
    assert_true(sum > 0 && (size_t)sum < (size_t)taken * size);
    close(slow);
    close(quick);
}

static void test_ends(void **state)
{
    int fd = ask("/a", 1, 0), none = ask("/none", 1, 0), late;

    (void)state;
    assert_non_null(strstr(receive(none, "\r\n\r\n"), "HTTP/1.1 404 "));
    close(none);
    (void)receive(fd, "data: /a 2\n\n");
    over = true; /* the object is gone */
    (void)receive(fd, "0\r\n\r\n");
    close(fd);
    over = false;
    late = ask("/a", 1, 0);
    sv_clock_set_test(sv_now_ms() + SV_HTTP_EVENTS_MS + 1, 0); /* its time is over */
    (void)receive(late, "0\r\n\r\n");
    close(late);
}

static void test_server_ends(void **state)
{
    int fd = ask("/a", 1, 0), other = ask("/b", 1, 0);

    (void)state;
    http = sv_http_free(http); /* first: the streams are gone with it */
    assert_int_equal(sv_http_events_count(events), 0);
    close(fd);
    close(other);
}

static void test_events_end(void **state)
{
    int fd = ask("/a", 1, 0);

    (void)state;
    events = sv_http_events_free(events);
    (void)receive(fd, "0\r\n\r\n");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_events, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_client, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_server_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_events_end, setup, teardown),
    };

    return cmocka_run_group_tests_name("http-events", tests, NULL, NULL);
}
