/* federation/policy/queue-policies.c over a store in memory: a queue's row, that of all queues, the
 * configured policy; broken rows; what was told last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "federation/policy/queue-policies.h"

static sd_event *event;
static struct fed_store *store;
static struct fed_cache *cache;
static struct fed_manager *configured;
static struct fed_policies *policies;
static bool told;
static char name[128];

static void on_done(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    assert_int_equal(a->error, 0);
    told = true;
}

static void on_policy(const struct fed_manager *m, const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    assert_true(m || a->error < 0);
    told = true;
    (void)snprintf(name, sizeof(name), "%s", m ? m->name : "");
}

static void wait_told(void)
{
    while (!told)
        assert_true(sd_event_run(event, 1000000) > 0);
    told = false;
}

static void set_row(const char *queue, const char *type)
{
    const struct fed_request q = { .op = FED_POLICY_SET,
                                   .policy = { .queue = queue, .type = type } };

    assert_int_equal(fed_store_call(store, &q, on_done, NULL, NULL), 0);
    wait_told();
}

static const char *policy_of(const char *queue)
{
    assert_true(fed_policy_get(policies, queue, on_policy, NULL) >= 0);
    wait_told();
    return name;
}

static int set_up(void **state)
{
    const struct fed_policy row = { .queue = "*", .type = FED_MANAGER_DEFAULT };

    (void)state;
    assert_int_equal(sd_event_new(&event), 0);
    assert_int_equal(fed_store_open_memory(event, &store), 0);
    assert_int_equal(fed_manager_new(&row, FED_SIDE_PROXY, &configured, NULL), 0);
    cache = fed_cache_new(store, 0, 100);
    policies = fed_policies_new(cache, configured, FED_SIDE_PROXY);
    return policies ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    cache = fed_cache_free(cache);
    policies = fed_policies_free(policies);
    configured = fed_manager_free(configured);
    store = fed_store_free(store);
    event = sd_event_unref(event);
    return 0;
}

static void rows(void **state)
{
    (void)state;
    assert_null(fed_policy_last(policies, "a"));
    assert_string_equal(policy_of("a"), "UniformBroadcastPolicyManager");
    assert_ptr_equal(fed_policy_last(policies, "a"), configured);
    set_row("*", FED_MANAGER_PACKAGE "HomePolicyManager");
    assert_ptr_equal(fed_policy_last(policies, "a"), configured); /* not asked again yet */
    assert_string_equal(policy_of("a"), "HomePolicyManager");
    assert_string_equal(fed_policy_last(policies, "a")->name, "HomePolicyManager");
    set_row("a", FED_MANAGER_PACKAGE "RejectAllPolicyManager");
    assert_string_equal(policy_of("a"), "RejectAllPolicyManager");
    assert_string_equal(policy_of("b"), "HomePolicyManager");
    assert_string_equal(fed_policy_last(policies, "a")->name, "RejectAllPolicyManager");
    assert_string_equal(fed_policy_last(policies, "b")->name, "HomePolicyManager");
}

/* The row before it stays in use; a queue that had none goes by that of all queues. */
static void broken_rows(void **state)
{
    (void)state;
    set_row("a", FED_MANAGER_PACKAGE "RejectAllPolicyManager");
    assert_string_equal(policy_of("a"), "RejectAllPolicyManager");
    set_row("a", "org.example.Unknown");
    assert_string_equal(policy_of("a"), "RejectAllPolicyManager");
    set_row("b", "org.example.Unknown");
    assert_string_equal(policy_of("b"), "UniformBroadcastPolicyManager");
    assert_ptr_equal(fed_policy_last(policies, "b"), configured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(broken_rows, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
