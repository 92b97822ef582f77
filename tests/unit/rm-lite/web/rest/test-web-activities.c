/* rm-lite/web/rest/web-activities.c through GET /ws/v1/cluster/scheduler/bulk-activities: it waits
 * for heartbeats, and not where none come. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/socket.h>

#define PATH "/ws/v1/cluster/scheduler/bulk-activities"
#define SOON_MS 5000 /* half of the time that an answer waits */

static int ask(const struct fix *f)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(f->rm->web_port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_true(dprintf(fd, "GET " PATH " HTTP/1.0\r\nConnection: close\r\n\r\n") > 0);
    return fd;
}

static void turn(const struct fix *f)
{
    assert_true(sd_event_run(f->event, 100000) >= 0);
}

/* Visits in the answer; -1: another one than 200. */
static int answered(const struct fix *f, int fd)
{
    char text[65536];
    size_t len = 0;
    ssize_t n;
    json_t *o;
    int visits;

    do {
        turn(f);
        n = recv(fd, text + len, sizeof(text) - 1 - len, MSG_DONTWAIT);
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EAGAIN));
    assert_int_equal(n, 0);
    close(fd);
    text[len] = 0;
    if (strtol(text + strlen("HTTP/1.1 "), NULL, 10) != 200)
        return -1;
    assert_non_null(strstr(text, "\r\n\r\n"));
    o = json_loads(strstr(text, "\r\n\r\n"), 0, NULL);
    visits =
        (int)json_array_size(json_object_get(json_object_get(o, "bulkActivities"), "activities"));
    json_decref(o);
    return visits;
}

static void silent_nodes(void **state)
{
    int64_t begin = sv_now_ms();
    struct fix f;

    (void)state;
    setup(&f);
    assert_int_equal(answered(&f, ask(&f)), -1); /* without a node it is refused */
    add_node(&f, 1)->seen_ms -= 3 * f.rm->conf.heartbeat_ms;
    add_node(&f, 2)->seen_ms -= 60000;
    assert_int_equal(answered(&f, ask(&f)), 0);
    assert_true(sv_now_ms() - begin < SOON_MS);
    assert_int_equal(f.rm->n_lists, 0);
    teardown(&f);
}

static void beating_node(void **state)
{
    struct rm_node *n;
    struct fix f;
    int fd;

    (void)state;
    setup(&f);
    add_node(&f, 1)->seen_ms -= 60000;
    n = add_node(&f, 2);
    fd = ask(&f);
    while (f.rm->n_lists == 0)
        turn(&f);
    for (int i = 0; i < 10; i++) { /* as many visits as are asked for by default */
        turn(&f);
        assert_int_equal(f.rm->n_lists, 1); /* it waits */
        heartbeat(&f, n);
    }
    assert_int_equal(answered(&f, fd), 10);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(silent_nodes),
                                        cmocka_unit_test(beating_node) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
