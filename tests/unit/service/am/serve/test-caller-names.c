/* Tests service/am/serve/caller-names.c: names in clients' tokens, with Kerberos and without. */
#include "service/am/serve/caller-names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after these */
#include <cmocka.h>

static int read_one(const char *key, const char *value, struct svc_caller_names *ret,
                    struct sv_error *err)
{
    struct sv_conf *conf = sv_conf_new();
    int r;

    assert_non_null(conf);
    assert_int_equal(
        sv_conf_set(conf, "hadoop.security.auth_to_local", "RULE:[1:$1@$0](.*@SITE.TEST)s/@.*//"),
        0);
    if (key)
        assert_int_equal(sv_conf_set(conf, key, value), 0);
    *err = (struct sv_error){ 0 };
    r = svc_caller_names_read(conf, ret, err);
    sv_conf_free(conf);
    return r;
}

static void plain(void **state)
{
    struct svc_caller_names n;
    struct sv_error err;
    char name[256], longest[300];

    (void)state;
    memset(longest, 'a', sizeof(longest));
    longest[256] = '\0';
    assert_int_equal(read_one(NULL, NULL, &n, &err), 0);
    assert_int_equal(n.hmac, YARN_HMAC_SHA1);
    assert_int_equal(svc_caller_name(&n, "alice", name, &err), 0);
    assert_string_equal(name, "alice");
    assert_int_equal(svc_caller_name(&n, longest, name, &err), -EINVAL);
    svc_caller_names_free(&n);
}

static void kerberos(void **state)
{
    struct svc_caller_names n;
    struct sv_error err;
    char name[256];

    (void)state;
    assert_int_equal(read_one("hadoop.security.authentication", "kerberos", &n, &err), 0);
    assert_int_equal(svc_caller_name(&n, "alice@SITE.TEST", name, &err), 0);
    assert_string_equal(name, "alice");
    assert_int_equal(svc_caller_name(&n, "bob", name, &err), 0); /* of a proxy user's token */
    assert_string_equal(name, "bob");
    assert_true(svc_caller_name(&n, "alice@OTHER.TEST", name, &err) < 0);
    assert_true(svc_caller_name(&n, "", name, &err) < 0);
    svc_caller_names_free(&n);
}

static void keys(void **state)
{
    static const char key[] = "hadoop.security.secret-manager.key-generator.algorithm";
    struct svc_caller_names n;
    struct sv_error err;

    (void)state;
    assert_int_equal(read_one(key, "HmacSHA256", &n, &err), 0);
    assert_int_equal(n.hmac, YARN_HMAC_SHA256);
    svc_caller_names_free(&n);
    assert_int_equal(read_one(key, "MD5", &n, &err), -EINVAL);
    assert_non_null(strstr(err.text, "HmacSHA1"));
    assert_int_equal(read_one("hadoop.security.authentication", "token", &n, &err), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(kerberos),
        cmocka_unit_test(keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
