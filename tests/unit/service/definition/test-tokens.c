/* service/definition/tokens.c: one pass, names with and without values, limits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/definition/tokens.h"

static void check(const struct svc_tokens *t, const char *text, const char *want)
{
    char *got = NULL;

    assert_int_equal(svc_tokens_text(t, text, 256, &got), 0);
    assert_string_equal(got, want);
    free(got);
}

static void test_replace(void **state)
{
    _cleanup_tokens_ struct svc_tokens *base = svc_tokens_new(NULL);
    _cleanup_tokens_ struct svc_tokens *t = svc_tokens_new(base);

    (void)state;
    assert_int_equal(svc_tokens_set(base, SVC_TOKEN_SERVICE_NAME, "shop"), 0);
    assert_int_equal(svc_tokens_set(base, SVC_TOKEN_USER, "ann"), 0);
    assert_int_equal(svc_tokens_set(t, SVC_TOKEN_COMPONENT_ID, "7"), 0);
    assert_int_equal(svc_tokens_set(t, SVC_TOKEN_USER, "${USER}${USER}"), 0);
    assert_int_equal(svc_tokens_set_peer(t, "mariadb-0", "node1", "10.0.0.1"), 0);
    assert_int_equal(svc_tokens_set_peer(t, "front-0", NULL, "::1"), 0);
    check(t, "", "");
    check(t, "plain $ { } $${ }", "plain $ { } $${ }");
    check(t, "${SERVICE_NAME}", "shop");
    check(t, "<${SERVICE_NAME}-${COMPONENT_ID}>", "<shop-7>");
    check(t, "${COMPONENT_ID}${COMPONENT_ID}", "77");
    check(t, "${USER}", "${USER}${USER}"); /* not looked at again */
    check(base, "${USER}${COMPONENT_ID}", "ann${COMPONENT_ID}");
    check(t, "${MARIADB-0_HOST}:${MARIADB-0_IP}", "node1:10.0.0.1");
    check(t, "${FRONT-0_HOST}${FRONT-0_IP}", "${FRONT-0_HOST}::1");
    check(t, "${unknown}${}${${COMPONENT_ID}}", "${unknown}${}${7}");
    check(t, "${COMPONENT_ID", "${COMPONENT_ID");
    check(t, "${", "${");
    assert_string_equal(svc_tokens_get(t, SVC_TOKEN_SERVICE_NAME), "shop");
    assert_null(svc_tokens_get(t, "shop"));
    assert_int_equal(svc_tokens_set(t, SVC_TOKEN_COMPONENT_ID, "8"), 0);
    check(t, "${COMPONENT_ID}", "8");
}

static void test_limits(void **state)
{
    _cleanup_tokens_ struct svc_tokens *t = svc_tokens_new(NULL);
    char name[SVC_TOKEN_NAME_MAX + 2], text[SVC_TOKEN_NAME_MAX + 8];
    char *got = NULL;

    (void)state;
    memset(name, 'N', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(svc_tokens_set(t, name, "v"), -EINVAL);
    assert_int_equal(svc_tokens_set_peer(t, name, "v", NULL), -EINVAL);
    name[SVC_TOKEN_NAME_MAX] = '\0';
    assert_int_equal(svc_tokens_set(t, name, "v"), 0);
    (void)snprintf(text, sizeof text, "${%s}", name);
    check(t, text, "v");
    assert_int_equal(svc_tokens_set(t, "", "v"), -EINVAL);
    assert_int_equal(svc_tokens_set(t, "A}B", "v"), -EINVAL);
    assert_int_equal(svc_tokens_set(t, "A B", "v"), -EINVAL);
    assert_int_equal(svc_tokens_set(t, "A", "0123456789"), 0);
    assert_int_equal(svc_tokens_text(t, "${A}${A}", 20, &got), 0);
    free(got);
    got = NULL;
    assert_int_equal(svc_tokens_text(t, "${A}${A}", 19, &got), -EMSGSIZE);
    assert_null(got);
    assert_null(svc_tokens_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
