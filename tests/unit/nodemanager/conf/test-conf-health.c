/* conf-health.c: keys of health scripts and of checks of disks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/nodemanager/conf/conf-fixture.h"

#define CHECKER "yarn.nodemanager.health-checker."
#define H(setting) (char *)(uintptr_t)(CHECKER setting)

static void health_scripts(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(NULL), &c);
    assert_string_equal(c.health.names[0], "script");
    assert_int_equal(c.health.n, 0);
    assert_int_equal(c.health.interval_ms, 600000);
    assert_int_equal(c.health.timeout_ms, 1200000);
    assert_false(c.health.before_startup);
    nm_conf_free(&c);
    /* Hadoop 2's keys are those of the script `script`. */
    expect_ok(SET(H("script.path=/x/health"), H("script.opts=-a, b c,,-d"),
                  H("script.timeout-ms=60000"), H("interval-ms=135000")),
              &c);
    assert_int_equal(c.health.n, 1);
    assert_string_equal(c.health.scripts[0].name, "script");
    assert_string_equal(c.health.scripts[0].argv[0], "/x/health");
    assert_string_equal(c.health.scripts[0].argv[1], "-a");
    assert_string_equal(c.health.scripts[0].argv[2], "b c");
    assert_string_equal(c.health.scripts[0].argv[3], "-d");
    assert_null(c.health.scripts[0].argv[4]);
    assert_int_equal(c.health.scripts[0].timeout_ms, 60000);
    assert_int_equal(c.health.scripts[0].interval_ms, 0);
    assert_int_equal(c.health.interval_ms, 135000);
    nm_conf_free(&c);
    expect_ok(SET(H("scripts= one ,two,three,four"), H("one.path=/1"), H("three.path=/3"),
                  H("three.interval-ms=5m"), H("script.path=/0"), H("run-before-startup=true")),
              &c);
    assert_int_equal(c.health.n, 2);
    assert_string_equal(c.health.scripts[1].name, "three");
    assert_int_equal(c.health.scripts[1].interval_ms, 300000);
    assert_true(c.health.before_startup);
    nm_conf_free(&c);
    expect_refused(SET(H("scripts=a,b,c,d,e")), CHECKER "scripts: 5 scripts");
    expect_refused(SET(H("scripts=a,b,a")), "\"a\" is listed twice");
    expect_refused(SET(H("scripts=a/b")), "\"a/b\" is not a name");
    expect_refused(SET(H("scripts=a"), H("a.path=health")), "\"health\" is not an absolute path");
    expect_refused(SET(H("scripts=a"), H("a.interval-ms=-1")), CHECKER "a.interval-ms");
    expect_refused(SET(H("scripts=a"), H("a.interval-ms=99")), "expected at least 100");
    expect_refused(SET(H("timeout-ms=0")), CHECKER "timeout-ms");
}

#define DISKS "yarn.nodemanager.disk-health-checker."
#define D(setting) (char *)(uintptr_t)(DISKS setting)

/* A watermark is the threshold where it is not set or beyond it. */
static void disk_watermarks(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(NULL), &c);
    assert_true(c.utilization_checked && c.free_space_checked && !c.content_checked);
    assert_true(c.max_disk_utilization == 90.0 && c.low_disk_utilization == 90.0);
    assert_int_equal(c.high_free_mb, 0);
    nm_conf_free(&c);
    expect_ok(
        SET(D("max-disk-utilization-per-disk-percentage=80"), D("min-free-space-per-disk-mb=100")),
        &c);
    assert_true(c.low_disk_utilization == 80.0);
    assert_int_equal(c.high_free_mb, 100);
    nm_conf_free(&c);
    expect_ok(SET(D("max-disk-utilization-per-disk-percentage=120"),
                  D("disk-utilization-watermark-low-per-disk-percentage=70"),
                  D("min-free-space-per-disk-mb=100"),
                  D("min-free-space-per-disk-watermark-high-mb=200"),
                  D("disk-utilization-threshold.enabled=false"),
                  D("disk-free-space-threshold.enabled=false"),
                  D("working-dir-content-accessibility-validation.enabled=true")),
              &c);
    assert_true(c.max_disk_utilization == 100.0 && c.low_disk_utilization == 70.0);
    assert_int_equal(c.high_free_mb, 200);
    assert_true(!c.utilization_checked && !c.free_space_checked && c.content_checked);
    nm_conf_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(health_scripts),
        cmocka_unit_test(disk_watermarks),
    };

    return cmocka_run_group_tests(tests, conf_set_up, conf_tear_down);
}
