/* launch/wanted-ports.c: ports that somebody else has are found before a program starts. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "nodemanager/launch/wanted-ports.h"

static int try(const char *text)
{
    struct sv_error err = { 0 };
    int r = nm_ports_try(text, &err);

    assert_true(r == 0 || *err.text);
    return r;
}

/* A listener of this family on a port of the kernel's choice. */
static int listener(int family, uint16_t *ret)
{
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    struct sockaddr *a = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t len = family == AF_INET ? sizeof(v4) : sizeof(v6);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, a, len) < 0) {
        if (fd >= 0)
            (void)close(fd);
        return -1; /* a machine without the family */
    }
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, a, &len), 0);
    *ret = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
    return fd;
}

static void check_taken(int family)
{
    char text[64];
    uint16_t port = 0;
    int fd = listener(family, &port);

    if (fd < 0)
        return;
    (void)snprintf(text, sizeof(text), "a:1;b:%u;", port);
    assert_int_equal(try(text), -EADDRINUSE);
    (void)close(fd);
    assert_int_equal(try(text), 0);
}

static void test_taken(void **state)
{
    (void)state;
    check_taken(AF_INET);
    check_taken(AF_INET6);
}

/* How long a launch may keep the loop is bounded. */
static void test_first_ones(void **state)
{
    char text[4096] = "a:1";
    uint16_t port = 0;
    int fd = listener(AF_INET, &port);

    (void)state;
    if (fd < 0)
        return;
    for (size_t i = 1; i < NM_TRIED_PORTS_MAX - 1; i++)
        memcpy(text + 1 + 2 * i, ",1", 3);
    (void)snprintf(text + strlen(text), 8, ",%u", port);
    assert_int_equal(try(text), -EADDRINUSE);
    memmove(text + 4, text + 2, strlen(text + 2) + 1); /* one more before it */
    assert_int_equal(try(text), 0);
    (void)close(fd);
}

static void test_text(void **state)
{
    static const char *const bad[] = { "a", "a:", "a:0;", "a:65536;", "a:1,;", "a:1 ;", ":x" };
    char many[16384] = "a:1";

    (void)state;
    assert_int_equal(try(""), 0);
    assert_int_equal(try("a:1"), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(try(bad[i]), -EINVAL);
    for (size_t i = 1; i < YARN_VARIABLE_PORTS_MAX; i++)
        memcpy(many + 1 + 2 * i, ",1", 3);
    assert_int_equal(try(many), 0);
    memcpy(many + strlen(many), ",1", 3);
    assert_int_equal(try(many), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_first_ones),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
