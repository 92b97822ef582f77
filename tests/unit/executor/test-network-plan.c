/* executor/network-plan.c: addresses, names and refusals of container-network's requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "executor/network-plan.h"

static struct net_request request(void)
{
    struct net_request q = { .magic = NET_MAGIC,
                             .version = NET_VERSION,
                             .mode = "bridge",
                             .link = "selvedge0",
                             .range = "10.77.0.0/30" };
    return q;
}

static const char *refused(const struct net_request *q)
{
    static char why[NET_TEXT_MAX];
    struct net_plan p;
    return exe_net_plan_make(q, &p, why, sizeof(why)) == 0 ? "accepted" : why;
}

#define assert_refused(q, words) assert_non_null(strstr(refused(&(q)), words))

static uint32_t address(const char *range, const char *gateway, uint32_t index)
{
    char why[NET_TEXT_MAX];
    struct net_plan p;
    struct net_request q = request();
    (void)snprintf(q.range, sizeof(q.range), "%s", range);
    (void)snprintf(q.gateway, sizeof(q.gateway), "%s", gateway);
    q.index = index;
    return exe_net_plan_make(&q, &p, why, sizeof(why)) == 0 ? p.address : 0;
}

static void test_addresses(void **state)
{
    (void)state;
    struct net_plan p;
    char why[NET_TEXT_MAX];
    struct net_request q = request();
    assert_int_equal(exe_net_plan_make(&q, &p, why, sizeof(why)), 0);
    assert_int_equal(p.gateway, 0x0a4d0001);
    assert_int_equal(p.address, 0x0a4d0002);
    assert_int_equal(p.prefix, 30);
    assert_string_equal(p.host_end, "sv0a4d0002");
    assert_memory_equal(p.mac, ((uint8_t[]){ 2, 0x53, 0x0a, 0x4d, 0, 2 }), 6);
    assert_int_equal(address("10.77.0.0/30", "", 1), 0); /* that is the broadcast address */
    assert_int_equal(address("10.77.0.0/30", "10.77.0.2", 0), 0x0a4d0001);
    assert_int_equal(address("10.77.0.0/29", "10.77.0.3", 0), 0x0a4d0001);
    assert_int_equal(address("10.77.0.0/29", "10.77.0.3", 2), 0x0a4d0004);
    assert_int_equal(address("10.77.0.0/29", "10.77.0.3", 4), 0x0a4d0006);
    assert_int_equal(address("10.77.0.0/29", "10.77.0.3", 5), 0);
    assert_int_equal(address("10.0.0.0/8", "", 0xfffffc), 0x0afffffe);
    assert_int_equal(address("10.0.0.0/8", "", 0xffffffff), 0);
}

static void test_ranges(void **state)
{
    (void)state;
    static const char *const bad[] = { "",
                                       "10.77.0.0",
                                       "10.77.0.0/",
                                       "10.77.0.0/7",
                                       "10.77.0.0/31",
                                       "10.77.0.1/16",
                                       "10.77.0/16",
                                       "10.77.0.0/16x",
                                       "10.77.0.0/+16",
                                       "10.77.0.0/016",
                                       " 10.77.0.0/16",
                                       "10.77.0.0/ 16",
                                       "fd00::/64",
                                       "10.77.0.0.0.0.0.0.0/16" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct net_request q = request();
        (void)snprintf(q.range, sizeof(q.range), "%s", bad[i]);
        assert_refused(q, "selvedge.network.range=");
    }
    static const char *const gateways[] = { "10.77.0.0", "10.77.0.3", "10.78.0.1", "x",
                                            "10.77.0.1 " };
    for (size_t i = 0; i < sizeof(gateways) / sizeof(gateways[0]); i++) {
        struct net_request q = request();
        (void)snprintf(q.gateway, sizeof(q.gateway), "%s", gateways[i]);
        assert_refused(q, "selvedge.network.gateway=");
    }
}

static void test_refusals(void **state)
{
    (void)state;
    struct net_request q = request();
    q.magic++;
    assert_refused(q, "not of this version");
    q = request();
    q.version++;
    assert_refused(q, "not of this version");
    q = request();
    memset(q.link, 'x', sizeof(q.link));
    assert_refused(q, "does not end");
    q = request();
    memset(q.container, 'x', sizeof(q.container));
    assert_refused(q, "does not end");
    static const char *const modes[] = { "", "Bridge", "bridges", "host" };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        q = request();
        (void)snprintf(q.mode, sizeof(q.mode), "%s", modes[i]);
        assert_refused(q, "selvedge.network.mode=");
    }
    static const char *const links[] = { "", ".", "..", "a/b", "a b", "a:1", "a\n", "\xff" };
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        q = request();
        (void)snprintf(q.link, sizeof(q.link), "%s", links[i]);
        assert_refused(q, "selvedge.network.link=");
    }
    q = request();
    q.mtu = 1279;
    assert_refused(q, "selvedge.network.mtu=");
    q = request();
    q.flags = 2;
    assert_refused(q, "unknown flags");
    q = request();
    q.rate_kbit = 2;
    q.ceil_kbit = 1;
    assert_refused(q, "bandwidth");
    q.ceil_kbit = 3;
    assert_refused(q, "selvedge.network.outbound-mbit");
    q.ceil_kbit = 0;
    assert_refused(q, "selvedge.network.outbound-mbit");
    q.ceil_kbit = 2; /* its ceiling is not guaranteed to anyone else */
    assert_string_equal(refused(&q), "accepted");
    q.ceil_kbit = 0;
    q.total_kbit = 2;
    assert_string_equal(refused(&q), "accepted");
    q = request();
    q.total_kbit = 1;
    (void)snprintf(q.mode, sizeof(q.mode), "macvlan");
    assert_refused(q, "selvedge.network.outbound-mbit");
    q.total_kbit = 0;
    assert_string_equal(refused(&q), "accepted");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_addresses),
                                        cmocka_unit_test(test_ranges),
                                        cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
