/* service/server/conf.c: defaults, what is refused at start and with which words, the printed
 * table. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/server/conf.h"

static void test_defaults(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *sv = sv_conf_new();
    struct sv_error err = { 0 };
    struct svc_conf c;

    (void)state;
    assert_int_equal(svc_conf_read(sv, &c, &err), 0);
    assert_string_equal(c.host, "0.0.0.0");
    assert_int_equal(c.port, 9191);
    assert_int_equal(c.timeout_ms, 60000);
    assert_int_equal(c.settings.max_services, 1000);
    assert_false(c.settings.upgrades);
    assert_non_null(strstr(c.program, "/selvedge-service-am"));
    svc_conf_free(&c);
}

static void test_refused(void **state)
{
    static const struct {
        const char *key, *value;
        int error;
        const char *words;
    } bad[] = {
        { "hadoop.http.authentication.type", "kerberos", -EINVAL, "signature.secret.file" },
        { "selvedge.services.request-timeout", "1ms", -EINVAL, "request-timeout" },
        { "selvedge.services.max-requests", "0", -EINVAL, "max-requests" },
        { "selvedge.services.max-per-user", "100000000000", -EINVAL, "max-per-user" },
        { "selvedge.resourcemanager.services.socket", "run/x", -EINVAL, "absolute path" },
        { "selvedge.resourcemanager.services.socket",
          "/012345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
          "7"
          "89012345678901234567890",
          -EINVAL, "100 bytes" },
        { "yarn.service.upgrade.enabled", "maybe", -EINVAL, "upgrade.enabled" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        _cleanup_(sv_conf_freep) struct sv_conf *sv = sv_conf_new();
        struct sv_error err = { 0 };
        struct svc_conf c;

        assert_int_equal(sv_conf_set(sv, bad[i].key, bad[i].value), 0);
        assert_int_equal(svc_conf_read(sv, &c, &err), bad[i].error);
        assert_non_null(strstr(err.text, bad[i].words));
    }
}

static void test_printed(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *sv = sv_conf_new();
    _cleanup_free_ char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    (void)state;
    assert_int_equal(sv_conf_set(sv, "selvedge.service.master", "hadoop"), 0);
    svc_conf_print(sv, out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "selvedge.service.master\thadoop\t"));
    assert_non_null(strstr(text, "yarn.service.api-server.address\t0.0.0.0:9191\t"));
    assert_non_null(strstr(text, "hadoop.http.authentication.type\tsimple\t"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_defaults),
                                        cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_printed) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
