/* Tests wire/sasl/gssapi.c with a handshake that says what a test wants: order of messages, and
 * outcomes that a helper must not give. Contexts and layers need a KDC: tests/integration/gss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "wire/exceptions.h"
#include "wire/sasl/gssapi.h"

static struct fake {
    struct gssapi_handshake base;
    gssapi_told told;
    void *userdata;
    uint8_t token[64];
    size_t n;
    int steps, freed, result;
} fake;
static int readies;

static int fake_step(struct gssapi_handshake *h, const uint8_t *p, size_t n, gssapi_told told,
                     void *userdata, struct sv_error *err)
{
    struct fake *f = (struct fake *)h;

    f->steps++;
    f->told = told;
    f->userdata = userdata;
    f->n = n;
    if (n > 0)
        memcpy(f->token, p, SV_MIN(n, sizeof(f->token)));
    return f->result < 0 ? sv_error_set(err, f->result, "the helper is gone") : 0;
}

static void fake_free(struct gssapi_handshake *h)
{
    ((struct fake *)h)->freed++;
}

static const struct gssapi_handshake_functions functions = { .step = fake_step, .free = fake_free };

static void on_ready(void *userdata)
{
    (void)userdata;
    readies++;
}

static struct sasl_server *server(void)
{
    struct sasl_server *s;

    fake = (struct fake){ .base.f = &functions };
    readies = 0;
    assert_int_equal(ipc_gssapi_server_new(&fake.base, IPC_QOP_ALL, on_ready, NULL, &s), 0);
    return s;
}

static struct sasl_client *client(void)
{
    struct sasl_client *c;

    fake = (struct fake){ .base.f = &functions };
    readies = 0;
    assert_int_equal(ipc_gssapi_client_new(&fake.base, IPC_QOP_ALL, on_ready, NULL, &c), 0);
    assert_true(c->begins);
    return c;
}

/* A ticket that was not judged is not refused. */
static const char *class_of(const char *text)
{
    return strstr(text, "cannot take tickets now") ? JAVA_RETRIABLE : JAVA_SASL_EXCEPTION;
}

static int say(struct sasl_server *s, const char *p, size_t n, char *text)
{
    struct sv_error err = { 0 };
    struct sasl_bytes out;
    const char *class;
    int r = ipc_sasl_server_step(s, (const uint8_t *)p, n, &out, &class, &err);

    memcpy(text, err.text, sizeof(err.text));
    if (r < 0)
        assert_string_equal(class, class_of(text));
    return r;
}

/* The outcome's effect on a server that waits for it. */
static int outcome(const struct gssapi_outcome *o, char *text)
{
    _cleanup_(sasl_server_freep) struct sasl_server *s = server();
    struct sv_error err = { 0 };
    struct sasl_bytes out;
    const char *class;
    int r;

    assert_int_equal(say(s, "token", 5, text), SASL_WAIT);
    assert_memory_equal(fake.token, "token", 5);
    fake.told(o, fake.userdata);
    assert_int_equal(readies, 1);
    r = ipc_sasl_server_resume(s, &out, &class, &err);
    memcpy(text, err.text, sizeof(err.text));
    if (r < 0)
        assert_string_equal(class, class_of(text));
    assert_false(ipc_sasl_server_done(s));
    return r;
}

static void test_refusals(void **state)
{
    (void)state;
    char text[SV_ERROR_TEXT_MAX], name[300];
    static const uint8_t context[64] = "no context at all";
    struct gssapi_outcome o = { .status = -EACCES, .text = "Request is a replay" };

    assert_int_equal(outcome(&o, text), -EACCES);
    assert_string_equal(text, "Request is a replay");
    assert_int_equal(fake.freed, 1);
    o = (struct gssapi_outcome){ .status = -EIO, .text = "keytab /etc/x: mode 0644" };
    assert_int_equal(outcome(&o, text), -EACCES);
    assert_null(strstr(text, "keytab")); /* not the peer's to know */
    assert_non_null(strstr(text, "cannot take tickets now"));
    o = (struct gssapi_outcome){ .context = context, .context_len = sizeof(context), .name = "a" };
    assert_int_equal(outcome(&o, text), -EACCES);
    assert_non_null(strstr(text, "cannot take tickets now"));
    /* the mechanism is another, or cut off */
    static const uint8_t spnego[] = "\0\0\0\x06\x2b\x06\x01\x05\x05\x02 and more";
    o.context = spnego;
    o.context_len = sizeof(spnego);
    assert_int_equal(outcome(&o, text), -EACCES);
    static const uint8_t cut[] = { 0, 0, 0, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2 };
    o.context = cut;
    o.context_len = sizeof(cut);
    assert_int_equal(outcome(&o, text), -EACCES);
    /* names */
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = 0;
    static const char *const names[] = { "", "a b@R", "a\nb@R", "a\x7f@R", NULL };
    for (size_t i = 0; i <= SV_ARRAY_LEN(names); i++) {
        o.name = i == SV_ARRAY_LEN(names) ? name : names[i];
        assert_int_equal(outcome(&o, text), -EACCES);
        assert_non_null(strstr(text, "the principal"));
    }
    o = (struct gssapi_outcome){ .token = context, .token_len = GSSAPI_TOKEN_MAX + 1 };
    assert_int_equal(outcome(&o, text), -EACCES);
}

static void test_server_order(void **state)
{
    (void)state;
    char text[SV_ERROR_TEXT_MAX];
    struct sasl_bytes out;
    struct sv_error err = { 0 };
    const char *class;
    static char big[GSSAPI_TOKEN_MAX + 1];
    struct sasl_server *s = server();

    assert_null(ipc_sasl_server_challenge(s).p);
    /* more than one GSS token a side */
    assert_int_equal(say(s, "1", 1, text), SASL_WAIT);
    fake.told(&(struct gssapi_outcome){ .token = (const uint8_t *)"2", .token_len = 1 },
              fake.userdata);
    assert_int_equal(ipc_sasl_server_resume(s, &out, &class, &err), 0);
    assert_int_equal(out.n, 1);
    assert_int_equal(out.p[0], '2');
    assert_int_equal(fake.freed, 0);
    assert_int_equal(say(s, "3", 1, text), SASL_WAIT);
    fake.told(&(struct gssapi_outcome){ .token = (const uint8_t *)"4", .token_len = 1 },
              fake.userdata);
    assert_int_equal(ipc_sasl_server_resume(s, &out, &class, &err), 0);
    assert_int_equal(ipc_sasl_server_resume(s, &out, &class, &err), -EACCES); /* nothing waits */
    assert_int_equal(say(s, "5", 1, text), -EACCES);                          /* it is over */
    ipc_sasl_server_free(s);
    assert_int_equal(fake.freed, 1);

    s = server();
    assert_int_equal(say(s, "", 0, text), -EACCES);
    ipc_sasl_server_free(s);
    s = server();
    assert_int_equal(say(s, big, sizeof(big), text), -EACCES);
    assert_int_equal(fake.steps, 0);
    ipc_sasl_server_free(s);
    s = server();
    assert_int_equal(say(s, "1", 1, text), SASL_WAIT);
    assert_int_equal(say(s, "2", 1, text), -EACCES); /* before the answer */
    assert_int_equal(fake.steps, 1);
    ipc_sasl_server_free(s); /* while the helper works */
    assert_int_equal(fake.freed, 1);
    s = server();
    fake.result = -EAGAIN;
    assert_int_equal(say(s, "1", 1, text), -EACCES);
    assert_non_null(strstr(text, "cannot take tickets now"));
    ipc_sasl_server_free(s);
}

static void test_client_order(void **state)
{
    (void)state;
    struct sasl_bytes out;
    struct sv_error err = { 0 };
    struct sasl_client *c = client();

    assert_int_equal(ipc_sasl_client_step(c, (const uint8_t *)"1", 1, &out, &err), -EACCES);
    ipc_sasl_client_free(c);
    c = client();
    assert_int_equal(ipc_sasl_client_step(c, NULL, 0, &out, &err), SASL_WAIT);
    fake.told(&(struct gssapi_outcome){ .token = (const uint8_t *)"AP-REQ", .token_len = 6 },
              fake.userdata);
    assert_int_equal(ipc_sasl_client_resume(c, &out, &err), 0);
    assert_int_equal(out.n, 6);
    assert_int_equal(ipc_sasl_client_step(c, (const uint8_t *)"AP-REP", 6, &out, &err), SASL_WAIT);
    fake.told(&(struct gssapi_outcome){ .status = -EACCES, .text = "wrong key" }, fake.userdata);
    assert_int_equal(ipc_sasl_client_resume(c, &out, &err), -EACCES);
    assert_string_equal(err.text, "wrong key");
    assert_false(ipc_sasl_client_done(c));
    assert_null(ipc_sasl_client_take_layer(c));
    ipc_sasl_client_free(c);
    /* a client is told what is wrong on its own side */
    c = client();
    assert_int_equal(ipc_sasl_client_step(c, NULL, 0, &out, &err), SASL_WAIT);
    fake.told(&(struct gssapi_outcome){ .status = -EIO, .text = "no KDC" }, fake.userdata);
    assert_int_equal(ipc_sasl_client_resume(c, &out, &err), -EAGAIN);
    assert_string_equal(err.text, "no KDC");
    ipc_sasl_client_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_server_order),
        cmocka_unit_test(test_client_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
