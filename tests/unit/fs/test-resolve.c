/* Tests fs/resolve.c: the file system that a name of a job or a key means. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fs/resolve.h"

#define MOUNTS "fs.viewfs.mounttable."

static struct sv_conf *conf;

static void set(const char *key, const char *value)
{
    assert_int_equal(sv_conf_set(conf, key, value), 0);
}

/* The url, or the error's text. */
static const char *resolve(const char *name, int want)
{
    static char url[FS_URL_MAX + 1];
    static struct sv_error err;

    err = (struct sv_error){ 0 };
    assert_int_equal(fs_resolve(conf, name, url, &err), want);
    assert_int_equal(err.code, want);
    return want == 0 ? url : err.text;
}

static int setup(void **state)
{
    (void)state;
    conf = sv_conf_new();
    return conf ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    conf = sv_conf_free(conf);
    return 0;
}

static void test_default(void **state)
{
    (void)state;
    assert_string_equal(resolve("/a/b", 0), "file:///a/b");
    set("fs.defaultFS", "hdfs://nn:8020/x/");
    assert_string_equal(resolve("/a/b", 0), "hdfs://nn:8020/a/b");
    assert_string_equal(resolve("s3a://b/f", 0), "s3a://b/f");
    set("fs.defaultFS", "nn:9000");
    assert_string_equal(resolve("/a", 0), "hdfs://nn:9000/a");
    set("fs.defaultFS", "local");
    assert_string_equal(resolve("/a", 0), "file:///a");
}

static void test_mounts(void **state)
{
    (void)state;
    set(MOUNTS "cl.link./data", "hdfs://one/d/");
    set(MOUNTS "cl.link./data/raw", "webhdfs://two:9870/raw");
    set(MOUNTS "cl.link./tmp", "file:///var/tmp");
    assert_string_equal(resolve("viewfs://cl/data/x%20y", 0), "hdfs://one/d/x%20y");
    assert_string_equal(resolve("ViewFS://cl/data/raw/f", 0), "webhdfs://two:9870/raw/f");
    assert_string_equal(resolve("viewfs://cl/data/rawest", 0), "hdfs://one/d/rawest");
    assert_string_equal(resolve("viewfs://cl/data", 0), "hdfs://one/d/");
    assert_non_null(strstr(resolve("viewfs://cl/user/f", -ENOENT), "no mount point has it"));
    assert_non_null(strstr(resolve("viewfs://cl/da\nt", -ENOENT), "viewfs://cl/da\\"));
    resolve("viewfs://other/data/f", -ENOENT);
    resolve("viewfs://cl", -ENOENT);
    set("fs.defaultFS", "viewfs://cl");
    assert_string_equal(resolve("/tmp/f", 0), "file:///var/tmp/f");
    set(MOUNTS "cl.linkFallback", "hdfs://three/");
    assert_string_equal(resolve("/user/f", 0), "hdfs://three/user/f");
    set(MOUNTS "whole.linkMergeSlash", "hdfs://four");
    assert_string_equal(resolve("viewfs://whole/a/f", 0), "hdfs://four/a/f");
    set(MOUNTS "default.link./a", "hdfs://five/b");
    assert_string_equal(resolve("viewfs:/a/f", 0), "hdfs://five/b/f");
    assert_string_equal(resolve("viewfs:///a/f", 0), "hdfs://five/b/f");
    set(MOUNTS "default.name.key", "whole");
    assert_string_equal(resolve("viewfs:///a/f", 0), "hdfs://four/a/f");
}

static void test_refused(void **state)
{
    static char name[FS_URL_MAX + 10];
    struct sv_error err = { 0 };
    struct fs_url u;

    (void)state;
    set(MOUNTS "cl.link./a", "viewfs://cl/b");
    resolve("viewfs://cl/a/f", -EOPNOTSUPP);
    assert_non_null(strstr(resolve("har:///a.har/f", -EOPNOTSUPP), "are not read"));
    assert_non_null(strstr(resolve("har://hdfs-nn:1/a.har/f", -EOPNOTSUPP), "(har:)"));
    memset(name, 'a', sizeof(name) - 1);
    name[0] = '/';
    resolve(name, -ENAMETOOLONG);
    assert_int_equal(fs_resolve_url(conf, "viewfs://cl/../f", &u, &err), -ENOENT);
    set(MOUNTS "cl.link./c", "hdfs://one/c");
    assert_int_equal(fs_resolve_url(conf, "viewfs://cl/c/../../f", &u, &err), -EINVAL);
    assert_int_equal(fs_resolve_url(conf, "viewfs://cl/c/f", &u, &err), 0);
    assert_string_equal(u.path, "/c/f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_default, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mounts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
