/* conf-monitor.c: virtual memory and sizes of logs are limited only where it is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/nodemanager/conf/conf-fixture.h"

static void keys(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(NULL), &c);
    assert_false(c.vmem_check || c.log_check);
    assert_int_equal(c.monitor_ms, 3000);
    nm_conf_free(&c);
    expect_ok(SET("yarn.nodemanager.vmem-check-enabled=true", "yarn.nodemanager.vmem-pmem-ratio=1",
                  "yarn.nodemanager.container-log-monitor.enable=true"),
              &c);
    assert_true(c.vmem_check && c.vmem_ratio == 1.0);
    assert_true(c.log_check);
    assert_int_equal(c.log_check_ms, 60000);
    assert_int_equal(c.log_dir_bytes, 1000000000);
    assert_int_equal(c.log_total_bytes, 10000000000);
    nm_conf_free(&c);
    expect_refused(SET("yarn.nodemanager.vmem-pmem-ratio=0.9"),
                   "yarn.nodemanager.vmem-pmem-ratio: a number of at least 1 is needed");
    expect_refused(SET("yarn.nodemanager.container-log-monitor.dir-size-limit-bytes=0"),
                   "expected a whole number from 1");
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(keys) };

    return cmocka_run_group_tests(tests, setup, teardown);
}
