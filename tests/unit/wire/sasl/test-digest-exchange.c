/* Tests wire/sasl/digest-exchange.c and digest.c: both sides against each other, against GNU SASL,
 * and a server against hostile answers. The correct answer to a challenge is computed here by RFC
 * 2831, independently of the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <gsasl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "wire/frame.h"
#include "wire/sasl/digest-exchange.h"

static const uint8_t id[] = "some identifier \xff\x00 bytes", password[] = "\x01\x02\x00secret";

static int verify(const uint8_t *p, size_t n, uint8_t ret_password[64], size_t *ret_len,
                  char ret_user[256], const char **ret_class, struct sv_error *err, void *userdata)
{
    (void)ret_class, (void)userdata;
    if (!yarn_bytes_equal(p, n, id, sizeof(id)))
        return sv_error_set(err, -ENOENT, "unknown identifier");
    memcpy(ret_password, password, sizeof(password));
    *ret_len = sizeof(password);
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
    snprintf(text, sizeof(text), "%s:default:%s", user, pass);
    md5(text, strlen(text), h);
    memcpy(a1, h, 16);
    int n = snprintf(a1 + 16, sizeof(a1) - 16, ":%s:cnonce", nonce);
    md5(a1, 16 + (size_t)n, h);
    hex(h, 16, ha1);
    md5(uri_prefixed, strlen(uri_prefixed), h);
    hex(h, 16, ha2);
    snprintf(text, sizeof(text), "%s:%s:00000001:cnonce:auth:%s", ha1, nonce, ha2);
    md5(text, strlen(text), h);
    hex(h, 16, out);
}

static const char *text_of(struct sasl_bytes b)
{
    return (const char *)b.p;
}

struct answer { /* directives of an answer; a test corrupts one */
    const char *user, *realm, *nonce, *nc, *uri, *qop, *extra, *maxbuf, *charset;
};

/* Sends one answer to a new server. `change` may corrupt it. */
static int attempt_at(uint32_t mask, void (*change)(struct answer *a, const char *own_nonce),
                      const char **ret_class)
{
    static char nonce[128], text[8192];
    _cleanup_(sasl_server_freep) struct sasl_server *s = NULL;
    _cleanup_free_ char *user = NULL, *pass = NULL;
    struct sv_error err = { 0 };
    struct sasl_bytes answer;
    const char *class = NULL;
    char response[33], want[48];
    assert_int_equal(ipc_digest_server_new(verify, NULL, mask, &s), 0);
    const char *at = strstr(text_of(ipc_sasl_server_challenge(s)), "nonce=\"");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "nonce=\"%127[^\"]", nonce), 1);
    assert_int_equal(sv_base64_encode(id, sizeof(id), &user), 0);
    assert_int_equal(sv_base64_encode(password, sizeof(password), &pass), 0);
    struct answer a = { user,       ",realm=\"default\"", nonce, "00000001",
                        "/default", ",qop=auth",          "",    "65536",
                        "utf-8" };
    digest(user, pass, nonce, "AUTHENTICATE:/default", response);
    if (change)
        change(&a, nonce);
    int n = snprintf(text, sizeof(text),
                     "charset=%s,username=\"%s\"%s,nonce=\"%s\",nc=%s,cnonce=\"cnonce\","
                     "digest-uri=\"%s\",maxbuf=%s,response=%s%s%s",
                     a.charset, a.user, a.realm, a.nonce, a.nc, a.uri, a.maxbuf, response, a.qop,
                     a.extra);
    int r = ipc_sasl_server_step(s, (const uint8_t *)text, (size_t)n, &answer, &class, &err);
    if (ret_class)
        *ret_class = class;
    if (r < 0) {
        assert_true(class && err.text[0]);
        return r;
    }
    digest(user, pass, nonce, ":/default", response);
    snprintf(want, sizeof(want), "rspauth=%s", response);
    assert_string_equal(text_of(answer), want);
    assert_string_equal(ipc_sasl_server_user(s), "bob");
    /* the object serves once */
    assert_int_equal(
        ipc_sasl_server_step(s, (const uint8_t *)text, (size_t)n, &answer, &class, &err), -EACCES);
    return 0;
}

static int attempt(void (*change)(struct answer *a, const char *own_nonce), const char **ret_class)
{
    return attempt_at(0, change, ret_class);
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
CHANGE(maxbuf, a->extra = ",maxbuf=1", a->maxbuf = "")
CHANGE(unknown, a->extra = ",x-extra=1")
CHANGE(open_quote, a->extra = ",authzid=\"")
CHANGE(backslash, a->extra = ",authzid=\"\\\"\"")
CHANGE(control, a->extra = ",authzid=\"\x01\"")
CHANGE(trailing, a->extra = " x")
CHANGE(no_name, a->extra = ",=x")
CHANGE(not_base64, a->user = "not base64!")
CHANGE(empty_user, a->user = "")
CHANGE(latin1, a->charset = "iso-8859-1")
CHANGE(utf16, a->charset = "utf-16")
CHANGE(maxbuf0, a->maxbuf = "0")
CHANGE(maxbuf1, a->maxbuf = "1")
CHANGE(maxbuf_wraps, a->maxbuf = "4294967296")
CHANGE(maxbuf_text, a->maxbuf = "1e5")
CHANGE(maxbuf_negative, a->maxbuf = "-1")
CHANGE(two_responses, a->extra = ",response=0123456789abcdef0123456789abcdef")
CHANGE(two_charsets, a->extra = ",charset=utf-8")
CHANGE(auth_conf, a->qop = ",qop=auth-conf,cipher=\"3des\"")
CHANGE(no_qop_name, a->qop = ",qop=\"\"")
CHANGE(nc_big, a->nc = "00000001ffffffff")
CHANGE(no_realm_name, a->realm = ",realm=\"\"")
CHANGE(empty_nonce, a->nonce = "")
CHANGE(many, a->extra = ",a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1")

/* HARDENING F67, data side: an answer with one defect. */
static void f67_refused(void **state)
{
    (void)state;
    static void (*const changes[])(struct answer *, const char *) = {
        nc2,          other_nonce, other_realm,     other_uri,     long_uri,     auth_int,
        two_qops,     two_users,   cipher,          authzid,       maxbuf,       unknown,
        open_quote,   backslash,   control,         trailing,      no_name,      not_base64,
        empty_user,   many,        latin1,          utf16,         maxbuf0,      maxbuf1,
        maxbuf_wraps, maxbuf_text, maxbuf_negative, two_responses, two_charsets, auth_conf,
        no_qop_name,  nc_big,      no_realm_name,   empty_nonce,
    };
    const char *class;
    for (size_t i = 0; i < SV_ARRAY_LEN(changes); i++) {
        if (attempt(changes[i], &class) != -EACCES)
            fail_msg("case %zu was accepted", i);
        assert_string_equal(class, JAVA_SASL_EXCEPTION);
    }
}

CHANGE(maxbuf_0, a->extra = ",maxbuf=0", a->maxbuf = "")
CHANGE(maxbuf_1, a->extra = ",maxbuf=1", a->maxbuf = "")
CHANGE(maxbuf_small, a->extra = ",maxbuf=1023", a->maxbuf = "")
CHANGE(maxbuf_2_32, a->extra = ",maxbuf=4294967296", a->maxbuf = "")
CHANGE(maxbuf_minus, a->extra = ",maxbuf=-1", a->maxbuf = "")
CHANGE(conf_rc4_40, a->qop = ",qop=auth-conf", a->extra = ",cipher=rc4-40")
CHANGE(conf_des, a->qop = ",qop=auth-conf", a->extra = ",cipher=des")
CHANGE(conf_rc4, a->qop = ",qop=auth-conf", a->extra = ",cipher=rc4")
CHANGE(conf_none, a->qop = ",qop=auth-conf")
CHANGE(no_qop, a->qop = "")
CHANGE(int_cipher, a->qop = ",qop=auth-int", a->extra = ",cipher=3des")
CHANGE(qop_list, a->qop = ",qop=\"auth-int,auth-conf\"")
CHANGE(charset_latin, a->charset = "charset=iso-8859-1,")
CHANGE(charset_twice, a->charset = "charset=utf-8,charset=utf-8,")
CHANGE(nc_9, a->nc = "000000001")

/* A server that requires integrity or privacy accepts nothing less, and no weak cipher. */
static void test_F67_protection(void **state)
{
    (void)state;
    static void (*const changes[])(struct answer *, const char *) = {
        NULL,         no_qop,        maxbuf_0,      maxbuf_1, maxbuf_small, maxbuf_2_32,
        maxbuf_minus, conf_rc4_40,   conf_des,      conf_rc4, conf_none,    int_cipher,
        qop_list,     charset_latin, charset_twice, nc_9,     auth_int,
    };
    const char *class;
    for (size_t i = 0; i < SV_ARRAY_LEN(changes); i++) {
        if (attempt_at(IPC_QOP_INTEGRITY | IPC_QOP_PRIVACY, changes[i], &class) != -EACCES)
            fail_msg("case %zu was accepted", i);
        assert_string_equal(class, JAVA_SASL_EXCEPTION);
    }
}

static int step(const void *p, size_t n)
{
    _cleanup_(sasl_server_freep) struct sasl_server *s = NULL;
    struct sv_error err = { 0 };
    struct sasl_bytes answer;
    const char *class;
    assert_int_equal(ipc_digest_server_new(verify, NULL, 0, &s), 0);
    return ipc_sasl_server_step(s, p, n, &answer, &class, &err);
}

static void f67_sizes(void **state)
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

/* ---- Client and server of wire/ ---- */

static const struct yarn_token token = {
    .id = id, .id_len = sizeof(id), .password = password, .password_len = sizeof(password)
};

static void test_both(void **state)
{
    (void)state;
    _cleanup_(sasl_server_freep) struct sasl_server *s = NULL;
    _cleanup_(sasl_client_freep) struct sasl_client *c = NULL;
    struct sv_error err = { 0 };
    struct sasl_bytes out, answer;
    const char *class;
    size_t n;
    assert_int_equal(ipc_digest_server_new(verify, NULL, 0, &s), 0);
    assert_int_equal(ipc_digest_client_new(&token, 0, &c), 0);
    struct sasl_bytes challenge = ipc_sasl_server_challenge(s);
    assert_int_equal(ipc_sasl_client_step(c, challenge.p, challenge.n, &out, &err), 0);
    assert_int_equal(ipc_sasl_server_step(s, out.p, out.n, &answer, &class, &err), 0);
    assert_true(ipc_sasl_server_done(s));
    assert_false(ipc_sasl_client_done(c));
    assert_int_equal(ipc_sasl_client_step(c, answer.p, answer.n, &out, &err), 0);
    assert_true(ipc_sasl_client_done(c));
    assert_true(yarn_bytes_equal(ipc_sasl_server_token_id(s, &n), sizeof(id), id, sizeof(id)));
    assert_int_equal(n, sizeof(id));
}

/* ---- A client of another service ---- */

/* With this challenge; the answer, or the words of the error. */
static int login(const struct digest_login *who, uint32_t mask, const char *challenge, char *ret)
{
    _cleanup_(sasl_client_freep) struct sasl_client *c = NULL;
    struct sv_error err = { 0 };
    struct sasl_bytes out;
    int r = ipc_digest_client_login(who, mask, &c);
    if (r < 0)
        return r;
    assert_int_equal(ipc_digest_client_qop(c), 0);
    r = ipc_sasl_client_step(c, (const uint8_t *)challenge, strlen(challenge), &out, &err);
    snprintf(ret, 4096, "%s", r < 0 ? err.text : text_of(out));
    if (r == 0)
        assert_int_equal(ipc_digest_client_qop(c), IPC_QOP_INTEGRITY);
    return r;
}

#define CHALLENGE(realm) realm "nonce=\"n\",qop=\"auth,auth-int\",charset=utf-8,algorithm=md5-sess"

static void test_login(void **state)
{
    (void)state;
    struct digest_login who = { "7 BP-1 bm9uY2U=", "secret", "0", "hdfs/0", "a.key" };
    char text[4096];
    assert_int_equal(login(&who, IPC_QOP_ALL, CHALLENGE("realm=\"0\","), text), 0);
    assert_non_null(strstr(text, "username=\"7 BP-1 bm9uY2U=\",realm=\"0\",nonce=\"n\""));
    assert_non_null(strstr(text, "digest-uri=\"hdfs/0\""));
    assert_int_equal(login(&who, IPC_QOP_ALL, CHALLENGE(""), text), 0);
    assert_non_null(strstr(text, "realm=\"0\""));
    assert_int_equal(login(&who, IPC_QOP_ALL, CHALLENGE("realm=\"default\","), text), -EACCES);
    assert_int_equal(login(&who, IPC_QOP_PRIVACY, CHALLENGE(""), text), -EACCES);
    assert_non_null(strstr(text, "a.key here asks for privacy"));
    who.user = "a\"b";
    assert_int_equal(login(&who, IPC_QOP_ALL, CHALLENGE(""), text), -EINVAL);
    who.user = "a";
    who.password = "\\";
    assert_int_equal(login(&who, IPC_QOP_ALL, CHALLENGE(""), text), -EINVAL);
}

/* ---- GNU SASL, an independent implementation, as the other side ---- */

static int gsasl_property(Gsasl *ctx, Gsasl_session *session, Gsasl_property prop)
{
    (void)ctx, (void)session, (void)prop;
    return GSASL_NO_CALLBACK;
}

static Gsasl_session *gsasl_side(Gsasl *ctx, bool server, const char *qop)
{
    Gsasl_session *g = NULL;
    _cleanup_free_ char *user = NULL, *pass = NULL;
    assert_int_equal(sv_base64_encode(id, sizeof(id), &user), 0);
    assert_int_equal(sv_base64_encode(password, sizeof(password), &pass), 0);
    gsasl_callback_set(ctx, gsasl_property);
    assert_int_equal((server ? gsasl_server_start : gsasl_client_start)(ctx, SASL_MECHANISM, &g),
                     GSASL_OK);
    gsasl_property_set(g, GSASL_AUTHID, user);
    gsasl_property_set(g, GSASL_PASSWORD, pass);
    gsasl_property_set(g, GSASL_REALM, SASL_SERVER_ID);
    gsasl_property_set(g, GSASL_SERVICE, "");
    gsasl_property_set(g, GSASL_HOSTNAME, SASL_SERVER_ID);
    gsasl_property_set(g, server ? GSASL_QOPS : GSASL_QOP, qop);
    return g;
}

/* Its answer to the text, copied. */
static char *gsasl_say(Gsasl_session *g, const char *text, int wanted)
{
    char *out = NULL, *copy;
    size_t n = 0;
    assert_int_equal(gsasl_step(g, text, text ? strlen(text) : 0, &out, &n), wanted);
    copy = strndup(out ? out : "", n);
    gsasl_free(out);
    return copy;
}

/* Bytes in both directions through both layers, so that keys and numbers are the same. */
static void layers_agree(struct sasl_layer *l, Gsasl_session *g)
{
    for (int i = 0; i < 3; i++) {
        static const char text[] = "bytes \0 of a packet";
        uint8_t wrapped[128], *plain;
        char *out = NULL;
        size_t n = 0;
        /* the library puts RFC 2222's length in front, Hadoop's packets have their own */
        size_t size = ipc_sasl_layer_size(l, sizeof(text));
        assert_int_equal(ipc_sasl_layer_wrap(l, (const uint8_t *)text, sizeof(text), wrapped + 4),
                         0);
        wrapped[0] = wrapped[1] = wrapped[2] = 0;
        wrapped[3] = (uint8_t)size;
        assert_int_equal(gsasl_decode(g, (const char *)wrapped, 4 + size, &out, &n), GSASL_OK);
        assert_int_equal(n, sizeof(text));
        assert_memory_equal(out, text, n);
        gsasl_free(out);
        assert_int_equal(gsasl_encode(g, text, sizeof(text), &out, &n), GSASL_OK);
        assert_int_equal(n, 4 + size);
        memcpy(wrapped, out + 4, size);
        gsasl_free(out);
        assert_int_equal(ipc_sasl_layer_unwrap(l, wrapped, size, &plain, &n), 0);
        assert_int_equal(n, sizeof(text));
        assert_memory_equal(plain, text, n);
    }
}

static void with_gsasl_client(Gsasl *ctx, uint32_t qop, const char *name)
{
    _cleanup_(sasl_server_freep) struct sasl_server *s = NULL;
    struct sv_error err = { 0 };
    struct sasl_bytes answer;
    const char *class;
    Gsasl_session *g = gsasl_side(ctx, false, name);
    assert_int_equal(ipc_digest_server_new(verify, NULL, IPC_QOP_ALL, &s), 0);
    _cleanup_free_ char *response =
        gsasl_say(g, text_of(ipc_sasl_server_challenge(s)), GSASL_NEEDS_MORE);
    assert_int_equal(
        ipc_sasl_server_step(s, (uint8_t *)response, strlen(response), &answer, &class, &err), 0);
    free(gsasl_say(g, text_of(answer), GSASL_OK));
    _cleanup_(sasl_layer_freep) struct sasl_layer *l = ipc_sasl_server_take_layer(s);
    assert_true((l != NULL) == (qop != IPC_QOP_AUTH));
    if (l)
        layers_agree(l, g);
    gsasl_finish(g);
}

static void with_gsasl_server(Gsasl *ctx, uint32_t qop, const char *name)
{
    _cleanup_(sasl_client_freep) struct sasl_client *c = NULL;
    struct sv_error err = { 0 };
    struct sasl_bytes text;
    Gsasl_session *g = gsasl_side(ctx, true, name);
    assert_int_equal(ipc_digest_client_new(&token, qop, &c), 0);
    _cleanup_free_ char *challenge = gsasl_say(g, NULL, GSASL_NEEDS_MORE);
    assert_int_equal(ipc_sasl_client_step(c, (uint8_t *)challenge, strlen(challenge), &text, &err),
                     0);
    _cleanup_free_ char *rspauth = gsasl_say(g, text_of(text), GSASL_OK);
    assert_int_equal(ipc_sasl_client_step(c, (uint8_t *)rspauth, strlen(rspauth), &text, &err), 0);
    _cleanup_(sasl_layer_freep) struct sasl_layer *l = ipc_sasl_client_take_layer(c);
    assert_true((l != NULL) == (qop != IPC_QOP_AUTH));
    if (l)
        layers_agree(l, g);
    gsasl_finish(g);
}

static void test_gsasl(void **state)
{
    (void)state;
    Gsasl *ctx = NULL;
    assert_int_equal(gsasl_init(&ctx), GSASL_OK);
    with_gsasl_client(ctx, IPC_QOP_AUTH, "qop-auth");
    with_gsasl_client(ctx, IPC_QOP_INTEGRITY, "qop-int");
    with_gsasl_server(ctx, IPC_QOP_AUTH, "qop-auth");
    with_gsasl_server(ctx, IPC_QOP_INTEGRITY, "qop-int");
    gsasl_done(ctx);
}

static int client_challenge(const char *challenge)
{
    _cleanup_(sasl_client_freep) struct sasl_client *c = NULL;
    struct sv_error err = { 0 };
    struct sasl_bytes out;
    assert_int_equal(ipc_digest_client_new(&token, 0, &c), 0);
    int r = ipc_sasl_client_step(c, (const uint8_t *)challenge, strlen(challenge), &out, &err);
    if (r < 0)
        return r;
    /* a server that does not know the password */
    static const char lie[] = "rspauth=00000000000000000000000000000000";
    assert_int_equal(ipc_sasl_client_step(c, (const uint8_t *)lie, strlen(lie), &out, &err),
                     -EACCES);
    assert_false(ipc_sasl_client_done(c));
    /* and no second try */
    assert_int_equal(ipc_sasl_client_step(c, (const uint8_t *)lie, strlen(lie), &out, &err),
                     -EACCES);
    return 0;
}

static void test_client(void **state)
{
    (void)state;
    assert_int_equal(client_challenge("realm=\"default\",nonce=\"abc\",qop=\"auth\",charset=utf-8,"
                                      "algorithm=md5-sess"),
                     0);
    assert_int_equal(client_challenge("realm=\"default\",nonce=\"abc\",qop=\"auth-conf\","
                                      "charset=utf-8,algorithm=md5-sess,cipher=\"rc4\""),
                     -EACCES);
    assert_int_equal(client_challenge("realm=\"elsewhere\",nonce=\"abc\",algorithm=md5-sess"),
                     -EACCES);
    assert_int_equal(client_challenge("nonce=\"a\",nonce=\"b\",algorithm=md5-sess"), -EACCES);
    assert_int_equal(client_challenge("nonce=\"\",algorithm=md5-sess"), -EACCES);
    assert_int_equal(client_challenge("nonce=\"a\",algorithm=md5"), -EACCES);
    assert_int_equal(client_challenge("nonsense"), -EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(f67_refused),
        cmocka_unit_test(f67_sizes),    cmocka_unit_test(test_F67_protection),
        cmocka_unit_test(test_gsasl),   cmocka_unit_test(test_both),
        cmocka_unit_test(test_client),  cmocka_unit_test(test_login),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
