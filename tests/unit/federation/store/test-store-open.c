/* Tests federation/store/store-open.c: classes and keys. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/zookeeper/zk-conf.h"
#include "common/zookeeper/zk.h"
#include "federation/store/backends.h"
#include "federation/store/store-backend.h"
#include "federation/store/store-conf.h"

#define JAVA "org.apache.hadoop.yarn.server.federation.store.impl."

static struct sv_conf *conf_of(const char *properties)
{
    struct sv_conf *c = sv_conf_new();
    struct sv_error err;
    char xml[2048];

    assert_non_null(c);
    snprintf(xml, sizeof(xml), "<configuration>%s</configuration>", properties);
    if (sv_conf_load_string(c, xml, strlen(xml), "yarn-site.xml", &err) < 0)
        fail_msg("%s", err.text);
    return c;
}

#define KEY(name, value)                                                                           \
    "<property><name>yarn.federation.state-store." name "</name><value>" value "</value></"        \
    "property>"

/* Opens the store of the properties: its text, or the error's. */
static const char *opened(const char *properties, int error)
{
    static char text[SV_ERROR_TEXT_MAX];
    struct sv_conf *c = conf_of(properties);
    struct fed_store *s = NULL;
    struct sv_error err = { 0 };
    sd_event *event = NULL;

    assert_true(sd_event_new(&event) >= 0);
    assert_int_equal(fed_store_check(c, &err), error);
    assert_int_equal(fed_store_open(event, c, &s, &err), error);
    snprintf(text, sizeof(text), "%s", s ? fed_store_text(s) : err.text);
    fed_store_free(s);
    sd_event_unref(event);
    sv_conf_free(c);
    return text;
}

static void says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static void test_classes(void **state)
{
    (void)state;
    assert_string_equal(opened("", 0), "memory");
    assert_string_equal(opened(KEY("class", JAVA "SQLFederationStateStore") KEY(
                                   "sql.url", "jdbc:mysql://db.example.org/FederationStateStore"),
                               0),
                        "mysql://db.example.org:3306/FederationStateStore");
    says(opened(KEY("class", JAVA "HttpProxyFederationStateStore"), -ENOTSUP),
         "yarn.federation.state-store.class: this store is not built in: use org.apache");
    says(opened(KEY("class", "org.example.Store"), -EINVAL), "no such store: use org.apache");
    says(opened("<property><name>selvedge.federation.state-store.sqlite.path</name>"
                "<value>none</value></property>" KEY("class", FED_CLASS_SQLITE),
                -EINVAL),
         "must be an absolute path");
}

#define SQL KEY("class", JAVA "SQLFederationStateStore")

static void test_sql_keys(void **state)
{
    (void)state;
    says(opened(SQL, -EINVAL), "yarn.federation.state-store.sql.url: is not set");
    says(opened(SQL KEY("sql.url", "jdbc:hsqldb:mem:state"), -EINVAL), "it must be jdbc:mysql://");
    says(opened(SQL KEY("sql.url", "jdbc:mysql://h/d") KEY("sql.max-connections", "0"), -EINVAL),
         "max-connections");
    says(opened(SQL KEY("sql.url", "jdbc:mysql://h/d?sslMode=VERIFY_CA"), -ENOTSUP),
         "need an address as host");
    assert_string_equal(opened(SQL KEY("sql.url", "jdbc:mysql://[::1]/d?sslMode=VERIFY_CA"), 0),
                        "mysql://::1:3306/d");
}

#define ZK KEY("class", JAVA "ZookeeperFederationStateStore")
#define ADDRESS "<property><name>hadoop.zk.address</name><value>127.0.0.1:1</value></property>"
#define ROOT(path)                                                                                 \
    "<property><name>yarn.federation.zk-state-store.parent-path</name><value>" path                \
    "</value></property>"

static bool has_client(void)
{
    struct sv_zk *z = NULL;
    sd_event *event = NULL;
    int r;

    assert_true(sd_event_new(&event) >= 0);
    r = sv_zk_new(event, &(struct sv_zk_config){ .servers = "127.0.0.1:1", .session_ms = 4000 }, &z,
                  NULL);
    sv_zk_free(z);
    sd_event_unref(event);
    return r == 0;
}

static void test_zookeeper_keys(void **state)
{
    (void)state;
    assert_true(fed_store_key_is_secret("hadoop.zk.auth"));
    assert_false(fed_store_key_is_secret("hadoop.zk.acl"));
    says(opened(ZK, -EINVAL), "hadoop.zk.address is not set");
    says(opened(ZK ADDRESS ROOT("/"), -EINVAL), "parent-path: must be a path of ZooKeeper");
    says(opened(ZK ADDRESS ROOT("/a/"), -EINVAL), "without a slash at its end");
    says(opened(ZK ADDRESS ROOT("a"), -EINVAL), "must be a path");
    says(opened(ZK ADDRESS ROOT("/a//b"), -EINVAL), "must be a path");
    says(opened(ZK ADDRESS "<property><name>hadoop.zk.auth</name><value>digest:a:b</value>"
                           "</property>",
                -EOPNOTSUPP),
         "hadoop.zk.auth is set");
    if (has_client())
        assert_string_equal(opened(ZK ADDRESS ROOT("/a/b"), 0), "zookeeper://127.0.0.1:1/a/b");
    else
        says(opened(ZK ADDRESS, -ELIBACC), "ZooKeeper");
}

static void on_cancelled(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    assert_int_equal(a->error, -ECANCELED);
}

static void on_away(const struct fed_answer *a, void *userdata)
{
    assert_int_equal(a->error, -EHOSTDOWN);
    says(a->reason, "federation store zookeeper://127.0.0.1:1/federationstore: list members: no "
                    "connection");
    *(bool *)userdata = true;
}

/* Without a server a call waits and is given up, another is forgotten with the store. */
static void test_zookeeper_away(void **state)
{
    const struct fed_request q = { .op = FED_MEMBER_LIST };
    struct sv_conf *c = conf_of(ZK ADDRESS);
    struct fed_store *s = NULL;
    bool answered = false;
    sd_event *event = NULL;

    (void)state;
    if (!has_client()) {
        sv_conf_free(c);
        skip();
    }
    assert_true(sd_event_new(&event) >= 0);
    assert_int_equal(fed_store_open(event, c, &s, NULL), 0);
    fed_store_patience(s, 100);
    assert_int_equal(fed_store_call(s, &q, on_away, &answered, NULL), 0);
    while (!answered)
        assert_true(sd_event_run(event, 60000000) > 0);
    fed_store_patience(s, 60000);
    assert_int_equal(fed_store_call(s, &q, on_cancelled, NULL, NULL), 0);
    fed_store_free(s);
    sd_event_unref(event);
    sv_conf_free(c);
}

/* Callers that name no time wait as long as those of a database. */
static void test_zookeeper_patience(void **state)
{
    const struct fed_request q = { .op = FED_MEMBER_LIST };
    struct sv_zk_settings settings = { .servers = "127.0.0.1:1", .session_ms = 4000 };
    const struct fed_zookeeper_options o = { .settings = &settings, .root = "/a" };
    struct fed_store *s = NULL;
    sd_event *event = NULL;

    (void)state;
    if (!has_client())
        skip();
    assert_true(sd_event_new(&event) >= 0);
    assert_int_equal(fed_store_open_zookeeper(event, &o, &s, NULL), 0);
    assert_int_equal(fed_store_call(s, &q, on_cancelled, NULL, NULL), 0);
    for (int i = 0; i < 20; i++)
        assert_true(sd_event_run(event, 1000) >= 0);
    fed_store_free(s);
    sd_event_unref(event);
}

static void test_options(void **state)
{
    struct sv_conf *c = conf_of(KEY("sql.url", "jdbc:mysql://h/d?user=u&amp;password=p")
                                    KEY("sql.username", "yarn") KEY("sql.idle-time-out", "1m"));
    struct fed_mysql_url url;
    struct fed_mysql_options o;
    struct sv_error err;

    (void)state;
    assert_int_equal(fed_store_mysql_options(c, &url, &o, &err), 0);
    assert_string_equal(o.user, "yarn");
    assert_null(o.password);
    assert_string_equal(url.password, "p");
    assert_true(o.connections == 1 && o.connect_ms == 10000 && o.idle_ms == 60000 &&
                o.life_ms == 1800000);
    sv_conf_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_sql_keys),
        cmocka_unit_test(test_zookeeper_keys),
        cmocka_unit_test(test_zookeeper_away),
        cmocka_unit_test(test_zookeeper_patience),
        cmocka_unit_test(test_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
