/* core/token-secret-managers.c: accepted and refused tokens with their messages, key rolls, replay,
 * and the state after a restart. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/store/state-store.h"

static sd_event *event;
static struct nm_store *store;
static struct nm_secrets *secrets;
static struct sv_arena *arena;
static const struct yarn_node_id node = { "node1", 8041 };

static void set_keys(int32_t id, uint8_t fill)
{
    uint8_t bytes[8];
    Hadoop__Yarn__MasterKeyProto m;

    memset(bytes, fill, sizeof(bytes));
    hadoop__yarn__master_key_proto__init(&m);
    m.has_key_id = m.has_bytes = true;
    m.key_id = id;
    m.bytes.data = bytes;
    m.bytes.len = sizeof(bytes);
    assert_int_equal(nm_secrets_set_nm_key(secrets, &m), 0);
    assert_int_equal(nm_secrets_set_container_key(secrets, &m), 0);
}

static struct yarn_master_key key_of(int32_t id, uint8_t fill)
{
    struct yarn_master_key k = { .key_id = id, .len = 8 };

    memset(k.bytes, fill, 8);
    return k;
}

static int setup(void **state)
{
    struct sv_error err;

    (void)state;
    if (sd_event_default(&event) < 0 || nm_store_open(event, NULL, &store, &err) < 0)
        return -1;
    arena = sv_arena_new(0);
    if (nm_secrets_new(store, YARN_HMAC_SHA1, &secrets) < 0)
        return -1;
    nm_secrets_set_node(secrets, &node);
    sv_clock_set_test(1000, 1000000);
    set_keys(1, 0x11);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    secrets = nm_secrets_free(secrets);
    store = nm_store_close(store);
    arena = sv_arena_free(arena);
    event = sd_event_unref(event);
    sv_clock_reset();
    return 0;
}

static struct yarn_container_token plain(void)
{
    struct yarn_container_token t = {
        .container = { { { 17, 3 }, 1 }, 9 },
        .nm_addr = "node1:8041",
        .submitter = "alice",
        .resource = { 64, 1 },
        .expiry_ms = 2000000,
        .key_id = 1,
    };
    return t;
}

static struct yarn_token sign(const struct yarn_container_token *t, const struct yarn_master_key *k)
{
    struct yarn_token out = { .kind = YARN_KIND_CONTAINER, .service = "" };
    uint8_t *password = sv_arena_alloc(arena, YARN_TOKEN_PASSWORD_MAX);

    assert_int_equal(yarn_container_token_encode(arena, t, &out.id, &out.id_len), 0);
    assert_int_equal(
        yarn_token_password(YARN_HMAC_SHA1, k, out.id, out.id_len, password, &out.password_len), 0);
    out.password = password;
    return out;
}

static int verify(const struct yarn_token *token, struct sv_error *err)
{
    struct yarn_container_token got;

    memset(err, 0, sizeof(*err));
    return nm_secrets_verify_container_token(secrets, token, &got, err);
}

static void container_tokens(void **state)
{
    struct yarn_container_token t = plain(), got;
    struct yarn_master_key k = key_of(1, 0x11), wrong = key_of(1, 0x12);
    struct yarn_token token = sign(&t, &k);
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(nm_secrets_verify_container_token(secrets, &token, &got, &err), 0);
    assert_int_equal(got.resource.memory_mb, 64);

    token = sign(&t, &wrong);
    assert_int_equal(verify(&token, &err), -EACCES);
    assert_string_equal(err.text,
                        "Invalid container token used for starting container on : node1:8041");
    t.key_id = 2;
    token = sign(&t, &k);
    assert_int_equal(verify(&token, &err), -EACCES);
    assert_non_null(strstr(err.text, "illegally generated token"));
    t = plain();
    memcpy(t.nm_addr, "node2:8041", 11);
    token = sign(&t, &k);
    assert_int_equal(verify(&token, &err), -EACCES);
    assert_non_null(strstr(err.text, "Expected : node1:8041 Found : node2:8041"));
}

/* HARDENING F64: every byte of identifier and password is verified, and so is their length. */
static void f64_every_byte_counts(void **state)
{
    struct yarn_container_token t = plain();
    struct yarn_master_key k = key_of(1, 0x11);
    struct yarn_token token = sign(&t, &k);
    uint8_t *id = sv_arena_memdup(arena, token.id, token.id_len);
    uint8_t *password = sv_arena_memdup(arena, token.password, token.password_len);
    struct sv_error err;

    (void)state;
    token.id = id;
    token.password = password;
    for (size_t i = 0; i < token.id_len; i++) {
        id[i] ^= 1;
        assert_true(verify(&token, &err) < 0);
        id[i] ^= 1;
    }
    for (size_t i = 0; i < token.password_len; i++) {
        password[i] ^= 0x80;
        assert_int_equal(verify(&token, &err), -EACCES);
        password[i] ^= 0x80;
    }
    for (size_t n = 0; n < token.id_len; n++) {
        struct yarn_token cut = token;

        cut.id_len = n;
        assert_true(verify(&cut, &err) < 0);
    }
    token.password_len--;
    assert_int_equal(verify(&token, &err), -EACCES);
    token.password_len++;
    assert_int_equal(verify(&token, &err), 0);
}

static void keys_roll(void **state)
{
    struct yarn_container_token t = plain();
    struct yarn_master_key k1 = key_of(1, 0x11), k2 = key_of(2, 0x22);
    struct yarn_token one = sign(&t, &k1), two;
    struct sv_error err;

    (void)state;
    t.key_id = 2;
    two = sign(&t, &k2);
    assert_int_equal(verify(&two, &err), -EACCES);
    set_keys(2, 0x22);
    assert_int_equal(verify(&one, &err), 0); /* the previous key is still valid */
    assert_int_equal(verify(&two, &err), 0);
    set_keys(2, 0x22); /* sent again in every heartbeat until known */
    assert_int_equal(verify(&one, &err), 0);
    set_keys(3, 0x33);
    assert_int_equal(verify(&one, &err), -EACCES);
    assert_int_equal(verify(&two, &err), 0);
    assert_int_equal(nm_secrets_nm_key(secrets)->key_id, 3);
}

static int verify_nm(const struct yarn_nm_token *t, char user[256], struct sv_error *err)
{
    const uint8_t *id;
    uint8_t password[64];
    const char *class;
    size_t id_len, len;

    assert_int_equal(yarn_nm_token_encode(arena, t, &id, &id_len), 0);
    memset(err, 0, sizeof(*err));
    return nm_secrets_verify_nm_token(id, id_len, password, &len, user, &class, err, secrets);
}

static void nm_tokens(void **state)
{
    struct yarn_nm_token t = {
        .attempt = { { 17, 3 }, 1 }, .node = node, .submitter = "alice", .key_id = 1
    };
    struct sv_error err;
    char user[256];

    (void)state;
    assert_int_equal(verify_nm(&t, user, &err), 0);
    assert_string_equal(user, "appattempt_17_0003_000001");
    t.node.port = 1;
    assert_int_equal(verify_nm(&t, user, &err), -EACCES);
    assert_non_null(
        strstr(err.text, "is not valid for current node manager.expected : node1:8041"));
    t.node.port = 8041;
    t.key_id = 9;
    assert_int_equal(verify_nm(&t, user, &err), -EACCES);
    assert_non_null(strstr(err.text, "seems to have been generated illegally."));
}

/* An attempt that has started a container keeps its key over rolls, until its application ends. */
static void attempt_keeps_key(void **state)
{
    struct yarn_nm_token t = {
        .attempt = { { 17, 3 }, 1 }, .node = node, .submitter = "alice", .key_id = 1
    };
    struct yarn_nm_token other = t;
    struct sv_error err;
    char user[256];

    (void)state;
    other.attempt.app.id = 4;
    assert_int_equal(nm_secrets_attempt_starts(secrets, &t, &err), 0);
    set_keys(2, 0x22);
    set_keys(3, 0x33);
    assert_int_equal(verify_nm(&t, user, &err), 0);
    assert_int_equal(verify_nm(&other, user, &err), -EACCES);
    assert_int_equal(nm_secrets_attempt_starts(secrets, &other, &err), -EACCES);
    assert_string_equal(err.text, "Older NMToken should not be used while starting the container.");
    nm_secrets_app_finished(secrets, t.attempt.app);
    assert_int_equal(verify_nm(&t, user, &err), -EACCES);
}

/* HARDENING F65: a used token stays used until it expires. */
static void f65_replay(void **state)
{
    (void)state;
    assert_false(nm_secrets_token_used(secrets, "container_1", NULL));
    assert_int_equal(nm_secrets_use_token(secrets, "container_1", 1500000), 0);
    assert_true(nm_secrets_token_used(secrets, "container_1", NULL));
    sv_clock_set_test(401000, 1400000);
    assert_true(nm_secrets_token_used(secrets, "container_1", NULL));
    sv_clock_set_test(501000, 1501000); /* expired, but within the minimum time */
    assert_true(nm_secrets_token_used(secrets, "container_1", NULL));
    sv_clock_set_test(701000, 1701000);
    assert_false(nm_secrets_token_used(secrets, "container_1", NULL));
}

/* HARDENING F69: a jump of the clock by a day, to 1970 or by years makes no used token usable. */
static void f69_clock_jumps(void **state)
{
    static const int64_t jumps[] = { 1000000 + 86400000,     1000000, 0, 1000000 + 86400000,
                                     INT64_C(4000000000000), 1000000 };
    int64_t now = 1000, expiry = 1000000 + 3600000;

    (void)state;
    assert_int_equal(nm_secrets_use_token(secrets, "container_1", expiry), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(jumps); i++) {
        now += 20000;
        sv_clock_set_test(now, jumps[i]);
        assert_true(nm_secrets_token_used(secrets, "container_1", NULL));
    }
    /* also when the daemon restarts while the clock is wrong */
    sv_clock_set_test(now + 20000, 1000000 + 86400000);
    assert_true(nm_secrets_token_used(secrets, "container_1", NULL));
    nm_store_commit(store);
    nm_secrets_free(secrets);
    assert_int_equal(nm_secrets_new(store, YARN_HMAC_SHA1, &secrets), 0);
    assert_int_equal(nm_secrets_recover(secrets), 0);
    assert_true(nm_secrets_token_used(secrets, "container_1", NULL));
    sv_clock_set_test(now + 60000, 1000000);
    assert_true(nm_secrets_token_used(secrets, "container_1", NULL));
    /* a token with an absurd expiry is not kept for ever */
    assert_int_equal(nm_secrets_use_token(secrets, "container_2", INT64_MAX), 0);
    assert_true(nm_secrets_token_used(secrets, "container_2", NULL));
    /* and an expired token is forgotten */
    sv_clock_set_test(now + 3700000, expiry + 1000);
    assert_false(nm_secrets_token_used(secrets, "container_1", NULL));
}

/* A valid token with an unknown field after its identifier. */
static struct yarn_token with_trailing(struct yarn_token good)
{
    uint8_t *id = sv_arena_alloc(arena, good.id_len + 3);

    memcpy(id, good.id, good.id_len);
    memcpy(id + good.id_len, "\xf8\x01\x01", 3);
    good.id = id;
    good.id_len += 3;
    return good;
}

/* HARDENING F64: the message is the same for every change after signing and names no part of the
 * token: it helps no guess. */
static void f64_one_answer(void **state)
{
    enum { INFLATED, PROLONGED, OTHER_USER, OTHER_RM, OTHER_CONTAINER, CHANGED };
    struct yarn_container_token t[CHANGED] = { plain(), plain(), plain(), plain(), plain() };
    struct yarn_container_token base = plain();
    struct yarn_master_key k = key_of(1, 0x11), shorter = key_of(1, 0x11), other = key_of(1, 0x12);
    struct yarn_token good = sign(&base, &k), bad[CHANGED + 5];
    struct sv_error err;
    size_t n;

    (void)state;
    t[INFLATED].resource.memory_mb = 65536;
    t[PROLONGED].expiry_ms += 1;
    memcpy(t[OTHER_USER].submitter, "root", 5);
    t[OTHER_RM].rm_identifier = 99;
    t[OTHER_CONTAINER].container.id++;
    for (n = 0; n < CHANGED; n++) {
        bad[n] = sign(&t[n], &k);
        bad[n].password = good.password;
    }
    shorter.len = 7;
    bad[n++] = sign(&base, &shorter);
    bad[n++] = sign(&base, &other);
    bad[n] = good;
    bad[n++].password_len = 0;
    bad[n] = good;
    bad[n++].password_len--;
    bad[n++] = with_trailing(good);
    assert_int_equal(n, SV_ARRAY_LEN(bad));
    assert_int_equal(verify(&good, &err), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(verify(&bad[i], &err), -EACCES);
        assert_string_equal(err.text, "Invalid container token used for starting container on : "
                                      "node1:8041");
    }
}

static void state_after_restart(void **state)
{
    struct yarn_nm_token t = {
        .attempt = { { 17, 3 }, 1 }, .node = node, .submitter = "alice", .key_id = 1
    };
    struct yarn_container_token c = plain();
    struct yarn_master_key k = key_of(1, 0x11);
    struct yarn_token token = sign(&c, &k);
    struct sv_error err;
    char user[256];

    (void)state;
    assert_int_equal(nm_secrets_attempt_starts(secrets, &t, &err), 0);
    assert_int_equal(nm_secrets_use_token(secrets, "container_1", 1500000), 0);
    set_keys(2, 0x22);
    nm_store_commit(store);
    nm_secrets_free(secrets);
    assert_int_equal(nm_secrets_new(store, YARN_HMAC_SHA1, &secrets), 0);
    nm_secrets_set_node(secrets, &node);
    assert_int_equal(verify(&token, &err), -EACCES);
    assert_int_equal(nm_secrets_recover(secrets), 0);
    assert_int_equal(verify(&token, &err), 0);
    assert_int_equal(verify_nm(&t, user, &err), 0);
    assert_true(nm_secrets_token_used(secrets, "container_1", NULL));
    assert_int_equal(nm_secrets_container_key(secrets)->key_id, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(container_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(f64_every_byte_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_roll, setup, teardown),
        cmocka_unit_test_setup_teardown(nm_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(attempt_keeps_key, setup, teardown),
        cmocka_unit_test_setup_teardown(f64_one_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(f65_replay, setup, teardown),
        cmocka_unit_test_setup_teardown(f69_clock_jumps, setup, teardown),
        cmocka_unit_test_setup_teardown(state_after_restart, setup, teardown),
    };

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
