/* Tests wire/ipc/ipc-kerberos.c, a server's SASL KERBEROS, with our client: qualities, refusals,
 * and how the client tells one from a server that is away. Handshakes are those of fake-kerberos.h;
 * real ones are in tests/interop/test-kerberos. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/wire/ipc-fake-server.h"
#include "tests/unit/wire/ipc-kerberos.h"
#include "wire/ipc/retry.h"

#define TICKETS "this service cannot take tickets now"

struct outcome {
    int count, status;
    enum ipc_failure failure;
    size_t len;
    char text[SV_ERROR_TEXT_MAX], class[256];
};

static void on_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct outcome *o = userdata;
    const char *text = r->status < 0 ? err->text : peer_text(r->response);

    o->count++;
    o->status = r->status;
    o->failure = r->status < 0 ? ipc_failure_of(r) : IPC_FAILURE_COUNT;
    o->len = strlen(text);
    snprintf(o->text, sizeof(o->text), "%s", text);
    snprintf(o->class, sizeof(o->class), "%s", r->java_class ? r->java_class : "");
}

static struct ipc_client *client_of(struct peer_server *s, const struct ipc_kerberos *k,
                                    uint32_t mask)
{
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = ipc_server_port(s->server),
                                     .protocol = PEER_PROTOCOL,
                                     .version = 1,
                                     .kerberos = k,
                                     .qop_mask = mask };
    struct ipc_client *c;

    assert_int_equal(ipc_client_new(s->event, &cfg, &c, NULL), 0);
    return c;
}

static void call(struct ipc_client *c, const char *method, const char *text, struct outcome *o)
{
    echo_message m = ECHO_INIT;

    m.protocol = (char *)(uintptr_t)text;
    assert_int_equal(ipc_client_call(c, method, &m.base, ECHO_DESCRIPTOR, 0, on_done, o), 0);
}

/* One call of a new client. */
static struct outcome ask(struct peer_server *s, const struct ipc_kerberos *k, uint32_t mask)
{
    struct ipc_client *c = client_of(s, k, mask);
    struct outcome o = { 0 };

    krb.client = k->principal;
    call(c, "whoami", "", &o);
    peer_run_until(s, o.count);
    ipc_client_free(c);
    return o;
}

static void test_qualities(void **state)
{
    static const uint32_t all[] = { IPC_QOP_AUTH, IPC_QOP_INTEGRITY, IPC_QOP_PRIVACY, IPC_QOP_ALL };
    enum { BIG = 1 << 20 };
    char *text = calloc(1, BIG + 1);

    (void)state;
    memset(text, 'x', BIG);
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++) {
        struct peer_server s;
        struct outcome o = { 0 }, large = { 0 }, back = { 0 }, small = { 0 };
        struct ipc_client *c;

        start(&s, &(struct ipc_server_config){ .qop_mask = all[i] });
        c = client_of(&s, &krb_initiator, IPC_QOP_ALL);
        call(c, "whoami", "", &o);
        call(c, "length", text, &large);
        call(c, "flood", "1048576", &back);
        for (int n = 0; n < 200; n++)
            call(c, "echo", "small", &small);
        peer_run_until(&s, o.count && large.count && back.count && small.count == 200);
        assert_string_equal(o.text, "alice/alice@R");
        assert_string_equal(large.text, "1048576");
        assert_int_equal(back.len, BIG);
        assert_int_equal(ipc_server_counters(s.server)->authentications, 1);
        assert_int_equal(ipc_server_counters(s.server)->authorizations, 1);
        assert_int_equal(krb.steps, 1);
        ipc_client_free(c);
        stop(&s);
    }
    free(text);
}

static void test_no_common_quality(void **state)
{
    struct peer_server s;
    struct outcome o;

    (void)state;
    start(&s, &(struct ipc_server_config){ .qop_mask = IPC_QOP_PRIVACY });
    o = ask(&s, &krb_initiator, IPC_QOP_AUTH);
    assert_int_equal(o.failure, IPC_FAILURE_AUTH);
    assert_non_null(strstr(o.text, "hadoop.rpc.protection here asks for authentication"));
    stop(&s);
}

/* A refusal is final for the client. What is wrong with our keytab is not the client's to know, and
 * no refusal: it comes again. */
static void test_refusals(void **state)
{
    static const struct {
        enum krb_mode mode;
        struct gssapi_outcome refusal;
        const char *words;
    } cases[] = {
        { KRB_ANSWERS, { .status = -EACCES, .text = "Request is a replay" }, "is a replay" },
        { KRB_ANSWERS, { .status = -EIO, .text = "keytab /etc/rests: mode 0644" }, TICKETS },
        { KRB_RESTS, { 0 }, TICKETS },
        { KRB_FAILS, { 0 }, TICKETS },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct peer_server s;
        struct outcome o;

        start(&s, &(struct ipc_server_config){ .verify_token = peer_verify });
        krb.mode = cases[i].mode;
        krb.refusal = cases[i].refusal;
        o = ask(&s, &krb_initiator, 0);
        bool judged = cases[i].refusal.status == -EACCES;
        assert_string_equal(o.class, judged ? JAVA_SASL_EXCEPTION : JAVA_RETRIABLE);
        assert_int_equal(o.failure, judged ? IPC_FAILURE_AUTH : IPC_FAILURE_RETRIABLE);
        assert_non_null(strstr(o.text, cases[i].words));
        assert_null(strstr(o.text, "rests"));
        assert_int_equal(ipc_server_counters(s.server)->authentications_failed, 1);
        assert_int_equal(ipc_server_counters(s.server)->authentications, 0);
        stop(&s);
    }
}

/* Without an account: told so, without the rules, and served under no other name. */
static void test_no_rule(void **state)
{
    struct peer_server s;
    struct outcome o;

    (void)state;
    start(&s, &(struct ipc_server_config){ .allow_simple = true });
    o = ask(&s, &krb_stranger, 0);
    assert_string_equal(o.class, JAVA_ACCESS_CONTROL);
    assert_int_equal(o.failure, IPC_FAILURE_AUTH);
    assert_non_null(strstr(o.text, "hadoop.security.auth_to_local gives eve@ELSEWHERE an account"));
    assert_null(strstr(o.text, "secret"));
    assert_int_equal(ipc_server_counters(s.server)->authentications_failed, 1);
    stop(&s);
}

static void test_token_beside(void **state)
{
    struct peer_server s;
    struct ipc_client *c;
    struct outcome o = { 0 };

    (void)state;
    start(&s, &(struct ipc_server_config){ .verify_token = peer_verify });
    c = peer_client(&s, &peer_token, 0);
    call(c, "whoami", "", &o);
    peer_run_until(&s, o.count);
    assert_string_equal(o.text, "appattempt_1_0001_000001/token");
    assert_int_equal(krb.made, 0);
    ipc_client_free(c);
    stop(&s);
}

/* ---- A server of Hadoop's that closes in place of an answer ---- */

static void say(struct fake *f, int sasl_state, const void *token, size_t n, bool offers)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    sasl_auth auth = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT, *auths[] = { &auth };

    auth.method = (char *)"KERBEROS";
    auth.mechanism = (char *)GSSAPI_MECHANISM;
    auth.protocol = (char *)"nm";
    auth.serverid = (char *)"here";
    m.state = (Hadoop__Common__RpcSaslProto__SaslState)sasl_state;
    m.n_auths = offers;
    m.auths = auths;
    m.has_token = token != NULL;
    m.token = (ProtobufCBinaryData){ .len = n, .data = (uint8_t *)(uintptr_t)token };
    fake_sasl(f, &m);
}

static struct {
    int responses, closes_at;
} closing;

static void close_at(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        say(f, STATE(NEGOTIATE), NULL, 0, true);
    else if (c->sasl == STATE(INITIATE))
        say(f, STATE(CHALLENGE), "AP-REP", 6, false);
    else if (++closing.responses == closing.closes_at)
        fake_hang_up(f);
    else
        say(f, STATE(CHALLENGE), "s\0\0\0\0\1\0\0\0", 9, false);
}

/* A server that closes without an answer may have been killed in that moment: no refusal, also
 * behind the client's last message. */
static void test_closed_without_answer(void **state)
{
    static const struct {
        int at;
        const char *words;
    } cases[] = {
        { 1, "the server closed the connection" },
        { 2, "behind the login of alice@R, without an answer; if it does so each time, maybe no "
             "rule" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct peer_server s = { 0 };
        struct fake f = { 0 };
        struct outcome o = { 0 };
        struct ipc_client *c;

        assert_true(sd_event_new(&s.event) >= 0);
        krb_start(s.event);
        fake_start(&f, s.event, 0);
        f.on_call = close_at;
        closing.responses = 0;
        closing.closes_at = cases[i].at;
        assert_int_equal(ipc_client_new(s.event,
                                        &(struct ipc_client_config){ .host = "127.0.0.1",
                                                                     .port = f.port,
                                                                     .protocol = PEER_PROTOCOL,
                                                                     .version = 1,
                                                                     .kerberos = &krb_initiator },
                                        &c, NULL),
                         0);
        call(c, "echo", "x", &o);
        peer_run_until(&s, o.count);
        if (o.failure != IPC_FAILURE_LOST || !strstr(o.text, cases[i].words))
            fail_msg("closed at %d: %s", cases[i].at, o.text);
        assert_int_equal(f.calls, 0);
        ipc_client_free(c);
        fake_stop(&f);
        sd_event_unref(s.event);
    }
}

static void test_configuration(void **state)
{
    static const char *const bad[] = { "nm@R", "nm/here", "", "nm/here/there@R", "nm/here@R@S" };
    sd_event *event;

    (void)state;
    assert_true(sd_event_new(&event) >= 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct ipc_acceptor a = krb_acceptor;
        struct ipc_server_config cfg = { .kerberos = &a, .protocols = peer_protocols };
        struct ipc_server *s = NULL;
        struct sv_error err = { 0 };

        a.principal = bad[i];
        assert_int_equal(ipc_server_new(event, &cfg, &s, &err), -EINVAL);
        assert_non_null(strstr(err.text, "principal"));
        assert_null(s);
    }
    sd_event_unref(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qualities),     cmocka_unit_test(test_no_common_quality),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_no_rule),
        cmocka_unit_test(test_token_beside),  cmocka_unit_test(test_closed_without_answer),
        cmocka_unit_test(test_configuration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
