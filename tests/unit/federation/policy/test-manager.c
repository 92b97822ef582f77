/* federation/policy/manager.c: rows of the seven managers, what each side needs of them, refusals
 * that leave the old one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "federation/policy/manager.h"

#define LIST(name, id, value)                                                                      \
    "\"" name "\":{\"entry\":{\"key\":{\"id\":\"" id "\"},\"value\":" value "}}"
#define ROUTER LIST("routerPolicyWeights", "SC-1", "1")
#define AMRM LIST("amrmPolicyWeights", "SC-2", "1")

static struct fed_policy row_of(const char *name, const char *params)
{
    static char type[256];

    snprintf(type, sizeof(type), "%s%s", FED_MANAGER_PACKAGE, name);
    return (struct fed_policy){ "root.a", type, (const uint8_t *)params,
                                params ? strlen(params) : 0 };
}

static int read_row(const char *name, const char *params, unsigned sides, struct sv_error *err)
{
    struct fed_policy row = row_of(name, params);
    _cleanup_(fed_manager_freep) struct fed_manager *m = NULL;

    *err = (struct sv_error){ 0 };
    return fed_manager_new(&row, sides, &m, err);
}

static void accept(const char *name, const char *params, unsigned sides)
{
    struct sv_error err;

    if (read_row(name, params, sides, &err) < 0)
        fail_msg("%s %s: %s", name, params ? params : "", err.text);
}

static void refuse(const char *name, const char *params, unsigned sides, const char *word)
{
    struct sv_error err;

    assert_int_equal(read_row(name, params, sides, &err), -EINVAL);
    assert_non_null(strstr(err.text, "policy of queue root.a"));
    if (!strstr(err.text, word))
        fail_msg("%s: \"%s\" does not say %s", name, err.text, word);
}

static void managers(void **state)
{
    static const struct {
        const char *name;
        enum fed_routing routing;
        enum fed_splitting splitting;
    } seven[] = {
        { "UniformBroadcastPolicyManager", FED_ROUTE_RANDOM, FED_SPLIT_BROADCAST },
        { "HashBroadcastPolicyManager", FED_ROUTE_HASH, FED_SPLIT_BROADCAST },
        { "PriorityBroadcastPolicyManager", FED_ROUTE_PRIORITY, FED_SPLIT_BROADCAST },
        { "WeightedLocalityPolicyManager", FED_ROUTE_LOCALITY, FED_SPLIT_LOCALITY },
        { "HomePolicyManager", FED_ROUTE_RANDOM, FED_SPLIT_HOME },
        { "WeightedHomePolicyManager", FED_ROUTE_WEIGHTED, FED_SPLIT_HOME },
        { "RejectAllPolicyManager", FED_ROUTE_REJECT, FED_SPLIT_REJECT },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(seven); i++) {
        struct fed_policy row = row_of(seven[i].name, "{" ROUTER "," AMRM "}");
        struct fed_manager *m = NULL;

        assert_int_equal(fed_manager_new(&row, FED_SIDES, &m, NULL), 0);
        assert_string_equal(m->name, seven[i].name);
        assert_string_equal(m->name, fed_manager_name(i));
        assert_int_equal(m->routing, seven[i].routing);
        assert_int_equal(m->splitting, seven[i].splitting);
        fed_manager_free(m);
    }
    assert_null(fed_manager_name(SV_ARRAY_LEN(seven)));
    assert_string_equal(FED_MANAGER_DEFAULT, "org.apache.hadoop.yarn.server.federation.policies."
                                             "manager.UniformBroadcastPolicyManager");
}

static void weights_where_needed(void **state)
{
    (void)state;
    accept("UniformBroadcastPolicyManager", NULL, FED_SIDES);
    accept("UniformBroadcastPolicyManager", "no JSON", FED_SIDES);
    accept("HashBroadcastPolicyManager", "", FED_SIDES);
    accept("HomePolicyManager", NULL, FED_SIDES);
    accept("RejectAllPolicyManager", NULL, FED_SIDES);
    accept("PriorityBroadcastPolicyManager", "{" ROUTER "}", FED_SIDES);
    accept("PriorityBroadcastPolicyManager", "no JSON", FED_SIDE_PROXY);
    refuse("PriorityBroadcastPolicyManager", "no JSON", FED_SIDES, "JSON");
    refuse("PriorityBroadcastPolicyManager", NULL, FED_SIDES, "JSON");
    refuse("PriorityBroadcastPolicyManager", "{" AMRM "}", FED_SIDES, "no routerPolicyWeights");
    refuse("WeightedHomePolicyManager", "{}", FED_SIDE_ROUTER, "no routerPolicyWeights");
    accept("WeightedHomePolicyManager", "{}", FED_SIDE_PROXY);
    accept("WeightedLocalityPolicyManager", "{" ROUTER "}", FED_SIDE_ROUTER);
    accept("WeightedLocalityPolicyManager", "{" AMRM "}", FED_SIDE_PROXY);
    refuse("WeightedLocalityPolicyManager", "{" AMRM "}", FED_SIDES, "no routerPolicyWeights");
    refuse("WeightedLocalityPolicyManager", "{" ROUTER "}", FED_SIDES, "no amrmPolicyWeights");
    refuse("WeightedLocalityPolicyManager", "{" LIST("amrmPolicyWeights", "SC-1", "0") "}",
           FED_SIDE_PROXY, "weight above 0");
}

static void unknown_classes(void **state)
{
    struct fed_policy row = { NULL, "org.example.\nMine", NULL, 0 };
    struct fed_manager *m = NULL;
    struct sv_error err = { 0 };

    (void)state;
    refuse("LoadBasedPolicyManager", NULL, FED_SIDES, "not a policy manager");
    assert_int_equal(fed_manager_new(&row, FED_SIDES, &m, &err), -EINVAL);
    assert_null(m);
    assert_non_null(strstr(err.text, "org.example.\\x0aMine is not a policy manager"));
    assert_non_null(strstr(err.text, "queue *"));
}

static void renewals(void **state)
{
    _cleanup_(fed_manager_freep) struct fed_manager *m = NULL;
    struct fed_policy row = row_of("WeightedHomePolicyManager", "{" ROUTER "}");
    struct fed_manager *before;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(fed_manager_renew(&m, &row, FED_SIDES, &err), 1);
    before = m;
    assert_int_equal(fed_manager_renew(&m, &row, FED_SIDES, &err), 0);
    assert_ptr_equal(m, before);
    row.params = (const uint8_t *)"{";
    row.params_len = 1;
    assert_int_equal(fed_manager_renew(&m, &row, FED_SIDES, &err), -EINVAL);
    assert_ptr_equal(m, before);
    assert_true(fed_weight_of(&m->weights.router, "SC-1") == 1);
    /* headroomAlpha alone: Java does not notice it. */
    row = row_of("WeightedHomePolicyManager", "{" ROUTER ",\"headroomAlpha\":1}");
    assert_int_equal(fed_manager_renew(&m, &row, FED_SIDES, &err), 1);
    assert_true(m->weights.headroom_alpha == 1);
    row = row_of("UniformBroadcastPolicyManager", NULL);
    assert_int_equal(fed_manager_renew(&m, &row, FED_SIDES, &err), 1);
    assert_int_equal(m->splitting, FED_SPLIT_BROADCAST);
}

static void members(void **state)
{
    static const char *const ids[] = { "SC-2", "SC-3" };
    _cleanup_(fed_manager_freep) struct fed_manager *m = NULL;
    struct fed_policy row = row_of("WeightedLocalityPolicyManager", "{" ROUTER "," AMRM "}");
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(fed_manager_new(&row, FED_SIDES, &m, &err), 0);
    assert_int_equal(fed_manager_check_members(m, FED_SIDE_PROXY, ids, 2, &err), 0);
    assert_int_equal(fed_manager_check_members(m, FED_SIDES, ids, 2, &err), -EINVAL);
    assert_non_null(strstr(err.text, "routerPolicyWeights is of a member"));
    assert_int_equal(fed_manager_check_members(m, FED_SIDE_PROXY, ids + 1, 1, &err), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(managers),        cmocka_unit_test(weights_where_needed),
        cmocka_unit_test(unknown_classes), cmocka_unit_test(renewals),
        cmocka_unit_test(members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
