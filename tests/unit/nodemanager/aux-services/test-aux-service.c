/* aux-services/aux-service.c: the back-off between starts doubles up to a minute, and begins anew
 * after a minute of service. The service is a socket of this program; a restart's timer is noted
 * and fires at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/aux-services/aux-service.h"

#define SERVED_MS 60000 /* after which the back-off begins anew */
#define NOW_MS INT64_C(1000000)

static char dir[] = "/tmp/selvedge-aux-XXXXXX";
static sd_event *event;
static struct nm_aux_service *service;
static uint64_t waits[64]; /* ms of every timer that was set */
static size_t n_waits;

int __real_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec)
{
    assert_true(n_waits < SV_ARRAY_LEN(waits));
    waits[n_waits++] = usec / 1000;
    return __real_sd_event_source_set_time_relative(s, nm_aux_service_is_ready(service) ? usec : 0);
}

static char *make_init(const struct nm_aux_conf *conf, const char *const *listen, size_t n_listen,
                       void *userdata)
{
    (void)conf, (void)listen, (void)n_listen, (void)userdata;
    return strdup("{\"type\":\"init\"}");
}

static void on_ready(struct nm_aux_service *s, void *userdata)
{
    (void)s, (void)userdata;
}

static json_t *no_application(const struct nm_aux_service *s, const char *app, bool recovered,
                              void *userdata)
{
    (void)s, (void)app, (void)recovered, (void)userdata;
    return NULL;
}

static void turn(void)
{
    assert_return_code(sd_event_run(event, 1000000), 0);
}

/* Checks the delays of a service that cannot be started. */
static void expect_waits(const uint64_t *wanted, size_t n)
{
    n_waits = 0;
    for (int i = 0; i < 1000 && n_waits < n; i++)
        turn();
    for (size_t i = 0; i < n; i++)
        assert_int_equal(waits[i], wanted[i]);
}

/* It is started, gets init, is ready, and ends its connection after so long. */
static void serve(const char *path, int64_t ms)
{
    static const char ready[] = "\0\0\0\x1e{\"type\":\"ready\",\"metadata\":\"\"}";
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), fd = -1;
    struct sockaddr_un name = { .sun_family = AF_UNIX };

    _Static_assert(sizeof(ready) - 1 == 4 + 0x1e, "the length of the frame");
    (void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
    assert_return_code(bind(server, (const struct sockaddr *)&name, sizeof(name)), 0);
    assert_return_code(listen(server, 1), 0);
    for (int i = 0; i < 1000 && fd < 0; i++) {
        turn();
        fd = accept(server, NULL, NULL);
    }
    assert_int_equal(send(fd, ready, sizeof(ready) - 1, 0), sizeof(ready) - 1);
    for (int i = 0; i < 1000 && !nm_aux_service_is_ready(service); i++)
        turn();
    assert_true(nm_aux_service_is_ready(service));
    sv_close(server);
    assert_return_code(unlink(path), 0);
    sv_clock_set_test(NOW_MS + ms, NOW_MS + ms);
    n_waits = 0;
    sv_close(fd);
    while (n_waits == 0)
        turn();
    sv_clock_set_test(NOW_MS, NOW_MS);
}

static void back_off(void **state)
{
    static const uint64_t doubled[] = { 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000 };
    char path[64];
    struct nm_aux_conf conf = { .name = "s", .socket = path, .socket_uid = getuid() };
    const struct nm_aux_service_ops ops = { .init = make_init,
                                            .ready = on_ready,
                                            .application = no_application };
    struct sv_error err = { 0 };

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/socket", dir);
    sv_clock_set_test(NOW_MS, NOW_MS);
    assert_return_code(nm_aux_service_new(event, &conf, 1000, 1000, &ops, &service, &err), 0);
    nm_aux_service_start(service);
    assert_int_equal(waits[n_waits - 1], 1000);
    expect_waits(doubled, SV_ARRAY_LEN(doubled));
    serve(path, SERVED_MS - 1);
    assert_int_equal(waits[0], 60000);
    serve(path, SERVED_MS);
    assert_int_equal(waits[0], 1000);
    expect_waits(doubled, 2);
    nm_aux_service_end(service);
    service = nm_aux_service_free(service);
    sv_clock_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(back_off),
    };
    int r;

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    if (!mkdtemp(dir) || sd_event_new(&event) < 0)
        return 1;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    sd_event_unref(event);
    return r + (rmdir(dir) < 0);
}
