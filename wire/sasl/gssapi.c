/* See gssapi.h. Hostile: each message of the peer; outcomes of a handshake are read as carefully,
 * since the helper parses what strangers send. */
#include "wire/sasl/gssapi.h"

#include <errno.h>
#include <string.h>

#include "wire/exceptions.h"
#include "wire/sasl/gssapi-final.h"
#include "wire/sasl/gssapi-layer.h"

#define WRAPPED_MAX                                                                                \
    1024 /* of the last two messages: GSSAPI_CHOICE_MAX, and the token around it                   \
          */
#define WHY_FORMAT GSSAPI_MECHANISM ": malformed message"

enum phase {
    HANDSHAKE, /* tokens of GSS go to and fro */
    WAITS,     /* for the helper */
    ACCEPTED,  /* server: the last GSS token is sent, an empty message must follow */
    OFFER,     /* client: waits for the offer */
    CHOICE,    /* server: waits for the choice */
    OVER,
};

/* Both sides have these. */
struct exchange {
    struct gssapi_handshake *handshake;
    struct gss_context *context;
    uint32_t qop_mask;
    sasl_ready ready;
    void *userdata;
    enum phase phase;
    uint8_t *out; /* the last answer */
    int status;   /* of the step that was waited for */
    bool complete, mutual;
    char text[SV_ERROR_TEXT_MAX];
    size_t token_len;
    char name[SASL_USER_MAX];
};

struct gssapi_server {
    struct sasl_server base;
    struct exchange x;
};

struct gssapi_client {
    struct sasl_client base;
    struct exchange x;
};

static void exchange_clear(struct exchange *x)
{
    x->handshake = ipc_gssapi_handshake_free(x->handshake);
    x->context = ipc_gss_context_free(x->context);
    free(SV_TAKE(x->out));
}

static int over(struct exchange *x, int r)
{
    x->phase = OVER;
    return r;
}

/* ---- The handshake, by the helper ---- */

static bool is_name(const char *s)
{
    size_t n = s ? strnlen(s, SASL_USER_MAX) : 0;

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] <= 0x20 || s[i] == 0x7f)
            return false;
    return n > 0 && n < SASL_USER_MAX;
}

/* The context and what is known of it. */
static int take_context(struct exchange *x, const struct gssapi_outcome *o, struct sv_error *err)
{
    if (!is_name(o->name))
        return sv_error_set(err, -EACCES,
                            GSSAPI_MECHANISM ": the principal is longer than %d bytes, or has "
                                             "blanks or control characters",
                            SASL_USER_MAX - 1);
    memcpy(x->name, o->name, strlen(o->name) + 1);
    x->complete = true;
    x->mutual = o->mutual;
    if (!o->privacy)
        x->qop_mask &= ~(uint32_t)IPC_QOP_PRIVACY;
    if (!o->integrity || !o->ordered)
        x->qop_mask &= IPC_QOP_AUTH;
    return ipc_gss_context_import(o->context, o->context_len, &x->context, err);
}

static int take_outcome(struct exchange *x, const struct gssapi_outcome *o, struct sv_error *err)
{
    if (o->status < 0)
        return sv_error_set(err, o->status, "%s", o->text ? o->text : "no reason was given");
    if (o->token_len > GSSAPI_TOKEN_MAX)
        return sv_error_set(err, -EBADMSG, "the helper's token is too long");
    free(SV_TAKE(x->out));
    x->out = malloc(o->token_len + 1); /* never NULL for an empty one */
    if (!x->out)
        return sv_error_set(err, -ENOMEM, "out of memory");
    if (o->token_len > 0)
        memcpy(x->out, o->token, o->token_len);
    x->token_len = o->token_len;
    return o->context ? take_context(x, o, err) : 0;
}

static void on_outcome(const struct gssapi_outcome *o, void *userdata)
{
    struct exchange *x = userdata;
    struct sv_error err = { 0 };

    x->status = take_outcome(x, o, &err);
    memcpy(x->text, err.text, sizeof(x->text));
    if (o->context || x->status < 0)
        x->handshake = ipc_gssapi_handshake_free(x->handshake);
    x->ready(x->userdata); /* may free all of it */
}

static int ask(struct exchange *x, const uint8_t *p, size_t n, struct sv_error *err)
{
    int r = x->handshake->f->step(x->handshake, p, n, on_outcome, x, err);

    if (r < 0)
        return over(x, -EAGAIN);
    x->phase = WAITS;
    return SASL_WAIT;
}

/* The result of the step that was waited for: -EACCES, or -EAGAIN where the peer is not to blame.
 */
static int waited(struct exchange *x, struct sv_error *err)
{
    if (x->phase != WAITS)
        return sv_error_set(err, over(x, -EACCES), GSSAPI_MECHANISM ": nothing is waited for");
    if (x->status < 0)
        return sv_error_set(err, over(x, x->status == -EACCES ? -EACCES : -EAGAIN), "%s", x->text);
    return 0;
}

static struct sasl_bytes empty(void)
{
    return (struct sasl_bytes){ .p = (const uint8_t *)"", .n = 0 };
}

/* Wraps a message of the final exchange, signed whatever layer is chosen. */
static int wrap(struct exchange *x, const uint8_t *p, size_t n, struct sasl_bytes *ret,
                struct sv_error *err)
{
    size_t size = ipc_gss_context_size(x->context, false, n);
    int r = -EIO;

    free(SV_TAKE(x->out));
    x->out = size > 0 ? malloc(size) : NULL;
    if (x->out)
        r = ipc_gss_context_wrap(x->context, false, p, n, x->out);
    if (r < 0)
        return sv_error_set(err, over(x, -EACCES), GSSAPI_MECHANISM ": a message is not wrapped");
    *ret = (struct sasl_bytes){ .p = x->out, .n = size };
    return 0;
}

/* Unwraps p into `copy`, of WRAPPED_MAX bytes. */
static int unwrap(struct exchange *x, const uint8_t *p, size_t n, uint8_t *copy, uint8_t **ret,
                  size_t *ret_len, struct sv_error *err)
{
    bool sealed;

    if (n == 0 || n > WRAPPED_MAX)
        return sv_error_set(err, -EACCES, WHY_FORMAT);
    memcpy(copy, p, n);
    if (ipc_gss_context_unwrap(x->context, copy, n, ret, ret_len, &sealed) < 0)
        return sv_error_set(err, -EACCES, GSSAPI_MECHANISM ": a message is forged or out of turn");
    return 0;
}

static int layer(struct exchange *x, uint32_t qop, size_t max, struct sasl_layer **ret,
                 struct sv_error *err)
{
    if (qop != IPC_QOP_AUTH && ipc_gssapi_layer_new(qop, max, &x->context, ret) < 0)
        return sv_error_set(err, -EACCES, GSSAPI_MECHANISM ": the protection is not available");
    return 0;
}

/* ---- Server ---- */

static int server_offer(struct exchange *x, struct sasl_bytes *ret, struct sv_error *err)
{
    uint8_t offer[GSSAPI_OFFER_LEN];

    if (!x->qop_mask)
        return sv_error_set(err, over(x, -EACCES),
                            GSSAPI_MECHANISM ": the client's context has no integrity, which "
                                             "hadoop.rpc.protection here needs");
    ipc_gssapi_final_put(x->qop_mask, x->qop_mask == IPC_QOP_AUTH ? 0 : SASL_LAYER_MAXBUF, offer);
    x->phase = CHOICE;
    return wrap(x, offer, sizeof(offer), ret, err);
}

static int server_choice(struct gssapi_server *s, const uint8_t *p, size_t n,
                         struct sasl_bytes *ret, struct sv_error *err)
{
    struct exchange *x = &s->x;
    uint8_t copy[WRAPPED_MAX], *plain;
    uint32_t qop, max;
    size_t len;
    int r = unwrap(x, p, n, copy, &plain, &len, err);

    over(x, 0);
    if (r >= 0)
        r = ipc_gssapi_choice_read(plain, len, x->qop_mask, x->name, &qop, &max, err);
    if (r >= 0)
        r = layer(x, qop, max, &s->base.layer, err);
    if (r < 0)
        return r;
    memcpy(s->base.user, x->name, sizeof(x->name));
    s->base.done = true;
    *ret = empty();
    return 0;
}

/* Our keytab and our helper are not the peer's to know; that its ticket was not judged is. */
static int for_peer(int r, const char **ret_class, struct sv_error *err)
{
    if (r != -EAGAIN)
        return r;
    *ret_class = JAVA_RETRIABLE;
    return sv_error_set(err, -EACCES, GSSAPI_MECHANISM ": this service cannot take tickets now");
}

static int server_step(struct sasl_server *base, const uint8_t *p, size_t n, struct sasl_bytes *ret,
                       const char **ret_class, struct sv_error *err)
{
    struct gssapi_server *s = (struct gssapi_server *)base;
    struct exchange *x = &s->x;

    *ret_class = JAVA_SASL_EXCEPTION;
    switch (x->phase) {
    case HANDSHAKE:
        if (n == 0 || n > GSSAPI_TOKEN_MAX)
            return sv_error_set(err, over(x, -EACCES), WHY_FORMAT);
        return for_peer(ask(x, p, n, err), ret_class, err);
    case ACCEPTED:
        if (n != 0)
            return sv_error_set(err, over(x, -EACCES), WHY_FORMAT);
        return server_offer(x, ret, err);
    case CHOICE:
        return server_choice(s, p, n, ret, err);
    default:
        return sv_error_set(err, over(x, -EACCES), GSSAPI_MECHANISM ": a message out of turn");
    }
}

static int server_resume(struct sasl_server *base, struct sasl_bytes *ret, const char **ret_class,
                         struct sv_error *err)
{
    struct exchange *x = &((struct gssapi_server *)base)->x;
    int r;

    *ret_class = JAVA_SASL_EXCEPTION;
    r = waited(x, err);
    if (r < 0)
        return for_peer(r, ret_class, err);
    if (x->complete && x->token_len == 0)
        return server_offer(x, ret, err);
    x->phase = x->complete ? ACCEPTED : HANDSHAKE;
    *ret = (struct sasl_bytes){ .p = x->out, .n = x->token_len };
    return 0;
}

static void server_free(struct sasl_server *base)
{
    struct gssapi_server *s = (struct gssapi_server *)base;

    ipc_sasl_layer_free(base->layer);
    exchange_clear(&s->x);
    free(s);
}

static const struct sasl_server_functions server_functions = {
    .step = server_step,
    .resume = server_resume,
    .free = server_free,
};

int ipc_gssapi_server_new(struct gssapi_handshake *h, uint32_t qop_mask, sasl_ready ready,
                          void *userdata, struct sasl_server **ret)
{
    struct gssapi_server *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->base.f = &server_functions;
    s->x = (struct exchange){ .handshake = h,
                              .qop_mask = qop_mask ? qop_mask : IPC_QOP_AUTH,
                              .ready = ready,
                              .userdata = userdata };
    *ret = &s->base;
    return 0;
}

/* ---- Client ---- */

static int client_choice(struct gssapi_client *c, const uint8_t *p, size_t n,
                         struct sasl_bytes *ret, struct sv_error *err)
{
    struct exchange *x = &c->x;
    uint8_t copy[WRAPPED_MAX], choice[GSSAPI_OFFER_LEN], *plain;
    uint32_t qop, max;
    size_t len;
    int r = unwrap(x, p, n, copy, &plain, &len, err);

    over(x, 0);
    if (r >= 0)
        r = ipc_gssapi_offer_read(plain, len, x->qop_mask, &qop, &max, err);
    if (r < 0)
        return r;
    ipc_gssapi_final_put(qop, qop == IPC_QOP_AUTH ? 0 : SASL_LAYER_MAXBUF, choice);
    r = wrap(x, choice, sizeof(choice), ret, err);
    if (r >= 0)
        r = layer(x, qop, max, &c->base.layer, err);
    c->base.done = r >= 0;
    return r;
}

static int client_step(struct sasl_client *base, const uint8_t *p, size_t n, struct sasl_bytes *ret,
                       struct sv_error *err)
{
    struct gssapi_client *c = (struct gssapi_client *)base;
    struct exchange *x = &c->x;

    switch (x->phase) {
    case HANDSHAKE:
        if (base->begins ? p != NULL : n == 0 || n > GSSAPI_TOKEN_MAX)
            return sv_error_set(err, over(x, -EACCES), WHY_FORMAT);
        base->begins = false;
        return ask(x, p, n, err);
    case OFFER:
        return client_choice(c, p, n, ret, err);
    default:
        return sv_error_set(err, over(x, -EACCES), GSSAPI_MECHANISM ": a message out of turn");
    }
}

/* The mutual flag says that the server has proven to hold the key of its principal. */
static int client_resume(struct sasl_client *base, struct sasl_bytes *ret, struct sv_error *err)
{
    struct exchange *x = &((struct gssapi_client *)base)->x;
    int r = waited(x, err);

    if (r < 0)
        return r;
    if (x->complete && !x->mutual)
        return sv_error_set(err, over(x, -EACCES),
                            GSSAPI_MECHANISM ": the server is not authenticated");
    x->phase = x->complete ? OFFER : HANDSHAKE;
    *ret = (struct sasl_bytes){ .p = x->out, .n = x->token_len };
    return 0;
}

static void client_free(struct sasl_client *base)
{
    struct gssapi_client *c = (struct gssapi_client *)base;

    ipc_sasl_layer_free(base->layer);
    exchange_clear(&c->x);
    free(c);
}

static const struct sasl_client_functions client_functions = {
    .step = client_step,
    .resume = client_resume,
    .free = client_free,
};

int ipc_gssapi_client_new(struct gssapi_handshake *h, uint32_t qop_mask, sasl_ready ready,
                          void *userdata, struct sasl_client **ret)
{
    struct gssapi_client *c = calloc(1, sizeof(*c));

    if (!c)
        return -ENOMEM;
    c->base.f = &client_functions;
    c->base.begins = true;
    c->x = (struct exchange){ .handshake = h,
                              .qop_mask = qop_mask ? qop_mask : IPC_QOP_AUTH,
                              .ready = ready,
                              .userdata = userdata };
    *ret = &c->base;
    return 0;
}
