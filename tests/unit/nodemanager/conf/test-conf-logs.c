/* conf-logs.c: keys of log aggregation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/nodemanager/conf/conf-fixture.h"

#define ROLLING "yarn.nodemanager.log-aggregation."

static void rolling(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(NULL), &c);
    assert_int_equal(c.logs.roll_ms, 0);
    assert_int_equal(c.logs.files_max, 30);
    nm_conf_free(&c);
    expect_ok(SET((char *)(uintptr_t)ROLLING "roll-monitoring-interval-seconds=60",
                  (char *)(uintptr_t)ROLLING "num-log-files-per-app=-1"),
              &c);
    assert_int_equal(c.logs.roll_ms, 3600 * 1000);
    assert_int_equal(c.logs.files_max, 30);
    nm_conf_free(&c);
    expect_ok(SET((char *)(uintptr_t)ROLLING "roll-monitoring-interval-seconds=60",
                  (char *)(uintptr_t)ROLLING "num-log-files-per-app=5",
                  (char *)(uintptr_t)ROLLING "roll-monitoring-interval-seconds.min=50"),
              &c);
    assert_int_equal(c.logs.roll_ms, 60 * 1000);
    assert_int_equal(c.logs.files_max, 5);
    nm_conf_free(&c);
    expect_ok(SET((char *)(uintptr_t)ROLLING "roll-monitoring-interval-seconds=1",
                  (char *)(uintptr_t)ROLLING "debug-enabled=true"),
              &c);
    assert_int_equal(c.logs.roll_ms, 1000);
    nm_conf_free(&c);
    expect_refused(SET((char *)(uintptr_t)ROLLING "roll-monitoring-interval-seconds=often"),
                   ROLLING "roll-monitoring-interval-seconds");
}

static void log_server(void **state)
{
    static const char *const bad[] = { "history:19888", "/jobhistory/logs", "ftp://history",
                                       "http://history/a b", "http://history/\na" };
    struct nm_conf c;
    char text[128];

    (void)state;
    expect_ok(SET((char *)(uintptr_t) "yarn.log.server.url=https://history:19890/logs"), &c);
    assert_string_equal(c.logs.server, "https://history:19890/logs");
    nm_conf_free(&c);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        (void)snprintf(text, sizeof(text), "yarn.log.server.url=%s", bad[i]);
        expect_refused(SET(text), "yarn.log.server.url");
    }
}

/* Captures the log of loading. */
static void load_logged(char *const *overrides, struct nm_conf *c, char *text, size_t size)
{
    int p[2], saved = dup(STDERR_FILENO);
    ssize_t n;

    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_true(dup2(p[1], STDERR_FILENO) >= 0);
    sv_log_set_level(SV_LOG_WARNING);
    expect_ok(overrides, c);
    sv_log_set_level(SV_LOG_ERR);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    sv_close(p[1]);
    n = read(p[0], text, size - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    sv_close(p[0]);
    sv_close(saved);
}

#define AGGREGATE (char *)(uintptr_t) "yarn.log-aggregation-enable=true"
#define FORMATS "yarn.log-aggregation.file-formats"

/* If logs are aggregated, formats that this version does not write are rejected at start. */
static void log_formats(void **state)
{
    static const char *const codecs[] = { "lzo", "zstd", "GZ" };
    struct nm_conf c;
    char text[2048];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(codecs); i++) {
        char setting[128], words[128];

        (void)snprintf(setting, sizeof(setting), ROLLING "compression-type=%s", codecs[i]);
        (void)snprintf(words, sizeof(words),
                       ROLLING "compression-type: \"%s\" is not supported; none and gz are",
                       codecs[i]);
        expect_refused(SET(AGGREGATE, setting), words);
    }
    expect_ok(SET(AGGREGATE, (char *)(uintptr_t)ROLLING "compression-type=gz"), &c);
    assert_string_equal(c.logs.compression, "gz");
    nm_conf_free(&c);
    expect_refused(SET(AGGREGATE, (char *)(uintptr_t)FORMATS "=IndexedFile"),
                   FORMATS ": this version writes TFile alone");
    expect_ok(SET((char *)(uintptr_t)FORMATS "=IndexedFile"), &c); /* nothing is uploaded */
    nm_conf_free(&c);
    load_logged(SET(AGGREGATE, (char *)(uintptr_t)FORMATS "=IndexedFile,TFile"), &c, text,
                sizeof(text));
    nm_conf_free(&c);
    if (!strstr(text, FORMATS ": IndexedFile is not written by this version, TFile is") ||
        strstr(strstr(text, FORMATS) + 1, FORMATS))
        fail_msg("not once: %s", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolling),
        cmocka_unit_test(log_server),
        cmocka_unit_test(log_formats),
    };

    return cmocka_run_group_tests(tests, conf_set_up, conf_tear_down);
}
