/* launch/tighter.c: a container can have less than the node gives, and never more. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/conf/conf.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/tighter.h"

static struct nm_conf conf;
static struct nm_context ctx = { .conf = &conf };
static struct nm_tighter got;
static struct sv_error why;

static int ask(const char *name, const char *value)
{
    Hadoop__Yarn__StringStringMapProto pair = HADOOP__YARN__STRING_STRING_MAP_PROTO__INIT;
    Hadoop__Yarn__StringStringMapProto *list[] = { &pair };
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    struct nm_container c = { .ctx = &ctx, .clc = &clc };

    pair.key = (char *)(uintptr_t)name;
    pair.value = (char *)(uintptr_t)value;
    clc.environment = list;
    clc.n_environment = name ? 1 : 0;
    got = (struct nm_tighter){ 0 };
    why = (struct sv_error){ 0 };
    return nm_tighter_of(&c, &got, &why);
}

static void give(enum exe_profile profile, enum exe_network network)
{
    conf.profile = profile;
    conf.network = network;
    conf.pids_max = 100;
}

static void test_profile(void **state)
{
    static const char *const names[] = { NULL, "strict", "hadoop", "host" };

    (void)state;
    for (int nodes = EXE_PROFILE_STRICT; nodes <= EXE_PROFILE_HOST; nodes++)
        for (int p = EXE_PROFILE_STRICT; p <= EXE_PROFILE_HOST; p++) {
            give((enum exe_profile)nodes, EXE_NETWORK_HOST);
            assert_int_equal(ask(NM_TIGHTER_PROFILE, names[p]), p <= nodes ? 0 : -EINVAL);
            if (p <= nodes)
                assert_int_equal(got.profile, p);
        }
    give(EXE_PROFILE_STRICT, EXE_NETWORK_HOST);
    assert_int_equal(ask(NM_TIGHTER_PROFILE, "host"), -EINVAL);
    assert_string_equal(why.text, "SELVEDGE_CONTAINER_PROFILE=host: strict, hadoop or host, and "
                                  "none that shows more than the node's; this node gives strict");
    assert_int_equal(ask(NM_TIGHTER_PROFILE, "Strict"), -EINVAL);
    assert_int_equal(ask(NM_TIGHTER_PROFILE, "a\nb"), -EINVAL);
    assert_null(strchr(why.text, '\n'));
}

static void test_network(void **state)
{
    static const char *const names[] = { "host", "none", "private" };

    (void)state;
    for (int nodes = EXE_NETWORK_HOST; nodes <= EXE_NETWORK_PRIVATE; nodes++)
        for (int n = EXE_NETWORK_HOST; n <= EXE_NETWORK_PRIVATE; n++) {
            bool good = n == nodes || n == EXE_NETWORK_NONE;

            give(EXE_PROFILE_STRICT, (enum exe_network)nodes);
            assert_int_equal(ask(NM_TIGHTER_NETWORK, names[n]), good ? 0 : -EINVAL);
            if (good)
                assert_int_equal(got.network, n);
        }
    assert_int_equal(ask(NM_TIGHTER_NETWORK, "nonexistent"), -EINVAL);
}

static void test_pids(void **state)
{
    static const char *const bad[] = { "0", "101", "-1", "1x", "18446744073709551616" };

    (void)state;
    give(EXE_PROFILE_HADOOP, EXE_NETWORK_PRIVATE);
    assert_int_equal(ask(NM_TIGHTER_PIDS, "1"), 0);
    assert_int_equal(got.pids, 1);
    assert_int_equal(ask(NM_TIGHTER_PIDS, "100"), 0);
    assert_int_equal(got.pids, 100);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(ask(NM_TIGHTER_PIDS, bad[i]), -EINVAL);
    assert_non_null(strstr(why.text, "this node gives 100"));
}

static void test_nothing(void **state)
{
    static const char *const names[] = { NULL, NM_TIGHTER_PROFILE, NM_TIGHTER_NETWORK,
                                         NM_TIGHTER_PIDS, "SELVEDGE_CONTAINER" };

    (void)state;
    give(EXE_PROFILE_HADOOP, EXE_NETWORK_PRIVATE);
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        assert_int_equal(ask(names[i], ""), 0);
        assert_int_equal(got.profile, EXE_PROFILE_HADOOP);
        assert_int_equal(got.network, EXE_NETWORK_PRIVATE);
        assert_int_equal(got.pids, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_pids),
        cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
