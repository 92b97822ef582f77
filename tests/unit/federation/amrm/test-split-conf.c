/* federation/amrm/split-conf.c: defaults, values, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "federation/amrm/split-conf.h"

#define KEY(name) "yarn.nodemanager.least-load-policy-selector." name

static void defaults(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct fed_split_conf conf;
    size_t n;

    (void)state;
    assert_int_equal(fed_split_conf_load(c, &conf, NULL), 0);
    assert_false(conf.by_load || conf.use_active_cores);
    assert_true(conf.fail_on_error);
    assert_int_equal(conf.max_pending, 10000);
    assert_int_equal(conf.multiplier, 50000);
    assert_int_equal(conf.n_excluded, 0);
    fed_split_conf_clear(&conf);
    assert_non_null(fed_split_conf_keys(&n));
    assert_int_equal(n, 6);
}

static void given(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct fed_split_conf conf;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(sv_conf_set(c, KEY("enabled"), "true"), 0);
    assert_int_equal(sv_conf_set(c, KEY("blacklist-subclusters"), " SC-1, SC-2 "), 0);
    assert_int_equal(fed_split_conf_load(c, &conf, &err), 0);
    assert_true(conf.by_load);
    assert_int_equal(conf.n_excluded, 2);
    assert_string_equal(conf.excluded[1], "SC-2");
    fed_split_conf_clear(&conf);
    assert_int_equal(sv_conf_set(c, KEY("pending-container.threshold"), "0"), 0);
    assert_true(fed_split_conf_load(c, &conf, &err) < 0);
    assert_non_null(strstr(err.text, KEY("pending-container.threshold")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
