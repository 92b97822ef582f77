/* federation/policy/policy-conf.c: defaults, and what ends a start. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "federation/policy/policy-conf.h"

static int load(struct sv_conf *c, struct fed_policy_conf *conf, struct sv_error *err)
{
    *err = (struct sv_error){ 0 };
    return fed_policy_conf_load(c, FED_SIDES, conf, err);
}

static void defaults(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct fed_policy_conf conf;
    struct sv_error err;
    size_t n;

    (void)state;
    assert_int_equal(load(c, &conf, &err), 0);
    assert_string_equal(conf.manager->name, "UniformBroadcastPolicyManager");
    assert_null(conf.resolver);
    assert_int_equal(conf.cache_ttl_ms, 300000);
    assert_int_equal(conf.cache_entries, 1000);
    fed_policy_conf_clear(&conf);
    assert_non_null(fed_policy_conf_keys(&n));
    assert_int_equal(n, 6);
}

static void given(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    char path[] = "/tmp/machines-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    struct fed_policy_conf conf;
    struct sv_error err;

    (void)state;
    assert_int_equal(write(fd, "h1,SC-1,/r\nbad\n", 15), 15);
    close(fd);
    assert_int_equal(sv_conf_set(c, "yarn.federation.policy-manager",
                                 FED_MANAGER_PACKAGE "WeightedHomePolicyManager"),
                     0);
    assert_int_equal(sv_conf_set(c, "yarn.federation.policy-manager-params",
                                 "{\"routerPolicyWeights\":{\"entry\":{\"key\":{\"id\":\"SC-1\"},"
                                 "\"value\":1}}}"),
                     0);
    assert_int_equal(sv_conf_set(c, "yarn.federation.machine-list", path), 0);
    assert_int_equal(sv_conf_set(c, "yarn.federation.cache-ttl.secs", "0"), 0);
    assert_int_equal(load(c, &conf, &err), 0);
    assert_true(fed_weight_of(&conf.manager->weights.router, "SC-1") == 1);
    assert_int_equal(fed_resolver_node(conf.resolver, "h1"), 0);
    assert_int_equal(conf.machines.n_malformed, 1);
    assert_int_equal(conf.cache_ttl_ms, 0);
    fed_policy_conf_clear(&conf);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(load(c, &conf, &err), -ENOENT);
    assert_non_null(strstr(err.text, "yarn.federation.machine-list"));
    assert_non_null(strstr(err.text, path));
}

static void refused(const char *key, const char *value, const char *word)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    struct fed_policy_conf conf;
    struct sv_error err;

    assert_int_equal(sv_conf_set(c, key, value), 0);
    assert_true(load(c, &conf, &err) < 0);
    if (!strstr(err.text, key) || !strstr(err.text, word))
        fail_msg("%s=%s: %s", key, value, err.text);
}

static void refusals(void **state)
{
    (void)state;
    refused("yarn.federation.policy-manager", "org.example.Mine", "not a policy manager");
    refused("yarn.federation.policy-manager", FED_MANAGER_PACKAGE "PriorityBroadcastPolicyManager",
            "JSON");
    refused("yarn.federation.subcluster-resolver.class", "org.example.Mine",
            "DefaultSubClusterResolverImpl");
    refused("yarn.federation.cache-entity.nums", "0", "cache-entity.nums");
    refused("yarn.federation.cache-ttl.secs", "soon", "cache-ttl.secs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(given),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
