/* service/server/framework-works.c: works that are done at once, and those that wait for others;
 * without a ResourceManager. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/own-user.h"
#include "common/str.h"
#include "service/server/frameworks-internal.h"

static void on_ended(void *userdata)
{
    (void)userdata;
}

static void test_at_once(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *sv = sv_conf_new();
    const char *user = sv_own_user();
    struct svc_spawner *spawner = NULL;
    struct svc_conf conf = { 0 };
    struct sv_error err = { 0 };
    struct svc_flights flights = { .ended = on_ended };
    struct svc_frameworks s = { .cfg.flights = &flights };
    const struct svc_request change = { .user = user, .method = "PUT", .uri = "/", .body = "" };
    struct svc_flight *own = NULL, *second = NULL;
    const char *why;
    char app[YARN_ID_TEXT_MAX];

    (void)state;
    assert_int_equal(sv_conf_set(sv, "yarn.resourcemanager.address", "127.0.0.1:1"), 0);
    assert_int_equal(sv_conf_set(sv, "selvedge.services.request-timeout", "1s"), 0);
    assert_int_equal(svc_conf_read(sv, &conf, &err), 0);
    assert_int_equal(svc_spawner_new(&conf, &spawner, &err), 0);
    assert_true(sd_event_new(&flights.event) >= 0);
    flights.conf = &conf;
    flights.spawner = spawner;
    assert_int_equal(svc_frameworks_kill(&s, "application_1_0001", user, "a"), 0);
    assert_int_equal(svc_frameworks_kill(&s, "application_1_0002", user, "b"), 0);
    assert_int_equal(svc_frameworks_kill(&s, "application_1_0003", user, "a"), -EALREADY);
    assert_int_equal(svc_frameworks_kill(&s, "application_1_0001", user, NULL), -EALREADY);
    /* A user's own change of a service does not wait for them, but for another one. */
    assert_int_equal(svc_flight_new(&flights, &change, &own, &why), 0);
    assert_int_equal(svc_flight_new(&flights, &change, &second, &why), -EAGAIN);
    for (int i = 3; i <= 5; i++) {
        (void)snprintf(app, sizeof(app), "application_1_%04d", i);
        assert_int_equal(svc_frameworks_kill(&s, app, user, NULL), i < 5 ? 0 : -EAGAIN);
    }
    assert_int_equal(svc_frameworks_kill(&s, "application_1_0006", "another", NULL), 0);
    svc_frameworks_leave(&s);
    svc_flight_leave(own);
    svc_flights_free(&flights);
    flights.event = sd_event_unref(flights.event);
    spawner = svc_spawner_free(spawner);
    svc_conf_free(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_at_once) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
