/* service/framework/: what a FrameworkDescriptor may be, each rule with the violation and its path,
 * and that what is printed reads back as the same. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/str.h"
#include "service/framework/descriptor.h"
#include "service/framework/reader.h"

/* Parts of a descriptor; each row below replaces some. */
#define RES "\"cpuNumber\":1,\"memoryMB\":1024"
#define SVC(res)                                                                                   \
    "\"taskService\":{\"version\":7,\"entryPoint\":\"run\",\"sourceLocations\":[\"hdfs:///"        \
    "a\"],\"resource\":{" res "}}"
#define ROLE(rest) "\"R\":{\"taskNumber\":2," rest "}"
#define FW(head, roles) "{\"version\":1," head "\"taskRoles\":{" roles "}}"
#define WITH_RES(res) FW("", ROLE(SVC(res)))
#define WITH_ROLE(rest) FW("", ROLE(SVC(RES) "," rest))
#define WITH_TOP(top) FW(top ",", ROLE(SVC(RES)))
#define WITH_PLAT(p) WITH_TOP("\"platformSpecificParameters\":{" p "}")
#define RESOURCE "taskRoles[R].taskService.resource"

static const struct row {
    const char *json, *bad; /* bad NULL: accepted */
} rows[] = {
    { WITH_RES(RES), NULL },
    /* the descriptor */
    { "[]", ": must be an object" },
    { "{", "line 1, column 1: " },
    { "{}", "version: may not be null" },
    { "{}", "taskRoles: may not be empty" },
    { "{\"version\":1,\"taskRoles\":{}}", "taskRoles: may not be empty" },
    { "{\"version\":1,\"taskRoles\":[]}", "taskRoles: must be an object" },
    { "{\"version\":null,\"taskRoles\":{}}", "version: may not be null" },
    { "{\"version\":\"x\",\"taskRoles\":{}}", "version: must be an integer" },
    { "{\"version\":2147483648,\"taskRoles\":{}}",
      "version: must be less than or equal to 2147483647" },
    { FW("\"unknown\":[1,{}],", ROLE(SVC(RES))), NULL },
    { WITH_TOP("\"description\":null"), NULL },
    { WITH_TOP("\"description\":{}"), "description: must be a text" },
    { WITH_TOP("\"executionType\":\"STOP\""), NULL },
    { WITH_TOP("\"executionType\":1"), NULL },
    { WITH_TOP("\"executionType\":2"), "executionType: must be one of START, STOP" },
    { WITH_TOP("\"executionType\":\"stop\""), "executionType: must be one of START, STOP" },
    { WITH_TOP("\"executionType\":null"), "executionType: may not be null" },
    { WITH_TOP("\"retryPolicy\":{\"maxRetryCount\":-2}"), NULL },
    { WITH_TOP("\"retryPolicy\":{\"maxRetryCount\":-3}"),
      "retryPolicy.maxRetryCount: must be greater than or equal to -2" },
    { WITH_TOP("\"retryPolicy\":{\"fancyRetryPolicy\":\"yes\"}"),
      "retryPolicy.fancyRetryPolicy: must be true or false" },
    { WITH_TOP("\"retryPolicy\":null"), "retryPolicy: may not be null" },
    { WITH_TOP("\"parentFramework\":null"), NULL },
    { WITH_TOP("\"parentFramework\":{}"), "parentFramework.parentFrameworkName: may not be null" },
    { WITH_TOP("\"parentFramework\":{\"parentFrameworkName\":\"a/b\"}"),
      "parentFramework.parentFrameworkName: must match \"^[A-Za-z0-9\\-._~]{1,256}$\"" },
    { WITH_TOP("\"user\":{\"name\":\"ann\"}"), NULL },
    { WITH_TOP("\"user\":{}"), NULL },
    { WITH_TOP("\"user\":{\"name\":null}"), "user.name: may not be null" },
    { WITH_TOP("\"user\":{\"name\":\"a b\"}"), "user.name: must match" },
    { WITH_TOP("\"user\":{\"name\":\"\"}"), "user.name: must match" },
    /* roles */
    { FW("", "\"a b\":{}"), "taskRoles: Name [a b] is not matched with naming convention regex "
                            "[^[A-Za-z0-9\\-._~]{1,256}$]" },
    { FW("", "\"R\":null"), "taskRoles: Map value is null for Map key: [R]" },
    { FW("", "\"R\":3"), "taskRoles[R]: must be an object" },
    { FW("", "\"R\":{}"), "taskRoles[R].taskNumber: may not be null" },
    { FW("", "\"R\":{}"), "taskRoles[R].taskService: may not be null" },
    { FW("", "\"R\":{\"taskNumber\":50001}"),
      "taskRoles[R].taskNumber: must be less than or equal to 50000" },
    { FW("", "\"R\":{\"taskNumber\":-1}"),
      "taskRoles[R].taskNumber: must be greater than or equal to 0" },
    { FW("", "\"R\":{\"taskNumber\":0," SVC(RES) "}"), NULL },
    { FW("", "\"R\":{\"taskNumber\":\"3\"," SVC(RES) "}"), NULL },
    { WITH_ROLE("\"scaleUnitNumber\":\"a\""), "taskRoles[R].scaleUnitNumber: must be an integer" },
    { WITH_ROLE("\"scaleUnitTimeoutSec\":5"), NULL },
    { WITH_ROLE("\"priority\":5"), NULL },
    { WITH_ROLE("\"taskRetryPolicy\":{\"maxRetryCount\":-3}"),
      "taskRoles[R].taskRetryPolicy.maxRetryCount: must be greater than or equal to -2" },
    { WITH_ROLE("\"applicationCompletionPolicy\":{\"minFailedTaskCount\":null}"), NULL },
    { WITH_ROLE("\"applicationCompletionPolicy\":{\"minFailedTaskCount\":0}"),
      "taskRoles[R].applicationCompletionPolicy.minFailedTaskCount: must be greater than or equal "
      "to 1" },
    { WITH_ROLE("\"applicationCompletionPolicy\":{\"minSucceededTaskCount\":0}"),
      "minSucceededTaskCount: must be greater than or equal to 1" },
    { WITH_ROLE("\"platformSpecificParameters\":{\"taskNodeGpuType\":\"a b\"}"),
      "taskRoles[R].platformSpecificParameters.taskNodeGpuType: must match \"^[^\\s]{1,256}$\"" },
    { WITH_ROLE("\"platformSpecificParameters\":{\"taskNodeLabel\":\"x\"}"), NULL },
    /* the service */
    { FW("", "\"R\":{\"taskNumber\":1,\"taskService\":{}}"),
      "taskRoles[R].taskService.version: may not be null" },
    { FW("", "\"R\":{\"taskNumber\":1,\"taskService\":{}}"),
      "taskRoles[R].taskService.entryPoint: may not be empty" },
    { FW("", "\"R\":{\"taskNumber\":1,\"taskService\":{}}"),
      "taskRoles[R].taskService.sourceLocations: may not be empty" },
    { FW("", "\"R\":{\"taskNumber\":1,\"taskService\":{}}"), RESOURCE ": may not be null" },
    { FW("", "\"R\":{\"taskNumber\":1,\"taskService\":{\"entryPoint\":\"\"}}"),
      "entryPoint: may not be empty" },
    { FW("", "\"R\":{\"taskNumber\":1,\"taskService\":{\"sourceLocations\":[]}}"),
      "sourceLocations: may not be empty" },
    { FW("", "\"R\":{\"taskNumber\":1,\"taskService\":{\"sourceLocations\":[\"\"]}}"),
      "sourceLocations: element 0 must be a text" },
    /* resources */
    { WITH_RES(""), RESOURCE ".cpuNumber: may not be null" },
    { WITH_RES(""), RESOURCE ".memoryMB: may not be null" },
    { WITH_RES("\"cpuNumber\":0"), RESOURCE ".cpuNumber: must be greater than or equal to 1" },
    { WITH_RES("\"memoryMB\":0"), RESOURCE ".memoryMB: must be greater than or equal to 1" },
    { WITH_RES(RES ",\"diskType\":1"), NULL },
    { WITH_RES(RES ",\"diskType\":\"TAPE\""), RESOURCE ".diskType: must be one of HDD, SSD" },
    { WITH_RES(RES ",\"diskMB\":-1"), RESOURCE ".diskMB: must be greater than or equal to 0" },
    { WITH_RES(RES ",\"gpuNumber\":-1"),
      RESOURCE ".gpuNumber: must be greater than or equal to 0" },
    { WITH_RES(RES ",\"gpuAttribute\":-1"),
      RESOURCE ".gpuAttribute: must be greater than or equal to 0" },
    { WITH_RES(RES ",\"gpuNumber\":2,\"gpuAttribute\":1"),
      RESOURCE ": GpuNumber [2] is not consistent with GpuAttribute [1(1)]" },
    { WITH_RES(RES ",\"gpuNumber\":1,\"gpuAttribute\":6"),
      RESOURCE ": GpuNumber [1] is not consistent with GpuAttribute [6(110)]" },
    { WITH_RES(RES ",\"gpuNumber\":2,\"gpuAttribute\":6"), NULL },
    { WITH_RES(RES ",\"portDefinitions\":null"), RESOURCE ".portDefinitions: may not be null" },
    { WITH_RES(RES ",\"portDefinitions\":{\"L\":null}"),
      RESOURCE ".portDefinitions: Map value is null for Map key: [L]" },
    { WITH_RES(RES ",\"portDefinitions\":{\"a b\":{\"count\":1}}"),
      RESOURCE ".portDefinitions: Name [a b] is not matched" },
    { WITH_RES(RES ",\"portDefinitions\":{\"L\":{}}"),
      RESOURCE ".portDefinitions[L].count: may not be null" },
    { WITH_RES(RES ",\"portDefinitions\":{\"L\":{\"count\":0}}"),
      RESOURCE ".portDefinitions[L].count: must be greater than or equal to 1" },
    { WITH_RES(RES ",\"portDefinitions\":{\"L\":{\"start\":-1,\"count\":1}}"),
      RESOURCE ".portDefinitions[L].start: must be greater than or equal to 0" },
    { WITH_RES(RES ",\"portDefinitions\":{\"L\":{\"start\":65535,\"count\":2}}"),
      RESOURCE ".portDefinitions[L]: ports end at 65535" },
    { WITH_RES(RES ",\"portDefinitions\":{\"L\":{\"count\":1000},\"M\":{\"count\":24}}"), NULL },
    { WITH_RES(RES ",\"portDefinitions\":{\"L\":{\"count\":1000},\"M\":{\"count\":25}}"),
      RESOURCE ".portDefinitions: 1025 ports of one task, a node takes at most 1024" },
    /* the platform */
    { WITH_PLAT("\"amResource\":{" RES "}"), NULL },
    { WITH_PLAT("\"amResource\":{}"),
      "platformSpecificParameters.amResource.cpuNumber: may not be null" },
    { WITH_PLAT("\"queue\":null"), "platformSpecificParameters.queue: may not be null" },
    { WITH_PLAT("\"taskNodeGpuType\":\"K80,M40\""), NULL },
    { WITH_PLAT("\"taskNodeGpuType\":\"\""), "platformSpecificParameters.taskNodeGpuType: must" },
    { WITH_PLAT("\"containerConnectionMaxLostCount\":-3"),
      "containerConnectionMaxLostCount: must be greater than or equal to -2" },
    { WITH_PLAT("\"containerConnectionMaxExceedCount\":-1"),
      "containerConnectionMaxExceedCount: must be greater than or equal to 0" },
    { WITH_PLAT("\"amType\":0"), NULL },
    { WITH_PLAT("\"amType\":\"OTHER\""), "amType: must be one of DEFAULT, AGENT" },
    { WITH_PLAT("\"gangAllocation\":7"), NULL },
    { WITH_PLAT("\"gangAllocation\":[]"), "gangAllocation: must be true or false" },
    { WITH_PLAT("\"taskServiceHealthCheck\":{\"healthCheckType\":\"WEB\"}"), NULL },
    { WITH_PLAT("\"taskServiceHealthCheck\":{\"healthCheckType\":\"X\"}"),
      "platformSpecificParameters.taskServiceHealthCheck.healthCheckType: must be one of COMMAND, "
      "WEB" },
};

static int parse(const char *json, struct sv_arena *a, struct svc_fw_descriptor **ret, char **bad)
{
    return svc_fw_parse(json, strlen(json), true, a, ret, bad);
}

static void rules(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        _cleanup_free_ char *bad = NULL;
        struct svc_fw_descriptor *d;
        int r = parse(rows[i].json, a, &d, &bad);

        if (rows[i].bad ? r == -EINVAL && strstr(bad, rows[i].bad) : r == 0)
            continue;
        print_error("%s\n  want %s\n  got %d %s\n", rows[i].json, rows[i].bad, r, bad ? bad : "");
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static const char full[] = FW(
    "\"description\":\"d\",\"executionType\":1,\"retryPolicy\":{\"fancyRetryPolicy\":true,"
    "\"maxRetryCount\":3},\"parentFramework\":{\"parentFrameworkName\":\"p~q\","
    "\"deleteOnParentDeleted\":true},\"user\":{\"name\":\"ann\"},\"platformSpecificParameters\":{"
    "\"gangAllocation\":true,\"amType\":1,\"queue\":\"q\",\"taskServiceHealthCheck\":{\"webUrl\":"
    "\"u\"}},",
    ROLE(SVC(RES
             ",\"portDefinitions\":{\"b\":{\"start\":80,\"count\":2},\"a\":{\"count\":1}},"
             "\"gpuNumber\":1,\"gpuAttribute\":4")) ",\"A\":{\"taskNumber\":50000,"
                                                    "\"applicationCompletionPolicy\":{"
                                                    "\"minFailedTaskCount\":null,"
                                                    "\"minSucceededTaskCount\":4}," SVC(RES) "}");

static char *printed(const struct svc_fw_descriptor *d)
{
    json_t *o = svc_fw_json(d);
    char *text;

    assert_non_null(o);
    text = json_dumps(o, JSON_COMPACT);
    assert_non_null(text);
    json_decref(o);
    return text;
}

static void round_trip(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_free_ char *bad = NULL, *first = NULL, *second = NULL;
    struct svc_fw_descriptor *d, *again;

    (void)state;
    if (parse(full, a, &d, &bad) < 0)
        fail_msg("%s", bad);
    assert_true(d->stop && d->retry.fancy && d->gang && d->deleted_with_parent);
    assert_false(d->stopped_with_parent);
    assert_string_equal(d->parent, "p~q");
    assert_string_equal(d->roles[0].name, "A");
    assert_int_equal(d->roles[0].min_failed, 0);
    assert_int_equal(d->roles[1].min_failed, 1);
    assert_string_equal(d->roles[1].resource.ports[0].label, "a");
    assert_int_equal(d->roles[1].resource.gpu_mask, 4);
    assert_int_equal(d->master.memory_mb, 4096);
    assert_int_equal(svc_fw_total_tasks(d), 50002);
    assert_ptr_equal(svc_fw_role_named(d, "R"), &d->roles[1]);
    assert_null(svc_fw_role_named(d, "X"));
    first = printed(d);
    assert_int_equal(parse(first, a, &again, &bad), 0);
    second = printed(again);
    assert_string_equal(first, second);
}

static void defaults_are_printed(void **state)
{
    static const char *const parts[] = {
        "\"description\":null",
        "\"executionType\":\"START\"",
        "\"retryPolicy\":{\"fancyRetryPolicy\":false,\"maxRetryCount\":0}",
        "\"parentFramework\":null",
        "\"user\":{\"name\":\"default\"}",
        "\"applicationCompletionPolicy\":{\"minFailedTaskCount\":1,\"minSucceededTaskCount\":null}",
        "\"amResource\":{\"cpuNumber\":1,\"memoryMB\":4096,\"portDefinitions\":{},"
        "\"diskType\":\"HDD\",\"diskMB\":0,\"gpuNumber\":0,\"gpuAttribute\":0}",
        "\"queue\":\"default\",\"containerConnectionMaxLostCount\":-2,"
        "\"containerConnectionMaxExceedCount\":2,\"antiaffinityAllocation\":false,"
        "\"gangAllocation\":false,\"skipLocalTriedResource\":true,\"amType\":\"DEFAULT\","
        "\"agentUseHeartbeat\":false,\"agentHeartbeatIntervalSec\":30,"
        "\"agentExpiryIntervalSec\":180,\"agentUseHealthCheck\":false,"
        "\"taskServiceHealthCheck\":null",
        "\"scaleUnitNumber\":1,\"scaleUnitTimeoutSec\":0",
    };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_free_ char *bad = NULL, *text = NULL;
    struct svc_fw_descriptor *d;

    (void)state;
    assert_int_equal(parse(WITH_RES(RES), a, &d, &bad), 0);
    text = printed(d);
    for (size_t i = 0; i < SV_ARRAY_LEN(parts); i++)
        if (!strstr(text, parts[i]))
            fail_msg("no %s in %s", parts[i], text);
}

static void names(void **state)
{
    char longest[SVC_FW_NAME_MAX + 2];

    (void)state;
    memset(longest, 'a', sizeof(longest));
    longest[SVC_FW_NAME_MAX] = '\0';
    assert_true(svc_fw_name_valid(longest));
    longest[SVC_FW_NAME_MAX] = 'a';
    longest[SVC_FW_NAME_MAX + 1] = '\0';
    assert_false(svc_fw_name_valid(longest));
    assert_true(svc_fw_name_valid("A-z.0_~"));
    assert_false(svc_fw_name_valid(""));
    assert_false(svc_fw_name_valid("a/b"));
    assert_false(svc_fw_name_valid("\xc3\xa9"));
    assert_int_equal(svc_fw_namespace("ann~job"), 3);
    assert_int_equal(svc_fw_namespace("job"), 0);
    assert_int_equal(svc_fw_namespace("~job"), 0);
    assert_int_equal(svc_fw_namespace("ann~"), 0);
    assert_int_equal(svc_fw_namespace("a~b~c"), 0);
}

static void gpus_need_a_cluster_with_them(void **state)
{
    static const char json[] = WITH_RES(RES ",\"gpuNumber\":1");
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_free_ char *bad = NULL;
    struct svc_fw_descriptor *d;

    (void)state;
    assert_int_equal(svc_fw_parse(json, strlen(json), false, a, &d, &bad), -EINVAL);
    assert_string_equal(bad, RESOURCE ": GpuNumber [1]: the cluster has no resource yarn.io/gpu\n");
}

static void limits(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(4 << 20);
    struct svc_fw_descriptor *d;
    char *bad = NULL;

    (void)state;
    assert_int_equal(sv_buf_put_str(&b, "{\"version\":1,\"taskRoles\":{"), 0);
    for (int i = 0; i <= SVC_FW_ROLES_MAX; i++)
        assert_int_equal(sv_buf_printf(&b, "%s\"r%d\":{}", i ? "," : "", i), 0);
    assert_int_equal(sv_buf_put_str(&b, "}}"), 0);
    assert_int_equal(svc_fw_parse((char *)b.data, b.len, true, a, &d, &bad), -EINVAL);
    assert_non_null(strstr(bad, "taskRoles: size must be between 1 and 256"));
    free(bad);
    b.len = 0;
    for (int i = 0; i <= SVC_FW_JSON_VALUES_MAX; i++)
        assert_int_equal(sv_buf_put_str(&b, "["), 0);
    assert_int_equal(svc_fw_parse((char *)b.data, b.len, true, a, &d, &bad), -EFBIG);
    b.len = 0;
    while (b.len <= SVC_FW_JSON_MAX)
        assert_int_equal(sv_buf_put_str(&b, "                "), 0);
    assert_int_equal(svc_fw_parse((char *)b.data, b.len, true, a, &d, &bad), -EFBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(defaults_are_printed),
        cmocka_unit_test(names),
        cmocka_unit_test(gpus_need_a_cluster_with_them),
        cmocka_unit_test(limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
