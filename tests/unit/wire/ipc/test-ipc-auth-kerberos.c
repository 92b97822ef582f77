/* Tests the Kerberos exchange of wire/ipc/ipc-auth.c by bytes: offers, the order of messages, a
 * helper that is late, and what clients cost that never end a login. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/wire/ipc-kerberos.h"
#include "wire/ipc/ipc-conn.h"

static void test_offer(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct peer_server s;
    _cleanup_buf_ struct sv_buf b = { 0 };
    const sasl_message *m;
    int fd;

    (void)state;
    for (int token = 0; token < 2; token++) {
        start(&s, &(struct ipc_server_config){ .verify_token = token ? peer_verify : NULL,
                                               .allow_simple = true });
        put_header(&b);
        put_message(&b, STATE(NEGOTIATE), NULL, 0, NULL, 0);
        fd = raw_join(&s);
        raw_send(fd, b.data, b.len);
        m = take(&s, fd, a);
        assert_int_equal(m->state, STATE(NEGOTIATE));
        assert_int_equal(m->n_auths, token + 1);
        if (token)
            assert_string_equal(m->auths[0]->method, "TOKEN");
        assert_string_equal(m->auths[token]->method, "KERBEROS");
        assert_string_equal(m->auths[token]->mechanism, "GSSAPI");
        assert_string_equal(m->auths[token]->protocol, "nm");
        assert_string_equal(m->auths[token]->serverid, "here");
        assert_false(m->auths[token]->has_challenge);
        sv_close(fd);
        stop(&s);
    }
    sv_arena_free(a);
}

/* In every way to ask for SIMPLE, with allow_simple. */
static void test_simple_is_refused(void **state)
{
    sasl_auth simple = auth_of("SIMPLE", "", NULL, NULL);

    (void)state;
    for (int token = 0; token < 2; token++) {
        const char *words =
            token ? "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]"
                  : "SIMPLE authentication is not enabled.  Available:[KERBEROS]";
        _cleanup_buf_ struct sv_buf b = { 0 };
        struct peer_server s;
        struct raw_reply r;

        start(&s, &(struct ipc_server_config){ .verify_token = token ? peer_verify : NULL,
                                               .allow_simple = true });
        raw_put_hello(&b);
        raw_put_echo(&b, 1, "echo", "x");
        r = raw_refused(&s, b.data, b.len);
        assert_true(raw_holds(&r, words) && raw_holds(&r, JAVA_ACCESS_CONTROL));
        put_header(&b);
        put_message(&b, STATE(INITIATE), &simple, 1, NULL, 0);
        put_message(&b, STATE(INITIATE), &simple, 1, NULL, 0);
        raw_put_echo(&b, 1, "echo", "x");
        r = raw_refused(&s, b.data, b.len);
        assert_true(raw_holds(&r, words) && raw_holds(&r, JAVA_ACCESS_CONTROL));
        assert_int_equal(s.calls, 0);
        stop(&s);
    }
}

static void refused(struct peer_server *s, const struct sv_buf *b, const char *name,
                    const char *words)
{
    struct raw_reply r = raw_refused(s, b->data, b->len);

    if (!raw_holds(&r, words))
        fail_msg("%s: %zu bytes, without \"%s\"", name, r.n, words);
}

/* An INITIATE must be what was offered, in each field. */
static void test_not_offered(void **state)
{
    static const char *const parts[][4] = {
        { "KERBEROS", "GSSAPI", "nm", "elsewhere" }, { "KERBEROS", "GSSAPI", "rm", "here" },
        { "KERBEROS", "GSSAPI", "nm", NULL },        { "KERBEROS", "GSSAPI", NULL, "here" },
        { "KERBEROS", "GSS-SPNEGO", "nm", "here" },  { "kerberos", "GSSAPI", "nm", "here" },
        { "KERBEROS", "DIGEST-MD5", "nm", "here" },  { "TOKEN", "GSSAPI", "nm", "here" },
    };
    struct peer_server s;

    (void)state;
    start(&s, &(struct ipc_server_config){ 0 });
    for (size_t i = 0; i <= SV_ARRAY_LEN(parts); i++) {
        _cleanup_buf_ struct sv_buf b = { 0 };
        const char *const *p = parts[i % SV_ARRAY_LEN(parts)];
        sasl_auth a = auth_of(p[0], p[1], p[2], p[3]);

        if (i == SV_ARRAY_LEN(parts)) { /* with a challenge of its own */
            a = auth_of("KERBEROS", "GSSAPI", "nm", "here");
            a.has_challenge = 1;
        }
        put_header(&b);
        put_message(&b, STATE(INITIATE), &a, 1, AP_REQ, strlen(AP_REQ));
        put_message(&b, STATE(INITIATE), &a, 1, AP_REQ, strlen(AP_REQ));
        refused(&s, &b, p[0], "authentication is not enabled.  Available:[KERBEROS]");
    }
    assert_int_equal(krb.made, 0);
    stop(&s);
}

static void test_order(void **state)
{
    sasl_auth a = auth_of("KERBEROS", GSSAPI_MECHANISM, "nm", "here");
    struct peer_server s;
    _cleanup_buf_ struct sv_buf b = { 0 };

    (void)state;
    start(&s, &(struct ipc_server_config){ 0 });
    put_header(&b);
    put_message(&b, STATE(NEGOTIATE), NULL, 0, NULL, 0);
    put_message(&b, STATE(NEGOTIATE), NULL, 0, NULL, 0);
    refused(&s, &b, "two NEGOTIATEs", "already attempted negotiation");
    put_header(&b);
    put_initiate(&b, AP_REQ, strlen(AP_REQ));
    put_message(&b, STATE(NEGOTIATE), NULL, 0, NULL, 0);
    refused(&s, &b, "NEGOTIATE behind INITIATE", "already attempted negotiation");
    put_header(&b);
    put_initiate(&b, AP_REQ, strlen(AP_REQ));
    put_initiate(&b, AP_REQ, strlen(AP_REQ));
    refused(&s, &b, "two INITIATEs", "the exchange has begun already");
    put_header(&b);
    put_message(&b, STATE(NEGOTIATE), NULL, 0, NULL, 0);
    put_message(&b, STATE(RESPONSE), NULL, 0, AP_REQ, strlen(AP_REQ));
    refused(&s, &b, "RESPONSE first", "the exchange has not begun");
    put_header(&b);
    put_message(&b, STATE(INITIATE), &a, 2, AP_REQ, strlen(AP_REQ));
    refused(&s, &b, "two mechanisms", "Client mechanism is malformed");
    put_header(&b);
    put_initiate(&b, NULL, 0);
    refused(&s, &b, "no ticket", "Client did not send a token");
    put_header(&b);
    put_initiate(&b, "", 0);
    refused(&s, &b, "an empty ticket", "malformed message");
    put_header(&b);
    put_initiate(&b, AP_REQ, strlen(AP_REQ));
    put_message(&b, STATE(RESPONSE), NULL, 0, NULL, 0);
    refused(&s, &b, "RESPONSE without a token", "Client did not send a token");
    put_header(&b);
    put_initiate(&b, AP_REQ, strlen(AP_REQ));
    raw_put_echo(&b, 1, "echo", "x");
    refused(&s, &b, "a call too early", "not established");
    assert_int_equal(s.calls, 0);
    stop(&s);
}

/* The connection waits for the helper, and so do messages that come meanwhile. */
static void test_late(void **state)
{
    struct peer_server s;
    struct raw_reply r = { 0 };
    _cleanup_buf_ struct sv_buf b = { 0 };
    int fd;

    (void)state;
    start(&s, &(struct ipc_server_config){ 0 });
    krb.mode = KRB_LATE;
    fd = begin(&s);
    put_message(&b, STATE(RESPONSE), NULL, 0, "", 0);
    raw_send(fd, b.data, b.len);
    turns(&s);
    assert_false(raw_take(fd, &r));
    assert_int_equal(r.n, 0);
    krb_answer_late();
    peer_run_until(&s, take_frames(fd, &r, 2));
    assert_int_equal(frames(&r), 2);
    assert_true(raw_holds(&r, "AP-REP"));
    assert_int_equal(krb.steps, 1);
    sv_close(fd);
    stop(&s);
}

static void test_closed_meanwhile(void **state)
{
    struct peer_server s;
    struct raw_reply r = { 0 };
    _cleanup_buf_ struct sv_buf b = { 0 };
    int fd;

    (void)state;
    start(&s, &(struct ipc_server_config){ 0 });
    krb.mode = KRB_LATE;
    raw_reset(begin(&s));
    peer_run_until(&s, krb.alive == 0);
    assert_int_equal(ipc_server_connections(s.server), 0);
    fd = begin(&s); /* one that sends no more gets its answer */
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    turns(&s);
    assert_int_equal(krb.alive, 1);
    krb_answer_late();
    peer_run_until(&s, raw_take(fd, &r));
    assert_true(raw_holds(&r, "AP-REP"));
    assert_int_equal(ipc_server_connections(s.server), 0);
    sv_close(fd);
    fd = begin(&s);
    s.server = ipc_server_free(s.server);
    assert_int_equal(krb.alive, 0);
    assert_null(krb.late);
    sv_close(fd);
    stop(&s);

    start(&s, &(struct ipc_server_config){ .limits.handshake_ms = 50 });
    krb.mode = KRB_LATE;
    put_header(&b);
    put_initiate(&b, AP_REQ, strlen(AP_REQ));
    fd = raw_join(&s);
    raw_send(fd, b.data, b.len);
    r = (struct raw_reply){ 0 };
    peer_run_until(&s, raw_take(fd, &r));
    assert_int_equal(krb.alive, 0);
    sv_close(fd);
    stop(&s);
}

/* ---- Bounds ---- */

/* A ticket's authorization data may fill 64 KiB. */
static void test_large_ticket(void **state)
{
    enum { ROOM = 1 << 20 };
    static const int room = ROOM;
    static uint8_t token[GSSAPI_TOKEN_MAX + 8192] = AP_REQ;
    static const struct {
        size_t n;
        const char *words;
    } cases[] = {
        { GSSAPI_TOKEN_MAX, "AP-REP" },
        { GSSAPI_TOKEN_MAX + 1, "malformed message" },
        { sizeof(token), "are accepted before authentication" },
    };
    struct peer_server s;

    (void)state;
    start(&s, &(struct ipc_server_config){ 0 });
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_buf_ struct sv_buf b = { 0 };
        struct raw_reply r = { 0 };
        int fd = raw_join(&s);

        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
        put_header(&b);
        put_initiate(&b, token, cases[i].n);
        raw_send(fd, b.data, b.len);
        peer_run_until(&s, take_frames(fd, &r, 1));
        if (!raw_holds(&r, cases[i].words))
            fail_msg("%zu bytes: not \"%s\"", cases[i].n, cases[i].words);
        sv_close(fd);
    }
    stop(&s);
}

/* 10,000 clients begin, and the helper answers none: as many handshakes as connections that are not
 * authenticated, and their tokens count as memory. Whoever comes then is served. */
static void test_half_handshakes(void **state)
{
    enum { N = 10000, PREAUTH = 256, KEPT = 300, TOKEN = 8000 };
    static uint8_t token[TOKEN] = AP_REQ;
    _cleanup_buf_ struct sv_buf b = { 0 };
    struct peer_server s;
    int fd[KEPT];

    (void)state;
    start(&s, &(struct ipc_server_config){
                  .limits = { .max_preauth = PREAUTH, .max_per_address = N } });
    krb.mode = KRB_LATE;
    put_header(&b);
    put_initiate(&b, token, sizeof(token));
    for (int i = 0; i < N; i++) {
        if (i >= KEPT)
            sv_close(fd[i % KEPT]);
        fd[i % KEPT] = raw_join(&s);
        raw_send(fd[i % KEPT], b.data, b.len);
        peer_run_until(&s, krb.made == i + 1);
        assert_true(krb.alive <= PREAUTH);
        assert_in_range(ipc_server_memory(s.server), 0, PREAUTH * 2 * TOKEN);
    }
    turns(&s);
    assert_int_equal(krb.alive, PREAUTH);
    assert_in_range(ipc_server_memory(s.server), PREAUTH * TOKEN, PREAUTH * 2 * TOKEN);
    krb.mode = KRB_ANSWERS;
    sv_close(login(&s, CHOOSE_AUTH));
    for (int i = 0; i < KEPT; i++)
        sv_close(fd[i]);
    stop(&s);
}

static bool is_open(int fd)
{
    char byte;

    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Nodes all come back at once: one whose ticket was taken does not give way to those behind it
 * before its context has come. */
static void test_crowd_spares_authenticated(void **state)
{
    enum { PREAUTH = 2, CROWD = 6 };
    struct peer_server s;
    int fd, others[CROWD];
    char byte;

    (void)state;
    start(&s, &(struct ipc_server_config){ .limits = { .max_preauth = PREAUTH } });
    fd = login(&s, CHOOSE_AUTH);
    for (int i = 0; i < CROWD; i++) {
        others[i] = raw_join(&s);
        peer_run_until(&s, i < PREAUTH || !is_open(others[i - PREAUTH]));
    }
    peer_run_until(&s, ipc_server_connections(s.server) == 1 + PREAUTH);
    assert_int_equal(recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(recv(others[i], &byte, 1, MSG_DONTWAIT), i < CROWD - PREAUTH ? 0 : -1);
    for (int i = 0; i < CROWD; i++)
        sv_close(others[i]);
    sv_close(fd);
    stop(&s);
}

/* The last message of a login has come, and is not read yet: the peer takes itself for
 * authenticated. Whoever lets the server wait gives way, and one that waits for the helper does
 * not. */
static void test_crowd_spares_the_waiting(void **state)
{
    enum { PREAUTH = 4 };
    struct peer_server s;
    int last, computes, silent[2], late[2];

    (void)state;
    start(&s, &(struct ipc_server_config){ .limits = { .max_preauth = PREAUTH } });
    last = login_begin(&s, AP_REQ); /* the oldest */
    krb.mode = KRB_LATE;
    computes = begin(&s);
    for (int i = 0; i < 2; i++)
        silent[i] = raw_join(&s);
    peer_run_until(&s, ipc_server_connections(s.server) == PREAUTH);
    send_choice(last, CHOOSE_AUTH);
    for (int i = 0; i < 2; i++) { /* before the server can have read it */
        late[i] = raw_join(&s);
        raw_send(late[i], "hrpc", 4);
    }
    peer_run_until(&s, ipc_server_counters(s.server)->authentications == 1 && !is_open(silent[0]));
    turns(&s);
    assert_true(is_open(last) && is_open(computes));
    assert_true(is_open(late[0]) && is_open(late[1]));
    assert_int_equal(krb.alive, 1);
    krb_answer_late();
    turns(&s);
    for (int i = 0; i < 2; i++) {
        sv_close(silent[i]);
        sv_close(late[i]);
    }
    sv_close(computes);
    sv_close(last);
    stop(&s);
}

/* While logins succeed, a peer has time for its next message; newcomers wait. Strangers who only
 * hold connections have none. */
static void test_patience(void **state)
{
    enum { PREAUTH = 2, STRANGERS = 12, PATIENCE = 1000 };
    struct peer_server s;
    int slow[PREAUTH], late[STRANGERS];
    int64_t began;

    (void)state;
    start(&s, &(struct ipc_server_config){
                  .limits = { .max_preauth = PREAUTH, .patience_ms = PATIENCE } });
    for (int i = 0; i < PREAUTH; i++)
        slow[i] = login_begin(&s, AP_REQ);
    began = sv_now_ms();
    late[0] = raw_join(&s);
    turns(&s);
    assert_true(is_open(slow[0]) && is_open(slow[1]));
    assert_int_equal(ipc_server_connections(s.server), PREAUTH);
    send_choice(slow[0], CHOOSE_AUTH); /* makes room for the newcomer */
    peer_run_until(&s, ipc_server_connections(s.server) == PREAUTH + 1);
    assert_true(sv_now_ms() - began < PATIENCE - 100);
    for (int i = 1; i < STRANGERS; i++)
        late[i] = raw_join(&s);
    peer_run_until(&s, !is_open(late[STRANGERS - 1 - PREAUTH]));
    assert_in_range(sv_now_ms() - began, PATIENCE - 100, 10 * PATIENCE);
    assert_true(is_open(slow[0]));
    assert_false(is_open(slow[1]));
    for (int i = 0; i < STRANGERS; i++)
        sv_close(late[i]);
    for (int i = 0; i < PREAUTH; i++)
        sv_close(slow[i]);
    stop(&s);
}

/* However many logins have a message for the server, an established connection is served between
 * some of them. */
static void test_calls_between_logins(void **state)
{
    enum { LOGINS = 400 };
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .verify_token = peer_verify,
                                     .limits = { .max_per_address = LOGINS + 1 } };
    static int login[LOGINS];
    struct raw_reply r = { 0 };
    struct peer_server s;
    _cleanup_buf_ struct sv_buf hello = { 0 }, negotiate = { 0 };
    int fd, answered = 0;
    char byte;

    (void)state;
    peer_server_start(&s, &cfg);
    raw_put_hello(&hello);
    raw_put_echo(&hello, 1, "echo", "first");
    fd = raw_join(&s);
    raw_send(fd, hello.data, hello.len);
    peer_run_until(&s, raw_take(fd, &r) || raw_holds(&r, "first"));
    for (int i = 0; i < LOGINS; i++)
        login[i] = raw_join(&s);
    peer_run_until(&s, ipc_server_connections(s.server) == LOGINS + 1);
    put_header(&negotiate);
    put_message(&negotiate, STATE(NEGOTIATE), NULL, 0, NULL, 0);
    for (int i = 0; i < LOGINS; i++)
        raw_send(login[i], negotiate.data, negotiate.len);
    hello.len = 0;
    raw_put_echo(&hello, 2, "echo", "second");
    raw_send(fd, hello.data, hello.len);
    r = (struct raw_reply){ 0 };
    peer_run_until(&s, raw_take(fd, &r) || raw_holds(&r, "second"));
    for (int i = 0; i < LOGINS; i++)
        answered += recv(login[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
    assert_in_range(answered, 0, 4 * IPC_LOGINS);
    for (int i = 0; i < LOGINS; i++) {
        r = (struct raw_reply){ 0 };
        peer_run_until(&s, take_frames(login[i], &r, 1));
        sv_close(login[i]);
    }
    sv_close(fd);
    peer_server_stop(&s);
}

/* ---- Principals ---- */

/* A cluster behind one address: nodes that are authenticated count for themselves, and those who
 * knock there end none of them. */
static void test_principals_count_apart(void **state)
{
    enum { LIMIT = 3, NODES = 8, KNOCKS = 9 };
    struct peer_server s;
    int node[NODES], more[LIMIT], knock[KNOCKS];
    char token[64];

    (void)state;
    start(&s, &(struct ipc_server_config){ .limits = { .max_per_address = LIMIT } });
    for (int i = 0; i < NODES; i++) {
        snprintf(token, sizeof(token), "AP-REQ node%d@R", i);
        node[i] = login_as(&s, token, CHOOSE_AUTH);
    }
    for (int i = 0; i < KNOCKS; i++)
        knock[i] = raw_join(&s);
    peer_run_until(&s, ipc_server_connections(s.server) == NODES + LIMIT);
    turns(&s);
    for (int i = 0; i < NODES; i++)
        assert_true(is_open(node[i]));
    for (int i = 0; i < KNOCKS; i++)
        sv_close(knock[i]);
    peer_run_until(&s, ipc_server_connections(s.server) == NODES);
    for (int i = 0; i < LIMIT; i++) /* one that has too many closes its own idlest */
        more[i] = login_as(&s, "AP-REQ node0@R", CHOOSE_AUTH);
    assert_false(is_open(node[0]));
    assert_int_equal(ipc_server_connections(s.server), NODES + LIMIT - 1);
    for (int i = 1; i < NODES; i++)
        assert_true(is_open(node[i]));
    for (int i = 0; i < NODES; i++)
        sv_close(node[i]);
    for (int i = 0; i < LIMIT; i++)
        sv_close(more[i]);
    stop(&s);
}

/* On a server that is full of nodes the newcomer is refused; of a principal with very many
 * connections the idlest makes room for it. */
static void test_full_of_principals(void **state)
{
    enum { ALL = 20, MANY = 17 };
    struct peer_server s;
    int fd[ALL], late;

    (void)state;
    for (int hog = 0; hog < 2; hog++) {
        start(&s, &(struct ipc_server_config){ .limits = { .max_connections = ALL } });
        for (int i = 0; i < ALL; i++) {
            char token[64];

            snprintf(token, sizeof(token), "AP-REQ node%d@R", hog && i < MANY ? 0 : i);
            fd[i] = login_as(&s, token, CHOOSE_AUTH);
        }
        late = raw_join(&s);
        raw_send(late, "hrpc", 4);
        turns(&s);
        assert_int_equal(is_open(late), hog);
        for (int i = 0; i < ALL; i++)
            assert_int_equal(is_open(fd[i]), !hog || i > 0);
        for (int i = 0; i < ALL; i++)
            sv_close(fd[i]);
        sv_close(late);
        stop(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offer),
        cmocka_unit_test(test_simple_is_refused),
        cmocka_unit_test(test_not_offered),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_closed_meanwhile),
        cmocka_unit_test(test_large_ticket),
        cmocka_unit_test(test_half_handshakes),
        cmocka_unit_test(test_crowd_spares_authenticated),
        cmocka_unit_test(test_crowd_spares_the_waiting),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_calls_between_logins),
        cmocka_unit_test(test_principals_count_apart),
        cmocka_unit_test(test_full_of_principals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
