/* Tests nodemanager/conf/conf-unit.c: lines as systemd reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nodemanager/conf/conf-unit.h"

static char path[] = "/tmp/selvedge-test-conf-unit.XXXXXX";

static int set_up(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void expect(const char *text, const char *wanted)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    _cleanup_free_ char *found = nm_conf_unit_dir(path);
    if (wanted) {
        assert_non_null(found);
        assert_string_equal(found, wanted);
    } else {
        assert_null(found);
    }
}

static void test_lines(void **state)
{
    (void)state;
    expect("", NULL);
    expect("HADOOP_CONF_DIR=/etc/selvedge/hadoop", "/etc/selvedge/hadoop");
    expect("A=1\n  HADOOP_CONF_DIR=/a b \t\r\nB=2\n", "/a b");
    expect("HADOOP_CONF_DIR=\"/a b\"\n", "/a b");
    expect("HADOOP_CONF_DIR='/a'\n", "/a");
    expect("HADOOP_CONF_DIR=/a\nHADOOP_CONF_DIR=/b\n", "/b");
    expect("HADOOP_CONF_DIR=/a\nHADOOP_CONF_DIR=\n", NULL);
    expect("#HADOOP_CONF_DIR=/a\n;HADOOP_CONF_DIR=/a\nXHADOOP_CONF_DIR=/a\nHADOOP_CONF_DIRS=/a\n",
           NULL);
    expect("HADOOP_CONF_DIR=relative\n", NULL);
    expect("HADOOP_CONF_DIR=\"\n", NULL);
}

static void test_environment_goes_first(void **state)
{
    (void)state;
    assert_int_equal(setenv("HADOOP_CONF_DIR", "/other", 1), 0);
    expect("HADOOP_CONF_DIR=/a\n", NULL);
    assert_int_equal(setenv("HADOOP_CONF_DIR", "", 1), 0);
    expect("HADOOP_CONF_DIR=/a\n", "/a");
    assert_int_equal(unsetenv("HADOOP_CONF_DIR"), 0);
}

static void test_no_file(void **state)
{
    (void)state;
    assert_null(nm_conf_unit_dir("/nowhere/at-all"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_environment_goes_first),
        cmocka_unit_test(test_no_file),
    };

    (void)unsetenv("HADOOP_CONF_DIR");
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
