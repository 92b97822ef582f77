/* executor/helper-socket.c against a listener that accepts, drops, or is missing. Requests are
 * numbered. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "executor/helper-socket.h"

#define CALLS (EXE_DIAL_IN_FLIGHT_MAX + 3)

struct call {
    int socket, error;
    struct exe_dial *dial;
};

struct fixture {
    sd_event *event;
    struct exe_dialer *dialer;
    char dir[32];
    struct sockaddr_un at;
    int listening;
    struct call calls[CALLS];
};

static int set_up(void **state)
{
    struct fixture *g = calloc(1, sizeof(*g));
    assert_non_null(g);
    (void)snprintf(g->dir, sizeof(g->dir), "/tmp/dial-XXXXXX");
    assert_non_null(mkdtemp(g->dir));
    g->at.sun_family = AF_UNIX;
    (void)snprintf(g->at.sun_path, sizeof(g->at.sun_path), "%s/socket", g->dir);
    g->listening = -1;
    for (int i = 0; i < CALLS; i++)
        g->calls[i].socket = -1;
    assert_return_code(sd_event_new(&g->event), 0);
    assert_return_code(exe_dialer_new(g->event, g->at.sun_path, &g->dialer), 0);
    *state = g;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *g = *state;
    for (int i = 0; i < CALLS; i++) {
        (void)exe_dial_free(g->calls[i].dial);
        (void)sv_close(g->calls[i].socket);
    }
    g->dialer = exe_dialer_free(g->dialer);
    (void)sd_event_unref(g->event);
    (void)sv_close(g->listening);
    (void)unlink(g->at.sun_path);
    (void)rmdir(g->dir);
    free(g);
    sv_clock_reset();
    return 0;
}

static void hear(struct fixture *g, int backlog)
{
    g->listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_return_code(bind(g->listening, (struct sockaddr *)&g->at, sizeof(g->at)), errno);
    assert_return_code(listen(g->listening, backlog), errno);
}

static int connected(int socket, void *userdata)
{
    struct call *c = userdata;
    assert_true(c->socket < 0);
    c->socket = socket;
    return 0;
}

static void failed(int error, void *userdata)
{
    struct call *c = userdata;
    c->error = error;
    c->dial = exe_dial_free(c->dial);
}

static const struct exe_dial_ops ops = { .connected = connected, .failed = failed };

static void ask(struct fixture *g, int i)
{
    const struct exe_request r = { .op = EXE_OP_CHECK, .request_id = (uint64_t)i + 1 };
    assert_return_code(exe_dial(g->dialer, &r, NULL, 0, &ops, &g->calls[i], &g->calls[i].dial), 0);
}

/* Accepts the next connection and reads its request; -1: none is pending. */
static int take(struct fixture *g, int *ret_fd)
{
    struct exe_request r;
    int fd = accept4(g->listening, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return -1;
    assert_int_equal(recv(fd, &r, sizeof(r), 0), sizeof(r));
    *ret_fd = fd;
    return (int)r.request_id - 1;
}

/* The other end was closed and c's request not read, as the caller sees it. */
static bool unread(struct call *c)
{
    char buf[8];
    bool reset = recv(c->socket, buf, sizeof(buf), MSG_DONTWAIT) < 0 && errno == ECONNRESET;
    c->socket = sv_close(c->socket);
    return reset;
}

static void turn(struct fixture *g)
{
    assert_return_code(sd_event_run(g->event, 10000000), 0);
}

static void test_order_and_limit(void **state)
{
    struct fixture *g = *state;
    int fd;
    hear(g, CALLS);
    for (int i = 0; i < CALLS; i++)
        ask(g, i);
    for (int i = 0; i < EXE_DIAL_IN_FLIGHT_MAX; i++) {
        assert_int_equal(take(g, &fd), i);
        (void)sv_close(fd);
    }
    assert_int_equal(take(g, &fd), -1); /* the others wait for an answer to one of these */
    assert_int_equal(g->calls[EXE_DIAL_IN_FLIGHT_MAX].socket, -1);
    g->calls[5].dial = exe_dial_free(g->calls[5].dial);
    assert_int_equal(take(g, &fd), EXE_DIAL_IN_FLIGHT_MAX);
    (void)sv_close(fd);
    assert_int_equal(take(g, &fd), -1);
    /* One that is not wanted any more before it is sent goes without a trace. */
    g->calls[EXE_DIAL_IN_FLIGHT_MAX + 1].dial =
        exe_dial_free(g->calls[EXE_DIAL_IN_FLIGHT_MAX + 1].dial);
    g->calls[6].dial = exe_dial_free(g->calls[6].dial);
    assert_int_equal(take(g, &fd), EXE_DIAL_IN_FLIGHT_MAX + 2);
    (void)sv_close(fd);
}

static void test_dropped_connection_is_retried(void **state)
{
    struct fixture *g = *state;
    int fd;
    hear(g, 8);
    ask(g, 0);
    for (int i = 0; i < 3; i++) {
        fd = accept4(g->listening, NULL, NULL, SOCK_CLOEXEC);
        assert_true(fd >= 0);
        (void)sv_close(fd); /* systemd refuses: too many */
        assert_true(unread(&g->calls[0]));
        assert_false(exe_dial_send_failed(g->calls[0].dial));
        exe_dial_retry(g->calls[0].dial);
        assert_true(g->calls[0].socket < 0); /* not at once */
        turn(g);
        assert_true(g->calls[0].socket >= 0);
    }
    assert_int_equal(take(g, &fd), 0);
    (void)sv_close(fd);
    assert_false(unread(&g->calls[0])); /* it was */
}

/* If other connections are served, the time limit is longer than without a server. */
static void test_dropped_until_time_limit(void **state)
{
    struct fixture *g = *state;
    const int64_t times[] = { 1000, 1000 + EXE_DIAL_PATIENCE_MS, 1000 + EXE_DIAL_UNREAD_MS - 1,
                              1000 + EXE_DIAL_UNREAD_MS };
    hear(g, 8);
    ask(g, 0);
    for (int i = 0; i < 4; i++) {
        int fd = accept4(g->listening, NULL, NULL, SOCK_CLOEXEC);
        sv_clock_set_test(times[i], 0);
        assert_true(fd >= 0);
        (void)sv_close(fd);
        assert_true(unread(&g->calls[0]));
        exe_dial_retry(g->calls[0].dial);
        if (i < 3)
            turn(g);
        assert_true(i == 3 || g->calls[0].socket >= 0);
    }
    /* The socket goes, too: that is another reason, and has its own time. */
    (void)unlink(g->at.sun_path);
    turn(g);
    assert_non_null(g->calls[0].dial);
    sv_clock_set_test(times[3] + EXE_DIAL_PATIENCE_MS, 0);
    while (g->calls[0].dial)
        turn(g);
    assert_int_equal(g->calls[0].error, -ENOENT);
    assert_int_equal(sv_now_ms() - times[3], EXE_DIAL_PATIENCE_MS);
}

/* The queue at the other end stays full: an end, but not a quick one. */
static void test_full_backlog_until_time_limit(void **state)
{
    struct fixture *g = *state;
    int n = 0;
    sv_clock_set_test(1000, 0);
    hear(g, 1);
    do
        ask(g, n);
    while (g->calls[n++].socket >= 0);
    sv_clock_set_test(1000 + EXE_DIAL_PATIENCE_MS, 0);
    turn(g);
    assert_non_null(g->calls[n - 1].dial);
    sv_clock_set_test(1000 + EXE_DIAL_UNREAD_MS, 0);
    while (g->calls[n - 1].dial)
        turn(g);
    assert_int_equal(g->calls[n - 1].error, -EAGAIN);
}

static void test_missing_socket(void **state)
{
    struct fixture *g = *state;
    int fd;
    sv_clock_set_test(1000, 0);
    ask(g, 0);
    sv_clock_set_test(1000 + EXE_DIAL_PATIENCE_MS - 1, 0);
    turn(g);
    assert_non_null(g->calls[0].dial);
    ask(g, 2);
    sv_clock_set_test(1000 + EXE_DIAL_PATIENCE_MS, 0);
    while (g->calls[0].dial)
        turn(g);
    assert_int_equal(g->calls[0].error, -ENOENT);
    /* The other has not waited for as long, and finds somebody. */
    assert_non_null(g->calls[2].dial);
    hear(g, 8);
    while (g->calls[2].socket < 0)
        turn(g);
    assert_int_equal(take(g, &fd), 2);
    (void)sv_close(fd);
    assert_int_equal(g->calls[2].error, 0);
}

/* Connected, but nobody reads the request: times out as if there were no socket. A request that is
 * read does not. */
static void test_unread_request_times_out(void **state)
{
    struct fixture *g = *state;
    int fd;
    sv_clock_set_test(1000, 0);
    hear(g, 8);
    ask(g, 0);
    ask(g, 1);
    assert_int_equal(take(g, &fd), 0); /* it is at work, for as long as it likes */
    sv_clock_set_test(1000 + EXE_DIAL_UNREAD_MS - 1, 0);
    turn(g);
    assert_non_null(g->calls[1].dial);
    ask(g, 2);
    sv_clock_set_test(1000 + EXE_DIAL_UNREAD_MS, 0);
    while (g->calls[1].dial)
        turn(g);
    assert_int_equal(g->calls[1].error, -ETIMEDOUT);
    turn(g);
    assert_non_null(g->calls[0].dial);
    assert_non_null(g->calls[2].dial); /* has not waited for as long */
    assert_int_equal(g->calls[2].error, 0);
    (void)sv_close(fd);
}

/* A queue that is full at the other end is not waited for in the call. */
static void test_full_backlog_is_retried(void **state)
{
    struct fixture *g = *state;
    int fd, heard = 0;
    hear(g, 1);
    for (int i = 0; i < 6; i++)
        ask(g, i);
    assert_int_equal(g->calls[5].socket, -1);
    while (heard < 6) {
        int i = take(g, &fd);
        if (i < 0) {
            turn(g);
            continue;
        }
        assert_int_equal(i, heard++);
        (void)sv_close(fd);
    }
}

/* Descriptors are the request's own until it is sent. */
static void test_descriptors_are_duplicated(void **state)
{
    struct fixture *g = *state;
    struct exe_request r = { .op = EXE_OP_SIGNAL,
                             .signal = 15,
                             .request_id = 1,
                             .cluster_ts = 1,
                             .app = 1,
                             .attempt = 1,
                             .container = 1,
                             .user = "u" },
                       got;
    union {
        char space[CMSG_SPACE(sizeof(int) * 4)];
        struct cmsghdr align;
    } control;
    int p[2], fd, passed;
    assert_return_code(pipe2(p, O_CLOEXEC), errno);
    assert_return_code(exe_dial(g->dialer, &r, &p[1], 1, &ops, &g->calls[0], &g->calls[0].dial), 0);
    (void)sv_close(p[1]);
    hear(g, 8);
    while (g->calls[0].socket < 0)
        turn(g);
    fd = accept4(g->listening, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    struct iovec iov = { .iov_base = &got, .iov_len = sizeof(got) };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.space,
                          .msg_controllen = sizeof(control.space) };
    assert_int_equal(recvmsg(fd, &msg, MSG_CMSG_CLOEXEC), sizeof(got));
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    assert_non_null(c);
    memcpy(&passed, CMSG_DATA(c), sizeof(passed));
    g->calls[0].dial = exe_dial_free(g->calls[0].dial);
    assert_int_equal(write(passed, "x", 1), 1);
    (void)sv_close(passed);
    char x[2];
    assert_int_equal(read(p[0], x, 2), 1);
    assert_int_equal(read(p[0], x, 2), 0); /* no other copy is left */
    (void)sv_close(p[0]);
    (void)sv_close(fd);
}

static void test_invalid_arguments(void **state)
{
    struct fixture *g = *state;
    struct exe_dialer *d;
    struct exe_dial *q;
    char path[200];
    const struct exe_request bad = { .op = 99 };
    assert_int_equal(exe_dial(g->dialer, &bad, NULL, 0, &ops, &g->calls[0], &q), -EINVAL);
    assert_int_equal(exe_dialer_new(g->event, "relative", &d), -EINVAL);
    memset(path, '/', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(exe_dialer_new(g->event, path, &d), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order_and_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dropped_connection_is_retried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dropped_until_time_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_backlog_until_time_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_socket, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unread_request_times_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_backlog_is_retried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_descriptors_are_duplicated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_invalid_arguments, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
