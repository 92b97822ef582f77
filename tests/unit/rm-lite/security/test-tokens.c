/* rm-lite/security/tokens.c and the verification in rm-lite/am/am-session.c: tokens name their
 * container, node or attempt, their passwords are those of the ResourceManager's keys, and nothing
 * else passes. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "rm-lite/am/am-session.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/security/tokens.h"

/* True if the password is by the key that the token names. */
static bool is_signed(struct fix *f, enum rm_secret kind, int32_t key_id,
                      const ProtobufCBinaryData *id, const ProtobufCBinaryData *password)
{
    uint8_t expected[YARN_TOKEN_PASSWORD_MAX];
    size_t len;

    assert_int_equal(
        rm_secrets_password(f->rm->secrets, kind, key_id, id->data, id->len, expected, &len), 0);
    return yarn_bytes_equal(expected, len, password->data, password->len);
}

static void test_container_token(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct yarn_container_token t;
    struct sv_error err = { 0 };
    struct fix f;
    struct rm_app *app;
    struct rm_container *task;
    Hadoop__Common__TokenProto *m;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 2);
    m = rm_token_container(a, app->current->master);
    assert_non_null(m);
    assert_string_equal(m->service, "127.0.0.1:1");
    assert_int_equal(yarn_container_token_decode(m->identifier.data, m->identifier.len, &t, &err),
                     0);
    assert_int_equal(yarn_container_id_cmp(t.container, app->current->master->id), 0);
    assert_string_equal(t.nm_addr, "127.0.0.1:1");
    assert_string_equal(t.submitter, "ann");
    assert_int_equal(t.resource.memory_mb, 1024);
    assert_int_equal(t.rm_identifier, f.rm->started_ms);
    assert_int_equal(t.container_type, 1);
    assert_in_range(t.expiry_ms, sv_wall_ms() + 590000, sv_wall_ms() + 600000);
    assert_true(is_signed(&f, RM_SECRET_CONTAINER, t.key_id, &m->identifier, &m->password));

    run_master(&f, app);
    ask_containers(&f, app, 1);
    task = app->current->fresh;
    m = rm_token_container(a, task);
    assert_int_equal(yarn_container_token_decode(m->identifier.data, m->identifier.len, &t, &err),
                     0);
    assert_int_equal(t.container_type, 2);
    assert_int_equal(t.priority, 1);
    teardown(&f);
    sv_arena_free(a);
}

static void test_nm_token(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct yarn_nm_token t;
    struct sv_error err = { 0 };
    struct fix f;
    struct rm_app *app;
    struct rm_node *n;
    Hadoop__Common__TokenProto *m;
    Hadoop__Yarn__NMTokenProto *row;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 2);
    m = rm_token_nm(a, app->current, &n->id);
    assert_non_null(m);
    assert_int_equal(yarn_nm_token_decode(m->identifier.data, m->identifier.len, &t, &err), 0);
    assert_int_equal(yarn_attempt_id_cmp(t.attempt, app->current->id), 0);
    assert_string_equal(t.node.host, "127.0.0.1");
    assert_int_equal(t.node.port, 1);
    assert_string_equal(t.submitter, "ann");
    assert_true(is_signed(&f, RM_SECRET_NM, t.key_id, &m->identifier, &m->password));

    /* once a node and key */
    row = rm_am_nm_token(a, app->current, &n->id);
    assert_non_null(row);
    assert_null(rm_am_nm_token(a, app->current, &n->id));
    rm_set_get(app->current->nm_tokens, n->key)->number--; /* as after a roll of the key */
    assert_non_null(rm_am_nm_token(a, app->current, &n->id));
    teardown(&f);
    sv_arena_free(a);
}

static int verify(struct fix *f, const struct yarn_token *t, uint8_t password[64], size_t *len,
                  char user[256], struct sv_error *err)
{
    const char *class = NULL;

    return rm_am_verify_token(t->id, t->id_len, password, len, user, &class, err, f->rm);
}

static void test_amrm_token(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct yarn_token t;
    struct sv_error err = { 0 };
    uint8_t password[64];
    char user[256];
    size_t len;
    struct fix f;
    struct rm_app *app;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 2);
    assert_int_equal(rm_token_amrm(a, app->current, &t), 0);
    assert_string_equal(t.service, "");
    assert_int_equal(verify(&f, &t, password, &len, user, &err), 0);
    assert_string_equal(user, app->current->id_str);
    assert_true(yarn_bytes_equal(password, len, t.password, t.password_len));

    kill_app(&f, app); /* the token ends with its attempt */
    assert_int_equal(verify(&f, &t, password, &len, user, &err), -EACCES);
    assert_non_null(strstr(err.text, "not found in AMRMTokenSecretManager."));
    teardown(&f);
    sv_arena_free(a);
}

static void test_client_to_am_token(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct yarn_client_am_token id;
    struct yarn_master_key key, after, other;
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    Hadoop__Common__TokenProto *m;
    struct yarn_attempt_id first;
    size_t len;
    struct fix f;
    struct rm_app *app;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 2);
    first = app->current->id;
    assert_int_equal(rm_client_am_key(app->current, &key), -EOPNOTSUPP); /* without Kerberos */
    assert_null(rm_token_client_am(a, app->current, "bob"));
    f.rm->conf.kerberos.own.on = true;
    m = rm_token_client_am(a, app->current, "bob");
    assert_non_null(m);
    assert_string_equal(m->kind, YARN_KIND_CLIENT_AM);
    assert_int_equal(yarn_client_am_token_decode(m->identifier.data, m->identifier.len, &id, NULL),
                     0);
    assert_string_equal(id.client, "bob");
    assert_int_equal(id.attempt.app.id, app->id.id);
    /* The master verifies it with the key of its registration. */
    assert_int_equal(rm_client_am_key(app->current, &key), 0);
    assert_int_equal(yarn_token_password(f.rm->secrets->hmac, &key, m->identifier.data,
                                         m->identifier.len, password, &len),
                     0);
    assert_true(yarn_bytes_equal(password, len, m->password.data, m->password.len));
    assert_int_equal(rm_client_am_key(submit(&f, false, 2)->current, &other), 0);
    assert_false(yarn_bytes_equal(key.bytes, key.len, other.bytes, other.len));
    stop(&f);
    start(&f); /* the same key after a restart */
    f.rm->conf.kerberos.own.on = true;
    assert_int_equal(rm_client_am_key(rm_attempt_find(f.rm, first), &after), 0);
    assert_true(yarn_bytes_equal(key.bytes, key.len, after.bytes, after.len));
    teardown(&f);
    sv_arena_free(a);
}

static void test_forged_amrm_token(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct yarn_amrm_token id;
    struct yarn_token t = { 0 };
    struct sv_error err = { 0 };
    uint8_t password[64];
    char user[256];
    size_t len;
    struct fix f;
    struct rm_app *app;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 2);
    id.attempt = app->current->id;
    id.key_id = rm_secrets_signing(f.rm->secrets, RM_SECRET_AMRM)->key_id + 5;
    assert_int_equal(yarn_amrm_token_encode(a, &id, &t.id, &t.id_len), 0);
    assert_true(verify(&f, &t, password, &len, user, &err) < 0); /* no such key */
    assert_non_null(strstr(err.text, "Invalid AMRMToken from appattempt_"));

    id.key_id -= 5;
    id.attempt.attempt = 7;
    assert_int_equal(yarn_amrm_token_encode(a, &id, &t.id, &t.id_len), 0);
    assert_int_equal(verify(&f, &t, password, &len, user, &err), -EACCES); /* no such attempt */

    t.id = (const uint8_t *)"\xff\xff\xff";
    t.id_len = 3;
    assert_true(verify(&f, &t, password, &len, user, &err) < 0); /* no token at all */
    teardown(&f);
    sv_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_container_token),   cmocka_unit_test(test_nm_token),
        cmocka_unit_test(test_amrm_token),        cmocka_unit_test(test_client_to_am_token),
        cmocka_unit_test(test_forged_amrm_token),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
