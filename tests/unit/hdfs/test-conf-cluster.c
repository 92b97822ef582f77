/* Tests hdfs/conf-cluster.c: the NameNodes that get an authentication of the daemon's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/conf-cluster.h"
#include "hdfs/conf.h"

#define P(k, v) "<property><name>" k "</name><value>" v "</value></property>"
#define HA                                                                                         \
    P("dfs.nameservices", "alpha,beta")                                                            \
    P("dfs.ha.namenodes.alpha", "nn1,nn2")                                                         \
    P("dfs.namenode.rpc-address.alpha.nn1", "a1.example:9000")                                     \
    P("dfs.namenode.rpc-address.alpha.nn2", "a2.example")                                          \
    P("dfs.namenode.rpc-address.beta", "b.example:9001")

/* The foreign NameNode of "hdfs://host:port" as "host:port", or "". */
static const char *foreign(const char *properties, const char *host, uint16_t port)
{
    static char text[HDFS_HOST_MAX + 8];
    struct sv_conf *c = sv_conf_new();
    struct hdfs_cluster *k;
    const struct hdfs_server *s;
    struct hdfs_site site;
    char xml[4096];

    snprintf(xml, sizeof(xml), "<configuration>%s</configuration>", properties);
    assert_int_equal(sv_conf_load_string(c, xml, strlen(xml), "core-site.xml", NULL), 0);
    assert_int_equal(hdfs_conf_site(c, host, port, &site, NULL), 0);
    assert_int_equal(hdfs_cluster_new(c, &k), 0);
    s = hdfs_cluster_foreign(k, &site);
    text[0] = 0;
    if (s)
        snprintf(text, sizeof(text), "%s:%u", s->host, s->port);
    hdfs_cluster_free(k);
    sv_conf_free(c);
    return text;
}

static void test_named(void **state)
{
    (void)state;
    assert_string_equal(foreign(HA, "alpha", 0), "");
    assert_string_equal(foreign(HA, "A1.Example", 9000), "");
    assert_string_equal(foreign(HA, "b.example", 9001), "");
    assert_string_equal(foreign(P("fs.defaultFS", "hdfs://nn.example/x"), "nn.example", 0), "");
    assert_string_equal(foreign(P("fs.defaultFS", "hdfs://[::1]:9000"), "::1", 9000), "");
    assert_string_equal(foreign(P("fs.defaultFS", "nn:9000"), "nn", 9000), "");
    assert_string_equal(foreign(HA P("fs.defaultFS", "hdfs://alpha"), "", 0), "");
    assert_string_equal(foreign(P("dfs.namenode.rpc-address", "nn:9000"), "nn", 9000), "");
    assert_string_equal(
        foreign(P("mapreduce.job.hdfs-servers", "hdfs://x:1, hdfs://y/d , file:///"), "y", 8020),
        "");
    assert_string_equal(
        foreign(P("fs.viewfs.mounttable.cl.link./data", "hdfs://data:9000/d"), "data", 9000), "");
}

/* Another port may be anybody's process, another name anybody's host. */
static void test_foreign(void **state)
{
    (void)state;
    assert_string_equal(foreign("", "evil.example", 8020), "evil.example:8020");
    assert_string_equal(foreign(HA, "a1.example", 9001), "a1.example:9001");
    assert_string_equal(foreign(HA, "example", 9000), "example:9000");
    assert_string_equal(foreign(HA, "alpha", 8020), "alpha:8020"); /* a host of that name */
    assert_string_equal(foreign(HA P("fs.defaultFS", "hdfs://alpha"), "alpha", 8020), "alpha:8020");
    assert_string_equal(foreign(P("fs.defaultFS", "webhdfs://nn:9870"), "nn", 9870), "nn:9870");
    assert_string_equal(foreign(P("fs.defaultFS", "file:///"), "local", 0), "local:8020");
    assert_string_equal(foreign(P("some.key", "hdfs://evil:8020"), "evil", 8020), "evil:8020");
    assert_string_equal(foreign(P("dfs.namenode.rpc-addresses", "evil:8020"), "evil", 8020),
                        "evil:8020");
    assert_string_equal(foreign(P("fs.viewfs.mounttable.cl.link./d", "hdfs:///"), "evil", 8020),
                        "evil:8020");
}

/* One foreign server of several is enough. */
static void test_partly(void **state)
{
    const struct hdfs_site site = { .servers = { { "nn1", 8020 }, { "evil", 8020 } },
                                    .n_servers = 2 };
    struct sv_conf *c = sv_conf_new();
    struct hdfs_cluster *k;

    (void)state;
    assert_int_equal(sv_conf_set(c, "fs.defaultFS", "hdfs://nn1"), 0);
    assert_int_equal(hdfs_cluster_new(c, &k), 0);
    assert_ptr_equal(hdfs_cluster_foreign(k, &site), &site.servers[1]);
    hdfs_cluster_free(k);
    assert_int_equal(sv_conf_set(c, "mapreduce.job.hdfs-servers", "hdfs://evil"), 0);
    assert_int_equal(hdfs_cluster_new(c, &k), 0);
    assert_null(hdfs_cluster_foreign(k, &site));
    hdfs_cluster_free(k);
    sv_conf_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_partly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
