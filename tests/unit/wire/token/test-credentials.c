/* Tests wire/token/credentials.c and writable.c against bytes written by a real Hadoop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/lib/golden.h"
#include "wire/token/token.h"
#include "wire/token/writable.h"

static const int64_t vlongs[] = { 0,
                                  1,
                                  -1,
                                  127,
                                  128,
                                  -112,
                                  -113,
                                  -128,
                                  -129,
                                  255,
                                  256,
                                  65535,
                                  65536,
                                  16777215,
                                  16777216,
                                  INT32_MAX,
                                  INT32_MIN,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_C(1) << 40,
                                  -(INT64_C(1) << 40) };

static void test_vlongs(void **state)
{
    (void)state;
    struct golden g = golden("vlongs");
    struct sv_buf in = SV_BUF_VIEW(g.p, g.n);
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0);
    for (size_t i = 0; i < SV_ARRAY_LEN(vlongs); i++) {
        int64_t v;
        assert_int_equal(ipc_writable_get_vlong(&in, &v), 0);
        assert_true(v == vlongs[i]);
        assert_int_equal(ipc_writable_put_vlong(&out, v), 0);
    }
    assert_int_equal(sv_buf_left(&in), 0);
    assert_true(yarn_bytes_equal(out.data, out.len, g.p, g.n));
}

static void check(const struct yarn_credentials *c)
{
    assert_int_equal(c->n_tokens, 2);
    assert_int_equal(c->n_secrets, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct yarn_token *t = &c->tokens[i].token;
        if (strcmp(c->tokens[i].alias, "127.0.0.1:8041") == 0) {
            assert_string_equal(t->kind, YARN_KIND_NM);
            assert_string_equal(t->service, "127.0.0.1:8041");
            struct golden id = golden("nm-token-id"), pw = golden("nm-token-password-HmacSHA1");
            assert_true(yarn_bytes_equal(t->id, t->id_len, id.p, id.n));
            assert_true(yarn_bytes_equal(t->password, t->password_len, pw.p, pw.n));
        } else {
            assert_string_equal(c->tokens[i].alias, "");
            assert_string_equal(t->kind, YARN_KIND_AMRM);
            assert_string_equal(t->service, "h\xc3\xa4st:8030");
        }
        if (strcmp(c->secrets[i].alias, "empty") == 0) {
            assert_int_equal(c->secrets[i].len, 0);
        } else {
            assert_string_equal(c->secrets[i].alias, "MapReduceShuffleToken");
            assert_int_equal(c->secrets[i].len, 300);
            for (size_t k = 0; k < 300; k++)
                assert_int_equal(c->secrets[i].secret[k], k & 0xff);
        }
    }
}

static void test_both_versions(void **state)
{
    (void)state;
    static const char *const names[] = { "credentials-writable", "credentials-protobuf" };
    for (size_t i = 0; i < 2; i++) {
        struct golden g = golden(names[i]);
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0);
        struct yarn_credentials c;
        struct sv_error err = { 0 };
        assert_int_equal(yarn_credentials_parse(g.p, g.n, a, &c, &err), 0);
        check(&c);
        assert_int_equal(yarn_credentials_write(&c, &out), 0);
        if (i == 0)
            assert_true(yarn_bytes_equal(out.data, out.len, g.p, g.n));
        struct yarn_credentials again;
        assert_int_equal(yarn_credentials_parse(out.data, out.len, a, &again, &err), 0);
        check(&again);
        out.len = 0;
        assert_int_equal(yarn_credentials_write_as(&c, YARN_CREDENTIALS_PROTOBUF, &out), 0);
        if (i == 1)
            assert_true(yarn_bytes_equal(out.data, out.len, g.p, g.n));
        assert_int_equal(yarn_credentials_parse(out.data, out.len, a, &again, &err), 0);
        check(&again);
    }
}

static void test_empty_and_add(void **state)
{
    (void)state;
    struct golden g = golden("credentials-empty");
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0);
    struct yarn_credentials c;
    assert_int_equal(yarn_credentials_parse(NULL, 0, a, &c, NULL), 0);
    assert_int_equal(yarn_credentials_write(&c, &out), 0);
    assert_true(yarn_bytes_equal(out.data, out.len, g.p, g.n));
    struct yarn_token t = { .id = (const uint8_t *)"1",
                            .id_len = 1,
                            .password = (const uint8_t *)"2",
                            .password_len = 1,
                            .kind = "k",
                            .service = "s" };
    assert_int_equal(yarn_credentials_add(a, &c, "one", &t), 0);
    assert_int_equal(yarn_credentials_add(a, &c, "two", &t), 0);
    t.kind = "other";
    assert_int_equal(yarn_credentials_add(a, &c, "one", &t), 0);
    assert_int_equal(c.n_tokens, 2);
    assert_string_equal(c.tokens[0].token.kind, "other");
    assert_string_equal(c.tokens[1].token.kind, "k");
    assert_int_equal(yarn_credentials_add_secret(a, &c, "s", "12", 2), 0);
    assert_int_equal(yarn_credentials_add_secret(a, &c, "t", "", 0), 0);
    assert_int_equal(yarn_credentials_add_secret(a, &c, "s", "345", 3), 0);
    assert_int_equal(c.n_secrets, 2);
    assert_true(yarn_bytes_equal(c.secrets[0].secret, c.secrets[0].len, "345", 3));
    assert_int_equal(c.secrets[1].len, 0);
}

static int parse(const void *p, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials c;
    struct sv_error err = { 0 };
    int r = yarn_credentials_parse(p, n, a, &c, &err);
    assert_true(r == 0 || (err.code == r && err.text[0]));
    return r;
}

static void test_broken(void **state)
{
    (void)state;
    static const char *const names[] = { "credentials-writable", "credentials-protobuf" };
    for (size_t k = 0; k < 2; k++) {
        struct golden g = golden(names[k]);
        for (size_t i = 1; i < g.n; i++) {
            struct golden h = g;
            assert_int_equal(parse(g.p, i), -EBADMSG);
            h.p[i] ^= (uint8_t)(1u << (i % 8));
            (void)parse(h.p, h.n);
        }
    }
    assert_int_equal(parse("HDTS\2\0\0", 7), -EBADMSG);
    assert_int_equal(parse("HDTX\0\0\0", 7), -EBADMSG);
    assert_int_equal(parse("HDTS\0\xff\0", 7), -EBADMSG);                  /* -1 tokens */
    assert_int_equal(parse("HDTS\0\x8c\x7f\xff\xff\xff\0", 11), -EBADMSG); /* 2^31-1 tokens */
    assert_int_equal(parse("HDTS\0\0\1\1a\x88\x7f\xff\xff\xff\xff\xff\xff\xff", 18), -EBADMSG);
    assert_int_equal(parse("HDTS\0\1\2a\0\0\0\0\0\0", 14), -EBADMSG);  /* NUL in an alias */
    assert_int_equal(parse("HDTS\0\1\1\xff\0\0\0\0\0", 13), -EBADMSG); /* not UTF-8 */
    _cleanup_free_ char *big = calloc(1, YARN_CREDENTIALS_MAX + 1);
    assert_int_equal(parse(big, YARN_CREDENTIALS_MAX + 1), -EMSGSIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vlongs),
        cmocka_unit_test(test_both_versions),
        cmocka_unit_test(test_empty_and_add),
        cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
