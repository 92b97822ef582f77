/* Tests nodemanager/reload.c with files in a directory of their own. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/identity/service-policy.h"
#include "common/log.h"
#include "nodemanager/reload.h"

static char dir[] = "/tmp/test-reload-XXXXXX";
static struct nm_conf conf;
static struct nm_reload_result result;
static struct sv_error err;
static char *overrides[] = { "yarn.nodemanager.local-dirs=/tmp/l",
                             "yarn.nodemanager.log-dirs=/tmp/g", NULL };

/* Writes yarn-site.xml with these lines and those common to all cases; the first of them is line
 * 4. */
static void write_site(const char *lines)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "%s/yarn-site.xml", dir);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "<configuration>\n"
            "<property><name>yarn.nodemanager.hostname</name><value>127.0.0.1</value></property>\n"
            "<property><name>yarn.resourcemanager.hostname</name><value>127.0.0.1</value>"
            "</property>\n%s</configuration>\n",
            lines);
    assert_int_equal(fclose(f), 0);
}

#define KEY(k, v) "<property><name>" k "</name><value>" v "</value></property>\n"

static void begin(const char *lines)
{
    write_site(lines);
    if (nm_conf_load(&conf, dir, overrides, &err) < 0)
        fail_msg("%s", err.text);
}

static int again(const char *lines)
{
    write_site(lines);
    err.text[0] = 0;
    return nm_reload(&conf, dir, overrides, &result, &err);
}

static int set_up(void **state)
{
    (void)state;
    sv_log_set_level(SV_LOG_ERR);
    memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    nm_conf_free(&conf);
    _cleanup_close_ int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

    return sv_remove_tree_at(tmp, strrchr(dir, '/') + 1);
}

static void test_unchanged(void **state)
{
    (void)state;
    begin(KEY("yarn.nodemanager.log.retain-seconds", "60"));
    assert_return_code(again(KEY("yarn.nodemanager.log.retain-seconds", "60")), err.code);
    assert_int_equal(result.applied, 0);
    assert_int_equal(result.pending, 0);
}

/* Set, changed and removed again: its default. */
static void test_applied(void **state)
{
    (void)state;
    begin("");
    assert_int_equal(conf.delete_debug_delay_ms, 0);
    assert_int_equal(conf.log_level, -1);
    assert_return_code(again(KEY("yarn.nodemanager.delete.debug-delay-sec", "600")
                                 KEY("selvedge.nodemanager.log.level", "debug")),
                       err.code);
    assert_int_equal(result.applied, 2);
    assert_int_equal(result.pending, 0);
    assert_int_equal(conf.delete_debug_delay_ms, 600000);
    assert_int_equal(conf.log_level, SV_LOG_DEBUG);
    assert_string_equal(sv_conf_raw(conf.conf, "yarn.nodemanager.delete.debug-delay-sec"), "600");
    assert_return_code(again(""), err.code);
    assert_int_equal(result.applied, 2);
    assert_int_equal(conf.delete_debug_delay_ms, 0);
    assert_int_equal(conf.log_level, -1);
    assert_return_code(again(""), err.code);
    assert_int_equal(result.applied, 0);
}

static void write_policy(const char *lines)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "%s/hadoop-policy.xml", dir);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "<configuration>\n%s</configuration>\n", lines);
    assert_int_equal(fclose(f), 0);
}

static int may_connect(void)
{
    static const struct in6_addr ip = { .s6_addr = {
                                            [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 } };
    const struct sv_policy_caller caller = { .user = "appattempt_1_0001_000001",
                                             .method = "TOKEN",
                                             .ip = &ip };

    return sv_policy_check(conf.policy, "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB",
                           &caller, NULL);
}

#define HOSTS "security.containermanagement.protocol.hosts"

/* hadoop-policy.xml is read again; one that is wrong leaves that of before. The switch itself needs
 * a restart, in both directions. */
static void test_policy(void **state)
{
    static const char on[] = KEY("hadoop.security.authorization", "true");

    (void)state;
    begin(on);
    assert_non_null(conf.policy);
    assert_true(conf.policy_missing);
    assert_int_equal(may_connect(), 0);
    write_policy(KEY(HOSTS, "10.0.0.1"));
    assert_return_code(again(on), err.code);
    assert_false(conf.policy_missing);
    assert_int_equal(may_connect(), -EACCES);
    write_policy(KEY(HOSTS, "127.0.0.0/8"));
    assert_return_code(again(on), err.code);
    assert_int_equal(may_connect(), 0);
    write_policy(KEY(HOSTS, "gateway"));
    assert_true(again(on) < 0);
    assert_non_null(strstr(err.text, "hadoop-policy.xml:2: " HOSTS));
    assert_int_equal(may_connect(), 0);
    write_policy(KEY(HOSTS, "10.0.0.1"));
    assert_return_code(again(""), err.code);
    assert_int_equal(result.pending, 1);
    assert_int_equal(may_connect(), 0);
    nm_conf_free(&conf);
    begin("");
    assert_null(conf.policy);
    assert_return_code(again(on), err.code);
    assert_int_equal(result.pending, 1);
    assert_null(conf.policy);
}

/* Rows of the table, keys of other tables and of patterns, and a key that only defaults refer to.
 */
static void test_pending(void **state)
{
    (void)state;
    begin(KEY("hadoop.rpc.protection", "authentication"));
    assert_return_code(again(KEY("yarn.nodemanager.resource.memory-mb", "4096")), err.code);
    assert_int_equal(result.applied, 0);
    assert_int_equal(result.pending, 2); /* hadoop.rpc.protection is gone */
    assert_int_equal(conf.resource.memory_mb, 8192);
    assert_return_code(again(KEY("hadoop.rpc.protection", "authentication")
                                 KEY("hadoop.tmp.dir", "/tmp/elsewhere")),
                       err.code);
    assert_int_equal(result.pending, 1); /* the state store, below it */
    assert_string_equal(conf.recovery_dir, "/var/lib/selvedge/yarn-nm-recovery");
}

/* Times of all health scripts are applied, a script's own keys are not. The low watermark of disks
 * follows its threshold. */
static void test_health(void **state)
{
#define CHECKER "yarn.nodemanager.health-checker."
    (void)state;
    begin(KEY(CHECKER "script.path", "/x/health"));
    assert_return_code(
        again(KEY(CHECKER "script.path", "/x/health") KEY(CHECKER "interval-ms", "5000")),
        err.code);
    assert_int_equal(result.applied, 1);
    assert_int_equal(conf.health.interval_ms, 5000);
    assert_return_code(again(KEY(CHECKER "script.path", "/y/health") KEY(
                           CHECKER "script.timeout-ms", "7") KEY(CHECKER "interval-ms", "5000")),
                       err.code);
    assert_int_equal(result.pending, 2);
    assert_string_equal(conf.health.scripts[0].argv[0], "/x/health");
    assert_return_code(
        again(KEY("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage",
                  "70")),
        err.code);
    assert_true(conf.max_disk_utilization == 70.0 && conf.low_disk_utilization == 70.0);
}

/* A key of other programs: nothing is logged. */
static void test_other_keys(void **state)
{
    (void)state;
    begin("");
    assert_return_code(again(KEY("mapreduce.job.maps", "7")), err.code);
    assert_int_equal(result.applied + result.pending, 0);
}

static void refused(const char *lines, const char *words)
{
    assert_true(again(lines) < 0);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
    assert_int_equal(conf.log_retain_ms, 60000);
    assert_string_equal(sv_conf_raw(conf.conf, "yarn.nodemanager.log.retain-seconds"), "60");
}

/* Nothing of a bad file is applied; the error names file, line and key. */
static void test_refused(void **state)
{
    (void)state;
    begin(KEY("yarn.nodemanager.log.retain-seconds", "60"));
    refused(KEY("yarn.nodemanager.log.retain-seconds", "70")
                KEY("yarn.nodemanager.delete.debug-delay-sec", "soon"),
            "yarn-site.xml:5: yarn.nodemanager.delete.debug-delay-sec is \"soon\"");
    refused(KEY("yarn.nodemanager.log.retain-seconds", "70")
                KEY("selvedge.nodemanager.log.level", "loud"),
            "yarn-site.xml:5: selvedge.nodemanager.log.level");
    refused("<property><name>yarn.nodemanager.log.retain-seconds</name>", "yarn-site.xml:");
}

/* ---- Name services ---- */

static int asked; /* calls of name services */

struct passwd *__real_getpwnam(const char *name);
struct passwd *__wrap_getpwnam(const char *name);
int __real_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t n, struct passwd **ret);
int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t n, struct passwd **ret);
int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret);

struct passwd *__wrap_getpwnam(const char *name)
{
    asked++;
    return __real_getpwnam(name);
}

int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t n, struct passwd **ret)
{
    asked++;
    return __real_getpwuid_r(uid, pw, buf, n, ret);
}

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret)
{
    asked++;
    return __real_getaddrinfo(node, service, hints, ret);
}

/* A reload is on the loop: it asks for no account and no host, though both are named. */
static void test_no_look_up(void **state)
{
#define SERVICE                                                                                    \
    KEY("yarn.nodemanager.aux-services", "one")                                                    \
    KEY("selvedge.nodemanager.aux-services.one.socket", "/run/one")                                \
    KEY("selvedge.nodemanager.aux-services.one.socket-user", "daemon")
    (void)state;
    begin(SERVICE);
    assert_true(asked > 0);
    asked = 0;
    assert_int_equal(again(SERVICE KEY("yarn.nodemanager.log.retain-seconds", "70")), 0);
    assert_int_equal(result.applied, 1);
    assert_int_equal(asked, 0);
}

/* Each key of reload.c has a row, and an odd name has none. */
static void test_rows(void **state)
{
    unsigned n_live = 0;
    const struct sv_conf_key *row;

    (void)state;
    for (size_t i = 0; (row = nm_conf_row(i)); i++)
        n_live += nm_reload_applies(row->name);
    assert_int_equal(n_live, nm_reload_count());
    assert_false(nm_reload_applies("yarn.nodemanager.address"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_unchanged),  CASE(test_applied), CASE(test_pending),
        CASE(test_other_keys), CASE(test_refused), CASE(test_no_look_up),
        CASE(test_health),     CASE(test_policy),  cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
