/* Tests wire/ipc/ticket.c, ticket-step.c and ticket-service.c with a library that does what a test
 * wants: which cache and keytab are used, what a handshake hands on, a step that is given up. A
 * real KDC: tests/integration/client/test-tickets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "wire/ipc/ticket.h"
#include "wire/sasl/gss-library.h"
#include "wire/sasl/gssapi.h"

#define ALICE "alice@A.TEST"
#define RM "rm/host@A.TEST"

/* ---- The library ---- */

static struct {
    OM_uint32 acquire, lifetime, init; /* results */
    const char *name;                  /* of the credential */
    char cache[256], keytab[256], wanted[256], target[256];
    uint8_t in[64];
    size_t in_len;
    int steps, names, credentials, contexts; /* alive */
    int rounds;                              /* of a handshake */
    sem_t *runs, *hold, *gone; /* told by a step that begins; waited for by it; told at its end */
} lib;

static int one, two;

static OM_uint32 acquire(OM_uint32 *minor, gss_name_t name, OM_uint32 time, gss_OID_set mechanisms,
                         gss_cred_usage_t usage, gss_const_key_value_set_t store,
                         gss_cred_id_t *ret, gss_OID_set *actual, OM_uint32 *until)
{
    (void)name, (void)time, (void)mechanisms, (void)usage, (void)actual, (void)until;
    *minor = 0;
    lib.cache[0] = lib.keytab[0] = 0;
    for (OM_uint32 i = 0; store && i < store->count; i++)
        snprintf(strcmp(store->elements[i].key, "ccache") == 0 ? lib.cache : lib.keytab,
                 sizeof(lib.cache), "%s", store->elements[i].value);
    if (lib.acquire != GSS_S_COMPLETE)
        return lib.acquire;
    lib.credentials++;
    *ret = (gss_cred_id_t)&one;
    return GSS_S_COMPLETE;
}

static OM_uint32 inquire(OM_uint32 *minor, gss_cred_id_t credential, gss_name_t *ret_name,
                         OM_uint32 *ret_life, int *usage, gss_OID_set *mechanisms)
{
    (void)credential, (void)usage, (void)mechanisms;
    *minor = 0;
    *ret_name = (gss_name_t)&two;
    lib.names++;
    *ret_life = lib.lifetime;
    return GSS_S_COMPLETE;
}

static OM_uint32 release_cred(OM_uint32 *minor, gss_cred_id_t *credential)
{
    *minor = 0;
    *credential = GSS_C_NO_CREDENTIAL;
    lib.credentials--;
    return GSS_S_COMPLETE;
}

static OM_uint32 import(OM_uint32 *minor, gss_buffer_t text, gss_OID type, gss_name_t *ret)
{
    (void)type;
    *minor = 0;
    snprintf(lib.wanted, sizeof(lib.wanted), "%.*s", (int)text->length, (char *)text->value);
    *ret = (gss_name_t)&two;
    lib.names++;
    return GSS_S_COMPLETE;
}

static OM_uint32 canonicalize(OM_uint32 *minor, const gss_name_t name, const gss_OID mechanism,
                              gss_name_t *ret)
{
    (void)name, (void)mechanism;
    *minor = 0;
    *ret = (gss_name_t)&two;
    lib.names++;
    return GSS_S_COMPLETE;
}

static OM_uint32 text_of(OM_uint32 *minor, const char *text, gss_buffer_t ret)
{
    *minor = 0;
    ret->value = strdup(text);
    ret->length = strlen(text);
    return GSS_S_COMPLETE;
}

static OM_uint32 display_name(OM_uint32 *minor, gss_name_t name, gss_buffer_t ret, gss_OID *type)
{
    (void)name, (void)type;
    return text_of(minor, lib.name, ret);
}

static OM_uint32 release_name(OM_uint32 *minor, gss_name_t *name)
{
    *minor = 0;
    *name = GSS_C_NO_NAME;
    lib.names--;
    return GSS_S_COMPLETE;
}

static OM_uint32 init(OM_uint32 *minor, gss_cred_id_t credential, gss_ctx_id_t *context,
                      gss_name_t target, gss_OID mechanism, OM_uint32 flags, OM_uint32 time,
                      gss_channel_bindings_t bindings, gss_buffer_t in, gss_OID *actual,
                      gss_buffer_t out, OM_uint32 *ret_flags, OM_uint32 *until)
{
    (void)credential, (void)target, (void)mechanism, (void)time, (void)bindings, (void)actual;
    (void)until;
    *minor = 0;
    if (lib.runs)
        sem_post(lib.runs);
    if (lib.hold)
        sem_wait(lib.hold);
    snprintf(lib.target, sizeof(lib.target), "%s", lib.wanted);
    if (lib.init != GSS_S_COMPLETE)
        return lib.init;
    lib.steps++;
    lib.in_len = in ? in->length : 0;
    if (in)
        memcpy(lib.in, in->value, in->length);
    if (*context == GSS_C_NO_CONTEXT) {
        *context = (gss_ctx_id_t)&one;
        lib.contexts++;
    }
    *ret_flags = flags;
    if (lib.steps < lib.rounds) {
        text_of(minor, "to the server", out);
        return GSS_S_CONTINUE_NEEDED;
    }
    return GSS_S_COMPLETE;
}

static OM_uint32 export(OM_uint32 *minor, gss_ctx_id_t *context, gss_buffer_t ret)
{
    *context = GSS_C_NO_CONTEXT;
    lib.contexts--;
    return text_of(minor, "exported", ret);
}

static OM_uint32 delete (OM_uint32 *minor, gss_ctx_id_t *context, gss_buffer_t out)
{
    (void)out;
    *minor = 0;
    *context = GSS_C_NO_CONTEXT;
    lib.contexts--;
    if (lib.gone)
        sem_post(lib.gone);
    return GSS_S_COMPLETE;
}

static OM_uint32 display_status(OM_uint32 *minor, OM_uint32 status, int type, gss_OID mechanism,
                                OM_uint32 *more, gss_buffer_t ret)
{
    (void)status, (void)type, (void)mechanism;
    *more = 0;
    return text_of(minor, "the library's words", ret);
}

static OM_uint32 release_buffer(OM_uint32 *minor, gss_buffer_t b)
{
    *minor = 0;
    free(b->value);
    *b = (gss_buffer_desc)GSS_C_EMPTY_BUFFER;
    return GSS_S_COMPLETE;
}

int __wrap_ipc_gss_ticket_library(const struct gss_ticket_library **ret, struct sv_error *err);
int __wrap_ipc_gss_ticket_library(const struct gss_ticket_library **ret, struct sv_error *err)
{
    static const struct gss_ticket_library fake = {
        .acquire_cred_from = acquire,
        .inquire_cred = inquire,
        .release_cred = release_cred,
        .import_name = import,
        .canonicalize_name = canonicalize,
        .display_name = display_name,
        .release_name = release_name,
        .init_sec_context = init,
        .export_sec_context = export,
        .delete_sec_context = delete,
        .display_status = display_status,
        .release_buffer = release_buffer,
    };

    (void)err;
    *ret = &fake;
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    memset(&lib, 0, sizeof(lib));
    lib.name = ALICE;
    lib.lifetime = 3600;
    lib.rounds = 2;
    return 0;
}

static int nothing_is_left(void **state)
{
    (void)state;
    return lib.names + lib.credentials + lib.contexts;
}

/* ---- Tickets ---- */

static void test_cache(void **state)
{
    (void)state;
    const struct ipc_ticket_config named = { .cache = "/tmp/x" };
    _cleanup_(ipc_ticket_freep) struct ipc_ticket *t = NULL, *u = NULL;

    assert_int_equal(ipc_ticket_new(&(struct ipc_ticket_config){ 0 }, &t, NULL), 0);
    assert_string_equal(ipc_ticket_principal(t), ALICE);
    assert_null(ipc_ticket_cache(t)); /* the library's */
    assert_string_equal(lib.cache, "");
    assert_int_equal(ipc_ticket_new(&named, &u, NULL), 0);
    assert_string_equal(lib.cache, "/tmp/x");
    assert_string_equal(ipc_ticket_cache(u), "/tmp/x");
}

static void test_keytab(void **state)
{
    (void)state;
    struct ipc_ticket_config cfg = { .keytab = "/dev/null", .principal = "alice" };
    _cleanup_(ipc_ticket_freep) struct ipc_ticket *t = NULL, *u = NULL;
    struct sv_error err = { 0 };

    lib.acquire = GSS_S_FAILURE; /* no KDC is asked yet */
    assert_int_equal(ipc_ticket_new(&cfg, &t, NULL), 0);
    assert_string_equal(lib.wanted, "alice");
    assert_string_equal(ipc_ticket_principal(t), ALICE);
    assert_non_null(strstr(ipc_ticket_cache(t), "MEMORY:"));
    assert_int_equal(ipc_ticket_new(&cfg, &u, NULL), 0);
    assert_string_not_equal(ipc_ticket_cache(t), ipc_ticket_cache(u));
    cfg.keytab = "/nowhere";
    assert_int_equal(ipc_ticket_new(&cfg, &t, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nowhere"));
    cfg.principal = NULL;
    assert_int_equal(ipc_ticket_new(&cfg, &t, &err), -EINVAL);
}

static void test_none(void **state)
{
    (void)state;
    const struct ipc_ticket_config cfg = { 0 };
    struct ipc_ticket *t = NULL;
    struct sv_error err = { 0 };

    lib.acquire = GSS_S_NO_CRED;
    assert_int_equal(ipc_ticket_new(&cfg, &t, &err), -ENOKEY);
    assert_non_null(strstr(err.text, "the library's words"));
    lib.acquire = GSS_S_COMPLETE;
    lib.lifetime = 0;
    assert_int_equal(ipc_ticket_new(&cfg, &t, &err), -EKEYEXPIRED);
    assert_non_null(strstr(err.text, ALICE));
    lib.lifetime = 1;
    lib.name = "a/b/c@A.TEST";
    assert_int_equal(ipc_ticket_new(&cfg, &t, &err), -EINVAL);
    assert_null(t);
}

/* ---- Handshakes ---- */

struct told {
    sd_event *event;
    struct gssapi_handshake *h;
    int n, status;
    char token[64], context[64], name[64], text[256];
    bool ordered, frees;
};

static void on_told(const struct gssapi_outcome *o, void *userdata)
{
    struct told *t = userdata;

    t->n++;
    t->status = o->status;
    snprintf(t->text, sizeof(t->text), "%s", o->text);
    snprintf(t->token, sizeof(t->token), "%.*s", (int)o->token_len, (const char *)o->token);
    snprintf(t->context, sizeof(t->context), "%.*s", (int)o->context_len,
             o->context ? (const char *)o->context : "");
    snprintf(t->name, sizeof(t->name), "%s", o->name);
    t->ordered = o->mutual && o->integrity && o->privacy && o->ordered;
    if (t->frees)
        t->h = ipc_gssapi_handshake_free(t->h);
    sd_event_exit(t->event, 0);
}

static void begin(struct told *t)
{
    struct ipc_ticket *ticket = NULL;

    assert_int_equal(sd_event_new(&t->event), 0);
    assert_int_equal(ipc_ticket_new(&(struct ipc_ticket_config){ 0 }, &ticket, NULL), 0);
    assert_int_equal(ipc_ticket_initiator(ticket, t->event, RM, "a.key", &t->h), 0);
    ipc_ticket_free(ticket); /* the handshake has its own copy */
}

static void step(struct told *t, const char *text)
{
    const int before = t->n;

    assert_int_equal(
        t->h->f->step(t->h, (const uint8_t *)text, text ? strlen(text) : 0, on_told, t, NULL), 0);
    assert_int_equal(t->n, before); /* never before the step returns */
    assert_int_equal(sd_event_loop(t->event), 0);
    assert_int_equal(t->n, before + 1);
}

static void test_handshake(void **state)
{
    (void)state;
    struct told t = { .frees = true };

    lib.rounds = 1;
    begin(&t);
    step(&t, NULL);
    assert_int_equal(t.status, 0);
    assert_string_equal(lib.target, RM);
    assert_string_equal(t.context, "exported");
    assert_string_equal(t.name, ALICE);
    assert_true(t.ordered);
    assert_null(t.h);
    sd_event_unref(t.event);
}

static void test_half(void **state)
{
    (void)state;
    struct told t = { 0 };

    begin(&t);
    step(&t, "from the server");
    assert_int_equal(t.status, 0);
    assert_memory_equal(lib.in, "from the server", lib.in_len);
    assert_string_equal(t.token, "to the server");
    assert_string_equal(t.context, "");
    assert_int_equal(lib.contexts, 1);
    ipc_gssapi_handshake_free(t.h); /* with a context */
    sd_event_unref(t.event);
}

/* A server that has no ticket is final; a ticket that is gone may come back. */
static void test_failures(void **state)
{
    (void)state;
    struct told t = { .frees = true }, u = { .frees = true };

    begin(&t);
    lib.init = GSS_S_FAILURE;
    step(&t, NULL);
    assert_int_equal(t.status, -EACCES);
    assert_non_null(strstr(t.text, "the library's words"));
    assert_non_null(strstr(t.text, RM));
    sd_event_unref(t.event);

    begin(&u);
    lib.acquire = GSS_S_NO_CRED; /* kdestroy, meanwhile */
    step(&u, NULL);
    assert_int_equal(u.status, -EAGAIN); /* until kinit */
    assert_non_null(strstr(u.text, "kinit"));
    sd_event_unref(u.event);
}

/* The connection is closed while the library waits for a KDC. */
static void test_given_up(void **state)
{
    (void)state;
    struct told t = { 0 };
    sem_t runs, hold, gone;

    assert_int_equal(sem_init(&runs, 0, 0), 0);
    assert_int_equal(sem_init(&hold, 0, 0), 0);
    assert_int_equal(sem_init(&gone, 0, 0), 0);
    begin(&t);
    lib.runs = &runs;
    lib.hold = &hold;
    lib.gone = &gone;
    assert_int_equal(t.h->f->step(t.h, NULL, 0, on_told, &t, NULL), 0);
    assert_int_equal(sem_wait(&runs), 0);
    ipc_gssapi_handshake_free(t.h);
    sem_post(&hold);
    assert_int_equal(sem_wait(&gone), 0);
    assert_int_equal(t.n, 0);
    sd_event_unref(t.event);
    sem_destroy(&runs);
    sem_destroy(&hold);
    sem_destroy(&gone);
}

/* ---- Services ---- */

static void test_service(void **state)
{
    (void)state;
    _cleanup_(ipc_ticket_freep) struct ipc_ticket *ticket = NULL;
    struct gssapi_handshake *h = NULL;
    struct ipc_ticket_service s;
    char server[IPC_PRINCIPAL_MAX];
    struct sv_error err = { 0 };
    sd_event *event;

    assert_int_equal(sd_event_new(&event), 0);
    assert_int_equal(ipc_ticket_new(&(struct ipc_ticket_config){ 0 }, &ticket, NULL), 0);
    ipc_ticket_service_init(&s, ticket, event, "a.key", "rm/_HOST@A.TEST", NULL);
    assert_string_equal(s.ipc.principal, ALICE);
    assert_int_equal(s.ipc.recognize(&s.ipc, "Host", "rm/host", server, &h, &err), 0);
    assert_string_equal(server, RM);
    ipc_gssapi_handshake_free(h);
    assert_int_equal(s.ipc.handshake(&s.ipc, "host", server, &h), 0);
    assert_string_equal(server, RM);
    ipc_gssapi_handshake_free(h);
    assert_int_equal(s.ipc.recognize(&s.ipc, "host", "nm/host", server, &h, &err), -EACCES);
    assert_non_null(strstr(err.text, "a.key"));
    ipc_ticket_service_init(&s, ticket, event, "a.key", NULL, NULL);
    assert_int_equal(s.ipc.recognize(&s.ipc, "host", "rm/host", server, &h, &err), -EINVAL);
    assert_int_equal(s.ipc.handshake(&s.ipc, "host", server, &h), -EINVAL);
    sd_event_unref(event);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, nothing_is_left)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cache), TEST(test_keytab),   TEST(test_none),     TEST(test_handshake),
        TEST(test_half),  TEST(test_failures), TEST(test_given_up), TEST(test_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
