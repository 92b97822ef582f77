/* The Router's keys: values that are refused, and the table of docs/federation.md. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/str.h"
#include "router/router-conf.h"
#include "tests/lib/key-page.h"

static int read_with(const char *key, const char *value, struct rtr_conf *ret, struct sv_error *err)
{
    struct sv_conf *conf = sv_conf_new();
    int r;

    assert_non_null(conf);
    if (key)
        assert_int_equal(sv_conf_set(conf, key, value), 0);
    r = rtr_conf_read(conf, ret, err);
    ret->host = NULL; /* the configuration's */
    if (ret->web_host)
        ret->web_host = "";
    sv_conf_free(conf);
    return r;
}

static void refused(const char *key, const char *value, int code)
{
    struct rtr_conf c = { 0 };
    struct sv_error err = { 0 };

    assert_int_equal(read_with(key, value, &c, &err), code);
    assert_non_null(strstr(err.text, key));
}

#define PACKAGE "org.apache.hadoop.yarn.server.router.clientrm."

static void test_values(void **state)
{
    struct rtr_conf c = { 0 };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(read_with(NULL, NULL, &c, &err), 0);
    assert_int_equal(c.port, 8050);
    assert_int_equal(c.web_port, 8089);
    assert_non_null(c.web_host);
    assert_int_equal(read_with("yarn.http.policy", "HTTPS_ONLY", &c, &err), 0);
    assert_null(c.web_host); /* no TLS: no web port */
    assert_int_equal(c.retries, 3);
    assert_int_equal(c.timeout_ms, 30000);
    assert_false(c.partial);
    assert_int_equal(read_with("yarn.router.clientrm.interceptor-class.pipeline",
                               PACKAGE "PassThroughClientRequestInterceptor," PACKAGE
                                       "FederationClientInterceptor",
                               &c, &err),
                     0);
    refused("yarn.router.clientrm.interceptor-class.pipeline",
            PACKAGE "FederationClientInterceptor," PACKAGE "DefaultClientRequestInterceptor",
            -EINVAL);
    refused("yarn.router.clientrm.interceptor-class.pipeline",
            PACKAGE "PassThroughClientRequestInterceptor", -EINVAL);
    refused("yarn.http.policy", "https", -EINVAL);
    refused("yarn.router.webapp.address", "nonsense:port", -EINVAL);
    refused("yarn.router.submit.retry", "-1", -EINVAL);
    refused("yarn.router.partial-result.enabled", "maybe", -EINVAL);
    refused("selvedge.router.call-timeout", "0", -EINVAL);
    refused("selvedge.router.max-calls", "1", -EINVAL);
    refused("hadoop.security.authentication", "token", -EINVAL);
    refused("hadoop.security.impersonation.provider.class", "org.example.Provider", -EINVAL);
    refused("hadoop.security.saslproperties.resolver.class", "org.example.Resolver", -EINVAL);
    refused("hadoop.security.authorization", "maybe", -EINVAL);
}

static void test_page(void **state)
{
    char *page = slurp("docs/federation.md"), *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    assert_non_null(f);
    rtr_conf_print_keys(f);
    assert_int_equal(fclose(f), 0);
    assert_non_null(strstr(page, text)); /* selvedge-router --print-keys writes it */
    free(text);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_values),
                                        cmocka_unit_test(test_page) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
