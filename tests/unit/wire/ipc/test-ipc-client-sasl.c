/* Tests wire/ipc/ipc-client-sasl.c: a client with a token sends no call to a server that does not
 * know the token's password (HARDENING 61, 63), one with a principal none to a server that is not
 * the expected one. The server is tests/unit/wire/ipc-fake-server.h; a handshake to its end is
 * tests/integration/gss/test-gss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/yarn_service.pb-c.h"
#include "tests/unit/wire/ipc-client-fixture.h"
#include "wire/sasl/gssapi.h"

typedef Hadoop__Common__RpcSaslProto sasl_message;
typedef Hadoop__Common__RpcSaslProto__SaslAuth sasl_auth;
#define STATE(x) HADOOP__COMMON__RPC_SASL_PROTO__SASL_STATE__##x

static void offer(struct fake *f, const char *method, const char *mechanism, const char *id,
                  const char *challenge)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    sasl_auth auth = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT, *auths[] = { &auth };
    m.state = STATE(NEGOTIATE);
    m.n_auths = 1;
    m.auths = auths;
    auth.method = (char *)(uintptr_t)method;
    auth.mechanism = (char *)(uintptr_t)mechanism;
    auth.serverid = (char *)(uintptr_t)id;
    auth.has_challenge = challenge != NULL;
    auth.challenge.data = (uint8_t *)(uintptr_t)challenge;
    auth.challenge.len = challenge ? strlen(challenge) : 0;
    fake_sasl(f, &m);
}

static void sasl_say(struct fake *f, int sasl_state, const char *token)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    m.state = (Hadoop__Common__RpcSaslProto__SaslState)sasl_state;
    m.has_token = token != NULL;
    m.token.data = (uint8_t *)(uintptr_t)token;
    m.token.len = token ? strlen(token) : 0;
    fake_sasl(f, &m);
}

#define CHALLENGE                                                                                  \
    "realm=\"default\",nonce=\"GmE1YiBsZXQgbWUgaW4h\",qop=\"auth\",charset=utf-8,algorithm=md5-"   \
    "sess"

static void only_simple(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer(f, "SIMPLE", "", NULL, NULL);
}
static void no_login(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        sasl_say(f, STATE(SUCCESS), NULL);
}
static void kerberos(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer(f, "KERBEROS", "GSSAPI", "host", NULL);
}
static void plain(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer(f, "TOKEN", "PLAIN", "default", NULL);
}
static void other_id(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer(f, "TOKEN", "DIGEST-MD5", "other", CHALLENGE);
}
static void believes_all(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer(f, "TOKEN", "DIGEST-MD5", "default", CHALLENGE);
    else if (c->sasl == STATE(INITIATE))
        sasl_say(f, STATE(SUCCESS), "rspauth=00000000000000000000000000000000");
}
static void no_proof(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer(f, "TOKEN", "DIGEST-MD5", "default", CHALLENGE);
    else if (c->sasl == STATE(INITIATE))
        sasl_say(f, STATE(SUCCESS), NULL);
}
static void endless(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer(f, "TOKEN", "DIGEST-MD5", "default", NULL);
    else if (c->id == IPC_CALL_SASL)
        sasl_say(f, STATE(CHALLENGE), CHALLENGE);
}
static void twice(struct fake *f, const struct fake_call *c)
{
    if (c->id == IPC_CALL_SASL)
        offer(f, "TOKEN", "DIGEST-MD5", "default", CHALLENGE);
}
static void challenge_first(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        sasl_say(f, STATE(CHALLENGE), CHALLENGE);
}
static void wrap_first(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        sasl_say(f, STATE(WRAP), "secret");
}
static void answer_first(struct fake *f, const struct fake_call *c)
{
    (void)c;
    fake_echo(f, 1, "hello");
}
static void long_challenge(struct fake *f, const struct fake_call *c)
{
    static char text[40000];
    memset(text, 'a', sizeof(text) - 1);
    if (c->sasl == STATE(NEGOTIATE))
        offer(f, "TOKEN", "DIGEST-MD5", "default", text);
}
static void long_frame(struct fake *f, const struct fake_call *c)
{
    (void)c;
    fake_raw(f, "\0\1\0\1", 4); /* 64 KiB and a byte, before the login */
}
static void weak(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer(f, "TOKEN", "DIGEST-MD5", "default",
              "realm=\"default\",nonce=\"n\",nonce=\"n\",qop=\"auth\",charset=utf-8,algorithm=md5");
}

static void test_impostors(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*says)(struct fake *f, const struct fake_call *c);
        int status;
    } cases[] = {
        { "only SIMPLE (CVE-2013-2192)", only_simple, -EACCES },
        { "no login wanted", no_login, -EACCES },
        { "Kerberos", kerberos, -EACCES },
        { "PLAIN, which would tell it the password", plain, -EACCES },
        { "another identity", other_id, -EACCES },
        { "believes every password, cannot prove its own", believes_all, -EACCES },
        { "success without proof", no_proof, -EACCES },
        { "endless challenges", endless, -EACCES },
        { "negotiates twice", twice, -EACCES },
        { "a challenge before the offer", challenge_first, -EACCES },
        { "wrapped bytes before the login", wrap_first, -EACCES },
        { "an answer before the login", answer_first, -EPROTO },
        { "a challenge of 40 KB", long_challenge, -EACCES },
        { "more than 64 KiB before the login", long_frame, -EPROTO },
        { "a challenge with doubled words", weak, -EACCES },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct fixture w;
        struct answer a = { 0 };
        fixture_new(&w, &peer_token, NULL);
        w.fake.on_call = cases[i].says;
        call(&w, "a secret", &a);
        peer_run_until(&w, a.count);
        if (a.status != cases[i].status || a.sent || w.fake.calls > 0)
            fail_msg("%s: status %d, %d calls: %s", cases[i].name, a.status, w.fake.calls, a.text);
        assert_int_equal(w.fake.auth, IPC_AUTH_SASL);
        assert_int_equal(a.count, 1);
        fixture_free(&w);
    }
}

/* ---- Kerberos ---- */

/* A handshake that answers in the loop's next turn, as the test says. */
static struct helper {
    struct gssapi_handshake base;
    sd_event *event;
    sd_event_source *later;
    struct gssapi_outcome says;
    gssapi_told told;
    void *userdata;
    int steps, freed, refuses;
    bool silent;
    char host[64];
    const char *server;
} helper;

static int helper_answers(sd_event_source *src, void *userdata)
{
    (void)src, (void)userdata;
    helper.later = sd_event_source_disable_unref(helper.later);
    helper.told(&helper.says, helper.userdata);
    return 0;
}

static int helper_step(struct gssapi_handshake *h, const uint8_t *p, size_t n, gssapi_told told,
                       void *userdata, struct sv_error *err)
{
    (void)h, (void)p, (void)n;
    helper.steps++;
    helper.told = told;
    helper.userdata = userdata;
    if (helper.refuses)
        return sv_error_set(err, -EAGAIN, "the helper rests");
    if (helper.silent)
        return 0;
    return sd_event_add_defer(helper.event, &helper.later, helper_answers, NULL) < 0 ? -ENOMEM : 0;
}

static void helper_free(struct gssapi_handshake *h)
{
    (void)h;
    helper.freed++;
    helper.later = sd_event_source_disable_unref(helper.later);
}

static int handshake(const struct ipc_kerberos *k, const char *host,
                     char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    static const struct gssapi_handshake_functions functions = { .step = helper_step,
                                                                 .free = helper_free };
    assert_string_equal(k->principal, "nm/here@R");
    if (!helper.server)
        return -EINVAL;
    snprintf(helper.host, sizeof(helper.host), "%s", host);
    snprintf(ret_server, IPC_PRINCIPAL_MAX, "%s", helper.server);
    helper.base.f = &functions;
    *ret = &helper.base;
    return 0;
}

static void offer_kerberos(struct fake *f, const char *protocol, const char *id)
{
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    sasl_auth token = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT;
    sasl_auth kerberos_auth = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT;
    sasl_auth *auths[] = { &token, &kerberos_auth };
    m.state = STATE(NEGOTIATE);
    m.n_auths = 2;
    m.auths = auths;
    token.method = (char *)"TOKEN";
    token.mechanism = (char *)"DIGEST-MD5";
    token.serverid = (char *)"default";
    kerberos_auth.method = (char *)"KERBEROS";
    kerberos_auth.mechanism = (char *)"GSSAPI";
    kerberos_auth.protocol = (char *)(uintptr_t)protocol;
    kerberos_auth.serverid = (char *)(uintptr_t)id;
    fake_sasl(f, &m);
}

static int initiates;
static void rm_offers(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer_kerberos(f, "rm", "there");
    initiates += c->sasl == STATE(INITIATE);
}
static void other_offers(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer_kerberos(f, "rm", "elsewhere");
}
static void other_service_offers(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer_kerberos(f, "nm", "there");
}
static void nobody_offers(struct fake *f, const struct fake_call *c)
{
    if (c->sasl == STATE(NEGOTIATE))
        offer_kerberos(f, NULL, NULL);
}
static void early_success(struct fake *f, const struct fake_call *c)
{
    rm_offers(f, c);
    if (c->sasl == STATE(INITIATE))
        sasl_say(f, STATE(SUCCESS), NULL);
}
static void early_success_with_token(struct fake *f, const struct fake_call *c)
{
    rm_offers(f, c);
    if (c->sasl == STATE(INITIATE))
        sasl_say(f, STATE(SUCCESS), "AP-REP");
}
static void empty_challenge(struct fake *f, const struct fake_call *c)
{
    rm_offers(f, c);
    if (c->sasl == STATE(INITIATE))
        sasl_say(f, STATE(CHALLENGE), "");
}
static void impatient(struct fake *f, const struct fake_call *c)
{
    rm_offers(f, c);
    if (c->sasl == STATE(NEGOTIATE))
        sasl_say(f, STATE(CHALLENGE), "before the client has said a word");
}

static const struct gssapi_outcome ap_req = { .token = (const uint8_t *)"AP-REQ", .token_len = 6 };
static const struct gssapi_outcome no_ticket = { .status = -EIO, .text = "Cannot contact any KDC" };
static const struct gssapi_outcome refused = { .status = -EACCES, .text = "Server not found" };

static void test_kerberos(void **state)
{
    (void)state;
    static const struct {
        const char *name, *server;
        void (*says)(struct fake *f, const struct fake_call *c);
        const struct gssapi_outcome *outcome; /* NULL: the helper rests */
        int status, initiates, steps;
        const char *words;
    } cases[] = {
        { "only SIMPLE", "rm/there@R", only_simple, &ap_req, -EACCES, 0, 0, "Kerberos tickets" },
        { "no login wanted", "rm/there@R", no_login, &ap_req, -EACCES, 0, 0, "impostor" },
        { "only tokens", "rm/there@R", believes_all, &ap_req, -EACCES, 0, 0, "Kerberos tickets" },
        { "another host", "rm/there@R", other_offers, &ap_req, -EACCES, 0, 0,
          "principal is rm/elsewhere, expected is rm/there@R" },
        { "another service", "rm/there@R", other_service_offers, &ap_req, -EACCES, 0, 0,
          "principal is nm/there, expected is rm/there@R" },
        { "nobody", "rm/there@R", nobody_offers, &ap_req, -EACCES, 0, 0, "expected is" },
        { "not configured", NULL, rm_offers, &ap_req, -EACCES, 0, 0, "not configured" },
        { "success too early", "rm/there@R", early_success, &ap_req, -EACCES, 1, 1, "malformed" },
        { "success with a token", "rm/there@R", early_success_with_token, &ap_req, -EACCES, 1, 2,
          "too early" },
        { "an empty challenge", "rm/there@R", empty_challenge, &ap_req, -EACCES, 1, 1,
          "malformed" },
        { "a challenge out of turn", "rm/there@R", impatient, &ap_req, -EACCES, 0, 1,
          "out of turn" },
        { "no ticket", "rm/there@R", rm_offers, &no_ticket, -EAGAIN, 0, 1, "Cannot contact" },
        { "a refused ticket", "rm/there@R", rm_offers, &refused, -EACCES, 0, 1, "not found" },
        { "no helper", "rm/there@R", rm_offers, NULL, -EAGAIN, 0, 1, "the helper rests" },
    };
    static const struct ipc_kerberos k = { .principal = "nm/here@R", .handshake = handshake };
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct fixture w;
        struct answer a = { 0 };
        initiates = 0;
        fixture_new(&w, NULL, &(struct ipc_client_config){ .kerberos = &k });
        helper = (struct helper){ .event = w.event, .server = cases[i].server };
        if (cases[i].outcome)
            helper.says = *cases[i].outcome;
        helper.refuses = !cases[i].outcome;
        w.fake.on_call = cases[i].says;
        call(&w, "a secret", &a);
        peer_run_until(&w, a.count);
        if (a.status != cases[i].status || w.fake.calls > 0 || !strstr(a.text, cases[i].words))
            fail_msg("%s: status %d, %d calls: %s", cases[i].name, a.status, w.fake.calls, a.text);
        assert_int_equal(w.fake.auth, IPC_AUTH_SASL);
        assert_int_equal(initiates, cases[i].initiates);
        assert_int_equal(helper.steps, cases[i].steps);
        fixture_free(&w);
        assert_int_equal(helper.freed, helper.host[0] != 0);
    }
}

/* A server that is known by what it says: the text is handed on whole, and a refusal is told. */
static char offered_text[64];

static int recognize(const struct ipc_kerberos *k, const char *host, const char *offered,
                     char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret,
                     struct sv_error *err)
{
    snprintf(offered_text, sizeof(offered_text), "%s", offered);
    if (!helper.server)
        return sv_error_set(err, -EINVAL, "nobody of ours");
    return handshake(k, host, ret_server, ret);
}

static void test_kerberos_recognized(void **state)
{
    (void)state;
    static const struct {
        const char *server, *offered, *words;
        void (*says)(struct fake *f, const struct fake_call *c);
        int status, initiates;
    } cases[] = {
        { "rm/there@R", "rm/there", "too early", early_success_with_token, -EACCES, 1 },
        { "rm/there@R", "rm/elsewhere", "expected is rm/there@R", other_offers, -EACCES, 0 },
        { NULL, "rm/there", "nobody of ours", rm_offers, -EACCES, 0 },
        { NULL, "", "nobody of ours", nobody_offers, -EACCES, 0 },
    };
    static const struct ipc_kerberos k = { .principal = "nm/here@R", .recognize = recognize };
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct fixture w;
        struct answer a = { 0 };
        initiates = 0;
        fixture_new(&w, NULL, &(struct ipc_client_config){ .kerberos = &k });
        helper = (struct helper){ .event = w.event, .server = cases[i].server, .says = ap_req };
        w.fake.on_call = cases[i].says;
        call(&w, "a secret", &a);
        peer_run_until(&w, a.count);
        if (a.status != cases[i].status || !strstr(a.text, cases[i].words))
            fail_msg("%zu: status %d: %s", i, a.status, a.text);
        assert_string_equal(offered_text, cases[i].offered);
        assert_int_equal(initiates, cases[i].initiates);
        fixture_free(&w);
        assert_int_equal(helper.freed, helper.host[0] != 0);
    }
}

/* A KDC that does not answer is not a server that is not there. */
static void test_kerberos_silent(void **state)
{
    (void)state;
    static const struct ipc_kerberos k = { .principal = "nm/here@R", .handshake = handshake };
    struct fixture w;
    struct answer a = { 0 };
    fixture_new(&w, NULL, &(struct ipc_client_config){ .kerberos = &k, .connect_ms = 50 });
    helper = (struct helper){ .event = w.event, .server = "rm/there@R", .silent = true };
    w.fake.on_call = rm_offers;
    call(&w, "a secret", &a);
    peer_run_until(&w, a.count);
    assert_int_equal(a.status, -EAGAIN);
    assert_non_null(strstr(a.text, "no Kerberos ticket for rm/there@R in time"));
    assert_int_equal(helper.steps, 1);
    assert_int_equal(helper.freed, 1);
    fixture_free(&w);
}

/* The client ends while the helper computes. */
static void test_kerberos_freed(void **state)
{
    (void)state;
    static const struct ipc_kerberos k = { .principal = "nm/here@R", .handshake = handshake };
    struct fixture w;
    struct answer a = { 0 };
    fixture_new(&w, NULL, &(struct ipc_client_config){ .kerberos = &k });
    helper = (struct helper){ .event = w.event, .server = "rm/there@R", .says = ap_req };
    w.fake.on_call = rm_offers;
    call(&w, "a secret", &a);
    peer_run_until(&w, helper.steps);
    ipc_client_free(SV_TAKE(w.client));
    assert_int_equal(a.status, -ECANCELED);
    assert_int_equal(helper.freed, 1);
    fixture_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impostors),           cmocka_unit_test(test_kerberos),
        cmocka_unit_test(test_kerberos_recognized), cmocka_unit_test(test_kerberos_silent),
        cmocka_unit_test(test_kerberos_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
