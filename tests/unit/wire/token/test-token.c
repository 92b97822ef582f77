/* Tests wire/token*.c against bytes written by a real Hadoop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "proto/security.pb-c.h"
#include "proto/yarn_token.pb-c.h"
#include "tests/lib/golden.h"
#include "wire/token/token.h"

static const struct yarn_master_key key = { .key_id = 77,
                                            .len = 8,
                                            .bytes = { 1, 2, 3, 4, 5, 6, 7, 0x88 } };

static void check_attempt(struct yarn_attempt_id id)
{
    assert_int_equal(id.app.cluster_ts, 1700000000123);
    assert_int_equal(id.app.id, 42);
    assert_int_equal(id.attempt, 3);
}

static void check_container(const char *name, bool old)
{
    struct golden g = golden(name);
    struct yarn_container_token t;
    struct sv_error err = { 0 };
    assert_int_equal(yarn_container_token_decode(g.p, g.n, &t, &err), 0);
    check_attempt(t.container.attempt);
    assert_int_equal(t.container.id, (17LL << 40) | 7);
    assert_string_equal(t.nm_addr, "node1.example.com:8041");
    assert_string_equal(t.submitter, "alice");
    assert_int_equal(t.resource.memory_mb, 2048);
    assert_int_equal(t.resource.vcores, 3);
    assert_int_equal(t.expiry_ms, 1700000600000);
    assert_int_equal(t.key_id, -123456789);
    assert_int_equal(t.rm_identifier, 1700000000123);
    assert_int_equal(t.priority, 5);
    assert_int_equal(t.creation_ms, 1700000000500);
    assert_int_equal(t.container_type, old ? 2 : 1);
    assert_int_equal(t.execution_type, old ? 1 : 2);
    assert_int_equal(t.version, old ? 0 : 1);
    assert_string_equal(t.node_label, old ? "" : "gpu");

    if (!old) { /* decoded alone */
        assert_string_equal(t.log_include, "inc.*");
        assert_true(t.log_exclude[0] != 0 && !t.log_too_long);
    }
    memset(t.log_include, 0, sizeof(t.log_include));
    memset(t.log_exclude, 0, sizeof(t.log_exclude));
    memset(t.log_rolled_include, 0, sizeof(t.log_rolled_include));
    memset(t.log_rolled_exclude, 0, sizeof(t.log_rolled_exclude));
    memset(t.log_policy, 0, sizeof(t.log_policy));
    memset(t.log_policy_parameters, 0, sizeof(t.log_policy_parameters));

    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_container_token again;
    const uint8_t *id;
    size_t n;
    assert_int_equal(yarn_container_token_encode(a, &t, &id, &n), 0);
    assert_int_equal(yarn_container_token_decode(id, n, &again, NULL), 0);
    assert_memory_equal(&t, &again, sizeof(t));
}

static void test_container(void **state)
{
    (void)state;
    struct golden g = golden("container-token-id");
    struct yarn_container_token t;
    check_container("container-token-id", false);
    check_container("2.10.2/container-token-id", false); /* the fields that it has */
    check_container("container-token-id-old", true);
    assert_int_equal(yarn_container_token_decode(g.p, g.n, &t, NULL), 0);
    assert_int_equal(t.allocation_request_id, 99);
    g = golden("2.10.2/container-token-id");
    assert_int_equal(yarn_container_token_decode(g.p, g.n, &t, NULL), 0);
    assert_int_equal(t.allocation_request_id, -1);
}

static void test_tags(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_container_token t = { .container = { { { 1, 1 }, 1 }, 1 },
                                      .nm_addr = "h:1",
                                      .submitter = "ann",
                                      .n_tags = 2,
                                      .tags = "zk\0web" },
                                again;
    Hadoop__Yarn__ContainerTokenIdentifierProto *m;
    char **tags, *many[YARN_TOKEN_TAGS_MAX + 1];
    const uint8_t *id;
    size_t n;

    (void)state;
    assert_int_equal(yarn_container_token_encode(a, &t, &id, &n), 0);
    assert_int_equal(yarn_container_token_decode(id, n, &again, NULL), 0);
    tags = yarn_container_token_tags(a, &again);
    assert_int_equal(again.n_tags, 2);
    assert_string_equal(tags[0], "zk");
    assert_string_equal(tags[1], "web");
    assert_null(tags[2]);
    m = hadoop__yarn__container_token_identifier_proto__unpack(sv_arena_protobuf(a), n, id);
    assert_non_null(m);
    m->allocation_tags = many;
    for (m->n_allocation_tags = 0; m->n_allocation_tags < SV_ARRAY_LEN(many);)
        many[m->n_allocation_tags++] = (char *)(uintptr_t) "t";
    n = protobuf_c_message_get_packed_size(&m->base);
    id = sv_arena_alloc(a, n);
    (void)protobuf_c_message_pack(&m->base, (uint8_t *)(uintptr_t)id);
    assert_int_equal(yarn_container_token_decode(id, n, &again, NULL), 0);
    assert_int_equal(again.n_tags, 0); /* too many: none, as if it had no tag */
}

/* Hadoop 2.5's Writables have the same meaning, without trailing fields. */
static void test_old(void **state)
{
    (void)state;
    struct golden now = golden("nm-token-id"), then = golden("nm-token-id-old");
    struct yarn_nm_token a = { 0 }, b = { 0 };
    struct yarn_container_token c;
    struct yarn_amrm_token m;
    assert_int_equal(yarn_nm_token_decode(now.p, now.n, &a, NULL), 0);
    assert_int_equal(yarn_nm_token_decode(then.p, then.n, &b, NULL), 0);
    assert_memory_equal(&a, &b, sizeof(a));
    then.p[then.n++] = 0;
    assert_int_equal(yarn_nm_token_decode(then.p, then.n, &b, NULL), -EBADMSG);
    then = golden("amrm-token-id-old");
    assert_int_equal(yarn_amrm_token_decode(then.p, then.n, &m, NULL), 0);
    check_attempt(m.attempt);
    assert_int_equal(m.key_id, -5);
    then = golden("container-token-id-old");
    for (size_t i = 0; i < then.n; i++) {
        /* Hadoop before 2.5 ended where the length of a LogAggregationContext stands since */
        int wanted = i == then.n - 4 ? 0 : -EBADMSG;
        assert_int_equal(yarn_container_token_decode(then.p, i, &c, NULL), wanted);
    }
}

static void test_users(void **state)
{
    (void)state;
    static const char *const names[] = { "rm-delegation-token-id", "timeline-delegation-token-id",
                                         "hdfs-delegation-token-id" };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct golden g = golden("client-am-token-id");
    struct yarn_client_am_token c;
    const uint8_t *id;
    size_t n;
    assert_int_equal(yarn_client_am_token_decode(g.p, g.n, &c, NULL), 0);
    check_attempt(c.attempt);
    assert_string_equal(c.client, "alice");
    assert_int_equal(yarn_client_am_token_encode(a, &c, &id, &n), 0);
    assert_true(yarn_bytes_equal(id, n, g.p, g.n));
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        struct yarn_delegation_token d;
        g = golden(names[i]);
        assert_int_equal(yarn_delegation_token_decode(g.p, g.n, &d, NULL), 0);
        assert_string_equal(d.owner, "alice");
        assert_string_equal(d.renewer, "yarn");
        assert_string_equal(d.real_user, "oozie");
        assert_int_equal(d.issue_ms, 1700000000500);
        assert_int_equal(d.max_ms, 1700604800500);
        assert_int_equal(d.sequence, 1234567);
        assert_int_equal(d.key_id, 89);
        assert_int_equal(i == 2 ? yarn_delegation_token_encode_writable(a, &d, &id, &n)
                                : yarn_delegation_token_encode(a, &d, &id, &n),
                         0);
        assert_true(yarn_bytes_equal(id, n, g.p, g.n));
        for (size_t k = 0; k < g.n; k++)
            if (i == 2)
                assert_int_equal(yarn_delegation_token_decode(g.p, k, &d, NULL), -EBADMSG);
            else
                (void)!yarn_delegation_token_decode(g.p, k, &d, NULL);
    }
}

static void test_text(void **state)
{
    (void)state;
    struct golden g = golden("token-text");
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_token t;
    char text[sizeof(g.p) + 3];
    const char *again;
    memcpy(text, g.p, g.n);
    text[g.n] = 0;
    assert_int_equal(yarn_token_parse(a, text, &t), 0);
    assert_string_equal(t.kind, YARN_KIND_NM);
    assert_string_equal(t.service, "127.0.0.1:8041");
    assert_int_equal(yarn_token_text(a, &t, &again), 0);
    assert_string_equal(again, text);
    memcpy(text + g.n, "==", g.n % 4 == 2 ? 3 : g.n % 4 == 3 ? 2 : 0);
    if (g.n % 4 == 3)
        text[g.n + 1] = 0;
    assert_int_equal(yarn_token_parse(a, text, &t), 0);
    static const char *const bad[] = { "",        "=",    "A",   "AAAAA",
                                       "A\nAA",   "A AA", "//8", "\xff\xff\xff\xff",
                                       "AAAA=AAA" };
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(yarn_token_parse(a, bad[i], &t), -EBADMSG);
}

static void test_nm_and_amrm(void **state)
{
    (void)state;
    struct golden g = golden("nm-token-id"), m = golden("amrm-token-id");
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_nm_token t;
    struct yarn_amrm_token am;
    const uint8_t *id;
    size_t n;
    assert_int_equal(yarn_nm_token_decode(g.p, g.n, &t, NULL), 0);
    check_attempt(t.attempt);
    assert_string_equal(t.node.host, "node1.example.com");
    assert_int_equal(t.node.port, 8041);
    assert_string_equal(t.submitter, "alice");
    assert_int_equal(t.key_id, 77);
    assert_int_equal(yarn_nm_token_encode(a, &t, &id, &n), 0);
    assert_true(yarn_bytes_equal(id, n, g.p, g.n)); /* the same bytes as Hadoop's */
    assert_int_equal(yarn_amrm_token_decode(m.p, m.n, &am, NULL), 0);
    check_attempt(am.attempt);
    assert_int_equal(am.key_id, -5);
    assert_int_equal(yarn_amrm_token_encode(a, &am, &id, &n), 0);
    assert_true(yarn_bytes_equal(id, n, m.p, m.n));
}

static void test_passwords(void **state)
{
    (void)state;
    static const char *const names[] = { "HmacSHA1", "HmacSHA224", "HmacSHA256", "HmacSHA384",
                                         "HmacSHA512" };
    struct golden id = golden("nm-token-id");
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        char name[64];
        snprintf(name, sizeof(name), "nm-token-password-%s", names[i]);
        struct golden want = golden(name);
        enum yarn_hmac alg;
        uint8_t got[YARN_TOKEN_PASSWORD_MAX];
        size_t n;
        assert_int_equal(yarn_hmac_parse(names[i], &alg), 0);
        assert_int_equal(yarn_token_password(alg, &key, id.p, id.n, got, &n), 0);
        assert_true(yarn_bytes_equal(got, n, want.p, want.n));
        got[n - 1] ^= 1;
        assert_false(yarn_bytes_equal(got, n, want.p, want.n));
        assert_false(yarn_bytes_equal(got, n - 1, want.p, want.n));
    }
    enum yarn_hmac alg;
    assert_int_equal(yarn_hmac_parse("HmacMD5", &alg), -EINVAL);
}

static void test_master_key(void **state)
{
    (void)state;
    struct yarn_master_key a, b;
    assert_int_equal(yarn_master_key_generate(1, 32, &a), 0);
    assert_int_equal(yarn_master_key_generate(1, 32, &b), 0);
    assert_false(yarn_bytes_equal(a.bytes, a.len, b.bytes, b.len));
    assert_int_equal(yarn_master_key_generate(1, 0, &a), -EINVAL);
    assert_int_equal(yarn_master_key_generate(1, YARN_MASTER_KEY_MAX + 1, &a), -EINVAL);
}

/* Every truncation and every flipped byte is decoded or rejected without a crash. */
static void test_broken(void **state)
{
    (void)state;
    static const char *const names[] = { "container-token-id", "nm-token-id", "amrm-token-id" };
    struct yarn_container_token c;
    struct yarn_nm_token t;
    struct yarn_amrm_token am;
    for (size_t k = 0; k < SV_ARRAY_LEN(names); k++) {
        struct golden g = golden(names[k]);
        for (size_t i = 0; i < g.n; i++) {
            struct golden h = g;
            h.p[i] ^= (uint8_t)(1u << (i % 8));
            (void)!yarn_container_token_decode(h.p, h.n, &c, NULL);
            (void)!yarn_nm_token_decode(h.p, i, &t, NULL);
            (void)!yarn_nm_token_decode(h.p, h.n, &t, NULL);
            (void)!yarn_amrm_token_decode(h.p, h.n, &am, NULL);
        }
    }
    assert_int_equal(yarn_nm_token_decode((const uint8_t *)"", 0, &t, NULL), -EBADMSG);
    /* an attempt alone is no NMToken, and a NUL is no part of a name */
    struct golden m = golden("amrm-token-id"), n = golden("nm-token-id");
    assert_int_equal(yarn_nm_token_decode(m.p, m.n, &t, NULL), -EBADMSG);
    uint8_t *alice = memmem(n.p, n.n, "alice", 5);
    assert_non_null(alice);
    alice[2] = 0;
    assert_int_equal(yarn_nm_token_decode(n.p, n.n, &t, NULL), -EBADMSG);
}

static void test_message(void **state)
{
    (void)state;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_token t = { .id = (const uint8_t *)"id",
                            .id_len = 2,
                            .kind = "NMToken",
                            .password = (const uint8_t *)"pw",
                            .password_len = 2,
                            .service = "" };
    struct yarn_token back;
    Hadoop__Common__TokenProto *m = yarn_token_to(a, &t);
    assert_non_null(m);
    assert_int_equal(yarn_token_from(m, a, &back), 0);
    assert_true(yarn_bytes_equal(back.id, back.id_len, "id", 2));
    assert_true(yarn_bytes_equal(back.password, back.password_len, "pw", 2));
    assert_string_equal(back.kind, "NMToken");
    assert_string_equal(back.service, "");
    assert_int_equal(yarn_token_from(NULL, a, &back), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_container), cmocka_unit_test(test_nm_and_amrm),
        cmocka_unit_test(test_tags),      cmocka_unit_test(test_old),
        cmocka_unit_test(test_users),     cmocka_unit_test(test_text),
        cmocka_unit_test(test_passwords), cmocka_unit_test(test_master_key),
        cmocka_unit_test(test_broken),    cmocka_unit_test(test_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
