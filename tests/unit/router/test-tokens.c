/* The Router's delegation tokens: issued, renewed, cancelled, known to another Router of the same
 * store and after a restart; strangers, forged and ended ones; keys that roll; a store that is
 * away. The store is in memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/str.h"
#include "federation/store/token-info.h"
#include "router/tokens.h"
#include "wire/exceptions.h"

#define T0 1700000000000
#define HOUR 3600000LL
#define DAY (24 * HOUR)

static struct {
    sd_event *event;
    struct fed_store *store;
    struct rtr_conf_tokens conf;
    struct rtr_tokens *one, *two; /* two Routers */
    struct sv_arena *a;
    int known;
} g;

static int64_t now_ms;
static const struct in6_addr here = IN6ADDR_LOOPBACK_INIT;

static void at(int64_t wall_ms)
{
    now_ms = wall_ms;
    sv_clock_set_test(1000000 + wall_ms - T0, wall_ms);
}

static void on_known(int32_t sequence, void *userdata)
{
    (void)userdata;
    assert_true(sequence > 0);
    g.known++;
}

static struct rtr_tokens *tokens_new(void)
{
    struct rtr_tokens *t = rtr_tokens_new(&(struct rtr_tokens_config){
        .event = g.event, .store = g.store, .conf = &g.conf, .self = "router", .known = on_known });

    assert_non_null(t);
    return t;
}

static int up(void **state)
{
    struct sv_conf *conf = sv_conf_new();

    (void)state;
    memset(&g, 0, sizeof(g));
    at(T0);
    assert_true(sd_event_new(&g.event) >= 0);
    assert_int_equal(fed_store_open_memory(g.event, &g.store), 0);
    assert_non_null(conf);
    assert_int_equal(rtr_conf_tokens_read(conf, &g.conf, NULL), 0);
    sv_conf_free(conf);
    g.conf.per_user = 3;
    assert_non_null(g.a = sv_arena_new(0));
    g.one = tokens_new();
    g.two = tokens_new();
    return 0;
}

static int down(void **state)
{
    (void)state;
    fed_store_free(g.store);
    rtr_tokens_free(g.one);
    rtr_tokens_free(g.two);
    sv_arena_free(g.a);
    sd_event_unref(g.event);
    sv_clock_set_test(0, 0);
    return 0;
}

/* ---- Calls ---- */

static struct {
    bool done;
    int status;
    char class[128], text[1200];
    struct yarn_token token;
    int64_t expires_ms;
} said;

static void on_done(const struct rtr_token_answer *a, void *userdata)
{
    (void)userdata;
    said.done = true;
    said.status = a->status;
    (void)snprintf(said.class, sizeof(said.class), "%s", a->status < 0 ? a->java_class : "");
    (void)snprintf(said.text, sizeof(said.text), "%s", a->status < 0 ? a->text : "");
    said.expires_ms = a->expires_ms;
    if (a->token) {
        said.token = *a->token;
        said.token.id = sv_arena_memdup(g.a, a->token->id, a->token->id_len);
        said.token.password = sv_arena_memdup(g.a, a->token->password, a->token->password_len);
    }
}

static void wait_for_it(void)
{
    while (!said.done)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
}

static void ask_for(struct rtr_tokens *t, const char *owner, const char *renewer, const char *real)
{
    said.done = false;
    rtr_tokens_issue(t, owner, renewer, real, on_done, NULL);
    wait_for_it();
}

static struct yarn_token issue(struct rtr_tokens *t, const char *owner, const char *renewer)
{
    ask_for(t, owner, renewer, NULL);
    if (said.status < 0)
        fail_msg("%s: %s", said.class, said.text);
    return said.token;
}

static int64_t renew(struct rtr_tokens *t, const struct yarn_token *token, const char *user)
{
    said.done = false;
    rtr_tokens_renew(t, token, &(struct yarn_token_caller){ user, user }, on_done, NULL);
    wait_for_it();
    return said.status < 0 ? said.status : said.expires_ms;
}

static int cancel(struct rtr_tokens *t, const struct yarn_token *token, const char *user)
{
    said.done = false;
    rtr_tokens_cancel(t, token, &(struct yarn_token_caller){ user, user }, on_done, NULL);
    wait_for_it();
    return said.status;
}

static void refused(const char *class, const char *words)
{
    assert_true(said.status < 0);
    assert_string_equal(said.class, class);
    if (!strstr(said.text, words))
        fail_msg("\"%s\" lacks \"%s\"", said.text, words);
}

static struct yarn_delegation_token decode(const struct yarn_token *t)
{
    struct yarn_delegation_token d;

    assert_int_equal(yarn_delegation_token_decode(t->id, t->id_len, &d, NULL), 0);
    return d;
}

/* NULL: a login with the token succeeds; else why not. */
static const char *login(struct rtr_tokens *t, const struct yarn_token *token)
{
    static struct sv_error err;
    uint8_t password[64];
    size_t len = 0;
    char user[SASL_USER_MAX] = "";
    const char *class = NULL;
    int r, before = g.known;

    err = (struct sv_error){ 0 };
    r = rtr_tokens_verify(t, &here, token->id, token->id_len, password, &len, user, &class, &err);
    if (r == -EAGAIN) {
        while (g.known == before)
            assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
        r = rtr_tokens_verify(t, &here, token->id, token->id_len, password, &len, user, &class,
                              &err);
    }
    assert_int_not_equal(r, -EAGAIN);
    if (r < 0)
        return err.text;
    assert_string_equal(user, decode(token).owner);
    return yarn_bytes_equal(password, len, token->password, token->password_len) ? NULL
                                                                                 : "another one";
}

static bool login_says(struct rtr_tokens *t, const struct yarn_token *token, const char *words)
{
    const char *why = login(t, token);

    return why && strstr(why, words);
}

static void no_login(struct rtr_tokens *t, const struct yarn_token *token, const char *words)
{
    const char *why = login(t, token);

    if (!why || !strstr(why, words))
        fail_msg("\"%s\" lacks \"%s\"", why ?: "logged in", words);
}

/* ---- Cases ---- */

static void test_issue(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn"), u;
    struct yarn_delegation_token d = decode(&t);

    (void)state;
    assert_string_equal(t.kind, YARN_KIND_RM_DELEGATION);
    assert_string_equal(d.owner, "alice");
    assert_string_equal(d.renewer, "yarn");
    assert_string_equal(d.real_user, "");
    assert_true(d.issue_ms == T0 && d.max_ms == T0 + 7 * DAY);
    assert_null(login(g.one, &t));
    assert_null(login(g.two, &t)); /* another Router has the same store */
    u = issue(g.two, "alice", "yarn");
    assert_int_not_equal(decode(&u).sequence, d.sequence);
    assert_int_not_equal(decode(&u).key_id, d.key_id); /* each Router has a key of its own */
    assert_null(login(g.one, &u));
    ask_for(g.one, "alice", "yarn", "oozie");
    assert_int_equal(said.status, 0);
    assert_string_equal(decode(&said.token).real_user, "oozie");
}

static void test_renew(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn");

    (void)state;
    at(T0 + 23 * HOUR);
    assert_int_equal(renew(g.two, &t, "yarn"), now_ms + DAY);
    at(T0 + 46 * HOUR);
    assert_null(login(g.one, &t));
    assert_int_equal(renew(g.one, &t, "router"), now_ms + DAY); /* the Router itself */
    at(T0 + 46 * HOUR + DAY + 1);
    no_login(g.one, &t, "has expired, current time: ");
    assert_int_equal(renew(g.one, &t, "yarn"), now_ms + DAY); /* as at the ResourceManager */
    at(T0 + 7 * DAY - HOUR);
    assert_int_equal(renew(g.one, &t, "yarn"), T0 + 7 * DAY); /* no longer */
    at(T0 + 7 * DAY + 1);
    assert_true(renew(g.one, &t, "yarn") < 0);
    refused(JAVA_INVALID_TOKEN, "yarn tried to renew an expired token");
    no_login(g.two, &t, "has expired");
}

static void test_strangers(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn"), forged = t,
                      nobodys = issue(g.one, "bob", "");
    uint8_t password[64];

    (void)state;
    assert_true(renew(g.one, &t, "alice") < 0); /* the owner is not the renewer */
    refused(JAVA_ACCESS_CONTROL, "alice tries to renew a token");
    assert_true(cancel(g.two, &t, "bob") < 0);
    refused(JAVA_ACCESS_CONTROL, "bob is not authorized to cancel the token");
    assert_true(renew(g.one, &nobodys, "yarn") < 0);
    refused(JAVA_ACCESS_CONTROL, "without a renewer");
    memcpy(password, t.password, t.password_len);
    password[0] ^= 1;
    forged.password = password;
    assert_true(renew(g.one, &forged, "yarn") < 0);
    refused(JAVA_ACCESS_CONTROL, "is trying to renew a token");
    assert_true(cancel(g.one, &forged, "yarn") < 0);
    refused(JAVA_ACCESS_CONTROL, "is trying to cancel a token");
    assert_string_equal(login(g.one, &forged), "another one"); /* DIGEST-MD5 then fails */
    assert_null(login(g.one, &t));
}

/* An identifier with the number of another token, which names somebody else. */
static void test_other_identifier(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn"), other = t;
    struct yarn_delegation_token d = decode(&t);

    (void)state;
    (void)snprintf(d.owner, sizeof(d.owner), "root");
    assert_int_equal(yarn_delegation_token_encode(g.a, &d, &other.id, &other.id_len), 0);
    no_login(g.one, &other, "can't be found in cache");
    assert_true(renew(g.one, &other, "yarn") < 0);
    refused(JAVA_INVALID_TOKEN, "Renewal request for unknown token");
    assert_true(cancel(g.one, &other, "root") < 0);
    refused(JAVA_INVALID_TOKEN, "Token not found");
    d.sequence = 0;
    assert_int_equal(yarn_delegation_token_encode(g.a, &d, &other.id, &other.id_len), 0);
    no_login(g.one, &other, "can't be found in cache");
    other.id = (const uint8_t *)"no identifier";
    other.id_len = 13;
    assert_non_null(login(g.one, &other));
}

static void test_cancel(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn"), u = issue(g.one, "alice", "yarn");

    (void)state;
    assert_null(login(g.two, &t));
    assert_int_equal(cancel(g.one, &t, "alice"), 0);
    no_login(g.one, &t, "can't be found in cache"); /* at once, where it was cancelled */
    at(T0 + 2000);
    no_login(g.two, &t, "can't be found in cache"); /* and a moment later elsewhere */
    assert_true(cancel(g.one, &t, "alice") < 0);
    refused(JAVA_INVALID_TOKEN, "Token not found");
    assert_true(renew(g.one, &t, "yarn") < 0);
    refused(JAVA_INVALID_TOKEN, "Renewal request for unknown token");
    assert_int_equal(cancel(g.two, &u, "yarn"), 0); /* the renewer may */
}

/* Tokens outlive the Router that has issued them. */
static void test_restart(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn");

    (void)state;
    g.one = (rtr_tokens_free(g.one), tokens_new());
    assert_null(login(g.one, &t));
    assert_int_equal(renew(g.one, &t, "yarn"), T0 + DAY);
    assert_int_equal(cancel(g.one, &t, "alice"), 0);
}

static void test_keys(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn"), u;

    (void)state;
    at(T0 + DAY - 1);
    u = issue(g.one, "alice", "yarn");
    assert_int_equal(decode(&u).key_id, decode(&t).key_id);
    at(T0 + DAY);
    u = issue(g.one, "alice", "yarn");
    assert_int_not_equal(decode(&u).key_id, decode(&t).key_id);
    assert_null(login(g.one, &t));
    assert_null(login(g.one, &u));
}

static void on_key(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    said.done = true;
    said.status = a->error;
}

static int key_status(int32_t id)
{
    said.done = false;
    assert_int_equal(fed_store_call(g.store,
                                    &(struct fed_request){ .op = FED_KEY_GET, .key = { .id = id } },
                                    on_key, NULL, NULL),
                     0);
    wait_for_it();
    return said.status;
}

/* A key stays for as long as one of its tokens may live. */
static void test_old_keys(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn");
    const int32_t first = decode(&t).key_id;

    (void)state;
    at(T0 + DAY);
    (void)issue(g.one, "alice", "yarn");
    assert_int_equal(key_status(first), 0);
    at(T0 + 8 * DAY + 1);
    (void)issue(g.one, "alice", "yarn");
    assert_int_equal(key_status(first), -ENOENT);
}

/* Those of a Router that has ended are deleted by the next one that makes a key. */
static void test_found_keys(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn"), u;
    const int32_t first = decode(&t).key_id;

    (void)state;
    g.one = (rtr_tokens_free(g.one), tokens_new());
    at(T0 + 7 * DAY);
    u = issue(g.one, "bob", "yarn");
    assert_int_equal(key_status(first), 0);
    at(T0 + 8 * DAY + 1);
    (void)issue(g.two, "bob", "yarn");
    for (int i = 0; i < 1000 && key_status(first) == 0; i++)
        assert_true(sd_event_run(g.event, 1000) >= 0);
    assert_int_equal(key_status(first), -ENOENT);
    assert_int_equal(key_status(decode(&u).key_id), 0);
}

static void test_limits(void **state)
{
    struct yarn_token t;

    (void)state;
    t = issue(g.one, "alice", "yarn");
    (void)issue(g.one, "alice", "yarn");
    (void)issue(g.one, "alice", "yarn");
    ask_for(g.one, "alice", "yarn", NULL);
    refused(JAVA_IO_EXCEPTION, "alice has 3 delegation tokens, as many as");
    ask_for(g.one, "bob", "yarn", "alice");
    refused(JAVA_IO_EXCEPTION, "alice has 3 delegation tokens, as many as");
    (void)issue(g.one, "bob", "yarn");
    assert_int_equal(cancel(g.one, &t, "alice"), 0);
    (void)issue(g.one, "alice", "yarn");
}

static int n_issued, n_refused;

static void on_one(const struct rtr_token_answer *a, void *userdata)
{
    (void)userdata;
    n_issued += a->status >= 0;
    n_refused += a->status == -EACCES;
}

/* Calls that are not waited for count as well. */
static void test_limit_of_many_calls(void **state)
{
    (void)state;
    n_issued = n_refused = 0;
    for (int i = 0; i < 8; i++)
        rtr_tokens_issue(g.one, "alice", "yarn", NULL, on_one, NULL);
    while (n_issued + n_refused < 8)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
    assert_int_equal(n_issued, 3);
    ask_for(g.one, "alice", "yarn", NULL);
    refused(JAVA_IO_EXCEPTION, "alice has 3 delegation tokens, as many as");
    (void)issue(g.one, "bob", "yarn");
}

static void test_names(void **state)
{
    char name[400];

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    ask_for(g.one, "alice", name, NULL);
    assert_true(said.status < 0);
    assert_string_equal(said.class, JAVA_ILLEGAL_ARGUMENT);
    ask_for(g.one, name, "", NULL);
    refused(JAVA_ILLEGAL_ARGUMENT, "the owner's name has 399 bytes, more than 255");
}

/* Tokens that have ended go from the store, those that were renewed elsewhere stay. */
static void test_scan(void **state)
{
    struct yarn_token t, u;

    (void)state;
    g.conf.scan_ms = 20;
    g.one = (rtr_tokens_free(g.one), tokens_new());
    t = issue(g.one, "alice", "yarn");
    u = issue(g.one, "alice", "yarn");
    at(T0 + 23 * HOUR);
    assert_int_equal(renew(g.two, &u, "yarn"), now_ms + DAY);
    at(T0 + 25 * HOUR);
    for (int i = 0; i < 10000 && !login_says(g.two, &t, "can't be found in cache"); i++) {
        at(now_ms + 1001);
        assert_true(sd_event_run(g.event, 1000) >= 0);
    }
    no_login(g.two, &t, "can't be found in cache");
    assert_null(login(g.one, &u));
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
    (void)source;
    (void)usec;
    *(bool *)userdata = true;
    return 0;
}

static void wait_for_tick(void)
{
    bool ticked = false;

    assert_true(sd_event_add_time_relative(g.event, NULL, CLOCK_MONOTONIC, 30000, 1, on_tick,
                                           &ticked) >= 0);
    while (!ticked)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
}

/* A Router that starts looks after the tokens that it finds: they count, and go at their end. */
static void test_found(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn"), u = issue(g.one, "alice", "yarn");

    (void)state;
    g.one = (rtr_tokens_free(g.one), NULL);
    g.conf.per_user = 2;
    g.conf.scan_ms = 20;
    g.one = tokens_new();
    /* Until it has found both. */
    for (int i = 0; i < 100; i++) {
        ask_for(g.one, "alice", "yarn", NULL);
        if (said.status < 0)
            break;
        assert_int_equal(cancel(g.one, &said.token, "alice"), 0);
        wait_for_tick();
    }
    refused(JAVA_IO_EXCEPTION, "alice has 2 delegation tokens, as many as");
    assert_int_equal(cancel(g.one, &u, "alice"), 0);
    (void)issue(g.one, "alice", "yarn");
    at(T0 + 26 * HOUR);
    for (int i = 0; i < 10000 && !login_says(g.two, &t, "can't be found in cache"); i++) {
        at(now_ms + 1001);
        assert_true(sd_event_run(g.event, 1000) >= 0);
    }
    no_login(g.two, &t, "can't be found in cache");
}

/* Calls and looks that are open end with the store. */
static void test_end(void **state)
{
    struct yarn_token t = issue(g.one, "alice", "yarn");
    uint8_t password[64];
    size_t len;
    char user[SASL_USER_MAX];
    const char *class = NULL;

    (void)state;
    at(T0 + DAY);
    assert_int_equal(
        rtr_tokens_verify(g.two, &here, t.id, t.id_len, password, &len, user, &class, NULL),
        -EAGAIN);
    said.done = false;
    rtr_tokens_issue(g.one, "alice", "yarn", NULL, on_done, NULL);
    g.store = fed_store_free(g.store);
    assert_true(said.done);
    assert_int_equal(said.status, -EAGAIN);
    assert_string_equal(said.class, JAVA_RETRIABLE);
}

/* ---- The text that is stored ---- */

static void test_info(void **state)
{
    /* VInt 3, "abc", 1700000000000 as eight bytes; padded. */
    static const char text[] = "A2FiYwAAAYvP5WgA";
    struct fed_token_info info = { (const uint8_t *)"abc", 3, T0 }, got;
    static const char *const broken[] = { "",
                                          "A",
                                          "A2Fi",
                                          "AAAAAYvP5WgA",
                                          "A2FiYwAAAYvP5WgAAA==",
                                          "A2FiYwAAAYvP5Wg",
                                          "BGFiYwAAAYvP5WgA",
                                          "A2FiYwD///////8A",
                                          "no text!" };

    (void)state;
    assert_int_equal(fed_token_info_read(g.a, fed_token_info_write(g.a, &info), &got), 0);
    assert_true(got.renew_ms == T0 && got.password_len == 3 && !memcmp(got.password, "abc", 3));
    assert_int_equal(fed_token_info_read(g.a, text, &got), 0);
    assert_true(got.renew_ms == T0 && got.password_len == 3);
    for (size_t i = 0; i < SV_ARRAY_LEN(broken); i++)
        if (fed_token_info_read(g.a, broken[i], &got) != -EBADMSG)
            fail_msg("\"%s\" is taken", broken[i]);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, up, down)
    const struct CMUnitTest tests[] = { T(issue),
                                        T(renew),
                                        T(strangers),
                                        T(other_identifier),
                                        T(cancel),
                                        T(restart),
                                        T(keys),
                                        T(old_keys),
                                        T(found_keys),
                                        T(limits),
                                        T(limit_of_many_calls),
                                        T(names),
                                        T(scan),
                                        T(found),
                                        T(end),
                                        T(info) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
