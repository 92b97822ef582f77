/* See new-application.h. */
#include "router/new-application.h"

#include <errno.h>

#include "router/members.h"
#include "wire/ipc/methods.h"

struct asking {
    struct rtr_call *x;
    struct rtr_members members;
    size_t at;
    int64_t tries;
    struct rtr_failure last;
};

static void ask(struct asking *s);

/* At another member, as long as there is one. */
static void ask_next(struct asking *s)
{
    s->members.candidates[s->at].excluded = true;
    ask(s);
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct asking *s = userdata;

    if (r->status >= 0) {
        rtr_call_reply(s->x, r->response);
        return;
    }
    rtr_failure_of(s->x->r, s->members.v[s->at].id, r, err, &s->last);
    if (r->status == -ECANCELED)
        rtr_call_fail_as(s->x, &s->last);
    else
        ask_next(s);
}

static void ask(struct asking *s)
{
    int i;

    while (s->tries <= s->x->r->conf.retries &&
           (i = rtr_members_random(&s->members, &fed_random_kernel)) >= 0) {
        s->at = (size_t)i;
        s->tries++;
        if (rtr_call_member(s->x, &s->members.v[i], s->x->request, on_answer, s, &s->last) >= 0)
            return;
        s->members.candidates[i].excluded = true;
    }
    if (s->tries)
        rtr_call_fail_as(s->x, &s->last);
    else
        rtr_call_fail(s->x, JAVA_YARN_EXCEPTION,
                      "No active SubCluster available to give an application id: of %zu members of "
                      "the federation none is SC_RUNNING",
                      s->members.n);
}

static void on_members(const struct fed_answer *a, void *userdata)
{
    struct rtr_call *x = userdata;
    struct sv_arena *arena = ipc_call_arena(x->call);
    struct asking *s;

    if (a->error < 0) {
        rtr_call_store_failed(x, a);
        return;
    }
    s = sv_new(arena, struct asking); /* freed with the answer */
    if (!s || rtr_members_copy(arena, a, &s->members) < 0) {
        rtr_call_no_memory(x);
        return;
    }
    s->x = x;
    ask(s);
}

void rtr_new_application(struct rtr_call *x)
{
    if (fed_cache_get(x->r->cache, &(struct fed_request){ .op = FED_MEMBER_LIST }, on_members, x,
                      NULL) < 0)
        rtr_call_no_memory(x);
}
