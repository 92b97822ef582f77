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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
