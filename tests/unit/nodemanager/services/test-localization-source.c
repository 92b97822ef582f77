/* Tests services/localization-source.c: the parameters of a source for a localizer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/arena.h"
#include "nodemanager/services/localization-source.h"
#include "wire/token/token.h"

#define P(k, v) "<property><name>" k "</name><value>" v "</value></property>"

static struct loc_fetch f;
static struct sv_error err;

static enum loc_visibility visibility = LOC_PRIVATE;
static struct nm_source_user user = { .login = "alice" };

static int describe(const char *properties, const char *url)
{
    const struct loc_resource r = { .url = url, .visibility = visibility };
    struct sv_conf *c = sv_conf_new();
    char xml[2048];
    int k;

    snprintf(xml, sizeof(xml), "<configuration>%s</configuration>", properties);
    assert_int_equal(sv_conf_load_string(c, xml, strlen(xml), "hdfs-site.xml", &err), 0);
    f = (struct loc_fetch){ 0 };
    k = nm_localization_source(c, &r, &user, &f, &err);
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
                                              P("dfs.client.failover.max.attempts", "3")
                                                  P("dfs.client.failover.sleep.max.millis", "2s")
                                                      P("dfs.client.use.datanode.hostname", "true"),
                              "hdfs://ns/d/f"),
                     0);
    assert_string_equal(f.login, "alice");
    assert_string_equal(f.servers, "ns@h1:9000,h2:8020");
    assert_int_equal(f.io_timeout_ms, 5000);
    assert_int_equal(f.failovers, 3);
    assert_int_equal(f.failover_base_ms, 500);
    assert_int_equal(f.failover_max_ms, 2000);
    assert_int_equal(f.options, LOC_OPTION_HOSTNAMES);
    assert_int_equal(f.protection, 1); /* hadoop.rpc.protection=authentication */
    assert_int_equal(describe("", "webhdfs://h/d/f"), 0);
    assert_string_equal(f.login, "alice");
    assert_string_equal(f.servers, "");
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(describe(P("dfs.trustedchannel.resolver.class", "a.B"), "hdfs://h/d/f"),
                     -EOPNOTSUPP);
    assert_non_null(strstr(err.text, "Resource hdfs://h/d/f: hdfs-site.xml:1: "
                                     "dfs.trustedchannel.resolver.class"));
    assert_int_equal(describe("", "hdfs:///d/f"), -EINVAL); /* no fs.defaultFS */
    assert_non_null(strstr(err.text, "fs.defaultFS"));
    assert_int_equal(describe("", "ftp://h/d/f"), -EINVAL);
}

#define CLUSTER P("fs.s3a.access.key", "CLUSTER") P("fs.s3a.secret.key", "cluster-secret")

static void job_has(const char *const *pairs, size_t n, struct sv_buf *b)
{
    struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials c = { 0 };

    for (size_t i = 0; i < n; i += 2)
        assert_int_equal(
            yarn_credentials_add_secret(a, &c, pairs[i], pairs[i + 1], strlen(pairs[i + 1])), 0);
    b->len = 0;
    assert_int_equal(yarn_credentials_write(&c, b), 0);
    user.credentials = b->data;
    user.n_credentials = b->len;
    sv_arena_free(a);
}

/* A job's keys are its own; the cluster's are for PUBLIC alone. */
static void test_s3_keys(void **state)
{
    static const char *const own[] = { "fs.s3a.access.key",
                                       "JOB",
                                       "fs.s3a.secret.key",
                                       "job-s",
                                       "fs.s3a.session.token",
                                       "job-t",
                                       "other",
                                       "x" };
    static const char *const bucket[] = { "fs.s3a.bucket.b.access.key", "B",
                                          "fs.s3a.bucket.b.secret.key", "b-secret" };
    static const char *const half[] = { "fs.s3a.access.key", "JOB" };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(64 << 10);

    (void)state;
    assert_int_equal(describe(CLUSTER, "s3a://b/k"), 0);
    assert_string_equal(f.access_key, "");
    assert_string_equal(f.secret_key, "");
    assert_string_equal(f.login, "");
    job_has(own, SV_ARRAY_LEN(own), &b);
    assert_int_equal(describe(CLUSTER, "s3a://b/k"), 0);
    assert_string_equal(f.access_key, "JOB");
    assert_string_equal(f.secret_key, "job-s");
    assert_string_equal(f.session_token, "job-t");
    job_has(bucket, SV_ARRAY_LEN(bucket), &b);
    assert_int_equal(describe(CLUSTER, "s3a://b/k"), 0);
    assert_string_equal(f.secret_key, "b-secret");
    assert_int_equal(describe(CLUSTER, "s3a://c/k"), 0);
    assert_string_equal(f.secret_key, "");
    job_has(half, SV_ARRAY_LEN(half), &b);
    assert_int_equal(describe(CLUSTER, "s3a://b/k"), -EINVAL);
    user.credentials = (const uint8_t *)"broken";
    user.n_credentials = 6;
    assert_true(describe(CLUSTER, "s3a://b/k") < 0);
    user.credentials = NULL;
    user.n_credentials = 0;
    visibility = LOC_PUBLIC;
    assert_int_equal(describe(CLUSTER, "s3a://b/k"), 0);
    assert_string_equal(f.access_key, "CLUSTER");
    assert_string_equal(f.secret_key, "cluster-secret");
    visibility = LOC_PRIVATE;
}

static void test_s3_place(void **state)
{
    (void)state;
    assert_int_equal(describe("", "s3://b/k"), 0);
    assert_string_equal(f.servers, "https://s3.amazonaws.com");
    assert_string_equal(f.region, "us-east-1");
    assert_int_equal(f.options, 0);
    assert_int_equal(describe(P("fs.s3a.endpoint.region", "eu-west-1"), "s3a://b/k"), 0);
    assert_string_equal(f.servers, "https://s3.eu-west-1.amazonaws.com");
    assert_int_equal(describe(P("fs.s3a.endpoint", "127.0.0.1:9000")
                                  P("fs.s3a.connection.ssl.enabled", "false")
                                      P("fs.s3a.path.style.access", "true"),
                              "s3a://b/k"),
                     0);
    assert_string_equal(f.servers, "http://127.0.0.1:9000");
    assert_int_equal(f.options, LOC_OPTION_PATH_STYLE);
    assert_int_equal(describe(P("fs.s3a.endpoint", "one")
                                  P("fs.s3a.bucket.b.endpoint", "http://two/"),
                              "s3a://b/k"),
                     0);
    assert_string_equal(f.servers, "http://two");
    assert_int_equal(describe(P("fs.s3a.endpoint", "h@x"), "s3a://b/k"), -EINVAL);
    assert_non_null(strstr(err.text, "fs.s3a.endpoint"));
    assert_int_equal(describe(P("fs.s3a.path.style.access", "maybe"), "s3a://b/k"), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_login), cmocka_unit_test(test_s3_keys),
        cmocka_unit_test(test_s3_place),        cmocka_unit_test(test_hdfs),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
