/* DIGEST-MD5: both sides against each other, and a server against hostile answers. A right answer to
 * a challenge is computed here by the formula of RFC 2831, independently of the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/frame.h"
#include "wire/sasl.h"

static const uint8_t id[] = "some identifier \xff\x00 bytes", password[] = "\x01\x02\x00secret";

static int verify(const uint8_t *p, size_t n, uint8_t ret_password[64], size_t *ret_len,
                  char ret_user[256], const char **ret_class, struct sv_error *err, void *userdata)
{
    (void)ret_class, (void)userdata;
    if (!yarn_bytes_equal(p, n, id, sizeof id))
        return sv_error_set(err, -ENOENT, "unknown identifier");
    memcpy(ret_password, password, sizeof password);
    *ret_len = sizeof password;
    snprintf(ret_user, 256, "bob");
    return 0;
}

/* ---- RFC 2831 2.1.2.1 by hand ---- */

static void hex(const uint8_t *p, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", p[i]);
}

static void md5(const void *p, size_t n, uint8_t out[16])
{
    unsigned len;
    assert_int_equal(EVP_Digest(p, n, out, &len, EVP_md5(), NULL), 1);
}

static void digest(const char *user, const char *pass, const char *nonce, const char *uri_prefixed,
                   char out[33])
{
    char a1[2048], text[4096], ha1[33], ha2[33];
    uint8_t h[16];
    snprintf(text, sizeof text, "%s:default:%s", user, pass);
    md5(text, strlen(text), h);
    memcpy(a1, h, 16);
    int n = snprintf(a1 + 16, sizeof a1 - 16, ":%s:cnonce", nonce);
    md5(a1, 16 + (size_t)n, h);
    hex(h, 16, ha1);
    md5(uri_prefixed, strlen(uri_prefixed), h);
    hex(h, 16, ha2);
    snprintf(text, sizeof text, "%s:%s:00000001:cnonce:auth:%s", ha1, nonce, ha2);
    md5(text, strlen(text), h);
    hex(h, 16, out);
}

struct answer { /* directives that make an answer; a test spoils one */
    const char *user, *realm, *nonce, *nc, *uri, *qop, *extra;
};

/* Sends one answer to a fresh server. `change` may spoil it. */
static int attempt(void (*change)(struct answer *a, const char *own_nonce), const char **ret_class)
{
    static char nonce[128], text[8192];
    _cleanup_(sasl_server_freep) struct sasl_server *s = NULL;
    _cleanup_free_ char *user = NULL, *pass = NULL;
    struct sv_error err = { 0 };
    const char *answer = NULL, *class = NULL;
    char response[33], want[48];
    assert_int_equal(sasl_server_new(verify, NULL, &s), 0);
    const char *at = strstr(sasl_server_challenge(s), "nonce=\"");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "nonce=\"%127[^\"]", nonce), 1);
    assert_int_equal(sv_base64_encode(id, sizeof id, &user), 0);
    assert_int_equal(sv_base64_encode(password, sizeof password, &pass), 0);
    struct answer a = { user, ",realm=\"default\"", nonce, "00000001", "/default", ",qop=auth", "" };
    digest(user, pass, nonce, "AUTHENTICATE:/default", response);
    if (change)
        change(&a, nonce);
    int n = snprintf(text, sizeof text,
                     "charset=utf-8,username=\"%s\"%s,nonce=\"%s\",nc=%s,cnonce=\"cnonce\","
                     "digest-uri=\"%s\",maxbuf=65536,response=%s%s%s",
                     a.user, a.realm, a.nonce, a.nc, a.uri, response, a.qop, a.extra);
    int r = sasl_server_step(s, (const uint8_t *)text, (size_t)n, &answer, &class, &err);
    if (ret_class)
        *ret_class = class;
    if (r < 0) {
        assert_true(class && err.text[0]);
        return r;
    }
    digest(user, pass, nonce, ":/default", response);
    snprintf(want, sizeof want, "rspauth=%s", response);
    assert_string_equal(answer, want);
    assert_string_equal(sasl_server_user(s), "bob");
    /* the object is used up */
    assert_int_equal(sasl_server_step(s, (const uint8_t *)text, (size_t)n, &answer, &class, &err),
                     -EACCES);
    return 0;
}

static void test_by_hand(void **state)
{
    (void)state;
    assert_int_equal(attempt(NULL, NULL), 0);
}

#define CHANGE(name, ...)                                                                          \
    static void name(struct answer *a, const char *own_nonce)                                      \
    {                                                                                              \
        (void)own_nonce;                                                                           \
        __VA_ARGS__;                                                                               \
    }
CHANGE(nc2, a->nc = "00000002")
CHANGE(other_nonce, a->nonce = "AAAAAAAAAAAAAAAAAAAAAA==")
CHANGE(other_realm, a->realm = ",realm=\"other\"")
CHANGE(other_uri, a->uri = "/other")
CHANGE(long_uri, a->uri = "hdfs/default")
CHANGE(auth_int, a->qop = ",qop=auth-int")
CHANGE(two_qops, a->extra = ",qop=auth")
CHANGE(two_users, a->extra = ",username=\"x\"")
CHANGE(cipher, a->extra = ",cipher=rc4-40")
CHANGE(authzid, a->extra = ",authzid=\"root\"")
CHANGE(maxbuf, a->extra = ",maxbuf=1")
CHANGE(unknown, a->extra = ",x-extra=1")
CHANGE(open_quote, a->extra = ",authzid=\"")
CHANGE(backslash, a->extra = ",authzid=\"\\\"\"")
CHANGE(control, a->extra = ",authzid=\"\x01\"")
CHANGE(trailing, a->extra = " x")
CHANGE(no_name, a->extra = ",=x")
CHANGE(not_base64, a->user = "not base64!")
CHANGE(empty_user, a->user = "")
CHANGE(many, a->extra = ",a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1")

static void test_refused(void **state)
{
    (void)state;
    static void (*const changes[])(struct answer *, const char *) = {
        nc2, other_realm, other_uri, long_uri, auth_int, two_qops, two_users, cipher, authzid, maxbuf,
        unknown, open_quote, backslash, control, trailing, no_name, not_base64, empty_user, many,
    };
    const char *class;
    for (size_t i = 0; i < SV_ARRAY_LEN(changes); i++) {
        if (attempt(changes[i], &class) != -EACCES)
            fail_msg("case %zu was accepted", i);
        assert_string_equal(class, JAVA_SASL_EXCEPTION);
    }
    /* a nonce of another connection fits no password */
    assert_int_equal(attempt(other_nonce, &class), -EACCES);
    assert_string_equal(class, JAVA_INVALID_TOKEN);
}

static int step(const void *p, size_t n)
{
    _cleanup_(sasl_server_freep) struct sasl_server *s = NULL;
    struct sv_error err = { 0 };
    const char *answer, *class;
    assert_int_equal(sasl_server_new(verify, NULL, &s), 0);
    return sasl_server_step(s, p, n, &answer, &class, &err);
}

static void test_sizes(void **state)
{
    (void)state;
    _cleanup_free_ char *big = malloc(1 << 20);
    memset(big, 'a', 1 << 20);
    assert_int_equal(step("", 0), -EACCES);
    assert_int_equal(step("\0", 1), -EACCES);
    assert_int_equal(step(",,,,", 4), -EACCES);
    assert_int_equal(step(big, IPC_SASL_RESPONSE_MAX), -EACCES);
    assert_int_equal(step(big, IPC_SASL_RESPONSE_MAX + 1), -EACCES);
    assert_int_equal(step(big, 1 << 20), -EACCES);
    memcpy(big, "username=\"", 10);
    assert_int_equal(step(big, 1 << 20), -EACCES);
}

/* ---- Both sides of this room ---- */

static const struct yarn_token token = { .id = id, .id_len = sizeof id, .password = password,
                                         .password_len = sizeof password };

static void test_both(void **state)
{
    (void)state;
    _cleanup_(sasl_server_freep) struct sasl_server *s = NULL;
    _cleanup_(sasl_client_freep) struct sasl_client *c = NULL;
    struct sv_error err = { 0 };
    const char *out, *answer, *class;
    size_t n;
    assert_int_equal(sasl_server_new(verify, NULL, &s), 0);
    assert_int_equal(sasl_client_new(&token, &c), 0);
    const char *challenge = sasl_server_challenge(s);
    assert_int_equal(sasl_client_step(c, (const uint8_t *)challenge, strlen(challenge), &out, &err), 0);
    assert_int_equal(sasl_server_step(s, (const uint8_t *)out, strlen(out), &answer, &class, &err), 0);
    assert_false(sasl_client_done(c));
    assert_int_equal(sasl_client_step(c, (const uint8_t *)answer, strlen(answer), &out, &err), 0);
    assert_true(sasl_client_done(c));
    assert_true(yarn_bytes_equal(sasl_server_token_id(s, &n), sizeof id, id, sizeof id));
    assert_int_equal(n, sizeof id);
}

static int client_challenge(const char *challenge)
{
    _cleanup_(sasl_client_freep) struct sasl_client *c = NULL;
    struct sv_error err = { 0 };
    const char *out;
    assert_int_equal(sasl_client_new(&token, &c), 0);
    int r = sasl_client_step(c, (const uint8_t *)challenge, strlen(challenge), &out, &err);
    if (r < 0)
        return r;
    /* a server that does not know the password */
    static const char lie[] = "rspauth=00000000000000000000000000000000";
    assert_int_equal(sasl_client_step(c, (const uint8_t *)lie, strlen(lie), &out, &err), -EACCES);
    assert_false(sasl_client_done(c));
    /* and no second try */
    assert_int_equal(sasl_client_step(c, (const uint8_t *)lie, strlen(lie), &out, &err), -EACCES);
    return 0;
}

static void test_client(void **state)
{
    (void)state;
    assert_int_equal(client_challenge("realm=\"default\",nonce=\"abc\",qop=\"auth\",charset=utf-8,"
                                      "algorithm=md5-sess"), 0);
    assert_int_equal(client_challenge("realm=\"default\",nonce=\"abc\",qop=\"auth-conf\","
                                      "charset=utf-8,algorithm=md5-sess,cipher=\"rc4\""), -EACCES);
    assert_int_equal(client_challenge("realm=\"elsewhere\",nonce=\"abc\",algorithm=md5-sess"), -EACCES);
    assert_int_equal(client_challenge("nonce=\"a\",nonce=\"b\",algorithm=md5-sess"), -EACCES);
    assert_int_equal(client_challenge("nonce=\"\",algorithm=md5-sess"), -EACCES);
    assert_int_equal(client_challenge("nonce=\"a\",algorithm=md5"), -EACCES);
    assert_int_equal(client_challenge("nonsense"), -EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_refused), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_both),    cmocka_unit_test(test_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
