/* Tests common/listen-fds.c: this program is its own systemd, with sockets from descriptor 3 on. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/listen-fds.h"
#include "tests/lib/free-port.h"

#define FIRST 3

static uint16_t port;

/* Makes descriptor 3 + i a socket of 127.0.0.1:port. */
static void make_socket(int i, int type, bool listening)
{
    int fd;

    port = free_port();
    fd = free_port_bind(type, type == SOCK_STREAM ? port : 0); /* its UDP port is held */
    assert_true(fd >= 0);
    if (listening)
        assert_return_code(listen(fd, 5), errno);
    assert_int_equal(dup2(fd, FIRST + i), FIRST + i);
    if (fd != FIRST + i)
        (void)sv_close(fd);
}

static void pass(int n, const char *names)
{
    char text[32];

    snprintf(text, sizeof(text), "%d", n);
    setenv("LISTEN_FDS", text, 1);
    snprintf(text, sizeof(text), "%d", (int)getpid());
    setenv("LISTEN_PID", text, 1);
    setenv("LISTEN_FDNAMES", names, 1);
}

static struct sv_listen_fds *receive(void)
{
    struct sv_listen_fds *l = NULL;
    struct sv_error err = { 0 };

    if (sv_listen_fds_receive(&l, &err) < 0)
        fail_msg("%s", err.text);
    return l;
}

static int connects(void)
{
    const struct sockaddr_in sa = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0 ? -errno : 0;
}

static void test_nothing_passed(void **state)
{
    struct sv_listen_fds *l;
    int fd = 7;

    (void)state;
    unsetenv("LISTEN_FDS");
    l = receive();
    assert_null(l);
    assert_int_equal(sv_listen_fds_take(l, "web", "127.0.0.1", 8042, "key", &fd, NULL), 0);
    assert_int_equal(fd, -1);
    assert_int_equal(sv_listen_fds_check_names(l, (const char *[]){ NULL }, NULL), 0);
    sv_listen_fds_shut_down(l);
    sv_listen_fds_free(l);
}

static void test_for_another_process(void **state)
{
    (void)state;
    make_socket(0, SOCK_STREAM, true);
    pass(1, "web");
    setenv("LISTEN_PID", "1", 1);
    assert_null(receive());
}

static void test_by_name(void **state)
{
    struct sv_listen_fds *l;
    struct sv_error err = { 0 };
    int fd = -1;

    (void)state;
    make_socket(0, SOCK_STREAM, true);
    make_socket(1, SOCK_STREAM, true);
    pass(2, "first:second");
    l = receive();
    assert_null(getenv("LISTEN_FDS")); /* children must not believe it */
    assert_int_equal(sv_listen_fds_take(l, "third", "127.0.0.1", port, "key", &fd, &err), 0);
    assert_int_equal(sv_listen_fds_take(l, "second", "127.0.0.1", port, "key", &fd, &err), 1);
    assert_int_not_equal(fd, FIRST + 1); /* the caller's own */
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_int_equal(
        sv_listen_fds_check_names(l, (const char *[]){ "second", "first", NULL }, &err), 0);
    assert_int_equal(sv_listen_fds_check_names(l, (const char *[]){ "second", NULL }, &err),
                     -EINVAL);
    assert_non_null(strstr(err.text, "\"first\""));
    (void)sv_close(fd);
    assert_int_equal(connects(), 0); /* still held: it waits */
    sv_listen_fds_shut_down(l);
    assert_int_equal(connects(), -ECONNREFUSED);
    sv_listen_fds_free(l);
}

static void test_name_twice(void **state)
{
    struct sv_listen_fds *l;
    struct sv_error err = { 0 };

    (void)state;
    make_socket(0, SOCK_STREAM, true);
    make_socket(1, SOCK_STREAM, true);
    pass(2, "web:web");
    l = receive();
    assert_int_equal(sv_listen_fds_check_names(l, (const char *[]){ "web", NULL }, &err), -EINVAL);
    assert_non_null(strstr(err.text, "the second of this name"));
    sv_listen_fds_free(l);
}

static void test_other_address(void **state)
{
    struct sv_listen_fds *l;
    struct sv_error err = { 0 };
    char text[64];
    int fd = -1;

    (void)state;
    make_socket(0, SOCK_STREAM, true);
    pass(1, "web");
    l = receive();
    assert_int_equal(
        sv_listen_fds_take(l, "web", "127.0.0.1", (uint16_t)(port + 1), "the.key", &fd, &err),
        -EINVAL);
    snprintf(text, sizeof(text), "127.0.0.1:%u, and the.key on 127.0.0.1:%u", port, port + 1);
    assert_non_null(strstr(err.text, text));
    assert_non_null(strstr(err.text, "ListenStream="));
    assert_int_equal(sv_listen_fds_take(l, "web", "0.0.0.0", port, "key", &fd, &err), -EINVAL);
    assert_int_equal(sv_listen_fds_take(l, "web", "::1", port, "key", &fd, &err), -EINVAL);
    assert_int_equal(fd, -1);
    assert_int_equal(sv_listen_fds_take(l, "web", "127.0.0.1", 0, "key", &fd, &err), 1);
    (void)sv_close(fd);
    sv_listen_fds_free(l);
}

static void refused(int n, const char *names, const char *word)
{
    struct sv_listen_fds *l = NULL;
    struct sv_error err = { 0 };

    pass(n, names);
    assert_int_equal(sv_listen_fds_receive(&l, &err), -EINVAL);
    assert_null(l);
    if (!strstr(err.text, word))
        fail_msg("%s", err.text);
    (void)close(FIRST); /* where it was not taken, ignoring */
}

static void test_no_listening_tcp_socket(void **state)
{
    int pair[2];

    (void)state;
    make_socket(0, SOCK_STREAM, false);
    refused(1, "web", "\"web\"");
    make_socket(0, SOCK_DGRAM, false);
    refused(1, "web", "not a listening TCP socket");
    assert_int_equal(dup2(STDERR_FILENO, FIRST), FIRST);
    refused(1, "web", "not a listening TCP socket");
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), errno);
    assert_int_equal(dup2(pair[0], FIRST), FIRST);
    refused(1, "web", "not a listening TCP socket");
    (void)close(pair[1]);
}

static void test_too_many(void **state)
{
    char names[2 * (SV_LISTEN_FDS_MAX + 1)];
    struct sv_listen_fds *l = NULL;
    struct sv_error err = { 0 };

    (void)state;
    for (int i = 0; i <= SV_LISTEN_FDS_MAX; i++) {
        assert_int_equal(dup2(STDERR_FILENO, FIRST + i), FIRST + i);
        memcpy(names + 2 * i, "x:", 2);
    }
    names[sizeof(names) - 1] = 0;
    pass(SV_LISTEN_FDS_MAX + 1, names);
    assert_int_equal(sv_listen_fds_receive(&l, &err), -EINVAL);
    assert_non_null(strstr(err.text, "17 sockets"));
    for (int i = 0; i <= SV_LISTEN_FDS_MAX; i++)
        (void)close(FIRST + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_passed),
        cmocka_unit_test(test_for_another_process),
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_other_address),
        cmocka_unit_test(test_no_listening_tcp_socket),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_name_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
