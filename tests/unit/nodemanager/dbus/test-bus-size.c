/* dbus/bus-size.c: messages of many small values, of one large one, nested ones, long paths. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "nodemanager/dbus/bus-size.h"

static sd_bus *bus;
static int peer = -1;

static int set_up(void **state)
{
    int fds[2];

    (void)state;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0 ||
        sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fds[0], fds[0]) < 0 || sd_bus_start(bus) < 0)
        return -1;
    peer = fds[1];
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bus = sd_bus_close_unref(bus);
    close(peer);
    return 0;
}

static sd_bus_message *new_call(const char *path)
{
    sd_bus_message *m = NULL;

    assert_true(sd_bus_message_new_method_call(bus, &m, NULL, path, "a.b", "C") >= 0);
    return m;
}

static int size_of(sd_bus_message *m)
{
    int r;

    assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
    r = nm_bus_check_size(m);
    if (r >= 0) /* from its start again */
        assert_int_equal(nm_bus_check_size(m), 0);
    sd_bus_message_unref(m);
    return r;
}

static char *text_of(size_t n)
{
    char *text = malloc(n + 1);

    memset(text, 'x', n);
    text[n] = 0;
    return text;
}

static void texts(void **state)
{
    char *small = text_of(60000), *large = text_of((size_t)12 << 20);
    sd_bus_message *m = new_call("/a");

    (void)state;
    assert_true(sd_bus_message_append(m, "ss", "a", small) >= 0);
    assert_int_equal(size_of(m), 0);
    assert_true(sd_bus_message_append(m = new_call("/a"), "ss", small, small) >= 0);
    assert_int_equal(size_of(m), -EMSGSIZE);
    assert_true(sd_bus_message_append(m = new_call("/a"), "s", large) >= 0);
    assert_int_equal(size_of(m), -EMSGSIZE);
    large[0] = '/'; /* as long as sd-bus takes a path */
    large[65530] = 0;
    assert_int_equal(size_of(new_call(large)), -EMSGSIZE);
    free(small);
    free(large);
}

static void arrays(void **state)
{
    static const uint8_t bytes[100000];
    sd_bus_message *m = new_call("/a");

    (void)state;
    assert_true(sd_bus_message_append_array(m, 'y', bytes, 1000) >= 0);
    assert_int_equal(size_of(m), 0);
    assert_true(sd_bus_message_append_array(m = new_call("/a"), 'y', bytes, sizeof(bytes)) >= 0);
    assert_int_equal(size_of(m), -EMSGSIZE);
    for (int n = 100; n <= 100000; n *= 1000) {
        m = new_call("/a");
        assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
        for (int i = 0; i < n; i++)
            assert_true(sd_bus_message_append(m, "{sv}", "k", "(bud)", 1, 2u, 3.0) >= 0);
        assert_true(sd_bus_message_close_container(m) >= 0);
        assert_int_equal(size_of(m), n == 100 ? 0 : -EMSGSIZE);
    }
}

static void nested(void **state)
{
    sd_bus_message *m = new_call("/a");

    (void)state;
    for (int i = 0; i < 50; i++)
        assert_true(sd_bus_message_open_container(m, 'v', i == 49 ? "s" : "v") >= 0);
    assert_true(sd_bus_message_append(m, "s", "deep") >= 0);
    for (int i = 0; i < 50; i++)
        assert_true(sd_bus_message_close_container(m) >= 0);
    assert_int_equal(size_of(m), 0);
    assert_int_equal(size_of(new_call("/a")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts), cmocka_unit_test(arrays),
                                        cmocka_unit_test(nested) };

    return cmocka_run_group_tests_name("bus-size", tests, set_up, tear_down);
}
