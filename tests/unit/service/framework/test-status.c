/* service/framework/status.c: what a master tells of a task, printed and checked. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/framework/status.h"

#define CONTAINER "container_e01_1700000000000_0001_01_000002"

static struct svc_fw_task running(void)
{
    return (struct svc_fw_task){
        .index = 3,
        .state = SVC_FW_CONTAINER_RUNNING,
        .retries = { 1, 2, 3, 4, 5, 6 },
        .service_version = 7,
        .created_ms = 1700000000000,
        .container = CONTAINER,
        .host = "node1",
        .ports = "a:1,2;",
        .has_gpus = true,
        .gpus = INT64_MAX,
        .lost = 0,
        .launched_ms = 1700000000001,
    };
}

static void test_round_trip(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_fw_task t = running(), got;
    json_t *o = svc_fw_task_json(&t, "W"), *again;

    (void)state;
    assert_int_equal(json_object_size(o), 21);
    assert_int_equal(svc_fw_task_read(o, "W", a, &got, NULL), 0);
    assert_int_equal(got.index, 3);
    assert_memory_equal(&got.retries, &t.retries, sizeof(t.retries));
    assert_string_equal(got.container, CONTAINER);
    assert_null(got.ip);
    assert_int_equal(got.lost, 0);
    assert_false(got.exited);
    again = svc_fw_task_json(&got, "W");
    assert_true(json_equal(o, again));
    json_decref(o);
    json_decref(again);
}

static void test_removed(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct svc_fw_task t = { .index = 7, .removed = true };
    struct svc_fw_task got;
    json_t *o = svc_fw_task_json(&t, "W");

    (void)state;
    assert_int_equal(json_object_size(o), 2);
    assert_int_equal(svc_fw_task_read(o, "W", a, &got, NULL), 0);
    assert_true(got.removed);
    json_decref(o);
}

/* A text too long for the reader is cut between characters. */
static void test_cut(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_fw_task t = running(), got;
    char *text = malloc(3 * SVC_FW_DIAGNOSTICS_TASK_MAX + 1);
    json_t *o;

    (void)state;
    for (size_t i = 0; i < SVC_FW_DIAGNOSTICS_TASK_MAX; i++)
        memcpy(text + 3 * i, "\xe2\x82\xac", 4);
    t.state = SVC_FW_TASK_COMPLETED;
    t.exited = true;
    t.exit_type = SVC_FW_UNKNOWN;
    t.exit_diagnostics = text;
    o = svc_fw_task_json(&t, "W");
    assert_int_equal(svc_fw_task_read(o, "W", a, &got, NULL), 0);
    assert_int_equal(strlen(got.exit_diagnostics), SVC_FW_DIAGNOSTICS_TASK_MAX / 3 * 3);
    json_decref(o);
    free(text);
}

/* A node reports texts that need not be UTF-8: a master that cannot print it would end. */
static void test_no_utf8(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_fw_task t = running(), got;
    char text[SVC_FW_DIAGNOSTICS_TASK_MAX + 10];
    json_t *o;

    (void)state;
    t.state = SVC_FW_TASK_COMPLETED;
    t.exited = true;
    t.exit_type = SVC_FW_UNKNOWN;
    t.exit_diagnostics = "a\xff\xe2\x82";
    o = svc_fw_task_json(&t, "W");
    assert_int_equal(svc_fw_task_read(o, "W", a, &got, NULL), 0);
    assert_memory_equal(got.exit_diagnostics, "a\xef\xbf\xbd", 4);
    json_decref(o);
    memset(text, 0xff, sizeof(text));
    text[sizeof(text) - 1] = '\0';
    t.exit_diagnostics = text;
    o = svc_fw_task_json(&t, "W");
    assert_int_equal(svc_fw_task_read(o, "W", a, &got, NULL), 0);
    assert_int_equal(strlen(got.exit_diagnostics), SVC_FW_DIAGNOSTICS_TASK_MAX / 3 * 3);
    json_decref(o);
}

static void refused(const char *key, json_t *v)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_fw_task t = running(), got;
    struct sv_error err = { 0 };
    json_t *o = svc_fw_task_json(&t, "W");

    assert_int_equal(json_object_set_new(o, key, v), 0);
    assert_int_equal(svc_fw_task_read(o, "W", a, &got, &err), -EINVAL);
    assert_non_null(strstr(err.text, key));
    json_decref(o);
}

static void test_hostile(void **state)
{
    (void)state;
    refused("taskIndex", json_null());
    refused("taskIndex", json_integer(-1));
    refused("taskIndex", json_integer(SVC_FW_TASKS_MAX));
    refused("taskRoleName", json_string("V"));
    refused("taskState", json_string("CONTAINER_LOST"));
    refused("taskRetryPolicyState", json_pack("{s:i}", "retriedCount", 1));
    refused("taskServiceStatus", json_null());
    refused("containerId", json_null());
    refused("containerId", json_string("container_1"));
    refused("containerHost", json_integer(1));
    refused("containerGpus", json_integer(-1));
    refused("containerExitCode", json_integer((json_int_t)INT32_MAX + 1));
    refused("containerConnectionLostCount", json_true());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_removed),
        cmocka_unit_test(test_cut),        cmocka_unit_test(test_no_utf8),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
