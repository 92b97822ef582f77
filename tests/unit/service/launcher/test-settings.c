/* service/launcher/settings.c: the file of exit codes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/launcher/settings.h"

#define KEY "selvedge.framework.user-exits-file"

static int read_with(const char *path, struct svc_lr_settings *ret, struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();

    assert_non_null(conf);
    if (path)
        assert_int_equal(sv_conf_set(conf, KEY, path), 0);
    return svc_lr_settings_read(conf, ret, err);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_exit_codes(void **state)
{
    char path[] = "/tmp/test-settings.XXXXXX";
    struct svc_lr_settings s = { 0 };
    struct sv_error err = { 0 };
    struct svc_fw_exit x;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(read_with(NULL, &s, &err), 0);
    assert_null(s.exits);
    svc_lr_settings_free(&s);
    write_file(path, "- {code: 7, type: NON_TRANSIENT}\n");
    assert_int_equal(read_with(path, &s, &err), 0);
    svc_fw_exit_of_raw(s.exits, 7, NULL, &x);
    assert_int_equal(x.type, SVC_FW_NON_TRANSIENT);
    svc_lr_settings_free(&s);
    write_file(path, "- {code: 7, type: FATAL}\n");
    assert_int_equal(read_with(path, &s, &err), -EINVAL);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "line 1: type"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(read_with(path, &s, &err), -ENOENT);
    assert_non_null(strstr(err.text, KEY));
}

/* A pair of keys, up to three; the error's text has `why`. */
static void check_store(const char *const pairs[6], int error, const char *why)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    struct svc_lr_settings s = { 0 };
    struct sv_error err = { 0 };

    assert_non_null(conf);
    assert_int_equal(sv_conf_set(conf, "selvedge.framework.enabled", "true"), 0);
    for (int i = 0; i < 6 && pairs[i]; i += 2)
        assert_int_equal(sv_conf_set(conf, pairs[i], pairs[i + 1]), 0);
    assert_int_equal(svc_lr_settings_read(conf, &s, &err), error);
    if (error < 0)
        assert_non_null(strstr(err.text, why));
    else
        assert_int_equal(s.shared, pairs[0] != NULL);
    svc_lr_settings_free(&s);
}

#define STORE "selvedge.framework.store"
#define URLS "selvedge.framework.web-server-address"
#define SERVERS "hadoop.zk.address"

static void test_stores(void **state)
{
    static const struct {
        const char *pairs[6];
        int error;
        const char *why;
    } rows[] = {
        { { NULL }, 0, NULL },
        { { STORE, "zookeeper", SERVERS, "z:2181", URLS, "http://a:1,http://b:1" }, 0, NULL },
        { { STORE, "mysql" }, -EINVAL, "sqlite or zookeeper" },
        { { STORE, "zookeeper", URLS, "http://a:1" }, -EINVAL, SERVERS },
        { { STORE, "zookeeper", SERVERS, "z:2181" }, -EINVAL, "name all servers" },
        { { STORE, "zookeeper", SERVERS, "z:2181", URLS, "http://a:1,b:1" }, -EINVAL, "http://" },
        { { STORE, "sqlite", URLS, "http://a:1,http://b:1" }, -EINVAL, "a URL http://host:port" },
        { { STORE, "sqlite", URLS, "http://" }, -EINVAL, "a URL http://host:port" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        check_store(rows[i].pairs, rows[i].error, rows[i].why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_stores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
