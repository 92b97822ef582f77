/* Reads a growing log from a node of the test, which answers by a script: printed text, requested
 * ranges, completion, and memory use meanwhile. */
#include "client/logs/follow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define OK "HTTP/1.1 200 OK\r\nConnection: close\r\n"
#define MIB ((uint64_t)1 << 20)
#define ENDLESS UINT64_MAX
#define BLOCK 65536
#define CONNECTIONS 64
#define REQUESTS 200
/* The bounds of follow.h, and 6 MiB for the buffers of libcurl and of both sides' sockets. */
#define BOUND (7 * MIB)
#define BOUND_FRAMED (22 * MIB)
#define BOUND_TAIL (72 * MIB)

struct answer {
    const char *head;
    uint64_t fill; /* bytes 'x' behind it */
    bool stays;    /* the connection is not closed */
};

struct test {
    sd_event *event;
    struct cli_fetch *fetch;
    struct cli_follow *follow;
    FILE *out;
    int fd;
    char address[32];
    const struct answer *answers; /* the last one again and again */
    size_t n, asked;
    unsigned long long starts[REQUESTS]; /* ULLONG_MAX: no range */
    struct connection {
        struct test *t;
        int fd;
        sd_event_source *source;
        const struct answer *a;
        uint64_t sent;
    } connections[CONNECTIONS];
    size_t before, peak; /* bytes that are allocated */
    uint64_t printed, prefixes;
    char first[64];
};

static size_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

static void measure(struct test *t)
{
    t->peak = SV_MAX(t->peak, allocated());
}

/* ---- The node ---- */

static void hang_up(struct connection *c)
{
    c->source = sd_event_source_disable_unref(c->source);
    close(c->fd);
    c->a = NULL;
}

static void send_some(struct connection *c)
{
    static char block[BLOCK];
    size_t head = strlen(c->a->head);
    ssize_t n;

    memset(block, 'x', sizeof(block));
    if (c->sent < head)
        n = send(c->fd, c->a->head + c->sent, head - c->sent, MSG_NOSIGNAL);
    else if (c->sent - head < c->a->fill)
        n = send(c->fd, block, (size_t)SV_MIN((uint64_t)BLOCK, c->a->fill - (c->sent - head)),
                 MSG_NOSIGNAL);
    else if (c->a->stays)
        n = sd_event_source_set_io_events(c->source, 0);
    else
        n = 0;
    if (n > 0)
        c->sent += (uint64_t)n;
    else if (n == 0 ? !c->a->stays : errno != EAGAIN)
        hang_up(c);
}

static void read_request(struct connection *c)
{
    struct test *t = c->t;
    char request[4096];
    ssize_t n = read(c->fd, request, sizeof(request) - 1);
    const char *start;

    assert_true(n > 0 && t->asked < REQUESTS);
    request[n] = '\0';
    start = strstr(request, "&start=");
    t->starts[t->asked] = start ? strtoull(start + 7, NULL, 10) : ULLONG_MAX;
    c->a = &t->answers[SV_MIN(t->asked, t->n - 1)];
    c->sent = 0;
    t->asked++;
    assert_true(sd_event_source_set_io_events(c->source, EPOLLOUT) >= 0);
}

static int on_connection(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct connection *c = userdata;

    (void)s;
    (void)fd;
    measure(c->t);
    if (revents & (EPOLLHUP | EPOLLERR))
        hang_up(c);
    else if (revents & EPOLLOUT)
        send_some(c);
    else
        read_request(c);
    return 0;
}

static int on_accept(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct test *t = userdata;
    size_t i = 0;

    (void)s;
    (void)revents;
    while (i < CONNECTIONS && t->connections[i].source)
        i++;
    assert_true(i < CONNECTIONS);
    t->connections[i].t = t;
    t->connections[i].fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_true(t->connections[i].fd >= 0);
    assert_true(sd_event_add_io(t->event, &t->connections[i].source, t->connections[i].fd, EPOLLIN,
                                on_connection, &t->connections[i]) >= 0);
    return 0;
}

/* ---- The output ---- */

static ssize_t on_write(void *userdata, const char *p, size_t n)
{
    struct test *t = userdata;

    for (size_t i = 0; i < n; i++)
        t->prefixes += p[i] == '[';
    if (t->printed < sizeof(t->first) - 1)
        (void)snprintf(t->first + t->printed, sizeof(t->first) - t->printed, "%.*s", (int)n, p);
    t->printed += n;
    measure(t);
    return (ssize_t)n;
}

static void begin(struct test *t, const char *prefix)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sa);

    t->out = fopencookie(t, "w", (cookie_io_functions_t){ .write = on_write });
    assert_non_null(t->out);
    assert_true(sd_event_new(&t->event) >= 0);
    t->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(t->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(t->fd, 5), 0);
    assert_int_equal(getsockname(t->fd, (struct sockaddr *)&sa, &len), 0);
    (void)snprintf(t->address, sizeof(t->address), "127.0.0.1:%d", ntohs(sa.sin_port));
    assert_true(sd_event_add_io(t->event, NULL, t->fd, EPOLLIN, on_accept, t) >= 0);
    assert_int_equal(cli_fetch_new(t->event, &t->fetch), 0);
    t->before = allocated();
    t->follow = cli_follow_new(t->fetch, "me", t->address, "container_1_0001_01_000002", "stdout",
                               prefix, t->out);
    assert_non_null(t->follow);
    cli_follow_tries(t->follow, 2);
}

/* Polls until the log is complete, or the node was asked `asked` times. */
static void follow(struct test *t, bool last, size_t asked)
{
    while (!cli_follow_complete(t->follow) && t->asked < asked) {
        cli_follow_poll(t->follow, last);
        assert_true(sd_event_run(t->event, 10000) >= 0);
        measure(t);
    }
}

static void end(struct test *t, uint64_t bound)
{
    cli_follow_free(t->follow);
    cli_fetch_free(t->fetch);
    for (size_t i = 0; i < CONNECTIONS; i++)
        if (t->connections[i].source)
            hang_up(&t->connections[i]);
    sd_event_unref(t->event);
    close(t->fd);
    assert_int_equal(fclose(t->out), 0);
    assert_in_range(t->peak - SV_MIN(t->before, t->peak), 0, bound);
}

#define SCRIPT(list) .answers = (list), .n = SV_ARRAY_LEN(list)

/* ---- The cases ---- */

static void test_ranges(void **state)
{
    static const struct answer script[] = { { OK "\r\n", MIB },
                                            { OK "\r\n", MIB },
                                            { OK "\r\nend\n" } };
    struct test t = { SCRIPT(script) };

    (void)state;
    begin(&t, "");
    follow(&t, true, REQUESTS);
    assert_null(cli_follow_problem(t.follow));
    assert_int_equal(t.asked, 3);
    assert_true(t.starts[0] == 0 && t.starts[1] == MIB && t.starts[2] == 2 * MIB);
    end(&t, BOUND);
    assert_int_equal(t.printed, 2 * MIB + 4);
}

/* Each answer is truncated, and printed text is not kept in memory. */
static void test_answer_without_end(void **state)
{
    static const struct answer script[] = { { OK "\r\n", ENDLESS } };
    struct test t = { SCRIPT(script) };

    (void)state;
    begin(&t, "[0] ");
    follow(&t, true, 20);
    assert_false(cli_follow_complete(t.follow));
    assert_int_equal(t.starts[19], 19 * MIB);
    end(&t, BOUND); /* a request is open */
    assert_int_equal(t.prefixes, 19 * MIB / BLOCK);
}

/* It is printed in pieces of 64 KiB. */
static void test_line_without_end(void **state)
{
    struct answer script[31];
    struct test t = { SCRIPT(script) };

    (void)state;
    for (size_t i = 0; i < 31; i++)
        script[i] = (struct answer){ OK "\r\n", i < 30 ? MIB : 10, false };
    begin(&t, "[0] ");
    follow(&t, true, REQUESTS);
    assert_null(cli_follow_problem(t.follow));
    end(&t, BOUND);
    assert_int_equal(t.prefixes, 30 * 16 + 1);
    assert_int_equal(t.printed, 30 * MIB + 10 + 5 * t.prefixes);
}

static void test_last_lines_without_end(void **state)
{
    struct answer script[67];
    struct test t = { SCRIPT(script) };

    (void)state;
    for (size_t i = 0; i < 67; i++)
        script[i] = (struct answer){ OK "\r\n", i < 66 ? MIB : 10, false };
    begin(&t, "");
    assert_int_equal(cli_follow_tail(t.follow, 1), 0);
    follow(&t, true, REQUESTS);
    end(&t, BOUND_TAIL);
    assert_int_equal(t.printed, 32 * MIB); /* CLI_TAIL_BYTES */
}

/* A node that stops answering is given up; another poll repeats the request. */
static void test_silent(void **state)
{
    static const struct answer script[] = { { OK "\r\n", 10, true } };
    struct test t = { SCRIPT(script) };

    (void)state;
    begin(&t, "");
    cli_fetch_patience(t.fetch, 20);
    follow(&t, true, REQUESTS);
    assert_true(t.asked < 2 || t.starts[1] == 0);
    assert_non_null(cli_follow_problem(t.follow));
    assert_int_equal(cli_follow_missing(t.follow), -EHOSTUNREACH);
    end(&t, BOUND);
    assert_int_equal(t.printed, 0);
}

/* The received part of an answer that ends too early is requested again: nothing is printed
 * twice. */
static void test_closed_in_the_middle(void **state)
{
    static const struct answer script[] = { { OK "\r\n", MIB },
                                            { OK "Content-Length: 20\r\n\r\nabc", 7 },
                                            { OK "Content-Length: 10\r\n\r\nabc", 7 } };
    struct test t = { SCRIPT(script) };

    (void)state;
    begin(&t, "");
    follow(&t, true, REQUESTS);
    assert_null(cli_follow_problem(t.follow));
    assert_true(t.asked == 3 && t.starts[1] == MIB && t.starts[2] == MIB);
    end(&t, BOUND);
    assert_int_equal(t.printed, MIB + 10);
}

/* Answers that end as soon as they are believed, or never. */
static void lies(const char *head, bool good, const char *printed)
{
    const struct answer script[] = { { head } };
    struct test t = { SCRIPT(script) };

    begin(&t, "");
    follow(&t, true, REQUESTS);
    if (good != !cli_follow_problem(t.follow))
        print_message("%s: %s\n", head, cli_follow_problem(t.follow));
    assert_int_equal(!cli_follow_problem(t.follow), good);
    end(&t, BOUND);
    assert_string_equal(t.first, printed);
}

static void test_lies(void **state)
{
    static const char partial[] = "HTTP/1.1 206 Partial Content\r\nConnection: close\r\n";
    char head[256];

    (void)state;
    lies(OK "Content-Length: 2\r\n\r\nabcdef", true, "ab");
    lies(OK "Content-Length: 9223372036854775807\r\n\r\nabc", false, "");
    lies(OK "Content-Length: -1\r\n\r\nabc", false, "");
    lies(OK "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc", false, "");
    lies("220 mail\r\n", false, "");
    lies("", false, "");
    /* The Content-Range is not read: the bytes are the requested ones. */
    (void)snprintf(head, sizeof(head), "%sContent-Range: bytes 7-9/5\r\n\r\nabc", partial);
    lies(head, true, "abc");
    (void)snprintf(head, sizeof(head), "%sContent-Range: bytes 0-99999999999999/*\r\n\r\nabc",
                   partial);
    lies(head, true, "abc");
}

/* ---- Framed text ---- */

#define FRAME "Container: container_1_0001_01_000002 on n\nLogLength:%llu\nLogContents:\n"
#define FRAME_10 "Container: container_1_0001_01_000002 on n\nLogLength:10\nLogContents:\n"

static const char *framed(char ret[256], uint64_t length)
{
    (void)snprintf(ret, 256, OK "\r\n" FRAME, (unsigned long long)length);
    return ret;
}

/* More than the first request asks for: all of it is printed, from the beginning once. */
static void test_framed(void **state)
{
    char head[256];
    struct answer script[] = { { framed(head, 3 * MIB), 3 * MIB + 100 } };
    struct test t = { SCRIPT(script) };

    (void)state;
    begin(&t, "");
    follow(&t, true, REQUESTS);
    assert_null(cli_follow_problem(t.follow));
    assert_true(t.asked == 2 && t.starts[1] == ULLONG_MAX);
    end(&t, BOUND_FRAMED);
    assert_int_equal(t.printed, 3 * MIB);
}

/* The beginning is printed, and the problem reports the truncation. */
static void framed_cut(uint64_t length, uint64_t sent, uint64_t printed)
{
    char head[256], words[64];
    struct answer script[] = { { framed(head, length), sent } };
    struct test t = { SCRIPT(script) };

    begin(&t, "");
    follow(&t, true, REQUESTS);
    (void)snprintf(words, sizeof(words), "sent %llu of %llu bytes", (unsigned long long)printed,
                   (unsigned long long)length);
    assert_non_null(cli_follow_problem(t.follow));
    assert_non_null(strstr(cli_follow_problem(t.follow), words));
    assert_int_equal(cli_follow_missing(t.follow), 0);
    end(&t, BOUND_FRAMED);
    assert_int_equal(t.printed, printed);
}

static void test_framed_cut(void **state)
{
    char head[256];
    size_t frame = strlen(framed(head, 40 * MIB)) - strlen(OK "\r\n");

    (void)state;
    framed_cut(40 * MIB, 40 * MIB, 16 * MIB - frame);
    framed_cut(40 * MIB, ENDLESS, 16 * MIB - frame);
    framed_cut(UINT64_MAX, 10, 10);
}

/* A node that stops to frame: its text would be printed from the beginning, each time. */
static void test_framed_no_more(void **state)
{
    static const struct answer script[] = { { OK "\r\n" FRAME_10 "123456789\n" },
                                            { OK "\r\n", 1000 } };
    struct test t = { SCRIPT(script) };

    (void)state;
    begin(&t, "");
    follow(&t, false, 1);
    while (t.printed < 10)
        assert_true(sd_event_run(t.event, 10000) >= 0);
    follow(&t, true, REQUESTS);
    assert_non_null(cli_follow_problem(t.follow));
    end(&t, BOUND);
    assert_int_equal(t.printed, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_answer_without_end),
        cmocka_unit_test(test_line_without_end),
        cmocka_unit_test(test_last_lines_without_end),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_closed_in_the_middle),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_framed),
        cmocka_unit_test(test_framed_cut),
        cmocka_unit_test(test_framed_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
