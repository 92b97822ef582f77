/* service/definition/service-keys.c and probe.c: where a value comes from, its range, and every
 * row's default in its own range. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "service/definition/probe.h"
#include "service/definition/service-keys.h"

#define RETRIES "yarn.service.container-failure.retry.max"
#define INTERVAL "yarn.service.readiness-check-interval.seconds"
#define CHECKED "yarn.service.default-readiness-check.enabled"
#define MASTER "selvedge.service.master"

static struct svc_map map_of(struct svc_pair *p, size_t n)
{
    return (struct svc_map){ p, n };
}

static void test_rows(void **state)
{
    static const struct svc_definition none;

    (void)state;
    for (int k = 0; k < SVC_KEYS_N; k++) {
        const struct svc_key_row *row = svc_key_row((enum svc_key)k);
        int64_t n;
        unsigned i;
        bool b;

        assert_true(sv_has_prefix(row->name, "yarn.service.") ||
                    sv_has_prefix(row->name, "selvedge.service."));
        assert_true(*row->text);
        if (row->type == SVC_KEY_INT)
            assert_int_equal(svc_key_int((enum svc_key)k, &none, NULL, NULL, &n, NULL), 0);
        else if (row->type == SVC_KEY_BOOL)
            assert_int_equal(svc_key_bool((enum svc_key)k, &none, NULL, NULL, &b, NULL), 0);
        else if (row->type == SVC_KEY_CHOICE)
            assert_int_equal(svc_key_choice((enum svc_key)k, &none, NULL, NULL, &i, NULL), 0);
        else
            assert_string_equal(svc_key_text((enum svc_key)k, &none, NULL, NULL), row->def);
    }
}

static int64_t number(enum svc_key k, const struct svc_definition *d, const struct svc_component *c,
                      struct sv_conf *site)
{
    struct sv_error err = { 0 };
    int64_t n = -7;

    if (svc_key_int(k, d, c, site, &n, &err) < 0)
        fail_msg("%s", err.text);
    return n;
}

static void test_order(void **state)
{
    __attribute__((cleanup(sv_conf_freep))) struct sv_conf *site = sv_conf_new();
    struct svc_pair service[] = { { RETRIES, "2" }, { INTERVAL, "7" } };
    struct svc_pair component[] = { { RETRIES, "1" }, { INTERVAL, "8" } };
    struct svc_definition d = { 0 };
    struct svc_component c = { .name = "c" };

    (void)state;
    assert_int_equal(number(SVC_KEY_RETRY_MAX, &d, &c, NULL), 10);
    assert_int_equal(sv_conf_set(site, RETRIES, "3"), 0);
    assert_int_equal(number(SVC_KEY_RETRY_MAX, &d, &c, site), 3);
    d.configuration.properties = map_of(service, 2);
    assert_int_equal(number(SVC_KEY_RETRY_MAX, &d, &c, site), 2);
    c.configuration.properties = map_of(component, 2);
    assert_int_equal(number(SVC_KEY_RETRY_MAX, &d, &c, site), 1);
    assert_int_equal(number(SVC_KEY_RETRY_MAX, &d, NULL, site), 2);
    assert_int_equal(number(SVC_KEY_READINESS_INTERVAL_S, &d, &c, site),
                     7);     /* of a service alone */
    component[0].value = ""; /* as if it were not there */
    assert_int_equal(number(SVC_KEY_RETRY_MAX, &d, &c, site), 2);
}

static void test_bad_values(void **state)
{
    __attribute__((cleanup(sv_conf_freep))) struct sv_conf *site = sv_conf_new();
    struct svc_pair own[] = { { RETRIES, "-2" } };
    struct svc_definition d = { 0 };
    struct svc_component c = { .name = "c", .configuration.properties = { own, 1 } };
    struct sv_error err = { 0 };
    int64_t n = 5;
    bool b = true;

    (void)state;
    assert_int_equal(svc_key_int(SVC_KEY_RETRY_MAX, &d, &c, site, &n, &err), -EINVAL);
    assert_string_equal(err.text, "component c: configuration.properties[\"" RETRIES "\"]: \"-2\": "
                                  "a whole number from -1 to 2147483647");
    assert_int_equal(n, 5);
    assert_int_equal(sv_conf_set(site, CHECKED, "perhaps"), 0);
    assert_int_equal(svc_key_bool(SVC_KEY_DEFAULT_READINESS, &d, &c, site, &b, &err), -EINVAL);
    assert_string_equal(err.text, "yarn-site.xml[\"" CHECKED "\"]: \"perhaps\": true or false");
}

/* A service's own master comes before the cluster's. */
static void test_master(void **state)
{
    __attribute__((cleanup(sv_conf_freep))) struct sv_conf *site = sv_conf_new();
    struct svc_pair own[] = { { MASTER, "selvedge" } };
    struct svc_map m = { own, 1 };
    struct svc_definition d = { 0 };
    struct sv_error err = { 0 };
    unsigned which = 7;

    (void)state;
    assert_int_equal(svc_keys_known(&m, "p", &err), 0);
    assert_int_equal(sv_conf_set(site, MASTER, "hadoop"), 0);
    assert_int_equal(svc_key_choice(SVC_KEY_MASTER, &d, NULL, site, &which, &err), 0);
    assert_int_equal(which, SVC_MASTER_HADOOP);
    d.configuration.properties = m;
    assert_int_equal(svc_key_choice(SVC_KEY_MASTER, &d, NULL, site, &which, &err), 0);
    assert_int_equal(which, SVC_MASTER_SELVEDGE);
    own[0].value = "slider";
    assert_int_equal(svc_keys_check(&m, "p", &err), -EINVAL);
    assert_string_equal(err.text, "p[\"" MASTER "\"]: \"slider\": selvedge or hadoop");
}

static void test_choice_of_component(void **state)
{
    static const char name[] = "selvedge.service.container.profile";
    struct svc_pair service[] = { { name, "hadoop" } }, own[] = { { name, "strict" } };
    struct svc_component c = { .name = "c" };
    struct svc_definition d = { .configuration.properties = map_of(service, 1) };
    struct sv_error err = { 0 };
    unsigned which = 7;

    (void)state;
    assert_int_equal(svc_key_choice(SVC_KEY_PROFILE, &d, &c, NULL, &which, &err), 0);
    assert_int_equal(which, 2);
    c.configuration.properties = map_of(own, 1);
    assert_int_equal(svc_key_choice(SVC_KEY_PROFILE, &d, &c, NULL, &which, &err), 0);
    assert_int_equal(which, 1);
    own[0].value = "open";
    assert_int_equal(svc_keys_check(&c.configuration.properties, "p", &err), -EINVAL);
    assert_string_equal(err.text, "p[\"selvedge.service.container.profile\"]: \"open\": node, "
                                  "strict, hadoop or host");
}

static void test_known(void **state)
{
    struct svc_pair pairs[] = { { "anything", "1" }, { "selvedge.profile", "x" } };
    struct svc_map m = { pairs, 1 };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(svc_keys_known(&m, "p", &err), 0);
    m.n = 2;
    assert_int_equal(svc_keys_known(&m, "p", &err), -EINVAL);
    assert_string_equal(err.text, "p: \"selvedge.profile\": no property of this name is known");
    pairs[1].name = "yarn.service.am.java.opts";
    assert_int_equal(svc_keys_known(&m, "p", &err), 0);
    pairs[1].name = "yarn.service.am.java.opt";
    assert_int_equal(svc_keys_known(&m, "p", &err), -EINVAL);
    assert_string_equal(err.text, "p: \"yarn.service.am.java.opt\": no such property; did you mean "
                                  "yarn.service.am.java.opts?");
}

/* ---- Readiness checks ---- */

static void test_probe(void **state)
{
    struct svc_pair pairs[] = { { "timeout", "50" }, { "url", "http://${THIS_HOST}/" } };
    struct svc_readiness r = { SVC_READY_HTTP, { pairs, 2 } };
    struct svc_probe p;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(svc_probe_of(&r, "r", &p, &err), 0);
    assert_int_equal(p.type, SVC_READY_HTTP);
    assert_string_equal(p.url, "http://${THIS_HOST}/");
    assert_int_equal(p.timeout_ms, 50);
    assert_int_equal(p.min_success, 200);
    assert_int_equal(p.max_success, 299);
    assert_false(p.dns_check);
    r.type = SVC_READY_NONE;
    assert_int_equal(svc_probe_of(&r, "r", &p, &err), 0);
    assert_string_equal(p.dns_address, "");
    r.type = SVC_READY_PORT;
    assert_int_equal(svc_probe_of(&r, "r", &p, &err), -EINVAL);
    assert_string_equal(err.text, "r.properties[\"port\"]: missing: a check of type PORT needs it");
    pairs[0].value = "0";
    r.type = SVC_READY_DEFAULT;
    assert_int_equal(svc_probe_of(&r, "r", &p, &err), -EINVAL);
    assert_string_equal(err.text,
                        "r.properties[\"timeout\"]: \"0\": a whole number from 1 to 600000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_order),
        cmocka_unit_test(test_bad_values), cmocka_unit_test(test_choice_of_component),
        cmocka_unit_test(test_known),      cmocka_unit_test(test_master),
        cmocka_unit_test(test_probe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
