/* amrmproxy/interceptors.c: chains that are taken, and those that end the start. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/federation/classes.h"

#define PACKAGE "org.apache.hadoop.yarn.server.nodemanager.amrmproxy."
#define FEDERATION PACKAGE "FederationInterceptor"
#define DEFAULT PACKAGE "DefaultRequestInterceptor"

static const struct nm_amrm_interceptor *found;

static int choose(const char *classes, struct sv_error *err)
{
    struct sv_conf *c = sv_conf_new();
    int r;

    found = NULL;
    assert_non_null(c);
    if (classes)
        assert_int_equal(sv_conf_set(c, NM_AMRM_PIPELINE_KEY, classes), 0);
    r = nm_amrm_interceptor_of(c, nm_amrm_classes, &found, err);
    sv_conf_free(c);
    return r;
}

static void refused(const char *classes, const char *words)
{
    struct sv_error err = { 0 };

    assert_int_equal(choose(classes, &err), -EINVAL);
    assert_non_null(strstr(err.text, NM_AMRM_PIPELINE_KEY));
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void chains(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(choose(NULL, &err), 0);
    assert_ptr_equal(found, &nm_amrm_pass_through);
    assert_int_equal(choose(" " DEFAULT " ", &err), 0);
    assert_ptr_equal(found, &nm_amrm_pass_through);
    refused(PACKAGE "NoSuchInterceptor", "remove it");
    refused("org.example.Own," DEFAULT, "\"org.example.Own\" is no interceptor of this version");
    refused(DEFAULT "," DEFAULT, "stands behind a class that is the last of a chain");
    refused(",", "names no class");
    refused(FEDERATION, "needs yarn.federation.enabled=true");
    refused(DEFAULT "," FEDERATION, "stands behind a class that is the last of a chain");
}

/* --check-config also reads what the start opens: the federation's store. */
static void checked(void **state)
{
    static const char *const keys[] = { "yarn.nodemanager.amrmproxy.enabled",
                                        "yarn.federation.enabled" };
    static const char store[] = "yarn.federation.state-store.class";
    struct sv_conf *c = sv_conf_new();
    struct sv_error err = { 0 };

    (void)state;
    assert_non_null(c);
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++)
        assert_int_equal(sv_conf_set(c, keys[i], "true"), 0);
    assert_int_equal(sv_conf_set(c, "yarn.resourcemanager.cluster-id", "SC-1"), 0);
    assert_int_equal(sv_conf_set(c, NM_AMRM_PIPELINE_KEY, FEDERATION), 0);
    assert_int_equal(sv_conf_set(c, store, "org.example.Store"), 0);
    assert_int_equal(nm_amrm_check_conf(c, nm_amrm_classes, &err), -EINVAL);
    assert_non_null(strstr(err.text, "yarn.federation.state-store.class: no such store"));
    assert_int_equal(sv_conf_set(c, store, "org.selvedge.SqliteStateStore"), 0);
    assert_int_equal(nm_amrm_check_conf(c, nm_amrm_classes, &err), 0);
    sv_conf_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(chains), cmocka_unit_test(checked) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
