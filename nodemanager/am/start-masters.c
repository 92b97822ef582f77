/* See start-masters.h. */
#include "nodemanager/am/start-masters.h"

#include <errno.h>
#include <stdio.h>

#include "nodemanager/am/container-manager.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/token-secret-managers.h"

/* The token is checked once more when the row is handled. */
static bool is_master(const struct nm_am *am, const Hadoop__Yarn__StartContainerRequestProto *q,
                      struct sv_arena *a, struct yarn_container_token *ret)
{
    struct yarn_token token;

    return q->container_token && yarn_token_from(q->container_token, a, &token) >= 0 &&
           token.id_len > 0 &&
           yarn_container_token_decode(token.id, token.id_len, ret, NULL) >= 0 &&
           nm_amrm_wants(am->amrm, ret) &&
           nm_secrets_verify_container_token(am->ctx->secrets, &token, ret, NULL) >= 0;
}

void nm_cm_masters_find(const struct nm_am *am,
                        Hadoop__Yarn__StartContainerRequestProto *const *requests, size_t n,
                        struct sv_arena *a, struct nm_masters *ret)
{
    struct yarn_container_token *t;

    *ret = (struct nm_masters){ .n = 0 };
    if (!am->amrm || !n)
        return;
    ret->v = sv_newn(a, struct nm_master, NM_MASTERS_MAX);
    t = sv_new(a, struct yarn_container_token);
    for (size_t i = 0; ret->v && t && i < n && ret->n < NM_MASTERS_MAX; i++)
        if (is_master(am, requests[i], a, t))
            ret->v[ret->n++] = (struct nm_master){ .row = i, .token = *t };
}

static void ask_next(struct nm_masters *m);

static void on_known(int served, const char *why, void *userdata)
{
    struct nm_masters *m = userdata;
    struct nm_master *one = &m->v[m->at++];

    one->served = served;
    if (served < 0)
        (void)snprintf(one->why, sizeof(one->why),
                       "the federation's state store does not say whether the application has a "
                       "home: %s",
                       why);
    ask_next(m);
}

static void ask_next(struct nm_masters *m)
{
    if (m->at == m->n)
        m->done(m->userdata);
    else if (nm_amrm_ask(m->am->amrm, &m->v[m->at].token, on_known, m) < 0)
        on_known(-ENOMEM, "out of memory", m);
}

void nm_cm_masters_ask(const struct nm_am *am, struct nm_masters *m, void (*done)(void *userdata),
                       void *userdata)
{
    m->am = am;
    m->done = done;
    m->userdata = userdata;
    ask_next(m);
}

const struct nm_master *nm_cm_master(const struct nm_masters *m, size_t row)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].row == row)
            return &m->v[i];
    return NULL;
}
