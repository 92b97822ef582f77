/* executor/failure.c: messages and exit codes of the helper's refusals. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "executor/exe.h"

static struct exe_failure from(enum exe_status status, int error, const char *text)
{
    struct exe_failure f;
    struct exe_reply reply = {
        .status = status, .error = error, .text = text, .text_len = (uint16_t)strlen(text)
    };
    exe_failure_from(&reply, 0, "container_1", &f);
    return f;
}

/* Classification of failures: one container's, or the node's, which then accepts no more
 * containers. */
static void test_node_or_container_at_fault(void **state)
{
    (void)state;
    struct exe_failure f = from(EXE_STATUS_DEVICE_FILTER, EPERM, "BPF_PROG_LOAD");
    assert_true(f.node_unhealthy && f.exit_code == 27);
    assert_non_null(strstr(f.text, "container_1"));
    assert_non_null(strstr(f.text, "BPF_PROG_LOAD"));
    assert_non_null(strstr(f.text, "CONFIG_CGROUP_BPF"));
    f = from(EXE_STATUS_DEVICE_FILTER, EBUSY, "containers from before still run; assign none");
    assert_true(!f.node_unhealthy && f.exit_code == 27);
    assert_non_null(strstr(f.text, "assign none"));
    assert_null(strstr(f.text, "CONFIG_CGROUP_BPF"));
    assert_true(from(EXE_STATUS_CGROUP_LIMITS, EBUSY, "x").node_unhealthy);
    assert_false(from(EXE_STATUS_USER_UNKNOWN, 0, "nobody").node_unhealthy);
}

static void test_no_reply(void **state)
{
    struct exe_failure f;
    (void)state;
    exe_failure_from(NULL, 127 << 8, "container_1", &f);
    assert_true(f.status == EXE_STATUS_LOST && strstr(f.text, "cannot be executed"));
    exe_failure_from(NULL, 9, "container_1", &f);
    assert_true(f.status == EXE_STATUS_LOST && strstr(f.text, "killed by signal 9"));
    exe_failure_from(NULL, EXE_STATUS_NOT_ROOT << 8, "container_1", &f);
    assert_true(f.status == EXE_STATUS_NOT_ROOT && f.node_unhealthy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_or_container_at_fault),
        cmocka_unit_test(test_no_reply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
