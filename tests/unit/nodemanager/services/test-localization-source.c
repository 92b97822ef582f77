/* Tests services/localization-source.c: what a localizer is told of a source. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/services/localization-source.h"

#define P(k, v) "<property><name>" k "</name><value>" v "</value></property>"

static struct loc_fetch f;
static struct sv_error err;

static int describe(const char *properties, const char *url)
{
    const struct loc_resource r = { .url = url };
    struct sv_conf *c = sv_conf_new();
    char xml[2048];
    int k;

    snprintf(xml, sizeof xml, "<configuration>%s</configuration>", properties);
    assert_int_equal(sv_conf_load_string(c, xml, strlen(xml), "hdfs-site.xml", &err), 0);
    f = (struct loc_fetch){ 0 };
    k = nm_localization_source(c, &r, "alice", &f, &err);
    sv_conf_free(c);
    return k;
}

/* No other server learns the submitter's name. */
static void test_without_a_login(void **state)
{
    (void)state;
    assert_int_equal(describe("", "file:///a"), 0);
    assert_string_equal(f.login, "");
    assert_int_equal(describe("", "https://h/a"), 0);
    assert_string_equal(f.login, "");
    assert_string_equal(f.servers, "");
}

static void test_hdfs(void **state)
{
    (void)state;
    assert_int_equal(describe(P("dfs.nameservices", "ns") P("dfs.ha.namenodes.ns", "a,b")
                                  P("dfs.namenode.rpc-address.ns.a", "h1:9000")
                                      P("dfs.namenode.rpc-address.ns.b", "h2")
                                          P("dfs.client.socket-timeout", "5s")
                                              P("dfs.client.use.datanode.hostname", "true"),
                              "hdfs://ns/d/f"),
                     0);
    assert_string_equal(f.login, "alice");
    assert_string_equal(f.servers, "h1:9000,h2:8020");
    assert_int_equal(f.io_timeout_ms, 5000);
    assert_int_equal(f.options, LOC_OPTION_HOSTNAMES);
    assert_int_equal(describe("", "webhdfs://h/d/f"), 0);
    assert_string_equal(f.login, "alice");
    assert_string_equal(f.servers, "");
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(describe(P("dfs.encrypt.data.transfer", "true"), "hdfs://h/d/f"), -EOPNOTSUPP);
    assert_non_null(strstr(err.text, "Resource hdfs://h/d/f: hdfs-site.xml:1: "
                                     "dfs.encrypt.data.transfer"));
    assert_int_equal(describe("", "hdfs:///d/f"), -EINVAL); /* no fs.defaultFS */
    assert_non_null(strstr(err.text, "fs.defaultFS"));
    assert_int_equal(describe("", "ftp://h/d/f"), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_login),
        cmocka_unit_test(test_hdfs),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
