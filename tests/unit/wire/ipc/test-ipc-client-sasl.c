/* Tests wire/ipc/ipc-client-sasl.c: a client with a token sends no call to a server that does not
 * know the token's password (HARDENING 61, 63). The server is tests/unit/wire/ipc-fake-server.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/yarn_service.pb-c.h"
#include "tests/unit/wire/ipc-client-fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impostors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
