/* Tests registry/conf.c: the keys hadoop.registry.*. */
#include "registry/conf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static void defaults(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct reg_conf r;

    (void)state;
    assert_int_equal(reg_conf_read(c, &r, NULL), 0);
    assert_null(r.quorum);
    assert_string_equal(r.root, "/registry");
    assert_int_equal(r.session_ms, 60000);
    assert_int_equal(r.retry_min_ms, 1000);
    assert_int_equal(r.retry_max_ms, 60000);
}

static void values(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct reg_conf r;

    (void)state;
    assert_int_equal(sv_conf_set(c, "hadoop.registry.zk.quorum", "a:1,b:2"), 0);
    assert_int_equal(sv_conf_set(c, "hadoop.registry.zk.root", "/yarn/registry"), 0);
    assert_int_equal(sv_conf_set(c, "hadoop.registry.zk.retry.interval.ms", "5000"), 0);
    assert_int_equal(sv_conf_set(c, "hadoop.registry.zk.retry.ceiling.ms", "2000"), 0);
    assert_int_equal(reg_conf_read(c, &r, NULL), 0);
    assert_string_equal(r.quorum, "a:1,b:2");
    assert_string_equal(r.root, "/yarn/registry");
    assert_int_equal(r.retry_min_ms, 5000);
    assert_int_equal(r.retry_max_ms, 5000); /* never below the first */
    assert_int_equal(sv_conf_set(c, "hadoop.registry.zk.quorum", ""), 0);
    assert_int_equal(sv_conf_set(c, "hadoop.registry.secure", "true"), 0);
    assert_int_equal(reg_conf_read(c, &r, NULL), 0); /* of ZooKeeper alone */
    assert_null(r.quorum);
}

static void refused(void **state)
{
    static const struct {
        const char *name, *value;
    } rows[] = {
        { "hadoop.registry.secure", "true" },
        { "hadoop.registry.secure", "perhaps" },
        { "hadoop.registry.zk.root", "registry" },
        { "hadoop.registry.zk.root", "/registry/" },
        { "hadoop.registry.zk.root", "/a//b" },
        { "hadoop.registry.zk.session.timeout.ms", "0" },
        { "hadoop.registry.zk.retry.interval.ms", "x" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
        struct sv_error err = { 0 };
        struct reg_conf r;

        assert_int_equal(sv_conf_set(c, "hadoop.registry.zk.quorum", "a"), 0);
        assert_int_equal(sv_conf_set(c, rows[i].name, rows[i].value), 0);
        if (reg_conf_read(c, &r, &err) >= 0)
            fail_msg("taken: %s=%s", rows[i].name, rows[i].value);
        assert_non_null(strstr(err.text, rows[i].name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(values),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
