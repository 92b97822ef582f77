/* setuid-helper/config.c and passwd.c: strict parsing, or refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "setuid-helper/prepare.h"

#define GOOD                                                                                       \
    "# comment\n\nyarn.nodemanager.linux-container-executor.group=yarn\n"                          \
    "yarn.nodemanager.local-dirs=/data/1/local,/data/2/local\n"                                    \
    "yarn.nodemanager.log-dirs=/data/1/log\nselvedge.cgroup.root=/sys/fs/cgroup/x\n"

/* The parser's only outside reference; config.c never gets there in these tests. */
_Noreturn void hlp_fail(enum exe_status status, int error, const char *what)
{
    (void)fprintf(stderr, "hlp_fail %d %d %s\n", status, error, what);
    abort();
}

static struct hlp_config *cfg;

static int parse(const char *text)
{
    const char *why = NULL;
    memset(cfg, 0, sizeof(*cfg));
    size_t n = strlen(text);
    memcpy(cfg->text, text, n);
    int line = hlp_config_parse(cfg, n, &why);
    assert_true((line == 0) == (why == NULL));
    return line;
}

static void test_valid_configuration(void **state)
{
    (void)state;
    assert_int_equal(parse(GOOD), 0);
    assert_int_equal(cfg->policy.local_dirs.n, 2);
    assert_string_equal(cfg->policy.local_dirs.v[1], "/data/2/local");
    assert_string_equal(cfg->nm_user, "yarn");
    assert_int_equal(cfg->policy.min_uid, 1000);
    assert_int_equal(cfg->banned.n, 4);
    assert_false(cfg->policy.unenforced_allowed);
    assert_int_equal(parse(GOOD "min.user.id=500\nbanned.users=\nfeature.tc.enabled=0\n"), 0);
    assert_int_equal(cfg->policy.min_uid, 500);
    assert_int_equal(cfg->banned.n, 0);
    assert_int_equal(cfg->banned_groups.n, 15);
    assert_int_equal(parse(GOOD "selvedge.banned.groups=wheel,docker\n"), 0);
    assert_int_equal(cfg->banned_groups.n, 2);
    assert_string_equal(cfg->banned_groups.v[0], "wheel");
    assert_int_equal(parse(GOOD "selvedge.banned.groups=\n"), 0);
    assert_int_equal(cfg->banned_groups.n, 0);
    assert_int_equal(parse(GOOD "selvedge.sandbox.read-only-paths=/run/hdfs-sockets\n"), 0);
    assert_string_equal(cfg->read_only.v[0], "/run/hdfs-sockets");
    assert_int_equal(cfg->policy.selinux, 0);
    assert_int_equal(parse(GOOD "selvedge.sandbox.selinux=labels,enforcing\n"), 0);
    assert_int_equal(cfg->policy.selinux, 1 << HLP_SELINUX_LABELS | 1 << HLP_SELINUX_ENFORCING);
}

static void test_invalid_lines(void **state)
{
    static const char *const bad[] = {
        "unknown.key=1\n",
        "min.user.id=abc\n",
        "min.user.id=-1\n",
        "min.user.id=0\n",
        "min.user.id=99\n",
        "min.user.id=01000\n",
        "min.user.id= 1000\n",
        "min.user.id=+1000\n",
        "min.user.id=99999999999\n",
        "min.user.id=4294967295\n",
        "min.user.id=0x3e8\n",
        "min.user.id=\n",
        "min.user.id=1000\nmin.user.id=1000\n",
        "min.user.id\n",
        "min.user.id=1000\r\n",
        "banned.users=a,,b\n",
        "banned.users=a,a\n",
        "banned.users=a/b\n",
        "selvedge.banned.groups=a,,b\n",
        "selvedge.unenforced-limits.allowed=1x\n",
        "selvedge.unenforced-limits.allowed=TRUE\n",
        "feature.docker.enabled=1\n",
        "feature.docker.enabled=true\n",
        "feature.docker.enabled=\n",
        "selvedge.nodemanager.user=\n",
        "selvedge.nodemanager.user=a b\n",
        "selvedge.sandbox.read-only-paths=relative\n",
        "selvedge.sandbox.read-only-paths=/a/../b\n",
        "selvedge.sandbox.read-only-paths=/proc\n",
        "selvedge.sandbox.read-only-paths=/run\n",
        "selvedge.sandbox.read-only-paths=/var/run/hdfs-sockets\n",
        "selvedge.sandbox.read-only-paths=/data\n",
        "selvedge.sandbox.read-only-paths=/x//y\n",
        "min.user.id=1000", /* no line end */
        "[unknown]\n",
        "[docker\n",
        "[docker] \n",
        "[docker]\nmodule.enabled=true\n",
        "[docker]\nmin.user.id=1000\n",
        "[gpu]\ngpu.major-device-number=x\n",
        "[gpu]\ngpu.allowed-device-minor-numbers=0,,1\n",
        "[gpu]\nmodule.enabled=1x\n",
        "[gpu]\ngpu.allowed-device-minor-numbers=1048576\n",
        "[gpu]\nunknown=1\n",
        "[devices]\ndevices.allowed-numbers=1\n",
        "[devices]\ndevices.allowed-numbers=0:1\n",
        "[devices]\ndevices.allowed-numbers=4096:1\n",
        "[devices]\ndevices.allowed-numbers=c:1\n",
        "module.enabled=true\n",
        "[gpu]module.enabled=true\n",
        "[gpu]\n[gpu]module.enabled=true\n",
        "selvedge.sandbox.profiles=\n",
        "selvedge.sandbox.profiles=strict,loose\n",
        "selvedge.sandbox.profiles=strict,strict\n",
        "selvedge.sandbox.networks=host,\n",
        "selvedge.sandbox.writable-paths=/data/1\n",
        "selvedge.sandbox.writable-paths=/run/x\n",
        "selvedge.network.mode=01234567890123456\n",
        "selvedge.network.mtu=-1\n",
        "selvedge.sandbox.selinux-label=\n",
        "selvedge.sandbox.selinux=\n",
        "selvedge.sandbox.selinux=true\n",
        "selvedge.sandbox.selinux=labels\nselvedge.sandbox.selinux-label=a:b:c:s0\n",
        "  min.user.id=1000\n",
        "min.user.id =1000\n",
        "caf\xc3\xa9=1\n",
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(text, sizeof(text), "%s%s", GOOD, bad[i]);
        if (parse(text) == 0)
            fail_msg("accepted: %s", bad[i]);
    }
    assert_int_equal(parse("yarn.nodemanager.linux-container-executor.group=yarn\nx=1\n"), 2);
}

static void test_sections(void **state)
{
    const struct exe_device gpu0 = { 195, 0 }, gpu2 = { 195, 2 }, control = { 195, 255 },
                            fpga = { 246, 9 }, card = { 242, 7 }, kmsg = { 1, 11 };
    (void)state;
    assert_int_equal(parse(GOOD), 0);
    assert_int_equal(cfg->policy.profiles, 1 << EXE_PROFILE_STRICT);
    assert_int_equal(cfg->policy.networks, 1 << EXE_NETWORK_HOST | 1 << EXE_NETWORK_NONE);
    assert_false(hlp_device_allowed(cfg, &gpu0) || hlp_device_allowed(cfg, &fpga));
    assert_int_equal(parse(GOOD
                           "selvedge.sandbox.profiles=host,hadoop\n"
                           "selvedge.sandbox.networks=private\nselvedge.network.range=10.0.0.0/8\n"
                           "selvedge.network.outbound-mbit=5\n"
                           "[docker]\nmodule.enabled=false\ndocker.binary=/usr/bin/docker\n"
                           "docker.trusted.registries=\n[gpu]\nmodule.enabled=true\n"
                           "gpu.allowed-device-minor-numbers=0,1\n[devices]\nmodule.enabled=1\n"
                           "devices.allowed-numbers=242:7,195:2\ndevices.denied-numbers=242:7\n"),
                     0);
    assert_int_equal(cfg->policy.profiles, 1 << EXE_PROFILE_HADOOP | 1 << EXE_PROFILE_HOST);
    assert_int_equal(cfg->policy.networks, 1 << EXE_NETWORK_PRIVATE);
    assert_string_equal(cfg->policy.net.range, "10.0.0.0/8");
    assert_int_equal(cfg->policy.net.total_kbit, 5000);
    assert_true(hlp_device_allowed(cfg, &gpu0) && hlp_device_allowed(cfg, &gpu2));
    assert_false(hlp_device_allowed(cfg, &control) || hlp_device_allowed(cfg, &card) ||
                 hlp_device_allowed(cfg, &fpga) || hlp_device_allowed(cfg, &kmsg));
    assert_int_equal(parse(GOOD "[fpga]\nmodule.enabled=1\n[gpu]\nmodule.enabled=true\n"
                                "gpu.major-device-number=226\n"),
                     0);
    assert_true(hlp_device_allowed(cfg, &fpga));
    assert_false(hlp_device_allowed(cfg, &gpu0));
    assert_int_equal(parse(GOOD "[gpu]\nmodule.enabled=0\ngpu.allowed-device-minor-numbers=0\n"),
                     0);
    assert_false(hlp_device_allowed(cfg, &gpu0));
}

static bool instance(uint32_t minor)
{
    return hlp_instance_allowed(cfg, &(struct exe_device){ 508, minor });
}

/* Access to MIG instances goes with their cards: 135 numbers a card, from 3 on. */
static void test_instances(void **state)
{
    (void)state;
    assert_int_equal(parse(GOOD), 0);
    assert_false(instance(3));
    assert_int_equal(parse(GOOD "[gpu]\nmodule.enabled=true\n"
                                "gpu.allowed-device-minor-numbers=0,2\n"
                                "[devices]\ndevices.denied-numbers=508:5\n"),
                     0);
    assert_false(instance(0) || instance(1) || instance(2));
    assert_true(instance(3) && instance(4) && instance(137));
    assert_false(instance(5) || instance(138) || instance(272) || instance(408));
    assert_true(instance(273) && instance(407));
    assert_int_equal(parse(GOOD "[gpu]\nmodule.enabled=true\n"), 0);
    assert_false(instance(2));
    assert_true(instance(3 + 135 * 40));
    assert_int_equal(parse(GOOD "[gpu]\nmodule.enabled=false\n"
                                "[devices]\nmodule.enabled=true\ndevices.allowed-numbers=195:0\n"),
                     0);
    assert_false(instance(3));
}

static void test_conflicting_directories(void **state)
{
    static const char *const bad[] = { "/tmp/x", "/proc/x",    "/usr/local/yarn", "/etc/x",
                                       "/opt/x", "/dev/shm/x", "/a,/a/b",         "/",
                                       "/a/",    "/a,/a" };
    char text[512];
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(text, sizeof(text),
                       "yarn.nodemanager.linux-container-executor.group=y\n"
                       "yarn.nodemanager.local-dirs=%s\nyarn.nodemanager.log-dirs=/l\n"
                       "selvedge.cgroup.root=/c\n",
                       bad[i]);
        if (parse(text) == 0)
            fail_msg("accepted: %s", bad[i]);
    }
    assert_int_not_equal(parse("yarn.nodemanager.linux-container-executor.group=y\n"
                               "yarn.nodemanager.local-dirs=/d\nyarn.nodemanager.log-dirs=/d/log\n"
                               "selvedge.cgroup.root=/c\n"),
                         0);
    assert_int_not_equal(parse(""), 0);
}

static void test_passwd(void **state)
{
    static const char text[] =
        "root:x:0:0::/root:/bin/sh\nalice:x:1001:1002:A,B:/h:/s\n"
        "short:x:5\nminus:x:-1:5::/:/\nbig:x:4294967295:5::/:/\n"
        "hex:x:0x10:5::/:/\nzero:x:01:5::/:/\nempty:x::5::/:/\n"
        "plus:x:+1:5::/:/\nblank:x: 1:5::/:/\nnul:x:5:5:\0:/:/\n"
        "alice:x:7777:7777::/:/\n\n:x:5:5::/:/\nno colon\n#c\nlast:x:7:8::/:/";
    static const char *const bad[] = { "short", "minus", "big",   "hex", "zero",
                                       "empty", "plus",  "blank", "nul" };
    struct hlp_users t;
    (void)state;
    assert_int_equal(hlp_users_parse(text, sizeof(text) - 1, &t), 0);
    const struct hlp_user *u = hlp_users_find(&t, "alice");
    assert_true(u && u->uid == 1001 && u->gid == 1002 && u->n_groups == 0); /* the first of two */
    u = hlp_users_find(&t, "last");
    assert_true(u && u->uid == 7 && u->gid == 8);
    assert_null(hlp_users_find(&t, "ali"));
    assert_null(hlp_users_find(&t, "alicee"));
    assert_null(hlp_users_find(&t, "x"));
    assert_null(hlp_users_find(&t, ""));
    assert_null(hlp_users_find(&t, "no colon"));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        u = hlp_users_find(&t, bad[i]);
        assert_true(u && u->uid == 0 && u->gid == 0); /* nobody's to use */
    }
    assert_int_equal(t.n, 3 + sizeof(bad) / sizeof(bad[0]));
    for (size_t i = 1; i < t.n; i++)
        assert_true(strcmp(t.v[i - 1].name, t.v[i].name) < 0);
    free(t.v);
    assert_int_equal(hlp_users_parse("", 0, &t), 0);
    assert_null(hlp_users_find(&t, "root"));
    free(t.v);
}

static const char groups[] = "root:x:0:alice\nyarn:x:500:alice\nusers:x:100:bob,alice\n"
                             "docker:x:600:alice\nengine:x:600:alice\nabc:x:101:alicex,alic\n"
                             "video:x:44:alice,alice,bob\nown:x:1002:alice\nbad:x:-1:alice\n"
                             "short:x:9\nmore:x:45:,alice\nlast:x:77:carol,alice";

static void test_groups(void **state)
{
    static const char accounts[] = "alice:x:1001:1002::/:/\nbob:x:1002:1003::/:/\n";
    struct hlp_users t;
    gid_t gid;
    (void)state;
    memset(cfg, 0, sizeof(*cfg));
    struct hlp_policy *p = &cfg->policy;
    assert_int_equal(hlp_users_parse(accounts, sizeof(accounts) - 1, &t), 0);
    assert_true(hlp_group_find(groups, sizeof(groups) - 1, "yarn", &p->nm_gid));
    assert_int_equal(p->nm_gid, 500);
    assert_false(hlp_group_find(groups, sizeof(groups) - 1, "bad", &gid));
    assert_false(hlp_group_find(groups, sizeof(groups) - 1, "yar", &gid));
    const struct hlp_list banned = { { "docker", "none" }, 2 };
    assert_int_equal(hlp_groups_refuse(p, &banned, groups, sizeof(groups) - 1), 0);
    assert_int_equal(p->refused_gids.n, 2); /* ours; docker's number, by whichever name */
    assert_true(p->refused_gids.v[0] == 500 && p->refused_gids.v[1] == 600);
    hlp_users_join(p, &t, groups, sizeof(groups) - 1);
    const struct hlp_user *u = hlp_users_find(&t, "alice");
    assert_int_equal(u->n_groups, 4); /* no root, ours, docker, own */
    assert_true(u->groups[0] == 100 && u->groups[1] == 44 && u->groups[2] == 45 &&
                u->groups[3] == 77);
    assert_int_equal(hlp_users_find(&t, "bob")->n_groups, 2);
    free(t.v);
}

/* More groups than a user may have, more groups that are refused than are remembered. */
static void test_many_groups(void **state)
{
    static char text[65536];
    struct hlp_users t;
    size_t n = 0;
    (void)state;
    memset(cfg, 0, sizeof(*cfg));
    for (unsigned i = 0; i < 100; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "g%u:x:%u:a\n", i, 2000 + i);
    assert_int_equal(hlp_users_parse("a:x:1000:1000::/:/\n", 19, &t), 0);
    hlp_users_join(&cfg->policy, &t, text, n);
    assert_int_equal(t.v[0].n_groups, HLP_GROUPS_MAX);
    free(t.v);
    n = 0;
    for (unsigned i = 0; i < 200; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "docker:x:%u:a\n", 2000 + i);
    const struct hlp_list banned = { { "docker" }, 1 };
    assert_true(hlp_groups_refuse(&cfg->policy, &banned, text, n) < 0);
}

/* A banned name is root's in the table, whether such an account exists or not. */
static void test_banned(void **state)
{
    static const char accounts[] = "bob:x:1002:1003::/:/\nalice:x:1001:1002::/:/\n";
    const struct hlp_list banned = { { "bob", "aaa", "zoe" }, 3 };
    struct hlp_ids ids = { .n = 0 };
    struct hlp_users t;
    (void)state;
    assert_int_equal(hlp_users_parse(accounts, sizeof(accounts) - 1, &t), 0);
    hlp_users_ban(&t, &banned);
    assert_int_equal(t.n, 4);
    for (size_t i = 1; i < t.n; i++)
        assert_true(strcmp(t.v[i - 1].name, t.v[i].name) < 0);
    for (uint32_t i = 0; i < banned.n; i++)
        assert_true(hlp_users_find(&t, banned.v[i])->uid == 0 &&
                    hlp_users_find(&t, banned.v[i])->gid == 0);
    assert_int_equal(hlp_users_find(&t, "alice")->uid, 1001);
    free(t.v);
    assert_true(hlp_id_refused(&ids, 0) && hlp_id_refused(&ids, ~0u) &&
                !hlp_id_refused(&ids, 1002));
    assert_true(hlp_id_refuse(&ids, 1002) && hlp_id_refuse(&ids, 1002) && hlp_id_refuse(&ids, 0));
    assert_true(hlp_id_refused(&ids, 1002) && ids.n == 1);
}

static int setup(void **state)
{
    (void)state;
    cfg = calloc(1, sizeof(*cfg));
    return cfg ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(cfg);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_configuration),
        cmocka_unit_test(test_invalid_lines),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_conflicting_directories),
        cmocka_unit_test(test_passwd),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_many_groups),
        cmocka_unit_test(test_banned),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
