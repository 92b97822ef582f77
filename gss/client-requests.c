/* Requests to the helper and handshakes; see client.h. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "gss/client-internal.h"

static int put_packet(struct sgss_client *c, const struct sgss_request *m)
{
    struct sgss_client_packet *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return -ENOMEM;
    p->b = SV_BUF_INIT(SGSS_FRAME_MAX);
    r = sgss_request_put(&p->b, m);
    if (r < 0) {
        sv_buf_free(&p->b);
        free(p);
        return r;
    }
    DL_APPEND(c->unsent, p);
    c->n_unsent++;
    c->unsent_bytes += p->b.cap;
    sgss_client_flush(c);
    return 0;
}

static int may_ask(const struct sgss_client *c, struct sv_error *err)
{
    if (!c)
        return sv_error_set(err, -ESHUTDOWN, "the Kerberos helper has been stopped");
    if (c->state != SGSS_RUNS)
        return sv_error_set(err, -EAGAIN, "%s", c->why);
    if (HASH_COUNT(c->requests) >= SGSS_REQUESTS_MAX || c->n_unsent >= SGSS_REQUESTS_MAX ||
        c->unsent_bytes >= SGSS_UNSENT_MAX)
        return sv_error_set(err, -EBUSY, "too many Kerberos handshakes wait");
    return 0;
}

static int64_t patience_ms(const struct sgss_client *c, enum sgss_kind kind)
{
    if (kind == SGSS_ACCEPT || kind == SGSS_WEB)
        return c->cfg.accept_ms ? c->cfg.accept_ms : SGSS_ACCEPT_MS;
    return c->cfg.init_ms ? c->cfg.init_ms : SGSS_INIT_MS;
}

/* Takes the request's place in the table before it is sent. */
static int ask(struct sgss_client *c, struct sgss_request *m,
               const struct sgss_client_request *like, struct sgss_client_request **ret,
               struct sv_error *err)
{
    struct sgss_client_request *q = malloc(sizeof(*q));
    int64_t patience = patience_ms(c, m->kind);
    int r;

    if (!q)
        return sv_error_set(err, -ENOMEM, "out of memory");
    *q = *like;
    q->id = m->id = ++c->last_id;
    q->kind = m->kind;
    q->deadline_ms = sv_now_ms() + patience;
    /* A helper that works says in time that it is late. */
    m->deadline_ms = (uint32_t)SV_MIN(patience * 9 / 10, (int64_t)SGSS_DEADLINE_MAX_MS);
    r = put_packet(c, m);
    if (r < 0) {
        free(q);
        return sv_error_errno(err, r, "request to the Kerberos helper");
    }
    if (HASH_COUNT(c->requests) == 0 || q->deadline_ms < c->timer_ms)
        sgss_client_arm(c, q->deadline_ms);
    HASH_ADD(hh, c->requests, id, sizeof(q->id), q);
    *ret = q;
    return 0;
}

int sgss_client_login(struct sgss_client *c, const char *principal, sgss_login_done done,
                      void *userdata, struct sv_error *err)
{
    const struct sgss_client_request like = { .done = done, .userdata = userdata };
    struct sgss_request m = { .kind = SGSS_LOGIN, .principal = principal };
    struct sgss_client_request *q;
    int r = may_ask(c, err);

    return r < 0 ? r : ask(c, &m, &like, &q, err);
}

static int handshake_step(struct gssapi_handshake *base, const uint8_t *p, size_t n,
                          gssapi_told told, void *userdata, struct sv_error *err)
{
    struct sgss_client_handshake *h = (struct sgss_client_handshake *)base;
    const struct sgss_client_request like = { .handshake = h, .told = told, .userdata = userdata };
    struct sgss_request m = { .kind = h->kind,
                              .handshake = h->kind == SGSS_WEB ? 0 : h->number,
                              .principal = h->principal,
                              .target = h->target,
                              .token = p,
                              .token_len = n };
    int r = may_ask(h->client, err);

    if (r < 0)
        return r;
    if (h->waiting)
        return sv_error_set(err, -EBUSY, "a step of the handshake is not answered yet");
    if (h->life && h->life != h->client->starts)
        return sv_error_set(err, -ESTALE, "the Kerberos helper was started again meanwhile");
    r = ask(h->client, &m, &like, &h->waiting, err);
    if (r == 0 && h->kind != SGSS_WEB) /* which the helper does not keep */
        h->life = h->client->starts;
    return r;
}

static void handshake_free(struct gssapi_handshake *base)
{
    struct sgss_client_handshake *h = (struct sgss_client_handshake *)base;
    struct sgss_client *c = h->client;

    if (h->waiting) /* its answer is dropped; its deadline holds */
        h->waiting->handshake = NULL;
    if (c && c->state == SGSS_RUNS && h->life == c->starts) {
        const struct sgss_request m = { .kind = SGSS_FORGET, .handshake = h->number };

        (void)put_packet(c, &m); /* without memory the helper drops it by age, ignoring */
    }
    if (c)
        DL_DELETE(c->handshakes, h);
    free(h->principal);
    free(h->target);
    free(h);
}

static const struct gssapi_handshake_functions functions = {
    .step = handshake_step,
    .free = handshake_free,
};

int sgss_client_handshake_new(struct sgss_client *c, enum sgss_kind kind, const char *principal,
                              const char *target, struct gssapi_handshake **ret)
{
    struct sgss_client_handshake *h;

    if (!principal[0] || strlen(principal) > SGSS_NAME_MAX ||
        (target && (!target[0] || strlen(target) > SGSS_NAME_MAX)))
        return -EINVAL;
    h = calloc(1, sizeof(*h));
    if (!h)
        return -ENOMEM;
    h->base.f = &functions;
    h->kind = kind;
    h->number = ++c->last_id;
    h->principal = strdup(principal);
    h->target = strdup(target ? target : "");
    h->client = c;
    DL_APPEND(c->handshakes, h);
    if (!h->principal || !h->target) {
        handshake_free(&h->base);
        return -ENOMEM;
    }
    *ret = &h->base;
    return 0;
}

int sgss_client_acceptor(struct sgss_client *c, const char *principal,
                         struct gssapi_handshake **ret)
{
    return sgss_client_handshake_new(c, SGSS_ACCEPT, principal, NULL, ret);
}

int sgss_client_initiator(struct sgss_client *c, const char *principal, const char *target,
                          struct gssapi_handshake **ret)
{
    return sgss_client_handshake_new(c, SGSS_INIT, principal, target, ret);
}
