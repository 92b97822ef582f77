/* Tests client/logs/log-places.c: where aggregated logs may be, for the layouts and keys of
 * Hadoop's versions. */
#include "client/logs/log-places.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static const struct yarn_app_id app = { 1700000000123, 10042 };

static bool has(const struct cli_places *p, const char *root, const char *dir)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->v[i].root.path, root) == 0 && strcmp(p->v[i].dir, dir) == 0)
            return true;
    return false;
}

static void defaults(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct cli_places p = { 0 };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(cli_places(c, "alice", app, &p, &err), 0);
    assert_int_equal(p.n, 3);
    assert_int_equal(p.v[0].root.scheme, FS_SCHEME_FILE);
    assert_string_equal(p.v[0].dir, "alice/bucket-logs-tfile/0042/application_1700000000123_10042");
    assert_true(has(&p, "/tmp/logs", "alice/logs-tfile/application_1700000000123_10042"));
    assert_true(has(&p, "/tmp/logs", "alice/logs/application_1700000000123_10042"));
    cli_places_free(&p);
}

static void formats(void **state)
{
    static const char *const set[][2] = {
        { "fs.defaultFS", "hdfs://nn:8020/" },
        { "yarn.log-aggregation.file-formats", "IFile,TFile" },
        { "yarn.nodemanager.remote-app-log-dir", "/app-logs" },
        { "yarn.nodemanager.remote-app-log-dir-suffix", "ours" },
        { "yarn.log-aggregation.IFile.remote-app-log-dir", "file:///mnt/indexed" },
        { "yarn.log-aggregation.TFile.remote-app-log-dir-suffix", "T" },
    };
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct cli_places p = { 0 };
    struct sv_error err = { 0 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(set); i++)
        assert_int_equal(sv_conf_set(c, set[i][0], set[i][1]), 0);
    assert_int_equal(cli_places(c, "alice", app, &p, &err), 0);
    assert_true(
        has(&p, "/mnt/indexed", "alice/bucket-ours-ifile/0042/application_1700000000123_10042"));
    assert_true(has(&p, "/app-logs", "alice/bucket-T/0042/application_1700000000123_10042"));
    assert_true(has(&p, "/app-logs", "alice/T/application_1700000000123_10042"));
    assert_true(has(&p, "/app-logs", "alice/ours/application_1700000000123_10042"));
    for (size_t i = 0; i < p.n; i++)
        if (strcmp(p.v[i].root.path, "/app-logs") == 0) {
            assert_int_equal(p.v[i].root.scheme, FS_SCHEME_HDFS);
            assert_string_equal(p.v[i].root.host, "nn");
        }
    cli_places_free(&p);
}

static void bad(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct cli_places p = { 0 };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(cli_places(c, "../root", app, &p, &err), -EINVAL);
    assert_int_equal(cli_places(c, "", app, &p, &err), -EINVAL);
    assert_int_equal(sv_conf_set(c, "yarn.nodemanager.remote-app-log-dir", "gopher://x/"), 0);
    assert_true(cli_places(c, "alice", app, &p, &err) < 0);
    assert_non_null(strstr(err.text, "yarn.nodemanager.remote-app-log-dir=gopher://x/"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(formats),
        cmocka_unit_test(bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
