/* Tests common/zookeeper/zk-conf.c: the keys hadoop.zk.* and ACLs as Hadoop writes them. */
#include "common/zookeeper/zk-conf.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* after the three above */
#include <cmocka.h>

static void defaults(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    _cleanup_zk_settings_ struct sv_zk_settings s;

    (void)state;
    assert_int_equal(sv_zk_settings_read(c, &s, NULL), 0);
    assert_null(s.servers);
    assert_int_equal(s.session_ms, 10000);
    assert_int_equal(s.retries, 1000);
    assert_int_equal(s.retry_ms, 1000);
    assert_int_equal(s.n_acl, 1);
    assert_string_equal(s.acl[0].scheme, "world");
    assert_string_equal(s.acl[0].id, "anyone");
    assert_int_equal(s.acl[0].permissions, SV_ZK_ALL);
}

static void values(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    _cleanup_zk_settings_ struct sv_zk_settings s;

    (void)state;
    assert_int_equal(sv_conf_set(c, "hadoop.zk.address", "a:1,b:2"), 0);
    assert_int_equal(sv_conf_set(c, "hadoop.zk.timeout-ms", "20000"), 0);
    assert_int_equal(sv_conf_set(c, "hadoop.zk.acl", "sasl:yarn:rwcda, digest:u:h=:r"), 0);
    assert_int_equal(sv_zk_settings_read(c, &s, NULL), 0);
    assert_string_equal(s.servers, "a:1,b:2");
    assert_int_equal(s.session_ms, 20000);
    assert_int_equal(s.n_acl, 2);
    assert_string_equal(s.acl[0].scheme, "sasl");
    assert_string_equal(s.acl[1].id, "u:h=");
    assert_int_equal(s.acl[1].permissions, SV_ZK_READ);
}

static void from_file(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    _cleanup_zk_settings_ struct sv_zk_settings s;
    char path[] = "/tmp/test-zk-conf-XXXXXX", value[64];
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "world:anyone:r\n", 15), 15);
    close(fd);
    (void)snprintf(value, sizeof(value), "@%s", path);
    assert_int_equal(sv_conf_set(c, "hadoop.zk.acl", value), 0);
    assert_int_equal(sv_zk_settings_read(c, &s, NULL), 0);
    assert_int_equal(s.acl[0].permissions, SV_ZK_READ);
    assert_int_equal(unlink(path), 0);
}

static void refused(void **state)
{
    static const struct {
        const char *name, *value, *says;
    } rows[] = {
        { "hadoop.zk.timeout-ms", "1", "hadoop.zk.timeout-ms" },
        { "hadoop.zk.num-retries", "-1", "hadoop.zk.num-retries" },
        { "hadoop.zk.acl", "world:anyone", "hadoop.zk.acl: entry \"world:anyone\"" },
        { "hadoop.zk.acl", "world:anyone:", "SCHEME:ID:PERMISSIONS" },
        { "hadoop.zk.acl", "world:anyone:rwx", "SCHEME:ID:PERMISSIONS" },
        { "hadoop.zk.acl", ":anyone:r", "SCHEME:ID:PERMISSIONS" },
        { "hadoop.zk.acl", " , ", "no entry" },
        { "hadoop.zk.acl", "@/no/such/file", "hadoop.zk.acl: @/no/such/file" },
        { "hadoop.zk.auth", "digest:u:p", "not supported" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
        _cleanup_zk_settings_ struct sv_zk_settings s;
        struct sv_error err = { 0 };

        assert_int_equal(sv_conf_set(c, rows[i].name, rows[i].value), 0);
        assert_true(sv_zk_settings_read(c, &s, &err) < 0);
        if (!strstr(err.text, rows[i].says))
            fail_msg("%s: %s", rows[i].value, err.text);
    }
}

static void too_many(void **state)
{
    char text[SV_ZK_ACL_MAX * 6 + 7] = "";
    struct sv_zk_acl acl[SV_ZK_ACL_MAX];
    size_t n;

    (void)state;
    for (size_t i = 0; i <= SV_ZK_ACL_MAX; i++)
        memcpy(text + 6 * i, "a:b:r,", 6);
    assert_int_equal(sv_zk_acl_parse(text, acl, &n, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults), cmocka_unit_test(values),   cmocka_unit_test(from_file),
        cmocka_unit_test(refused),  cmocka_unit_test(too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
