/* amrmproxy/keys.c: local tokens, keys that roll and are in the store before they sign. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/amrmproxy/keys.h"
#include "nodemanager/store/state-store.h"

static const struct yarn_attempt_id attempt = { { 17, 3 }, 2 };
static sd_event *event;
static struct nm_store *store;
static struct sv_arena *arena;
static struct nm_conf_amrmproxy conf;

static int set_up(void **state)
{
    struct sv_error err;

    (void)state;
    conf = (struct nm_conf_amrmproxy){ .roll_ms = 3600000, .delay_ms = 1000000 };
    arena = sv_arena_new(0);
    return arena && sd_event_new(&event) >= 0 && nm_store_open(event, NULL, &store, &err) >= 0 ? 0
                                                                                               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    store = nm_store_close(store);
    event = sd_event_unref(event);
    arena = sv_arena_free(arena);
    return 0;
}

static struct nm_amrm_keys *open_keys(void)
{
    struct nm_amrm_keys *k;
    struct sv_error err = { 0 };

    if (nm_amrm_keys_new(event, store, &conf, YARN_HMAC_SHA1, &k, &err) < 0)
        fail_msg("%s", err.text);
    return k;
}

static int32_t key_of(const struct yarn_token *t)
{
    struct yarn_amrm_token id;

    assert_int_equal(yarn_amrm_token_decode(t->id, t->id_len, &id, NULL), 0);
    assert_int_equal(id.attempt.attempt, 2);
    return id.key_id;
}

/* Whether the token opens the door. */
static bool is_good(const struct nm_amrm_keys *k, const struct yarn_token *t)
{
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    size_t len;

    return nm_amrm_keys_password(k, key_of(t), t->id, t->id_len, password, &len) >= 0 &&
           yarn_bytes_equal(password, len, t->password, t->password_len);
}

static void a_token_survives_a_restart(void **state)
{
    struct nm_amrm_keys *k = open_keys();
    struct yarn_token t;

    (void)state;
    assert_int_equal(nm_amrm_keys_token(k, attempt, arena, &t), 0);
    assert_string_equal(t.kind, YARN_KIND_AMRM);
    assert_string_equal(t.service, "");
    assert_true(is_good(k, &t));
    assert_false(nm_amrm_keys_rolled(k, key_of(&t)));
    assert_true(nm_amrm_keys_rolled(k, key_of(&t) + 1));
    nm_amrm_keys_free(k);
    k = open_keys();
    assert_true(is_good(k, &t));
    nm_amrm_keys_free(k);
}

static void keys_roll(void **state)
{
    struct nm_amrm_keys *k, *again;
    struct yarn_token first, second;

    (void)state;
    conf = (struct nm_conf_amrmproxy){ .roll_ms = 40, .delay_ms = 15 };
    k = open_keys();
    assert_int_equal(nm_amrm_keys_token(k, attempt, arena, &first), 0);
    while (!nm_amrm_keys_rolled(k, key_of(&first)))
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_true(is_good(k, &first)); /* for a while */
    assert_int_equal(nm_amrm_keys_token(k, attempt, arena, &second), 0);
    again = open_keys(); /* it was recorded before it signed */
    assert_true(is_good(again, &first) && is_good(again, &second));
    nm_amrm_keys_free(again);
    while (is_good(k, &first))
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_true(is_good(k, &second));
    nm_amrm_keys_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_token_survives_a_restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_roll, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
