/* common/identity/service-policy.c: the rows of tests/golden/service-policy, which
 * tests/interop/test-proto-facts gives to Hadoop's ServiceAuthorizationManager; files and lists
 * that are refused; groups that are looked up. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/identity/service-policy.h"
#include "wire/ipc/methods.h"

#define GOLDEN "tests/golden/service-policy"
#define CM YARN_CONTAINER_MANAGEMENT_PROTOCOL
#define ACL "security.containermanagement.protocol.acl"
#define HOSTS "security.containermanagement.protocol.hosts"

static struct in6_addr address(const char *text)
{
    char mapped[64];
    struct in6_addr ip;

    snprintf(mapped, sizeof(mapped), "::ffff:%s", text);
    assert_int_equal(inet_pton(AF_INET6, mapped, &ip), 1);
    return ip;
}

static void nothing(void *userdata)
{
    (void)userdata;
}

/* Groups of one user, which the configuration names. */
static struct sv_groups *groups_of(sd_event *event, const char *user, const char *groups)
{
    char overrides[300];
    struct sv_groups_conf conf = { .overrides = overrides, .known = nothing };
    struct sv_groups *g = NULL;

    snprintf(overrides, sizeof(overrides), "%s=%s;", user, groups);
    assert_int_equal(sv_groups_new(event, &conf, &g), 0);
    return g;
}

static struct sv_policy *policy_of(char *fields)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    const char *daemon = strsep(&fields, "\t");
    struct sv_policy *p = NULL;
    struct sv_error err = { 0 };

    for (char *key; (key = strsep(&fields, "\t"));) {
        char *value = strchr(key, '=');

        assert_non_null(value);
        *value++ = 0;
        assert_int_equal(sv_conf_set(c, key, value), 0);
    }
    if (sv_policy_read(strcmp(daemon, "nm") ? sv_services_resourcemanager : sv_services_nodemanager,
                       c, &p, &err) < 0)
        fail_msg("%s", err.text);
    return p;
}

static void expected_text(char *ret, size_t size, const char *answer, const char *user,
                          const char *ip, const char *protocol)
{
    if (strcmp(answer, "acl") == 0)
        snprintf(ret, size,
                 "User %s (auth:SIMPLE) is not authorized for protocol interface %s: denied by "
                 "configured ACL",
                 user, protocol);
    else if (strcmp(answer, "host") == 0)
        snprintf(ret, size, "Host %s is not authorized for protocol interface %s", ip, protocol);
    else
        snprintf(ret, size, "Protocol interface %s is not known.", protocol);
}

static void check_row(const struct sv_policy *p, sd_event *event, bool stricter, char *fields)
{
    const char *user = strsep(&fields, "\t"), *groups = strsep(&fields, "\t");
    const char *ip_text = strsep(&fields, "\t"), *protocol = strsep(&fields, "\t");
    const struct in6_addr ip = address(ip_text);
    struct sv_groups *g = groups_of(event, user, groups);
    const struct sv_policy_caller caller = {
        .user = user, .method = "SIMPLE", .ip = &ip, .groups = g
    };
    const char *answer = stricter ? "acl" : fields;
    struct sv_error err = { 0 };
    char wanted[512] = "";
    int r = sv_policy_check(p, protocol, &caller, &err);

    if (strcmp(answer, "ok") != 0)
        expected_text(wanted, sizeof(wanted), answer, user, ip_text, protocol);
    if (r != (*wanted ? -EACCES : 0) || strcmp(err.text, wanted) != 0)
        fail_msg("%s of %s from %s, %s: %d, \"%s\", not \"%s\"", user, groups, ip_text, protocol, r,
                 err.text, wanted);
    sv_groups_free(g);
}

static void rows(void **state)
{
    char line[1024];
    struct sv_policy *p = NULL;
    sd_event *event = NULL;
    FILE *f = fopen(GOLDEN, "re");
    unsigned n = 0;

    (void)state;
    assert_non_null(f);
    assert_true(sd_event_new(&event) >= 0);
    while (fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = 0;
        if (*line == 'S') {
            sv_policy_free(p);
            p = policy_of(line + 2);
        } else if (*line != '#') {
            check_row(p, event, *line == 'D', line + 2);
            n++;
        }
    }
    assert_true(n >= 60);
    sv_policy_free(p);
    sd_event_unref(event);
    fclose(f);
}

static void refused(void **state)
{
    static const struct {
        const char *key, *value, *words;
    } cases[] = {
        { ACL, "* staff", "stand alone" },
        { ACL, "alice *", "stand alone" },
        { ACL ".blocked", "* staff", ACL ".blocked" },
        { HOSTS, "gateway.example", HOSTS },
        { HOSTS, "*,10.0.0.1", "stands alone" },
        { HOSTS ".blocked", "10.0.0.1/64", HOSTS ".blocked" },
        { "security.service.authorization.default.acl", "* x", "default.acl" },
        { "security.service.authorization.default.hosts", "x", "default.hosts" },
        { ACL, "${a}", "20 substitutions" },
        { HOSTS, "${a}", "20 substitutions" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
        struct sv_policy *p = NULL;
        struct sv_error err = { 0 };

        assert_int_equal(sv_conf_set(c, "a", "${a}"), 0);
        assert_int_equal(sv_conf_set(c, cases[i].key, cases[i].value), 0);
        assert_int_equal(sv_policy_read(sv_services_nodemanager, c, &p, &err), -EINVAL);
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s=%s: %s", cases[i].key, cases[i].value, err.text);
    }
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "<configuration>%s</configuration>\n", text);
    assert_int_equal(fclose(f), 0);
}

#define KEY(k, v) "<property><name>" k "</name><value>" v "</value></property>\n"

/* The file overrides core-site.xml; a blank before groups stays. */
static void files(void **state)
{
    char dir[] = "/tmp/test-service-policy-XXXXXX";
    const struct in6_addr ip = address("10.0.0.1");
    struct sv_policy_caller caller = { .user = "staff", .method = "TOKEN", .ip = &ip };
    struct sv_policy *p = NULL;
    struct sv_error err = { 0 };

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(sv_policy_load(sv_services_nodemanager, dir, &p, &err), 1);
    assert_true(sv_policy_admits_all(p, CM));
    assert_int_equal(sv_policy_check(p, CM, &caller, &err), 0);
    p = sv_policy_free(p);

    write_file(dir, "core-site.xml", KEY(ACL, "staff"));
    assert_int_equal(sv_policy_load(sv_services_nodemanager, dir, &p, &err), 1);
    assert_int_equal(sv_policy_check(p, CM, &caller, &err), 0);
    p = sv_policy_free(p);

    write_file(dir, SV_POLICY_FILE, KEY(ACL, " staff"));
    assert_int_equal(sv_policy_load(sv_services_nodemanager, dir, &p, &err), 0);
    assert_false(sv_policy_admits_all(p, CM));
    assert_int_equal(sv_policy_check(p, CM, &caller, &err), -EACCES);
    assert_string_equal(err.text,
                        "User staff (auth:TOKEN) is not authorized for protocol interface "
                        "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB: denied "
                        "by configured ACL");
    caller.real_user = "hive";
    assert_int_equal(sv_policy_check(p, CM, &caller, &err), -EACCES);
    assert_non_null(strstr(err.text, "User staff (auth:PROXY) via hive (auth:TOKEN) is not"));
    p = sv_policy_free(p);

    write_file(dir, SV_POLICY_FILE, KEY(HOSTS, "gateway"));
    assert_int_equal(sv_policy_load(sv_services_nodemanager, dir, &p, &err), -EINVAL);
    assert_non_null(strstr(err.text, "/hadoop-policy.xml:1: " HOSTS));
    write_file(dir, SV_POLICY_FILE, "<property>");
    assert_true(sv_policy_load(sv_services_nodemanager, dir, &p, &err) < 0);
    assert_non_null(strstr(err.text, "/hadoop-policy.xml"));
    _cleanup_close_ int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sv_remove_tree_at(tmp, strrchr(dir, '/') + 1), 0);
}

/* ---- Groups that a thread looks up ---- */

static char **source(void *data, const char *user, char *why, size_t why_size)
{
    char **names = calloc(2, sizeof(*names));

    (void)data, (void)why, (void)why_size;
    if (strcmp(user, "eve") == 0) {
        free(names);
        return NULL;
    }
    names[0] = strdup(strcmp(user, "ann") == 0 ? "staff" : "users");
    return names;
}

static void known(void *userdata)
{
    *(bool *)userdata = true;
}

/* Pending look-ups are no answer, neither to the list nor to the blocked one. */
static void look_ups(void **state)
{
    static const struct {
        const char *key, *user;
        int r;
    } cases[] = {
        { ACL, "ann", 0 },
        { ACL, "bob", -EACCES },
        { ACL, "eve", -EACCES },
        { ACL ".blocked", "ann", -EACCES },
        { ACL ".blocked", "bob", 0 },
        { ACL ".blocked", "eve", -EACCES },
    };
    const struct in6_addr ip = address("10.0.0.1");
    sd_event *event = NULL;

    (void)state;
    assert_true(sd_event_new(&event) >= 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        bool done = false;
        const struct sv_groups_conf conf = { .cache_ms = 600000,
                                             .negative_ms = 600000,
                                             .source = { .names = source },
                                             .known = known,
                                             .userdata = &done };
        _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
        struct sv_policy *p = NULL;
        struct sv_groups *g = NULL;
        struct sv_policy_caller caller = { .user = cases[i].user, .method = "SIMPLE", .ip = &ip };

        assert_int_equal(sv_groups_new(event, &conf, &g), 0);
        caller.groups = g;
        assert_int_equal(sv_conf_set(c, cases[i].key, " staff"), 0);
        assert_int_equal(sv_policy_read(sv_services_nodemanager, c, &p, NULL), 0);
        assert_int_equal(sv_policy_check(p, CM, &caller, NULL), -EAGAIN);
        while (!done)
            assert_true(sd_event_run(event, UINT64_MAX) >= 0);
        if (sv_policy_check(p, CM, &caller, NULL) != cases[i].r)
            fail_msg("%s, %s", cases[i].key, cases[i].user);
        sv_policy_free(p);
        sv_groups_free(g);
    }
    sd_event_unref(event);
}

/* The names that the daemons serve are in the tables. */
static void protocols(void **state)
{
    static const struct {
        const struct sv_service *services;
        const char *protocol;
    } cases[] = {
        { sv_services_nodemanager, YARN_CONTAINER_MANAGEMENT_PROTOCOL },
        { sv_services_resourcemanager, YARN_RESOURCE_TRACKER_PROTOCOL },
        { sv_services_resourcemanager, YARN_APPLICATION_CLIENT_PROTOCOL },
        { sv_services_resourcemanager, YARN_APPLICATION_MASTER_PROTOCOL },
        { sv_services_resourcemanager, YARN_ADMIN_PROTOCOL },
        { sv_services_resourcemanager, HADOOP_HA_SERVICE_PROTOCOL },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        const struct sv_service *s = cases[i].services;

        while (s->protocol && strcmp(s->protocol, cases[i].protocol) != 0)
            s++;
        if (!s->protocol)
            fail_msg("%s", cases[i].protocol);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),     cmocka_unit_test(refused),   cmocka_unit_test(files),
        cmocka_unit_test(look_ups), cmocka_unit_test(protocols),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
