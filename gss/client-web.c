/* Tokens of web clients: common/web/web-acceptor.h by requests of SGSS_WEB; see client.h. Hostile:
 * the helper's answers, which client.c has checked. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "gss/client-internal.h"

struct acceptor {
    struct sv_web_acceptor base;
    struct sgss_client *client;
    char principal[SGSS_NAME_MAX + 1];
};

struct question {
    struct sv_web_question base;
    struct gssapi_handshake *handshake;
    sv_web_judged judged;
    void *userdata;
};

static void on_outcome(const struct gssapi_outcome *o, void *userdata)
{
    const struct question *q = userdata;
    const struct sv_web_verdict v = { .status = o->status,
                                      .text = o->text,
                                      .principal = o->name && *o->name ? o->name : NULL,
                                      .token = o->token,
                                      .token_len = o->token_len };

    q->judged(&v, q->userdata); /* may drop the question */
}

static void drop(struct sv_web_question *base)
{
    struct question *q = (struct question *)base;

    ipc_gssapi_handshake_free(q->handshake);
    free(q);
}

static int ask(struct sv_web_acceptor *base, const uint8_t *token, size_t n, sv_web_judged judged,
               void *userdata, struct sv_web_question **ret, struct sv_error *err)
{
    const struct acceptor *a = (const struct acceptor *)base;
    struct question *q = calloc(1, sizeof(*q));
    int r;

    if (!q)
        return sv_error_set(err, -ENOMEM, "out of memory");
    q->base.acceptor = base;
    q->judged = judged;
    q->userdata = userdata;
    r = sgss_client_handshake_new(a->client, SGSS_WEB, a->principal, NULL, &q->handshake);
    if (r < 0) {
        free(q);
        return sv_error_errno(err, r, "%s", a->principal);
    }
    r = q->handshake->f->step(q->handshake, token, n, on_outcome, q, err);
    if (r < 0) {
        drop(&q->base);
        return r;
    }
    *ret = &q->base;
    return 0;
}

static void acceptor_free(struct sv_web_acceptor *base)
{
    free(base);
}

int sgss_client_web_acceptor(struct sgss_client *c, const char *principal,
                             struct sv_web_acceptor **ret)
{
    static const struct sv_web_acceptor_functions functions = { .ask = ask,
                                                                .drop = drop,
                                                                .free = acceptor_free };
    struct acceptor *a;

    if (strlen(principal) > SGSS_NAME_MAX ||
        (!sv_streq(principal, SGSS_WEB_ANY) && !sv_has_prefix(principal, SGSS_WEB_PREFIX)))
        return -EINVAL;
    a = calloc(1, sizeof(*a));
    if (!a)
        return -ENOMEM;
    a->base.f = &functions;
    a->client = c;
    memcpy(a->principal, principal, strlen(principal) + 1);
    *ret = &a->base;
    return 0;
}
