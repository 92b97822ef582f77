/* health/node-health.c: faults that the helper reports, probes of an unreachable helper, the
 * report. The helper, the directories and the mounts are stubs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "executor/exe.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/mount-watch.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/store/state-store.h"

static struct {
    exe_done done; /* of the last check */
    void *userdata;
    int checks;
    bool unreachable;
    bool dirs_good;
    const char *dirs_report, *store_failure;
    void (*mounts_changed)(void *userdata);
    int refused;
} stub;

int exe_check(struct exe *x, bool rebuild, exe_done done, void *userdata)
{
    (void)x;
    assert_true(rebuild);
    stub.checks++;
    stub.done = done;
    stub.userdata = userdata;
    return 0;
}

bool exe_failure_is_nodes(const struct exe_failure *f)
{
    return f->status == EXE_STATUS_LOST;
}

bool exe_unreachable(const struct exe *x)
{
    (void)x;
    return stub.unreachable;
}

bool nm_dirs_healthy(const struct nm_dirs *d, const char **ret_report)
{
    (void)d;
    *ret_report = stub.dirs_report;
    return stub.dirs_good;
}

const char *nm_store_failure(const struct nm_store *s)
{
    (void)s;
    return stub.store_failure;
}

int nm_mount_watch_new(sd_event *event, const char *path, void (*changed)(void *userdata),
                       void *userdata, struct nm_mount_watch **ret, struct sv_error *err)
{
    (void)event, (void)path, (void)userdata, (void)err;
    stub.mounts_changed = changed;
    *ret = NULL;
    return 0;
}

struct nm_mount_watch *nm_mount_watch_free(struct nm_mount_watch *w)
{
    (void)w;
    return NULL;
}

static sd_event *event;
static struct nm_health *health;

static void on_refused(const struct exe_failure *f, void *userdata)
{
    (void)f, (void)userdata;
    stub.refused++;
}

static int setup(void **state)
{
    (void)state;
    memset(&stub, 0, sizeof(stub));
    stub.dirs_good = true;
    stub.dirs_report = "";
    if (sd_event_new(&event) < 0)
        return -1;
    return nm_health_new(event, NULL, NULL, NULL, on_refused, NULL, &health, NULL);
}

static int teardown(void **state)
{
    (void)state;
    health = nm_health_free(health);
    event = sd_event_unref(event);
    return 0;
}

static void expect(bool healthy, const char *report)
{
    char text[NM_HEALTH_REPORT_MAX];

    assert_int_equal(nm_health_report(health, text), healthy);
    assert_string_equal(text, report);
}

static void answer(enum exe_status status, const char *text)
{
    struct exe_failure f = { .status = status };

    (void)snprintf(f.text, sizeof(f.text), "%s", text ? text : "");
    stub.done(text ? &f : NULL, stub.userdata);
}

static void reports(void **state)
{
    (void)state;
    answer(EXE_STATUS_OK, NULL);
    expect(true, "");
    stub.dirs_report = "1/2 local-dirs bad";
    expect(true, "1/2 local-dirs bad");
    stub.dirs_good = false;
    expect(false, "1/2 local-dirs bad");
    nm_health_set_unhealthy(health, "a fault");
    expect(false, "a fault;1/2 local-dirs bad");
    stub.dirs_good = true;
    stub.dirs_report = "";
    expect(false, "a fault");
    stub.store_failure = "the store is full";
    expect(false, "a fault;the store is full");
    assert_int_equal(stub.checks, 1); /* reachable: no probe */
}

static void store_cannot_be_written(void **state)
{
    (void)state;
    answer(EXE_STATUS_OK, NULL);
    stub.store_failure = "the store is full";
    expect(false, "the store is full");
    stub.dirs_report = "1/4 local-dirs are bad";
    expect(false, "the store is full;1/4 local-dirs are bad");
    stub.store_failure = NULL;
    expect(true, "1/4 local-dirs are bad");
}

static void refused_configuration(void **state)
{
    (void)state;
    answer(EXE_STATUS_DEVICE_FILTER, "no device filter");
    assert_int_equal(stub.refused, 0);
    expect(false, "no device filter");
    answer(EXE_STATUS_STATE, "another cgroup root");
    assert_int_equal(stub.refused, 1);
}

static void probes_until_the_helper_answers(void **state)
{
    (void)state;
    stub.unreachable = true;
    answer(EXE_STATUS_SOCKET, "no socket");
    expect(false, "no socket");
    assert_true(sd_event_run(event, 3000000) > 0);
    assert_int_equal(stub.checks, 2);
    answer(EXE_STATUS_SOCKET, "no socket");
    assert_true(sd_event_run(event, 3000000) > 0);
    assert_int_equal(stub.checks, 3);
    stub.unreachable = false;
    answer(EXE_STATUS_OK, NULL);
    expect(true, "");
}

static void mounts_are_prepared_again(void **state)
{
    (void)state;
    answer(EXE_STATUS_OK, NULL);
    stub.mounts_changed(health);
    assert_int_equal(stub.checks, 2);
    answer(EXE_STATUS_STATE, "not now");
    expect(true, "");
    assert_int_equal(stub.refused, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reports, setup, teardown),
        cmocka_unit_test_setup_teardown(store_cannot_be_written, setup, teardown),
        cmocka_unit_test_setup_teardown(refused_configuration, setup, teardown),
        cmocka_unit_test_setup_teardown(probes_until_the_helper_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(mounts_are_prepared_again, setup, teardown),
    };

    sv_log_init("test");
    sv_log_set_level((enum sv_log_level)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
