/* Tests common/web/http-filters.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "common/web/http-filters.h"

static const struct sv_conf_key rows[SV_FILTER_N] = {
    [SV_FILTER_CORS] = { "x.cross-origin.enabled", SV_CONF_BOOL, "false", 0, 0, 0, "" },
    [SV_FILTER_CSRF] = { "x.rest-csrf.enabled", SV_CONF_BOOL, "false", 0, 0, 0, "" },
    [SV_FILTER_HEADER] = { "x.rest-csrf.custom-header", SV_CONF_STRING, "X-XSRF-Header", 0, 0, 0,
                           "" },
    [SV_FILTER_METHODS] = { "x.rest-csrf.methods-to-ignore", SV_CONF_LIST, "GET,OPTIONS,HEAD", 0, 0,
                            0, "" },
    [SV_FILTER_AGENTS] = { "x.rest-csrf.browser-useragents-regex", SV_CONF_LIST,
                           "^Mozilla.*,^Opera.*", 0, 0, 0, "" },
    [SV_FILTER_FRAME] = { "x.xfs-filter.xframe-options", SV_CONF_STRING, "DENY", 0, 0, 0, "" },
};
#define INITIALIZER "org.apache.hadoop.security.HttpCrossOriginFilterInitializer"

static struct sv_conf *conf;
static struct sv_http_filters f;
static struct sv_error err;

/* Pairs of key and value, NULL at the end. */
static int read_with(const char *const *pairs)
{
    conf = sv_conf_new();
    assert_non_null(conf);
    for (; *pairs; pairs += 2)
        assert_int_equal(sv_conf_set(conf, pairs[0], pairs[1]), 0);
    return sv_http_filters_read(conf, rows, NULL, &f, &err);
}
#define READ(...) read_with((const char *const[]){ __VA_ARGS__, NULL })

static int drop(void **state)
{
    (void)state;
    sv_http_filters_free(&f);
    conf = sv_conf_free(conf);
    return 0;
}

static void test_defaults(void **state)
{
    (void)state;
    assert_int_equal(READ("x.none", ""), 0);
    assert_false(f.cors);
    assert_false(sv_http_filters_origin(&f, "http://a", NULL, NULL));
    assert_true(sv_http_filters_pass(&f, "PUT", "Mozilla/5.0", NULL));
    assert_string_equal(f.frame, "DENY");
    assert_non_null(strstr(f.policy, "; frame-ancestors 'none'"));
    assert_non_null(strstr(f.script_policy, "; script-src 'self'"));
}

static void test_csrf(void **state)
{
    (void)state;
    assert_int_equal(READ("x.rest-csrf.enabled", "true"), 0);
    assert_false(sv_http_filters_pass(&f, "PUT", "Mozilla/5.0 (X11)", NULL));
    assert_false(sv_http_filters_pass(&f, "DELETE", "Opera", NULL));
    assert_true(sv_http_filters_pass(&f, "PUT", "Mozilla/5.0 (X11)", ""));
    assert_true(sv_http_filters_pass(&f, "GET", "Mozilla/5.0 (X11)", NULL));
    assert_true(sv_http_filters_pass(&f, "PUT", "curl/8.0 Mozilla", NULL));
    assert_true(sv_http_filters_pass(&f, "PUT", NULL, NULL));
}

static void test_agents(void **state)
{
    static const struct {
        const char *agents, *agent;
        bool pass;
    } t[] = {
        { ".*", "anything", false },
        { ".*Firefox.*", "Mozilla Firefox/1", false },
        { ".*Firefox", "Mozilla Firefox/1", true },
        { "^Mo\\.zilla$", "Mo.zilla", false },
        { "^Mo\\.zilla$", "Moxzilla", true },
        { "a.*b.*c", "aXbYbZc", false },
        { "a.*b.*c", "aXcYb", true },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++) {
        assert_int_equal(READ("x.rest-csrf.enabled", "true", "x.rest-csrf.browser-useragents-regex",
                              t[i].agents),
                         0);
        if (sv_http_filters_pass(&f, "PUT", t[i].agent, NULL) != t[i].pass)
            fail_msg("row %zu", i);
        (void)drop(NULL);
    }
    assert_int_equal(READ("x.rest-csrf.enabled", "true", "x.rest-csrf.browser-useragents-regex",
                          "(Mozilla|Opera).*"),
                     -EOPNOTSUPP);
    assert_non_null(strstr(err.text, "(Mozilla|Opera).*"));
}

static void test_cors_needs_initializer(void **state)
{
    (void)state;
    assert_int_equal(READ("x.cross-origin.enabled", "true"), 0);
    assert_false(f.cors);
    (void)drop(NULL);
    assert_int_equal(
        READ("hadoop.http.cross-origin.enabled", "true", "hadoop.http.filter.initializers",
             "org.apache.hadoop.http.lib.StaticUserWebFilter,"
             "org.apache.hadoop.security.AuthenticationFilterInitializer," INITIALIZER),
        0);
    assert_true(f.cors);
}

static void test_unknown_initializer(void **state)
{
    (void)state;
    assert_int_equal(READ("hadoop.http.filter.initializers", INITIALIZER ",a.B"), -EOPNOTSUPP);
    assert_non_null(strstr(err.text, "hadoop.http.filter.initializers"));
    assert_non_null(strstr(err.text, "the class a.B is not known"));
}

#define ON "x.cross-origin.enabled", "true", "hadoop.http.filter.initializers", INITIALIZER

static void test_cors(void **state)
{
    static const struct {
        const char *origin, *method, *headers;
        bool allowed;
    } t[] = {
        { "http://ui.example", NULL, NULL, true },
        { "http://ui.example", "GET", "Accept, Origin", true },
        { "http://ui.example", "PUT", NULL, false },
        { "http://ui.example", "GET", "Accept,X-Other", false },
        { "http://ui.example", "GET", "", false },
        { "https://a.b.example", NULL, NULL, true },
        { "https://bexample", NULL, NULL, false },
        { "http://ui.example.evil", NULL, NULL, false },
        { "http://ui.example\r\nX: y", NULL, NULL, false },
        { "http://ui.example http://evil", NULL, NULL, false },
        { "", NULL, NULL, false },
        { NULL, NULL, NULL, false },
    };

    (void)state;
    assert_int_equal(READ(ON, "hadoop.http.cross-origin.allowed-origins",
                          "http://ui.example, https://*.example"),
                     0);
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++)
        if (sv_http_filters_origin(&f, t[i].origin, t[i].method, t[i].headers) != t[i].allowed)
            fail_msg("row %zu", i);
    assert_string_equal(f.methods_text, "GET,POST,HEAD");
    assert_string_equal(f.headers_text, "X-Requested-With,Content-Type,Accept,Origin");
    assert_string_equal(f.max_age, "1800");
}

static void test_any_origin(void **state)
{
    char origin[2000];

    (void)state;
    assert_int_equal(READ(ON), 0);
    assert_true(sv_http_filters_origin(&f, "null", NULL, NULL));
    memset(origin, 'a', sizeof(origin) - 1);
    origin[sizeof(origin) - 1] = 0;
    assert_false(sv_http_filters_origin(&f, origin, NULL, NULL));
    assert_false(sv_http_filters_origin(&f, "null", NULL, origin));
}

static void test_cors_expressions(void **state)
{
    (void)state;
    assert_int_equal(READ(ON, "hadoop.http.cross-origin.allowed-origins", "regex:.*"), -EOPNOTSUPP);
}

static void test_frames(void **state)
{
    static const struct {
        const char *value, *ancestors;
        int result;
    } t[] = {
        { "SAMEORIGIN", "; frame-ancestors 'self'", 0 },
        { "ALLOW-FROM https://portal.example", "; frame-ancestors https://portal.example", 0 },
        { "ALLOW-FROM https://a; script-src *", NULL, -EINVAL },
        { "ALLOW-FROM javascript:1", NULL, -EINVAL },
        { "ALLOWALL", NULL, -EINVAL },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++) {
        assert_int_equal(READ("x.xfs-filter.xframe-options", t[i].value), t[i].result);
        if (t[i].result == 0) {
            assert_string_equal(f.frame, t[i].value);
            assert_non_null(strstr(f.policy, t[i].ancestors));
        }
        (void)drop(NULL);
    }
    assert_int_equal(READ("yarn.webapp.xfs-filter.enabled", "false"), 0);
    assert_null(f.frame);
    assert_null(strstr(f.policy, "frame-ancestors"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_defaults, drop),
        cmocka_unit_test_teardown(test_csrf, drop),
        cmocka_unit_test_teardown(test_agents, drop),
        cmocka_unit_test_teardown(test_cors_needs_initializer, drop),
        cmocka_unit_test_teardown(test_unknown_initializer, drop),
        cmocka_unit_test_teardown(test_cors, drop),
        cmocka_unit_test_teardown(test_any_origin, drop),
        cmocka_unit_test_teardown(test_cors_expressions, drop),
        cmocka_unit_test_teardown(test_frames, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
