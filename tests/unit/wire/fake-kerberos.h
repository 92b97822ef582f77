/* Kerberos without Kerberos, for the IPC server and client: handshakes of either side that answer
 * as a test says, and a context in the place of the library's (ld --wrap; KRB_WRAP of
 * wire/rules.mk).
 *
 * A client's token is "AP-REQ " and its principal, a server's "AP-REP". A wrapped message is 's'
 * (signed) or 'e' (encrypted), its number of 4 bytes, and the bytes, changed if encrypted. */
#ifndef SELVEDGE_TESTS_UNIT_WIRE_FAKE_KERBEROS_H
#define SELVEDGE_TESTS_UNIT_WIRE_FAKE_KERBEROS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <utlist.h>

#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/sasl/gssapi.h"

#define KRB_SERVER "nm/here@R"
#define KRB_HEAD 5
#define KRB_KEY 0x5a

/* ---- Contexts ---- */

struct gss_context {
    uint32_t sent, received;
};

int __wrap_ipc_gss_context_import(const uint8_t *p, size_t n, struct gss_context **ret,
                                  struct sv_error *err);
struct gss_context *__wrap_ipc_gss_context_free(struct gss_context *g);
size_t __wrap_ipc_gss_context_limit(struct gss_context *g, bool seal, size_t max);
size_t __wrap_ipc_gss_context_size(struct gss_context *g, bool seal, size_t n);
int __wrap_ipc_gss_context_wrap(struct gss_context *g, bool seal, const uint8_t *p, size_t n,
                                uint8_t *out);
int __wrap_ipc_gss_context_unwrap(struct gss_context *g, uint8_t *p, size_t n, uint8_t **ret,
                                  size_t *ret_len, bool *ret_sealed);

int __wrap_ipc_gss_context_import(const uint8_t *p, size_t n, struct gss_context **ret,
                                  struct sv_error *err)
{
    (void)p, (void)n, (void)err;
    *ret = calloc(1, sizeof(**ret));
    return *ret ? 0 : -ENOMEM;
}

struct gss_context *__wrap_ipc_gss_context_free(struct gss_context *g)
{
    free(g);
    return NULL;
}

size_t __wrap_ipc_gss_context_limit(struct gss_context *g, bool seal, size_t max)
{
    (void)g, (void)seal;
    return max - KRB_HEAD;
}

size_t __wrap_ipc_gss_context_size(struct gss_context *g, bool seal, size_t n)
{
    (void)g, (void)seal;
    return n + KRB_HEAD;
}

int __wrap_ipc_gss_context_wrap(struct gss_context *g, bool seal, const uint8_t *p, size_t n,
                                uint8_t *out)
{
    out[0] = seal ? 'e' : 's';
    memcpy(out + 1, &g->sent, 4);
    g->sent++;
    for (size_t i = 0; i < n; i++)
        out[KRB_HEAD + i] = seal ? p[i] ^ KRB_KEY : p[i];
    return 0;
}

int __wrap_ipc_gss_context_unwrap(struct gss_context *g, uint8_t *p, size_t n, uint8_t **ret,
                                  size_t *ret_len, bool *ret_sealed)
{
    if (n < KRB_HEAD || (p[0] != 'e' && p[0] != 's') || memcmp(p + 1, &g->received, 4) != 0)
        return -EBADMSG;
    g->received++;
    for (size_t i = KRB_HEAD; p[0] == 'e' && i < n; i++)
        p[i] ^= KRB_KEY;
    *ret = p + KRB_HEAD;
    *ret_len = n - KRB_HEAD;
    *ret_sealed = p[0] == 'e';
    return 0;
}

/* ---- Handshakes ---- */

struct krb_handshake {
    struct gssapi_handshake base;
    struct krb_handshake *prev, *next; /* in krb.late */
    sd_event_source *later;
    gssapi_told told;
    void *userdata;
    char token[SASL_USER_MAX + 8];
    int steps;
    bool initiates, late;
};

enum krb_mode {
    KRB_ANSWERS, /* in the loop's next turn */
    KRB_LATE,    /* by krb_answer_late() */
    KRB_RESTS,   /* a step cannot be asked for */
    KRB_FAILS,   /* there is no handshake */
};

static struct {
    sd_event *event;
    enum krb_mode mode;            /* of the acceptors */
    struct gssapi_outcome refusal; /* theirs, where its status is negative */
    const char *client;            /* principal of the initiators */
    int made, alive, steps;        /* acceptors */
    struct krb_handshake *late;
} krb;

static inline void krb_start(sd_event *event)
{
    memset(&krb, 0, sizeof(krb));
    krb.event = event;
    krb.client = "alice@R";
}

/* The handshake may be freed by it. */
static inline void krb_answer(struct krb_handshake *h)
{
    struct gssapi_outcome o = { .mutual = true, .integrity = true, .privacy = true };
    char token[SASL_USER_MAX + 8] = "AP-REP";
    bool last = !h->initiates || h->steps == 2;

    o.ordered = true;
    if (h->initiates)
        snprintf(token, sizeof(token), "AP-REQ %s", krb.client);
    o.token = (const uint8_t *)token;
    o.token_len = h->steps == 1 ? strlen(token) : 0;
    if (last) {
        o.context = (const uint8_t *)"context";
        o.context_len = 7;
        o.name = h->initiates ? KRB_SERVER : h->token + strlen("AP-REQ ");
    }
    if (!h->initiates && krb.refusal.status < 0)
        o = krb.refusal;
    h->told(&o, h->userdata);
}

static inline int krb_on_later(sd_event_source *src, void *userdata)
{
    struct krb_handshake *h = userdata;

    (void)src;
    h->later = sd_event_source_disable_unref(h->later);
    krb_answer(h);
    return 0;
}

static inline void krb_answer_late(void)
{
    struct krb_handshake *h = krb.late;

    assert_non_null(h);
    DL_DELETE(krb.late, h);
    h->late = false;
    krb_answer(h);
}

static inline int krb_step(struct gssapi_handshake *base, const uint8_t *p, size_t n,
                           gssapi_told told, void *userdata, struct sv_error *err)
{
    struct krb_handshake *h = (struct krb_handshake *)base;

    h->steps++;
    krb.steps += !h->initiates;
    if (!h->initiates && krb.mode == KRB_RESTS)
        return sv_error_set(err, -EAGAIN, "the helper rests");
    h->told = told;
    h->userdata = userdata;
    if (n > 0)
        memcpy(h->token, p, SV_MIN(n, sizeof(h->token) - 1));
    if (!h->initiates && krb.mode == KRB_LATE) {
        DL_APPEND(krb.late, h);
        h->late = true;
        return 0;
    }
    assert_true(sd_event_add_defer(krb.event, &h->later, krb_on_later, h) >= 0);
    return 0;
}

static inline void krb_free(struct gssapi_handshake *base)
{
    struct krb_handshake *h = (struct krb_handshake *)base;

    sd_event_source_disable_unref(h->later);
    if (h->late)
        DL_DELETE(krb.late, h);
    krb.alive -= !h->initiates;
    free(h);
}

static inline struct gssapi_handshake *krb_new(bool initiates)
{
    static const struct gssapi_handshake_functions functions = { .step = krb_step,
                                                                 .free = krb_free };
    struct krb_handshake *h = calloc(1, sizeof(*h));

    h->base.f = &functions;
    h->initiates = initiates;
    krb.made += !initiates;
    krb.alive += !initiates;
    return &h->base;
}

/* ---- Configurations ---- */

static inline int krb_accept(const struct ipc_acceptor *a, struct gssapi_handshake **ret)
{
    assert_string_equal(a->principal, KRB_SERVER);
    if (krb.mode == KRB_FAILS)
        return -EINVAL;
    *ret = krb_new(false);
    return 0;
}

/* NAME@R and NAME have accounts. */
static inline int krb_local_name(const struct ipc_acceptor *a, const char *principal,
                                 char ret[SASL_USER_MAX], struct sv_error *err)
{
    const char *at = strchr(principal, '@');

    (void)a;
    if (at && strcmp(at, "@R") != 0)
        return sv_error_set(err, -EACCES, "RULE:[1:secret] leaves out %s", principal);
    snprintf(ret, SASL_USER_MAX, "%.*s", (int)strcspn(principal, "@"), principal);
    return 0;
}

static inline int krb_initiate(const struct ipc_kerberos *k, const char *host,
                               char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    (void)k, (void)host;
    snprintf(ret_server, IPC_PRINCIPAL_MAX, "%s", KRB_SERVER);
    *ret = krb_new(true);
    return 0;
}

static const struct ipc_acceptor krb_acceptor = { .principal = KRB_SERVER,
                                                  .handshake = krb_accept,
                                                  .local_name = krb_local_name };
/* The context's user must be the principal that the initiators have. */
static const struct ipc_kerberos krb_initiator = { .principal = "alice@R",
                                                   .handshake = krb_initiate };
static const struct ipc_kerberos krb_stranger = { .principal = "eve@ELSEWHERE",
                                                  .handshake = krb_initiate };

#endif
