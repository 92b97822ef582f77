/* Tests client/lib/am-server.c: who is served before and after the registration, with security and
 * without; ports; and who may. */
#include "tests/unit/client/am-fixture.h"

#include "client/lib/am-server.h"
#include "tests/lib/free-port.h"
#include "wire/ipc/ipc-client.h"

#define PROTOCOL "org.selvedge.test.MasterProtocol"

typedef Hadoop__Common__GetProtocolVersionsRequestProto echo_message;

static char served_user[256];
static bool served_token;
static int served;

static void on_whoami(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    assert_string_equal(userdata, "the handlers' own");
    served++;
    served_token = ipc_call_peer(call)->token;
    (void)snprintf(served_user, sizeof(served_user), "%s", ipc_call_peer(call)->user);
    ipc_call_reply(call, request);
}

static const struct ipc_method methods[] = {
    { "whoami", &hadoop__common__get_protocol_versions_request_proto__descriptor,
      &hadoop__common__get_protocol_versions_request_proto__descriptor, on_whoami },
};
static const struct ipc_protocol protocol = {
    .name = PROTOCOL, .version = 1, .methods = methods, .n_methods = 1
};
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

static struct cli_am_server *serve(struct cluster *w)
{
    struct cli_am_server_config cfg = { .host = "127.0.0.1",
                                        .protocols = protocols,
                                        .userdata = (void *)(uintptr_t) "the handlers' own" };
    struct cli_am_server *s;
    struct sv_error err = { 0 };

    if (cli_am_serve(w->am, &cfg, &s, &err) < 0)
        fail_msg("%s", err.text);
    served = 0;
    return s;
}

/* ---- A client ---- */

struct answer {
    int calls, status;
    char text[SV_ERROR_TEXT_MAX];
};

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct answer *a = userdata;

    a->calls++;
    a->status = r->status;
    (void)snprintf(a->text, sizeof(a->text), "%s", err ? err->text : "");
}

static struct ipc_client *call(struct cluster *w, struct cli_am_server *s,
                               const struct yarn_token *token, struct answer *a)
{
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = cli_am_server_port(s),
                                     .protocol = PROTOCOL,
                                     .version = 1,
                                     .user = "ann",
                                     .token = token };
    echo_message q = HADOOP__COMMON__GET_PROTOCOL_VERSIONS_REQUEST_PROTO__INIT;
    struct ipc_client *c;

    *a = (struct answer){ 0 };
    q.protocol = (char[]){ "x" };
    assert_int_equal(ipc_client_new(w->event, &cfg, &c, NULL), 0);
    assert_int_equal(
        ipc_client_call(c, "whoami", &q.base,
                        &hadoop__common__get_protocol_versions_request_proto__descriptor, 0,
                        on_answer, a),
        0);
    return c;
}

static void call_to_end(struct cluster *w, struct cli_am_server *s, const struct yarn_token *token,
                        struct answer *a)
{
    struct ipc_client *c = call(w, s, token, a);

    RUN_UNTIL(w, a->calls == 1);
    ipc_client_free(c);
}

static struct yarn_token client_token(struct sv_arena *a, int attempt, const char *key,
                                      const char *user)
{
    struct yarn_client_am_token id = { .attempt = container(attempt, 1).attempt };
    struct yarn_master_key k = { .len = strlen(key) };
    struct yarn_token t = { .kind = YARN_KIND_CLIENT_AM, .service = "" };
    uint8_t *password = sv_arena_alloc(a, YARN_TOKEN_PASSWORD_MAX);

    (void)snprintf(id.client, sizeof(id.client), "%s", user);
    memcpy(k.bytes, key, k.len);
    assert_int_equal(yarn_client_am_token_encode(a, &id, &t.id, &t.id_len), 0);
    assert_int_equal(
        yarn_token_password(YARN_HMAC_SHA1, &k, t.id, t.id_len, password, &t.password_len), 0);
    t.password = password;
    return t;
}

/* ---- Tests ---- */

/* Clients that come before the registration wait for it. */
static void test_simple(void **state)
{
    struct cluster *w = *state;
    struct cli_am_server *s = serve(w);
    struct ipc_client *c;
    struct answer a;

    c = call(w, s, NULL, &a);
    for (int i = 0; i < 10; i++)
        assert_true(sd_event_run(w->event, 10000) >= 0);
    assert_int_equal(served, 0);
    run_registered(w);
    RUN_UNTIL(w, a.calls == 1);
    assert_int_equal(a.status, 0);
    assert_string_equal(served_user, "ann"); /* her claim, as in Hadoop */
    assert_false(served_token);
    ipc_client_free(c);
    cli_am_server_free(s);
}

/* Once there is a key, a name alone is nothing. */
static void test_secure(void **state)
{
    _cleanup_arena_ struct sv_arena *arena = sv_arena_new(0);
    const struct yarn_token good = client_token(arena, 1, CLIENT_KEY, "bob"),
                            other = client_token(arena, 2, CLIENT_KEY, "bob"),
                            forged = client_token(arena, 1, "another key", "bob");
    struct cluster *w = *state;
    struct cli_am_server *s = serve(w);
    struct ipc_client *early;
    struct answer a, b;

    w->secure = true;
    early = call(w, s, NULL, &b);
    run_registered(w);
    RUN_UNTIL(w, b.calls == 1);
    assert_true(b.status < 0);
    ipc_client_free(early);
    call_to_end(w, s, NULL, &a);
    assert_true(a.status < 0);
    assert_non_null(strstr(a.text, "client-to-AM token"));
    call_to_end(w, s, &forged, &a);
    assert_true(a.status < 0);
    call_to_end(w, s, &other, &a);
    assert_true(a.status < 0);
    assert_non_null(strstr(a.text, "another attempt"));
    assert_int_equal(served, 0);
    call_to_end(w, s, &good, &a);
    assert_int_equal(a.status, 0);
    assert_string_equal(served_user, "bob");
    assert_true(served_token);
    cli_am_server_free(s);
}

/* Parts of a token that is good: another user's name, another attempt's identifier with its own
 * key, no password, half of the identifier. */
static void test_forged_parts(void **state)
{
    _cleanup_arena_ struct sv_arena *arena = sv_arena_new(0);
    const struct yarn_token good = client_token(arena, 1, CLIENT_KEY, "bob");
    struct yarn_token renamed = client_token(arena, 1, "another key", "mallory"),
                      moved = client_token(arena, 2, "another key", "bob"), empty = good,
                      half = good;
    struct yarn_token *const all[] = { &renamed, &moved, &empty, &half };
    struct cluster *w = *state;
    struct cli_am_server *s = serve(w);
    struct answer a;

    renamed.password = good.password;
    renamed.password_len = good.password_len;
    empty.password_len = 0;
    half.id_len /= 2;
    w->secure = true;
    run_registered(w);
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++) {
        call_to_end(w, s, all[i], &a);
        assert_true(a.status < 0);
        assert_int_equal(served, 0);
    }
    call_to_end(w, s, &good, &a);
    assert_int_equal(a.status, 0);
    cli_am_server_free(s);
}

/* A token is nothing where there is no key. */
static void test_token_without_key(void **state)
{
    _cleanup_arena_ struct sv_arena *arena = sv_arena_new(0);
    const struct yarn_token t = client_token(arena, 1, CLIENT_KEY, "bob");
    struct cluster *w = *state;
    struct cli_am_server *s = serve(w);
    struct answer a;

    run_registered(w);
    call_to_end(w, s, &t, &a);
    assert_true(a.status < 0);
    assert_non_null(strstr(a.text, "no key"));
    assert_int_equal(served, 0);
    cli_am_server_free(s);
}

/* The answer to the registration was lost: whether clients need a token is unknown. */
static void test_lost_key(void **state)
{
    struct cluster *w = *state;
    struct cli_am_server *s = serve(w);
    struct ipc_client *c;
    struct answer a;

    w->refuse_register = JAVA_IO_EXCEPTION; /* stands for the lost one */
    c = call(w, s, NULL, &a);
    assert_int_equal(cli_am_register(w->am, "host", 1, ""), 0);
    RUN_UNTIL(w, w->refuse_register == NULL);
    w->refuse_register = JAVA_INVALID_AM_REQUEST;
    RUN_UNTIL(w, w->n_lost == 1);
    assert_int_equal(served, 0);
    ipc_client_free(c);
    cli_am_server_free(s);
}

static void test_ports(void **state)
{
    struct cluster *w = *state;
    const uint16_t first = free_port();
    int taken = free_port_bind(SOCK_STREAM, first);
    struct cli_am_server_config cfg = {
        .host = "127.0.0.1", .protocols = protocols, .first = first, .last = first
    };
    struct cli_am_server *s, *second;
    struct sv_error err = { 0 };

    assert_true(taken >= 0);
    assert_int_equal(listen(taken, 1), 0);
    assert_int_equal(cli_am_serve(w->am, &cfg, &s, &err), -EADDRINUSE);
    assert_non_null(strstr(err.text, "every port of"));
    cfg.last = (uint16_t)(first + 100);
    assert_int_equal(cli_am_serve(w->am, &cfg, &s, &err), 0);
    assert_true(cli_am_server_port(s) > first && cli_am_server_port(s) <= cfg.last);
    assert_int_equal(cli_am_serve(w->am, &cfg, &second, &err), -EALREADY);
    cli_am_server_free(s);
    cfg.last = (uint16_t)(first - 1);
    assert_int_equal(cli_am_serve(w->am, &cfg, &s, &err), -EINVAL);
    sv_close(taken);
}

static void test_ranges(void **state)
{
    static const char *const bad[] = { "0", "70000", "5-4",     "-5", "5-",
                                       "x", "5-x",   "1-70000", " 5", "123456789-5" };
    uint16_t first, last;

    (void)state;
    assert_int_equal(cli_port_range_parse("", &first, &last), 0);
    assert_true(first == 0 && last == 0);
    assert_int_equal(cli_port_range_parse("50000", &first, &last), 0);
    assert_true(first == 50000 && last == 50000);
    assert_int_equal(cli_port_range_parse("50000-50050", &first, &last), 0);
    assert_true(first == 50000 && last == 50050);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        if (cli_port_range_parse(bad[i], &first, &last) != -EINVAL)
            fail_msg("\"%s\" is accepted", bad[i]);
}

static void with_acls(struct cluster *w, const RegisterRequest *q, RegisterResponse *out,
                      struct sv_arena *a)
{
    static const char *const lists[] = { "vera", "max,mia" };

    (void)w, (void)q;
    out->application_acls = sv_newn(a, Hadoop__Yarn__ApplicationACLMapProto *, 2);
    for (int i = 0; i < 2; i++) {
        Hadoop__Yarn__ApplicationACLMapProto *m = sv_new(a, Hadoop__Yarn__ApplicationACLMapProto);

        hadoop__yarn__application_aclmap_proto__init(m);
        m->has_accesstype = true;
        m->accesstype = i ? HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP
                          : HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP;
        m->acl = sv_arena_strdup(a, lists[i]);
        out->application_acls[i] = m;
    }
    out->n_application_acls = 2;
}

static void test_access(void **state)
{
    struct cluster *w = *state;
    struct cli_am_access a = { .enabled = true, .owner = "olga", .admins = "root,yarn" };

    assert_false(cli_am_may(w->am, &a, "vera", CLI_VIEW)); /* no list is known yet */
    assert_true(cli_am_may(w->am, &a, "olga", CLI_MODIFY));
    w->on_register = with_acls;
    run_registered(w);
    assert_true(cli_am_may(w->am, &a, "vera", CLI_VIEW));
    assert_false(cli_am_may(w->am, &a, "vera", CLI_MODIFY));
    assert_true(cli_am_may(w->am, &a, "mia", CLI_MODIFY));
    assert_false(cli_am_may(w->am, &a, "mia", CLI_VIEW)); /* as in Hadoop: each list for itself */
    assert_true(cli_am_may(w->am, &a, "yarn", CLI_MODIFY));
    assert_false(cli_am_may(w->am, &a, "eve", CLI_VIEW));
    a.enabled = false;
    assert_true(cli_am_may(w->am, &a, "eve", CLI_MODIFY));
}

#define T(f) cmocka_unit_test_setup_teardown(f, cluster_set_up, cluster_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_simple),   T(test_secure), T(test_forged_parts),          T(test_token_without_key),
        T(test_lost_key), T(test_ports),  cmocka_unit_test(test_ranges), T(test_access),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
