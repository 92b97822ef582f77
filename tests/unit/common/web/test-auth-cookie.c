/* common/web/auth-cookie.c: the signatures in texts were made by another implementation (Python's
 * hmac). */
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

static void check_issued(const char *name, const char *principal, const char *type,
                         int64_t expires_ms, const char *wanted)
{
    const struct sv_auth_cookie c = { name, principal, type, expires_ms };
    struct sv_auth_names found;
    char *value, *header;

    assert_int_equal(sv_auth_cookie_sign(&c, SECRET, strlen(SECRET), &value), 0);
    assert_string_equal(value, wanted);
    assert_true(sv_asprintf(&header, "a=b; hadoop.auth=\"%s\"", value) >= 0);
    assert_int_equal(sv_auth_cookie_names(header, SECRET, strlen(SECRET), type, expires_ms, &found),
                     0);
    assert_string_equal(found.user, name);
    assert_string_equal(found.principal, principal);
    free(header);
    free(value);
}

static void issued(void **state)
{
    static const char *const refused[] = { "",     "a&u=b", "a;b",  "a\"b",      "a,b",
                                           "a\\b", "a b",   "a\nb", "a\xc3\xa9", "a\x7f" };
    char *value;

    (void)state;
    check_issued("alice", "alice@KRB.TEST", "kerberos", 1700000036000,
                 "u=alice&p=alice@KRB.TEST&t=kerberos&e=1700000036000"
                 "&s=/Kb0/1cWOX+JTIB+2tOQF1vr4CsrZ4PoquVnuw0djdk=");
    check_issued("bob", "bob", "simple", -1,
                 "u=bob&p=bob&t=simple&e=-1&s=45vnZrrikJIxZn+jRmYoPJhD83OXd02Jm4ujWM0J3Jw=");
    for (size_t i = 0; i < SV_ARRAY_LEN(refused); i++) {
        const struct sv_auth_cookie first = { refused[i], "a@R", "simple", 1 },
                                    principal = { "a", refused[i], "simple", 1 };

        assert_int_equal(sv_auth_cookie_sign(&first, SECRET, strlen(SECRET), &value), -EINVAL);
        assert_int_equal(sv_auth_cookie_sign(&principal, SECRET, strlen(SECRET), &value), -EINVAL);
    }
    assert_int_equal(
        sv_auth_cookie_sign(&(struct sv_auth_cookie){ "a", "a", "simple", 1 }, "", 0, &value),
        -EBADMSG);
}

static void headers_of_cookies(void **state)
{
    static const struct {
        struct sv_auth_cookie_header h;
        const char *text;
    } t[] = {
        { { "x", NULL, -1, false }, "hadoop.auth=\"x\"; Path=/; HttpOnly" },
        { { "x", NULL, -1, true }, "hadoop.auth=\"x\"; Path=/; Secure; HttpOnly" },
        { { "x", "example.com", 1700000036999, false },
          "hadoop.auth=\"x\"; Path=/; Domain=example.com; Expires=Tue, 14-Nov-2023 22:13:56 GMT; "
          "HttpOnly" },
        { { NULL, NULL, -1, false }, "hadoop.auth=; Path=/; HttpOnly" },
        { { NULL, NULL, 0, true },
          "hadoop.auth=; Path=/; Expires=Thu, 01-Jan-1970 00:00:00 GMT; Secure; HttpOnly" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++) {
        _cleanup_free_ char *text = NULL;

        assert_int_equal(sv_auth_cookie_header(&t[i].h, &text), 0);
        assert_string_equal(text, t[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),   cmocka_unit_test(forged), cmocka_unit_test(fields),
        cmocka_unit_test(absent), cmocka_unit_test(issued), cmocka_unit_test(headers_of_cookies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
