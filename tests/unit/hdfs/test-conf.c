/* Tests hdfs/conf.c: which NameNodes a url means. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/conf.h"
#include "wire/sasl/qop.h"

#define P(k, v) "<property><name>" k "</name><value>" v "</value></property>"
#define HA                                                                                         \
    P("dfs.nameservices", "alpha, beta,gamma")                                                     \
    P("dfs.ha.namenodes.alpha", "nn1,nn2")                                                         \
    P("dfs.namenode.rpc-address.alpha.nn1", "a1.example:9000")                                     \
    P("dfs.namenode.rpc-address.alpha.nn2", "a2.example")                                          \
    P("dfs.namenode.rpc-address.beta", "b.example:9001")

static struct hdfs_site s; /* of the last call */

/* The servers as text, or the error's. */
static const char *site(const char *properties, const char *host, uint16_t port, int want)
{
    static char text[HDFS_SERVERS_TEXT_MAX + 1];
    static struct sv_error err;
    char xml[4096];
    struct sv_conf *c = sv_conf_new();
    int r;

    snprintf(xml, sizeof(xml), "<configuration>%s</configuration>", properties);
    assert_int_equal(sv_conf_load_string(c, xml, strlen(xml), "hdfs-site.xml", &err), 0);
    r = hdfs_conf_site(c, host, port, &s, &err);
    assert_int_equal(r, want);
    if (r == 0)
        assert_int_equal(hdfs_servers_text(&s, text), 0);
    sv_conf_free(c);
    return r == 0 ? text : err.text;
}

static void test_addresses(void **state)
{
    (void)state;
    assert_string_equal(site("", "nn.example", 9000, 0), "nn.example:9000");
    assert_string_equal(site("", "nn.example", 0, 0), "nn.example:8020");
    assert_string_equal(site("", "2001:db8::1", 9000, 0), "[2001:db8::1]:9000");
    assert_string_equal(site(HA, "alpha", 0, 0), "alpha@a1.example:9000,a2.example:8020");
    assert_string_equal(site(HA, "alpha", 9000, 0), "alpha:9000"); /* a host of that name */
    assert_string_equal(site(HA, "beta", 0, 0), "beta@b.example:9001");
    assert_string_equal(site(P("fs.defaultFS", "hdfs://nn.example:9000/x"), "", 0, 0),
                        "nn.example:9000");
    assert_string_equal(site(HA P("fs.defaultFS", "hdfs://alpha"), "", 0, 0),
                        "alpha@a1.example:9000,a2.example:8020");
}

static void refused(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" has no \"%s\"", text, words);
}

static void test_refusals(void **state)
{
    (void)state;
    refused(site(HA, "gamma", 0, -EINVAL), "dfs.namenode.rpc-address.gamma is not set");
    refused(site(P("dfs.nameservices", "a") P("dfs.ha.namenodes.a", "x"), "a", 0, -EINVAL),
            "dfs.namenode.rpc-address.a.x is not set");
    refused(
        site(P("dfs.nameservices", "a") P("dfs.namenode.rpc-address.a", "h:0"), "a", 0, -EINVAL),
        "hdfs-site.xml:1: dfs.namenode.rpc-address.a: \"h:0\" is not host:port");
    refused(site("", "", 0, -EINVAL), "fs.defaultFS");
    refused(site(P("fs.defaultFS", "hdfs:///"), "", 0, -EINVAL), "is not hdfs://host:port");
    refused(site(P("dfs.nameservices", "a") P("dfs.ha.namenodes.a", "1,2,3,4,5,6,7,8,9"), "a", 0,
                 -EINVAL),
            "9 NameNodes, at most 8");
    refused(site(P("dfs.client.failover.max.attempts", "-1"), "h", 0, -EINVAL),
            "dfs.client.failover.max.attempts");
    refused(site(P("dfs.client.socket-timeout", "1"), "h", 0, -EINVAL),
            "dfs.client.socket-timeout");
}

/* Refused: classes of Java, another mechanism, another cipher. */
static void test_unsupported(void **state)
{
    (void)state;
    refused(site(P("dfs.data.transfer.protection", "privacy,secrecy"), "h", 0, -EINVAL),
            "hdfs-site.xml:1: dfs.data.transfer.protection: \"privacy,secrecy\" is no list");
    refused(site(P("hadoop.rpc.protection", "none"), "h", 0, -EINVAL),
            "hadoop.rpc.protection: \"none\" is no list");
    refused(site(P("dfs.encrypt.data.transfer.cipher.suites", "SM4/CTR/NoPadding"), "h", 0,
                 -EOPNOTSUPP),
            "\"SM4/CTR/NoPadding\" is not supported, only AES/CTR/NoPadding");
    refused(site(P("dfs.trustedchannel.resolver.class", "a.B"), "h", 0, -EOPNOTSUPP),
            "dfs.trustedchannel.resolver.class: \"a.B\" is not supported");
    refused(site(P("hadoop.security.saslproperties.resolver.class", "a.B"), "h", 0, -EOPNOTSUPP),
            "hadoop.security.saslproperties.resolver.class: \"a.B\"");
    refused(site(P("hadoop.security.sasl.mechanism", "SCRAM-SHA-256"), "h", 0, -EOPNOTSUPP),
            "only DIGEST-MD5");
    refused(site(P("dfs.data.transfer.protection", "privacy")
                     P("dfs.data.transfer.saslproperties.resolver.class", "a.B"),
                 "h", 0, -EOPNOTSUPP),
            "dfs.data.transfer.saslproperties.resolver.class");
    (void)site(P("dfs.data.transfer.saslproperties.resolver.class", "a.B"), "h", 0, 0);
}

static void test_protection(void **state)
{
    (void)state;
    (void)site("", "h", 0, 0);
    assert_true(!s.secure && !s.aes && s.rpc_qop == IPC_QOP_AUTH && s.transfer_qop == 0);
    (void)site(P("hadoop.security.authentication", "kerberos")
                   P("hadoop.rpc.protection", "privacy,authentication")
                       P("dfs.data.transfer.protection", "integrity, privacy")
                           P("dfs.encrypt.data.transfer.cipher.suites", "AES/CTR/NoPadding"),
               "h", 0, 0);
    assert_true(s.secure && s.aes);
    assert_int_equal(s.rpc_qop, IPC_QOP_AUTH | IPC_QOP_PRIVACY);
    assert_int_equal(s.transfer_qop, IPC_QOP_INTEGRITY | IPC_QOP_PRIVACY);
    (void)site(P("dfs.data.transfer.protection", "")
                   P("dfs.trustedchannel.resolver.class",
                     "org.apache.hadoop.hdfs.protocol.datatransfer.TrustedChannelResolver"),
               "h", 0, 0);
    assert_int_equal(s.transfer_qop, 0);
}

/* Every number of hdfs_site_protection() comes back; no other is taken. */
static void test_protection_number(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 256; n++) {
        struct hdfs_site one = { 0 };

        assert_int_equal(hdfs_site_protect(&one, n), 0);
        assert_int_equal(hdfs_site_protection(&one), n);
    }
    assert_int_equal(hdfs_site_protect(&s, 256), -EINVAL);
    assert_int_equal(hdfs_site_protect(&s, UINT32_MAX), -EINVAL);
}

static void test_servers(void **state)
{
    static const char *const bad[] = { "",     ",",    "a,",  "a:0", "a:65536",           "a:",
                                       "a:1x", "[::1", "a b", "a/b", "1,2,3,4,5,6,7,8,9", "@a",
                                       "a@",   "a@b@c" };
    struct hdfs_site one = { .n_servers = 77 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(hdfs_servers_parse(bad[i], &one), -EINVAL);
    assert_int_equal(one.n_servers, 77);
    assert_int_equal(hdfs_servers_parse("ns@a.example:9000,[::1]:8020", &one), 0);
    assert_int_equal(one.n_servers, 2);
    assert_string_equal(one.nameservice, "ns");
    assert_string_equal(one.servers[0].host, "a.example");
    assert_int_equal(one.servers[0].port, 9000);
    assert_string_equal(one.servers[1].host, "::1");
    assert_int_equal(one.servers[1].port, 8020);
    assert_int_equal(hdfs_servers_parse("a.example", &one), 0);
    assert_string_equal(one.nameservice, "");
}

/* A text of the longest names is refused, not cut. */
static void test_long_servers(void **state)
{
    char text[HDFS_SERVERS_TEXT_MAX + 1];
    struct hdfs_site one = { .n_servers = HDFS_NAMENODES_MAX };

    (void)state;
    memset(one.nameservice, 'n', HDFS_HOST_MAX);
    for (size_t i = 0; i < HDFS_NAMENODES_MAX; i++) {
        memset(one.servers[i].host, 'h', HDFS_HOST_MAX);
        one.servers[i].port = 65535;
    }
    assert_int_equal(hdfs_servers_text(&one, text), -E2BIG);
    one.n_servers = 2;
    assert_int_equal(hdfs_servers_text(&one, text), 0);
    assert_int_equal(strlen(text), HDFS_HOST_MAX + 1 + 2 * (HDFS_HOST_MAX + 6) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_unsupported),       cmocka_unit_test(test_protection),
        cmocka_unit_test(test_protection_number), cmocka_unit_test(test_servers),
        cmocka_unit_test(test_long_servers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
