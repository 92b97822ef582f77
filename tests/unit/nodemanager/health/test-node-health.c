/* health/node-health.c: faults that the helper reports, probes of an unreachable helper, the
 * report. The helper, the directories, the scripts and the mounts are stubs. */
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
#include "nodemanager/health/health-scripts.h"
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
    int64_t dirs_ms, scripts_ms;
    const char *scripts[3]; /* reports; NULL: the end */
    bool scripts_starting;
    void (*mounts_changed)(void *userdata);
    int refused, commit;
    char setting[NM_DRAIN_REASON_MAX]; /* of the store: the drain */
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

int64_t nm_dirs_checked_ms(const struct nm_dirs *d)
{
    (void)d;
    return stub.dirs_ms;
}

int nm_scripts_new(sd_event *event, const struct nm_conf_health *conf, struct nm_scripts **ret,
                   struct sv_error *err)
{
    (void)event, (void)conf, (void)err;
    *ret = (void *)&stub;
    return 0;
}

struct nm_scripts *nm_scripts_free(struct nm_scripts *l)
{
    (void)l;
    return NULL;
}

const char *nm_scripts_report(const struct nm_scripts *l, size_t i)
{
    (void)l;
    return stub.scripts[i];
}

int64_t nm_scripts_checked_ms(const struct nm_scripts *l)
{
    (void)l;
    return stub.scripts_ms;
}

bool nm_scripts_starting(const struct nm_scripts *l)
{
    (void)l;
    return stub.scripts_starting;
}

const char *nm_store_failure(const struct nm_store *s)
{
    (void)s;
    return stub.store_failure;
}

int nm_store_setting(struct nm_store *s, const char *name, const char *value)
{
    (void)s, (void)name;
    snprintf(stub.setting, sizeof(stub.setting), "%s", value);
    return 0;
}

int nm_store_setting_remove(struct nm_store *s, const char *name)
{
    (void)s, (void)name;
    stub.setting[0] = 0;
    return 0;
}

int nm_store_commit(struct nm_store *s)
{
    (void)s;
    return stub.commit;
}

int nm_store_each_setting(struct nm_store *s, int (*fn)(const char *, const char *, void *),
                          void *u)
{
    (void)s;
    return *stub.setting ? fn("drain", stub.setting, u) : fn("other", "x", u);
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

/* Behind the directories, each by itself; the time is that of the last of all checks. */
static void scripts(void **state)
{
    char long_text[NM_HEALTH_REPORT_MAX + 100], report[NM_HEALTH_REPORT_MAX];

    (void)state;
    answer(EXE_STATUS_OK, NULL);
    stub.dirs_ms = 5;
    assert_false(nm_health_starting(health));
    assert_int_equal(nm_health_checked_ms(health), 5);
    assert_int_equal(nm_health_run_scripts(health, NULL, NULL), 0);
    stub.scripts_starting = true;
    assert_true(nm_health_starting(health));
    stub.scripts[0] = stub.scripts[1] = "";
    expect(true, "");
    stub.scripts[1] = "ERROR two\n";
    stub.scripts_ms = 4;
    expect(false, "ERROR two\n");
    assert_int_equal(nm_health_checked_ms(health), 5);
    stub.dirs_report = "1/4 local-dirs are bad";
    stub.scripts[0] = "ERROR one";
    stub.scripts_ms = 6;
    expect(false, "1/4 local-dirs are bad;ERROR one;ERROR two\n");
    assert_int_equal(nm_health_checked_ms(health), 6);
    stub.scripts[0] = stub.scripts[1] = "";
    expect(true, "1/4 local-dirs are bad");

    stub.dirs_report = "";
    memset(long_text, 'x', sizeof(long_text) - 1);
    memcpy(long_text + NM_HEALTH_REPORT_MAX - 3, "\xe2\x82\xac", 3); /* one byte too many */
    long_text[sizeof(long_text) - 1] = '\0';
    stub.scripts[0] = long_text;
    assert_false(nm_health_report(health, report));
    assert_int_equal(strlen(report), NM_HEALTH_REPORT_MAX - 3); /* cut before the character */
}

/* Unhealthy until it is undrained, also in the next life; not where the store refuses the record.
 */
static void drained(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    answer(EXE_STATUS_OK, NULL);
    assert_null(nm_health_drain_reason(health));
    assert_int_equal(nm_health_drain(health, "new disk", &err), 0);
    expect(false, "drained: new disk");
    stub.dirs_report = "1/2 local-dirs bad";
    expect(false, "drained: new disk;1/2 local-dirs bad");
    stub.dirs_report = "";

    nm_health_free(health);
    assert_int_equal(nm_health_new(event, NULL, NULL, NULL, on_refused, NULL, &health, NULL), 0);
    expect(false, "drained: new disk");
    assert_string_equal(nm_health_drain_reason(health), "new disk");
    stub.commit = -EIO;
    assert_int_equal(nm_health_drain(health, NULL, &err), -EIO);
    expect(false, "drained: new disk");
    stub.commit = 0;
    assert_int_equal(nm_health_drain(health, NULL, &err), 0);
    assert_int_equal(nm_health_drain(health, NULL, &err), 0);
    expect(true, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(drained, setup, teardown),
        cmocka_unit_test_setup_teardown(reports, setup, teardown),
        cmocka_unit_test_setup_teardown(scripts, setup, teardown),
        cmocka_unit_test_setup_teardown(store_cannot_be_written, setup, teardown),
        cmocka_unit_test_setup_teardown(refused_configuration, setup, teardown),
        cmocka_unit_test_setup_teardown(probes_until_the_helper_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(mounts_are_prepared_again, setup, teardown),
    };

    sv_log_init("test");
    sv_log_set_level((enum sv_log_level)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
