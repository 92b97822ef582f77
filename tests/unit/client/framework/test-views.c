/* client/framework/views.c and explain.c: rows and sums of what the launcher and the
 * ResourceManager say. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/framework/call.h"
#include "client/framework/explain.h"
#include "client/framework/views.h"

#define RETRIES(n)                                                                                 \
    "{\"retriedCount\":" n ",\"succeededRetriedCount\":0,\"transientNormalRetriedCount\":0,"       \
    "\"transientConflictRetriedCount\":0,\"nonTransientRetriedCount\":0,"                          \
    "\"unKnownRetriedCount\":0}"

static const char info_text[] =
    "{\"aggregatedFrameworkRequest\":{\"frameworkRequest\":{\"frameworkDescriptor\":{\"taskRoles\":"
    "{\"W\":{\"taskNumber\":4,\"taskService\":{\"entryPoint\":\"a\\nb\"}},\"P\":{\"taskNumber\":1}}"
    "}}},\"aggregatedFrameworkStatus\":{\"frameworkStatus\":{\"frameworkState\":"
    "\"FRAMEWORK_COMPLETED\",\"applicationExitCode\":-7351},\"aggregatedTaskRoleStatuses\":{\"W\":{"
    "\"taskStatuses\":{\"taskStatusArray\":["
    "{\"taskIndex\":0,\"taskState\":\"CONTAINER_RUNNING\",\"taskRetryPolicyState\":" RETRIES(
        "2") ",\"containerHost\":\"n1\"},"
             "{\"taskIndex\":1,\"taskState\":\"TASK_COMPLETED\",\"containerExitType\":"
             "\"SUCCEEDED\",\"containerExitCode\":0},"
             "{\"taskIndex\":2,\"taskState\":\"TASK_COMPLETED\",\"containerExitType\":\"UNKNOWN\","
             "\"containerExitCode\":7},"
             "{\"taskIndex\":3,\"taskState\":\"TASK_WAITING\",\"containerExitDiagnostics\":"
             "\"no node\"}]}}}}}";

static json_t *info(void)
{
    json_t *o = json_loads(info_text, 0, NULL);

    assert_non_null(o);
    return o;
}

static void test_counts(void **state)
{
    struct cli_framework_counts n;
    json_t *o = info(), *rows;

    (void)state;
    cli_framework_counts(o, "W", &n);
    assert_int_equal(n.wanted, 4);
    assert_int_equal(n.running, 1);
    assert_int_equal(n.succeeded, 1);
    assert_int_equal(n.failed, 1);
    assert_int_equal(n.waiting, 1);
    assert_int_equal(n.retried, 2);
    cli_framework_counts(o, NULL, &n);
    assert_int_equal(n.wanted, 5);
    rows = cli_framework_roles(o);
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(cli_framework_state(o), "STOPPED");
    json_decref(rows);
    json_decref(o);
}

static const char *text(const json_t *rows, size_t i, const char *key)
{
    return cli_member_text(json_array_get(rows, i), key);
}

static void test_tasks(void **state)
{
    json_t *o = info(), *rows = cli_framework_tasks(o, NULL, NULL);

    (void)state;
    assert_int_equal(json_array_size(rows), 4);
    assert_string_equal(text(rows, 0, "task"), "W-0");
    assert_string_equal(text(rows, 0, "state"), "RUNNING");
    assert_string_equal(text(rows, 0, "host"), "n1");
    assert_string_equal(text(rows, 2, "state"), "FAILED");
    assert_string_equal(text(rows, 3, "why"), "no node");
    assert_string_equal(cli_framework_waits(o), "no node");
    json_decref(rows);
    rows = cli_framework_tasks(o, "W", "failed,waiting");
    assert_int_equal(json_array_size(rows), 2);
    json_decref(rows);
    rows = cli_framework_tasks(o, "P", NULL);
    assert_int_equal(json_array_size(rows), 0);
    json_decref(rows);
    json_decref(o);
}

/* Values of other types, or none at all. */
static void test_hostile(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "3",
        "{\"aggregatedFrameworkStatus\":{\"frameworkStatus\":3,\"aggregatedTaskRoleStatuses\":{"
        "\"W\":{\"taskStatuses\":{\"taskStatusArray\":[3,{},{\"taskState\":{}}]}},\"X\":[]}},"
        "\"aggregatedFrameworkRequest\":{\"frameworkRequest\":{\"frameworkDescriptor\":{"
        "\"taskRoles\":{\"W\":3,\"X\":{\"taskNumber\":-9}}}}}}",
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(texts); i++) {
        json_t *o = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        struct cli_framework_counts n;

        assert_non_null(o);
        cli_framework_counts(o, NULL, &n);
        assert_int_equal(n.wanted, 0);
        json_decref(cli_framework_roles(o));
        json_decref(cli_framework_tasks(o, NULL, NULL));
        assert_string_equal(cli_framework_state(o), "");
        assert_string_equal(cli_framework_waits(o), "");
        json_decref(o);
    }
}

static void test_explain(void **state)
{
    struct svc_fw_ports ports[] = { { "a", 80, 2 }, { "b", 0, 3 } };
    struct svc_fw_role roles[] = {
        { .name = "P", .tasks = 1, .resource = { .cpus = 1, .memory_mb = 64 } },
        { .name = "W",
          .tasks = 9,
          .resource = { .cpus = 2, .memory_mb = 512, .gpus = 1, .ports = ports, .n_ports = 2 } },
    };
    struct svc_fw_descriptor d = { .roles = roles, .n_roles = 2 };
    const struct cli_node_report nodes[] = {
        { .id = { .host = "n1" }, .capability = { 1024, 8, 4, { 0 } }, .used = { 0, 0, 3, { 0 } } },
        { .id = { .host = "n2" }, .capability = { 256, 8, 4, { 0 } } },
        { .id = { .host = "n3" },
          .capability = { 1024, 8, 4, { 0 } },
          .used = { 1024, 8, 0, { 0 } } },
    };
    json_t *rows = cli_framework_explain(&d, nodes, 3);

    (void)state;
    assert_int_equal(json_array_size(rows), 6);
    assert_int_equal(json_integer_value(cli_member(json_array_get(rows, 0), "fits")), 8);
    assert_int_equal(json_integer_value(cli_member(json_array_get(rows, 3), "fits")), 1);
    assert_string_equal(text(rows, 3, "ports"), "2 named, 3 any");
    assert_string_equal(text(rows, 4, "lacks"), "memory: 512 wanted, 256 in all");
    assert_string_equal(text(rows, 5, "lacks"), "memory: 512 wanted, 0 free");
    json_decref(rows);
    d.anti_affine = true;
    rows = cli_framework_explain(&d, nodes, 1);
    assert_int_equal(json_integer_value(cli_member(json_array_get(rows, 0), "fits")), 1);
    json_decref(rows);
    d.anti_affine = false;
    roles[1].resource.gpu_mask = 0x8;
    roles[1].resource.memory_mb = 64;
    rows = cli_framework_explain(&d, &nodes[1], 1);
    assert_int_equal(json_integer_value(cli_member(json_array_get(rows, 1), "fits")), 1);
    json_decref(rows);
    roles[1].resource.gpu_mask = 0x10;
    rows = cli_framework_explain(&d, &nodes[1], 1);
    assert_int_equal(json_integer_value(cli_member(json_array_get(rows, 1), "fits")), 0);
    assert_string_equal(text(rows, 1, "lacks"), "GPUs of the mask: 5 wanted, 4 in all");
    json_decref(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_explain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
