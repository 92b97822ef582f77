/* service/am/framework/diagnostics.c: what a master unregisters with, within its limit. */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/am/framework/diagnostics.h"

static json_t *parse(const char *text)
{
    const char *begin = text + strlen(SVC_FW_DIAGNOSTICS_START);
    const char *end = strstr(text, SVC_FW_DIAGNOSTICS_END);
    json_t *o;

    assert_memory_equal(text, SVC_FW_DIAGNOSTICS_START, strlen(SVC_FW_DIAGNOSTICS_START));
    assert_non_null(end);
    assert_true(strlen(text) <= SVC_FW_DIAGNOSTICS_MAX);
    o = json_loadb(begin, (size_t)(end - begin), 0, NULL);
    assert_non_null(o);
    assert_int_equal(json_object_size(o), 7);
    return o;
}

static void test_trigger(void **state)
{
    const struct svc_fw_end e = {
        .ended = true,
        .code = -7103,
        .type = SVC_FW_TRANSIENT_NORMAL,
        .description = "d",
        .diagnostics = "bind",
        .trigger = "FailedTaskCount 1 has reached MinFailedTaskCount 1 in TaskRole [W]",
        .role = "W",
        .task = 3,
    };
    char *text;
    json_t *o;

    (void)state;
    assert_int_equal(svc_am_diagnostics(&e, &text), 0);
    o = parse(text);
    assert_int_equal(json_integer_value(json_object_get(o, "applicationExitCode")), -7103);
    assert_string_equal(json_string_value(json_object_get(o, "applicationExitType")),
                        "TRANSIENT_NORMAL");
    assert_int_equal(json_integer_value(json_object_get(o, "applicationExitTriggerTaskIndex")), 3);
    json_decref(o);
    free(text);
}

static void test_no_trigger(void **state)
{
    const struct svc_fw_end e = { .ended = true, .description = "", .diagnostics = "" };
    char *text;
    json_t *o;

    (void)state;
    assert_int_equal(svc_am_diagnostics(&e, &text), 0);
    o = parse(text);
    assert_true(json_is_null(json_object_get(o, "applicationExitTriggerTaskRoleName")));
    assert_true(json_is_null(json_object_get(o, "applicationExitTriggerTaskIndex")));
    json_decref(o);
    free(text);
}

/* Characters that JSON makes six bytes of; the trigger's message stays while it fits. */
static void test_cut(void **state)
{
    char *hostile = malloc(100001), *text;
    struct svc_fw_end e = { .ended = true, .description = "", .trigger = "kept", .role = "W" };
    json_t *o;

    (void)state;
    memset(hostile, '\x01', 100000);
    hostile[100000] = '\0';
    e.diagnostics = hostile;
    assert_int_equal(svc_am_diagnostics(&e, &text), 0);
    o = parse(text);
    assert_string_equal(json_string_value(json_object_get(o, "applicationExitTriggerMessage")),
                        "kept");
    assert_true(json_string_length(json_object_get(o, "applicationExitDiagnostics")) > 2000);
    json_decref(o);
    free(text);
    e.trigger = hostile;
    assert_int_equal(svc_am_diagnostics(&e, &text), 0);
    json_decref(parse(text));
    free(text);
    free(hostile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trigger),
        cmocka_unit_test(test_no_trigger),
        cmocka_unit_test(test_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
