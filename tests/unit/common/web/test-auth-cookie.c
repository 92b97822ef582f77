/* common/web/auth-cookie.c: the first signature was made by another implementation (Python's hmac).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/str.h"
#include "common/web/auth-cookie.h"

#define SECRET "secret\n"
#define TEXT "u=alice&p=alice@EXAMPLE&t=simple&e=2000"
#define SIGNATURE "BmiZgyLNMDAywR89NdSEFk8HPfcEDuuabTX+35TZtBk="

static char user[SV_AUTH_USER_MAX];

static int verify(const char *header)
{
    memset(user, 0, sizeof(user));
    return sv_auth_cookie_verify(header, SECRET, strlen(SECRET), "simple", 1000, user);
}

/* Verifies a cookie with a valid signature. */
static int verify_text(const char *text)
{
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    char *signature, *header;
    int r;

    HMAC(EVP_sha256(), SECRET, (int)strlen(SECRET), (const uint8_t *)text, strlen(text), mac, &len);
    assert_int_equal(sv_base64_encode(mac, len, &signature), 0);
    assert_true(sv_asprintf(&header, "hadoop.auth=\"%s&s=%s\"", text, signature) >= 0);
    r = verify(header);
    free(signature);
    free(header);
    return r;
}

static void good(void **state)
{
    static const char *const headers[] = {
        "hadoop.auth=" TEXT "&s=" SIGNATURE,
        "hadoop.auth=\"" TEXT "&s=" SIGNATURE "\"",
        "a=b; hadoop.auth=\"" TEXT "&s=" SIGNATURE "\"; c=d",
        "xhadoop.auth=1;hadoop.auth=" TEXT "&s=" SIGNATURE " ",
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(headers); i++) {
        assert_int_equal(verify(headers[i]), 0);
        assert_string_equal(user, "alice");
    }
}

static void forged(void **state)
{
    static const char *const headers[] = {
        "hadoop.auth=u=admin&p=alice@EXAMPLE&t=simple&e=2000&s=" SIGNATURE,
        "hadoop.auth=" TEXT "&s=",
        "hadoop.auth=" TEXT,
        "hadoop.auth=",
        "hadoop.auth=\"",
        "hadoop.auth=&s=",
        "hadoop.auth=" TEXT "&s=" SIGNATURE "=",
        "hadoop.auth=" TEXT "&s=" SIGNATURE "&u=admin",
        "hadoop.auth=" TEXT "&s=" SIGNATURE "&s=" SIGNATURE,
        "hadoop.auth=u=admin&t=simple&e=-1; hadoop.auth=" TEXT "&s=" SIGNATURE,
    };
    char changed[sizeof(TEXT SIGNATURE) + 20];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(headers); i++)
        if (verify(headers[i]) != -EBADMSG || *user)
            fail_msg("%s", headers[i]);
    for (size_t i = strlen("hadoop.auth="); i < strlen("hadoop.auth=" TEXT "&s=" SIGNATURE); i++) {
        (void)snprintf(changed, sizeof(changed), "%s", "hadoop.auth=" TEXT "&s=" SIGNATURE);
        changed[i] ^= 1;
        assert_int_equal(verify(changed), -EBADMSG);
    }
    assert_int_equal(sv_auth_cookie_verify("hadoop.auth=" TEXT "&s=" SIGNATURE, "secret", 6,
                                           "simple", 1000, user),
                     -EBADMSG);
    assert_int_equal(
        sv_auth_cookie_verify("hadoop.auth=" TEXT "&s=" SIGNATURE, "", 0, "simple", 1000, user),
        -EBADMSG);
}

static void fields(void **state)
{
    (void)state;
    assert_int_equal(verify_text("u=bob&t=simple&e=1000"), 0);
    assert_string_equal(user, "bob");
    assert_int_equal(verify_text("u=bob&t=simple&e=-1"), 0);
    assert_int_equal(verify_text("u=bob&p=x&t=simple&i=1001&e=2000"), 0);
    assert_int_equal(verify_text("u=bob&t=simple&e=999"), -ETIME);
    assert_int_equal(verify_text("u=bob&t=simple&i=999&e=2000"), -ETIME);
    assert_int_equal(verify_text("u=bob&t=kerberos&e=2000"), -EBADMSG);
    assert_int_equal(verify_text("u=bob&t=simple&e=soon"), -EBADMSG);
    assert_int_equal(verify_text("u=bob&t=simple"), -EBADMSG);
    assert_int_equal(verify_text("u=bob&e=2000"), -EBADMSG);
    assert_int_equal(verify_text("u=&t=simple&e=2000"), -EBADMSG);
    assert_int_equal(verify_text("t=simple&e=2000"), -EBADMSG);
    assert_int_equal(verify_text(""), -EBADMSG);
}

static void absent(void **state)
{
    (void)state;
    assert_int_equal(verify(""), -ENODATA);
    assert_int_equal(verify("a=b; ; c"), -ENODATA);
    assert_int_equal(verify("hadoop.auth"), -ENODATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),
        cmocka_unit_test(forged),
        cmocka_unit_test(fields),
        cmocka_unit_test(absent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
