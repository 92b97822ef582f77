/* Logins whose token the verifier does not know yet: they wait, and go on when it does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/wire/ipc-peer.h"

struct answer {
    int count;
    int status;
    char class[160];
    char echo[256];
};

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct answer *a = userdata;
    (void)err;
    a->count++;
    a->status = r->status;
    snprintf(a->class, sizeof(a->class), "%s", r->java_class ? r->java_class : "");
    if (r->response)
        snprintf(a->echo, sizeof(a->echo), "%s", ((const echo_message *)r->response)->protocol);
}

static void call(struct ipc_client *c, struct answer *a)
{
    echo_message m = ECHO_INIT;
    m.protocol = (char *)(uintptr_t) "";
    assert_int_equal(ipc_client_call(c, "whoami", &m.base, ECHO_DESCRIPTOR, 0, on_answer, a), 0);
}

/* The verifier may know a token later: logins wait, also that of a client who has left. */
static struct {
    bool known;
    int asked;
    const struct ipc_server *server; /* NULL: it is not looked at */
} late;

static int late_verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64], size_t *ret_len,
                       char ret_user[256], const char **ret_class, struct sv_error *err,
                       void *userdata)
{
    late.asked++;
    if (late.server) {
        const struct ipc_peer *peer = ipc_server_verifying(late.server);

        assert_non_null(peer);
        assert_true(IN6_IS_ADDR_V4MAPPED(&peer->ip) && peer->ip.s6_addr[12] == 127);
    }
    return late.known
               ? peer_verify(id, id_len, ret_password, ret_len, ret_user, ret_class, err, userdata)
               : -EAGAIN;
}

static void test_token_late(void **state)
{
    (void)state;
    struct peer_server s;
    struct yarn_token forged = peer_token, unknown = peer_token;
    struct answer a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    forged.password_len--;
    unknown.id_len--;
    memset(&late, 0, sizeof(late));
    peer_server_start(&s, &(struct ipc_server_config){ .verify_token = late_verify });
    struct ipc_client *good = peer_client(&s, &peer_token, 0), *liar = peer_client(&s, &forged, 0),
                      *stranger = peer_client(&s, &unknown, 0),
                      *hasty = peer_client(&s, &peer_token, 0);
    call(good, &a);
    call(liar, &b);
    call(stranger, &c);
    call(hasty, &d);
    peer_run_until(&s, late.asked == 4);
    ipc_server_ask_again(s.server); /* still nobody knows */
    assert_int_equal(late.asked, 8);
    ipc_client_free(hasty);
    assert_int_equal(a.count + b.count + c.count, 0);
    late.known = true;
    ipc_server_ask_again(s.server);
    assert_int_equal(late.asked, 12); /* one has closed its connection, which is not read */
    ipc_server_ask_again(s.server);   /* no connection waits */
    assert_int_equal(late.asked, 12);
    peer_run_until(&s, a.count && b.count && c.count);
    peer_run_until(&s, ipc_server_connections(s.server) == 1);
    assert_int_equal(a.status, 0);
    assert_string_equal(a.echo, "appattempt_1_0001_000001/token");
    assert_string_equal(b.class, "javax.security.sasl.SaslException");
    assert_string_equal(c.class, JAVA_INVALID_TOKEN);
    ipc_client_free(good);
    ipc_client_free(liar);
    ipc_client_free(stranger);
    peer_server_stop(&s);
}

static bool is_of(const uint8_t *id, size_t id_len, void *userdata)
{
    const struct yarn_token *t = userdata;

    return yarn_bytes_equal(id, id_len, t->id, t->id_len);
}

static void ask_again_of(struct peer_server *s, const struct yarn_token *t)
{
    ipc_server_ask_again_token(s->server, is_of, (void *)(uintptr_t)t);
}

/* One token has become known: logins with others are not asked about. */
static void test_token_late_one(void **state)
{
    (void)state;
    struct peer_server s;
    struct yarn_token unknown = peer_token;
    struct answer a = { 0 }, b = { 0 };
    unknown.id_len--;
    memset(&late, 0, sizeof(late));
    peer_server_start(&s, &(struct ipc_server_config){ .verify_token = late_verify });
    late.server = s.server;
    struct ipc_client *good = peer_client(&s, &peer_token, 0),
                      *stranger = peer_client(&s, &unknown, 0);
    call(good, &a);
    call(stranger, &b);
    peer_run_until(&s, late.asked == 2);
    assert_null(ipc_server_verifying(s.server));
    late.known = true;
    ask_again_of(&s, &peer_token);
    assert_int_equal(late.asked, 3);
    peer_run_until(&s, a.count);
    assert_int_equal(a.status, 0);
    assert_int_equal(b.count, 0);
    ask_again_of(&s, &peer_token); /* it does not wait any more */
    assert_int_equal(late.asked, 3);
    ask_again_of(&s, &unknown);
    peer_run_until(&s, b.count);
    assert_string_equal(b.class, JAVA_INVALID_TOKEN);
    ipc_client_free(good);
    ipc_client_free(stranger);
    peer_server_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_late),
        cmocka_unit_test(test_token_late_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
