/* conf/conf-amrmproxy.c: what is taken and what is refused, with key, value and remedy. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/nodemanager/conf/conf-fixture.h"

#define ON "yarn.nodemanager.amrmproxy.enabled=true"

static void off_and_on(void **state)
{
    struct nm_conf c;

    (void)state;
    /* Off, nothing else of it counts. */
    expect_ok(SET("yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs=1",
                  "yarn.federation.enabled=true"),
              &c);
    assert_false(c.amrmproxy.enabled);
    nm_conf_free(&c);
    expect_ok(SET(ON), &c);
    assert_true(c.amrmproxy.enabled);
    assert_string_equal(c.amrmproxy.host, "0.0.0.0");
    assert_int_equal(c.amrmproxy.port, 8049);
    assert_int_equal(c.amrmproxy.roll_ms, 86400000);
    assert_int_equal(c.amrmproxy.delay_ms, 1350000);
    assert_false(c.amrmproxy.federation);
    nm_conf_free(&c);
    expect_ok(SET(ON, "yarn.nodemanager.amrmproxy.address=127.0.0.1:0",
                  "yarn.federation.enabled=true", "yarn.resourcemanager.cluster-id=SC-1"),
              &c);
    assert_int_equal(c.amrmproxy.port, 0);
    assert_string_equal(c.amrmproxy.cluster_id, "SC-1");
    nm_conf_free(&c);
}

static void refused(void **state)
{
    (void)state;
    expect_refused(
        SET(ON, "yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs=2700"),
        "2700000 ms is not more than 2 x the activation delay of 1350000 ms");
    expect_refused(SET(ON, "yarn.federation.enabled=true"), "needs the id of this node's");
    expect_refused(SET("yarn.nodemanager.amrmproxy.ha.enable=true"),
                   "where the next attempt on another node would find them; set it to false");
    expect_refused(SET("yarn.nodemanager.distributed-scheduling.enabled=true"),
                   "no distributed scheduling");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(off_and_on),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, conf_set_up, conf_tear_down);
}
