/* conf.c: Hadoop's defaults, overrides, and errors that name the key. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/acl.h"
#include "nodemanager/conf/conf-check.h"
#include "nodemanager/conf/conf.h"
#include "tests/unit/nodemanager/conf/conf-fixture.h"

struct refusals {
    char text[2048];
    size_t n;
};

static void collect(const char *text, void *userdata)
{
    struct refusals *all = userdata;
    size_t len = strlen(all->text);

    (void)snprintf(all->text + len, sizeof(all->text) - len, "%s\n", text);
    all->n++;
}

/* Whoever corrects one value must not meet the next one at the next try. */
static void all_refusals(void **state)
{
    struct sv_error err = { 0 };
    struct refusals rest = { .n = 0 };
    struct nm_conf c;

    (void)state;
    assert_true(nm_conf_load(&c, dir,
                             SET("yarn.nodemanager.resource.memory-mb=lots",
                                 "yarn.nodemanager.sleep-delay-before-sigkill.ms=soon",
                                 "yarn.nodemanager.amrmproxy.ha.enable=true",
                                 "yarn.nodemanager.container-executor.class=org.example.X",
                                 "hadoop.security.group.mapping=org.example.Groups",
                                 "yarn.nodemanager.pmem-check-enabled=maybe"),
                             &err) < 0);
    nm_conf_each_refusal(c.conf, err.text, collect, &rest);
    collect(err.text, &rest);
    assert_int_equal(rest.n, 6);
    assert_non_null(strstr(rest.text, "memory-mb"));
    assert_non_null(strstr(rest.text, "sleep-delay-before-sigkill.ms"));
    assert_non_null(strstr(rest.text, "amrmproxy.ha.enable"));
    assert_non_null(strstr(rest.text, "container-executor.class"));
    assert_non_null(strstr(rest.text, "security.group.mapping"));
    assert_non_null(strstr(rest.text, "pmem-check-enabled"));
    nm_conf_free(&c);
}

/* Groups alone begin with a blank: they are no users of these names. */
static void admin_groups(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET("yarn.admin.acl= ops"), &c);
    assert_string_equal(c.web.auth.admin_acl, " ops");
    assert_false(sv_acl_allows(c.web.auth.admin_acl, "ops"));
    assert_true(sv_acl_names_groups(c.web.auth.admin_acl));
    nm_conf_free(&c);
}

/* Access lists by group: the machine's groups or LDAP's, and the users that the file names. */
static void group_mapping(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET("hadoop.security.group.mapping="
                  "org.apache.hadoop.security.ShellBasedUnixGroupsMapping"),
              &c);
    assert_string_equal(c.web.auth.groups_overrides, "dr.who=;");
    nm_conf_free(&c);
    expect_refused(SET("hadoop.security.group.mapping="
                       "org.apache.hadoop.security.LdapGroupsMapping"),
                   "mapping.ldap.url is not set");
    expect_refused(SET("hadoop.security.group.mapping="
                       "org.apache.hadoop.security.CompositeGroupsMapping"),
                   "another source");
    expect_refused(SET("hadoop.user.group.static.mapping.overrides=ann=a=b"),
                   "hadoop.user.group.static.mapping.overrides: \"ann=a=b\"");
}

/* Writes a file of properties into the directory, or removes it. */
static void write_properties(const char *file, const char *name, const char *value,
                             const char *name2, const char *value2)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (!name) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "<configuration><property><name>%s</name><value>%s</value></property>"
            "<property><name>%s</name><value>%s</value></property></configuration>",
            name, value, name2, value2);
    assert_int_equal(fclose(f), 0);
}

#define TYPES "yarn.resource-types=licenses,yarn.io/gpu,example.com/disk.x"
#define DISK "yarn.resource-types.example.com/disk.x.units=Gi"

static void resource_types(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(NULL), &c);
    assert_int_equal(c.types.n, 0);
    nm_conf_free(&c);
    write_properties("resource-types.xml", "yarn.resource-types", "licenses, example.com/disk.x",
                     "yarn.resource-types.example.com/disk.x.units", "Gi");
    write_properties("node-resources.xml", "yarn.nodemanager.resource-type.licenses", "3k",
                     "yarn.nodemanager.resource-type.example.com/disk.x", "2Ti");
    expect_ok(SET(NULL), &c);
    assert_int_equal(c.types.n, 2);
    assert_string_equal(c.types.types[1].name, "example.com/disk.x");
    assert_string_equal(c.types.types[1].unit, "Gi");
    assert_int_equal(c.resource.extra[0], 3000);
    assert_int_equal(c.resource.extra[1], 2048);
    nm_conf_free(&c);
    expect_ok(SET("yarn.nodemanager.resource-type.licenses=0"), &c); /* overrides the file */
    assert_int_equal(c.resource.extra[0], 0);
    nm_conf_free(&c);
    expect_refused(SET("yarn.nodemanager.resource-type.fpga=1"), "yarn.resource-types");
    write_properties("resource-types.xml", NULL, NULL, NULL, NULL);
    expect_refused(SET(NULL), "node-resources.xml");
    write_properties("node-resources.xml", NULL, NULL, NULL, NULL);
}

static void bad_resource_types(void **state)
{
    static const struct {
        const char *set, *words;
    } rows[] = {
        { "yarn.nodemanager.resource-type.licenses=many", "a number and a unit" },
        { "yarn.nodemanager.resource-type.licenses=", "a number and a unit" },
        { "yarn.nodemanager.resource-type.licenses=-1", "a number and a unit" },
        { "yarn.nodemanager.resource-type.licenses=5 g", "a number and a unit" },
        { "yarn.nodemanager.resource-type.licenses=99999999999999999999", "a number and a unit" },
        { "yarn.nodemanager.resource-type.licenses=9223372036854775807k", "too large" },
        { "yarn.nodemanager.resource-type.licenses=5m", "less than one" },
        { "yarn.nodemanager.resource-type.example.com/disk.x=5", "less than one" },
        { "yarn.nodemanager.resource-type.memory-mb=5", "yarn.nodemanager.resource.memory-mb" },
        { "yarn.nodemanager.resource-type.yarn.io/gpu=2", "resource-plugins" },
        { "yarn.resource-types.licenses.units=K", "\"K\" is not a unit" },
        { "yarn.resource-types.yarn.io/gpu.units=k", "is not a unit" },
        { "yarn.resource-types.licenses.type=FLUID", "COUNTABLE" },
        { "yarn.resource-types=vcores", "cannot be a type's name" },
        { "yarn.resource-types=a,b,a", "a is there twice" },
        { "yarn.resource-types=1a", "cannot be a type's name" },
        { "yarn.resource-types=/a", "cannot be a type's name" },
        { "yarn.resource-types=a b", "cannot be a type's name" },
        { "yarn.resource-types=a,b,c,d,e,f,g,h,i", "at most 8" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        expect_refused(SET(TYPES, DISK, (char *)(uintptr_t)rows[i].set), rows[i].words);
}

#define DETECT "yarn.nodemanager.resource.detect-hardware-capabilities=true"

/* The figures of this machine, by the formulas that test-hardware.c checks. */
static void detection(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(DETECT, "yarn.nodemanager.resource.system-reserved-memory-mb=1",
                  "yarn.nodemanager.resource.count-logical-processors-as-cores=true"),
              &c);
    assert_int_equal(c.resource.memory_mb, c.hardware.memory_mb - 1);
    assert_int_equal(c.resource.vcores, c.hardware.processors);
    nm_conf_free(&c);
    expect_ok(SET(DETECT, "yarn.nodemanager.resource.memory-mb=2048",
                  "yarn.nodemanager.resource.pcores-vcores-multiplier=3"),
              &c);
    assert_int_equal(c.resource.memory_mb, 2048); /* what is set stays */
    assert_int_equal(c.resource.vcores, 3 * c.hardware.cores);
    nm_conf_free(&c);
    expect_ok(SET(DETECT, "yarn.nodemanager.resource.memory-mb=2048",
                  "yarn.nodemanager.resource.cpu-vcores=5"),
              &c);
    assert_int_equal(c.resource.vcores, 5);
    nm_conf_free(&c);
    expect_refused(SET(DETECT, "yarn.nodemanager.resource.system-reserved-memory-mb=99999999999"),
                   "none are left for containers");
    expect_refused(SET(DETECT, "yarn.nodemanager.resource.memory-mb=1",
                       "yarn.nodemanager.resource.pcores-vcores-multiplier=0"),
                   "pcores-vcores-multiplier");
    expect_refused(SET("yarn.nodemanager.resource.memory-mb=0"), "must not be 0");
}

#define LABELS "yarn.nodemanager.node-labels."
#define ATTRIBUTES "yarn.nodemanager.node-attributes."

static void labels(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(NULL), &c);
    assert_int_equal(c.labels[NM_LABELS].provider, NM_PROVIDER_NONE);
    nm_conf_free(&c);
    expect_ok(SET(LABELS "provider=Config", LABELS "provider.configured-node-partition=gpu",
                  ATTRIBUTES "provider=script", ATTRIBUTES "provider.script.path=/usr/bin/x",
                  ATTRIBUTES "provider.script.opts=-v, a b",
                  ATTRIBUTES "provider.fetch-interval-ms=-1"),
              &c);
    assert_int_equal(c.labels[NM_LABELS].provider, NM_PROVIDER_CONFIG);
    assert_int_equal(c.labels[NM_LABELS].fetch_interval_ms, 600000);
    assert_int_equal(c.labels[NM_LABELS].fetch_timeout_ms, 1200000);
    assert_int_equal(c.labels[NM_LABELS].resync_ms, 120000);
    assert_string_equal(c.labels[NM_ATTRIBUTES].argv[0], "/usr/bin/x");
    assert_string_equal(c.labels[NM_ATTRIBUTES].argv[1], "-v");
    assert_string_equal(c.labels[NM_ATTRIBUTES].argv[2], "a b");
    assert_null(c.labels[NM_ATTRIBUTES].argv[3]);
    assert_int_equal(c.labels[NM_ATTRIBUTES].fetch_interval_ms, -1);
    nm_conf_free(&c);
    expect_refused(SET(LABELS "provider=org.example.Labels"),
                   "a class of Java cannot run in this daemon");
    expect_refused(SET(LABELS "provider=config", LABELS "provider.configured-node-partition=a b"),
                   LABELS "provider.configured-node-partition: \"a b\"");
    expect_refused(SET(ATTRIBUTES "provider=config",
                       ATTRIBUTES "provider.configured-node-attributes=os,INT,1"),
                   "the type of an attribute is STRING");
    expect_refused(SET(LABELS "provider=script"), "absolute path");
    expect_refused(SET(LABELS "provider=script", LABELS "provider.script.path=label.sh"),
                   "absolute path");
    expect_refused(SET(LABELS "provider.fetch-interval-ms=50"), "at least 100");
}

static void defaults(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(NULL), &c);
    assert_string_equal(c.hostname, "127.0.0.1");
    assert_int_equal(c.port, 8041);
    assert_int_equal(c.web_port, 8042);
    assert_int_equal(c.rm.servers[0].port, 8031);
    assert_int_equal(c.resource.memory_mb, 8192);
    assert_int_equal(c.resource.vcores, 8);
    assert_int_equal(c.rm.retry.max_wait_ms, 900000);
    assert_int_equal(c.rm.retry.interval_ms, 30000);
    assert_int_equal(c.sigkill_delay_ms, 250);
    assert_int_equal(c.log_retain_ms, 10800000);
    assert_int_equal(c.monitor_ms, 3000);
    assert_int_equal(c.track_stopped_ms, 600000);
    assert_int_equal(c.stderr_tail_bytes, 4096);
    assert_true(c.recovery && c.limit_users && c.debug_info);
    assert_string_equal(c.local_user, "nobody");
    assert_string_equal(c.user_home, "/home/");
    assert_string_equal(c.env_whitelist[0], "JAVA_HOME");
    nm_conf_free(&c);
}

#define PRIVATE                                                                                    \
    (char *)(uintptr_t) "selvedge.nodemanager.network=private",                                    \
        (char *)(uintptr_t) "yarn.nodemanager.resource.network.enabled=true"

static void bandwidth(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET(PRIVATE), &c);
    assert_int_equal(c.net_rate_kbit, 20000); /* Hadoop's fiftieth of 1000 Mbit/s */
    assert_int_equal(c.net_ceil_kbit, 1000000);
    nm_conf_free(&c);
    expect_ok(
        SET(PRIVATE,
            (char *)(uintptr_t) "yarn.nodemanager.resource.network.outbound-bandwidth-yarn-mbit=30",
            (char *)(uintptr_t) "selvedge.nodemanager.network.shares=40",
            (char *)(uintptr_t) "yarn.nodemanager.linux-container-executor.cgroups.strict-resource-"
                                "usage=true"),
        &c);
    assert_int_equal(c.net_rate_kbit, 750); /* forty of them are 30 Mbit/s, no more */
    assert_int_equal(c.net_ceil_kbit, 750);
    nm_conf_free(&c);
    expect_ok(SET((char *)(uintptr_t) "selvedge.nodemanager.network=private"), &c);
    assert_int_equal(c.net_rate_kbit, 0);
    assert_int_equal(c.net_ceil_kbit, 0);
    nm_conf_free(&c);
    expect_refused(SET((char *)(uintptr_t) "yarn.nodemanager.resource.network.enabled=true"),
                   "network=private");
}

#define LOCALIZER(s) ((char *)(uintptr_t) "selvedge.nodemanager.localizer." s)

static void localizer(void **state)
{
    static const char *const bad[] = {
        "max-bytes=0",     "max-bytes=x",   "max-entries=0",   "max-entries=4294967296",
        "max-ratio=0",     "max-path=4096", "max-path=0",      "max-depth=513",
        "timeout-ms=999",  "timeout-ms=-1", "slowest-rate=-1", "slowest-rate=2g",
        "verify-size=yes", "parallel=0",    "parallel=65",
    };
    struct nm_conf c;

    (void)state;
    expect_ok(SET(NULL), &c);
    assert_true(c.localizer.limits.bytes == 64ull << 30 && c.localizer.verify_size);
    assert_int_equal(c.localizer.limits.entries, 500000);
    assert_int_equal(c.localizer.limits.ratio, 200);
    assert_int_equal(c.localizer.limits.path, 1024);
    assert_int_equal(c.localizer.limits.depth, 64);
    assert_int_equal(c.localizer.limits.slowest_rate, 1024);
    assert_int_equal(c.localizer.timeout_ms, 3600000);
    assert_int_equal(c.localizer.parallel, 16);
    nm_conf_free(&c);
    expect_ok(SET(LOCALIZER("max-bytes=500m"), LOCALIZER("max-path=4095"),
                  LOCALIZER("slowest-rate=0"), LOCALIZER("verify-size=false")),
              &c);
    assert_int_equal(c.localizer.limits.bytes, 500 << 20);
    assert_int_equal(c.localizer.limits.path, 4095);
    assert_int_equal(c.localizer.limits.slowest_rate, 0);
    assert_false(c.localizer.verify_size);
    nm_conf_free(&c);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        char text[128], key[128];

        (void)snprintf(text, sizeof(text), "selvedge.nodemanager.localizer.%s", bad[i]);
        (void)snprintf(key, sizeof(key), "%.*s", (int)strcspn(text, "="), text);
        expect_refused(SET(text), key);
    }
}

static void overrides(void **state)
{
    struct nm_conf c;

    (void)state;
    expect_ok(SET((char *)(uintptr_t) "yarn.nodemanager.address=127.0.0.1:9999",
                  (char *)(uintptr_t) "yarn.nodemanager.local-dirs=file:///a/b/, /c",
                  (char *)(uintptr_t) "yarn.nodemanager.log-dirs=/l",
                  (char *)(uintptr_t) "yarn.nodemanager.resource.memory-mb=123",
                  (char *)(uintptr_t) "yarn.resourcemanager.hostname=rm.example",
                  (char *)(uintptr_t) "yarn.nodemanager.delete.debug-delay-sec=-1",
                  (char *)(uintptr_t) "yarn.nodemanager.resource-monitor.interval-ms=500"),
              &c);
    assert_int_equal(c.port, 9999);
    assert_string_equal(c.local_dirs[0], "/a/b");
    assert_string_equal(c.local_dirs[1], "/c");
    assert_null(c.local_dirs[2]);
    assert_int_equal(c.resource.memory_mb, 123);
    assert_string_equal(c.rm.servers[0].host, "rm.example");
    assert_int_equal(c.delete_debug_delay_ms, -1);
    assert_int_equal(c.monitor_ms, 500);
    nm_conf_free(&c);
}

static void refusals(void **state)
{
    static const char *const bad[][2] = {
        { "yarn.nodemanager.resource.memory-mb=lots", "yarn.nodemanager.resource.memory-mb" },
        { "yarn.nodemanager.resource.memory-mb=0", "must not be 0" },
        { "yarn.nodemanager.resource.cpu-vcores=-2", "yarn.nodemanager.resource.cpu-vcores" },
        { "yarn.nodemanager.recovery.enabled=maybe", "yarn.nodemanager.recovery.enabled" },
        { "yarn.nodemanager.local-dirs=relative/dir", "not an absolute directory" },
        { "yarn.nodemanager.local-dirs=hdfs://nn/x", "not an absolute directory" },
        { "yarn.nodemanager.log-dirs=/a,/a/", "listed twice" },
        { "yarn.nodemanager.address=127.0.0.1:0", "ephemeral server port" },
        { "yarn.nodemanager.address=127.0.0.1:70000", "yarn.nodemanager.address" },
        { "hadoop.security.authentication=kerberos", "yarn.nodemanager.principal: not set" },
        { "hadoop.security.authentication=token", "neither simple nor kerberos" },
        { "hadoop.security.saslproperties.resolver.class=org.apache.hadoop.security."
          "WhitelistBasedResolver",
          "hadoop.rpc.protection for every address" },
        { "hadoop.security.sasl.mechanism=SCRAM-SHA-256", "this version has DIGEST-MD5 alone" },
        { "yarn.resourcemanager.ha.enabled=true", "yarn.resourcemanager.ha.rm-ids" },
        { "hadoop.security.secret-manager.key-generator.algorithm=MD5", "HmacSHA1" },
        { "yarn.nodemanager.sleep-delay-before-sigkill.ms=-1", "sleep-delay-before-sigkill" },
        { "noequalsign", "expected key=value" },
        { "=x", "expected key=value" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_refused(SET((char *)(uintptr_t)bad[i][0]), bad[i][1]);
}

/* Every row has a help text and a default that its type accepts. */
static void rows(void **state)
{
    const struct sv_conf_key *k;
    size_t n = 0;

    (void)state;
    for (; (k = nm_conf_row(n)); n++) {
        assert_non_null(k->name);
        assert_non_null(k->help);
        for (size_t j = 0; j < n; j++)
            assert_string_not_equal(k->name, nm_conf_row(j)->name);
    }
    assert_true(n > 80);
}

/* Output of --print-config: every key once, including those of wire/. */
static void printed(void **state)
{
    static const char *const some[] = { "yarn.nodemanager.local-dirs", "hadoop.rpc.protection",
                                        "yarn.resourcemanager.connect.max-wait.ms",
                                        "ipc.client.connection.maxidletime" };
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    assert_non_null(f);
    nm_conf_print(f);
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        char line[128];
        const char *at;

        (void)snprintf(line, sizeof(line), "\n%s\n", some[i]);
        at = strstr(text, line);
        assert_non_null(at);
        assert_null(strstr(at + 1, line));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(resource_types),
        cmocka_unit_test(bad_resource_types),
        cmocka_unit_test(detection),
        cmocka_unit_test(labels),
        cmocka_unit_test(admin_groups),
        cmocka_unit_test(group_mapping),
        cmocka_unit_test(all_refusals),
        cmocka_unit_test(overrides),
        cmocka_unit_test(bandwidth),
        cmocka_unit_test(localizer),
        cmocka_unit_test(refusals),
        cmocka_unit_test(rows),
        cmocka_unit_test(printed),
    };

    return cmocka_run_group_tests(tests, conf_set_up, conf_tear_down);
}
