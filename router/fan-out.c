/* See fan-out.h. */
#include "router/fan-out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "router/members.h"

struct fan;

struct part {
    struct fan *fan;
    size_t member;
};

struct fan {
    struct router *r;
    struct rtr_call *x; /* NULL: answered */
    const struct rtr_fan_kind *kind;
    struct sv_arena *arena;
    struct rtr_members members;
    struct part *parts;
    size_t pending;
    ProtobufCMessage **answers;
    struct sv_arena **arenas; /* of the answers */
    size_t n;
    size_t held;
    struct rtr_failure failure; /* the first one */
    bool failed;
};

static void fan_free(void *userdata)
{
    struct fan *f = userdata;

    for (size_t i = 0; i < f->n; i++)
        sv_arena_free(f->arenas[i]);
    f->r->held -= f->held;
    sv_arena_free(f->arena); /* with f */
}

static void fail(struct fan *f)
{
    if (f->x)
        rtr_call_fail_as(f->x, &f->failure);
    f->x = NULL;
}

/* All have answered. Frees f, or a list does it later. */
static void merge(struct fan *f)
{
    struct rtr_answers in = { f->answers, f->n, f->r->conf.partial };
    const ProtobufCMessage *all = NULL;
    struct rtr_call *x = f->x;

    if (!f->kind->merge) {
        rtr_list_answer(x, f->kind->list,
                        &(struct rtr_list_parts){
                            .answers = in,
                            .limit = f->kind->limit ? f->kind->limit(x->request) : INT64_MAX,
                            .free = fan_free,
                            .userdata = f });
        return;
    }
    if (f->kind->merge(&in, f->arena, &all) < 0)
        rtr_call_no_memory(x);
    else
        rtr_call_reply(x, all);
    fan_free(f);
}

static void one_less(struct fan *f)
{
    if (--f->pending)
        return;
    if (f->x && f->n && (!f->failed || f->r->conf.partial)) {
        merge(f);
        return;
    }
    fail(f);
    fan_free(f);
}

static void add_failure(struct fan *f, const struct rtr_failure *why)
{
    if (!f->failed) {
        f->failure = *why;
        if (why->absent) /* no retry: clients do not wait minutes for a list */
            (void)snprintf(f->failure.class, sizeof(f->failure.class), "%s", JAVA_YARN_EXCEPTION);
    }
    f->failed = true;
    if (!f->r->conf.partial)
        fail(f); /* at once; the others' answers are dropped */
}

static void add_answer(struct fan *f, const struct ipc_result *r, const char *member)
{
    size_t bytes = sv_arena_used(*r->arena);
    struct rtr_failure busy = { .class = JAVA_RETRIABLE };

    if (!f->x)
        return;
    if (f->r->held + bytes > RTR_HELD_MAX) {
        (void)sv_error_set(&busy.err, -EBUSY,
                           "sub-cluster %s: its answer has %zu MiB, and others of %zu MiB wait to "
                           "be merged; try again, or ask for fewer",
                           member, bytes >> 20, f->r->held >> 20);
        add_failure(f, &busy);
        return;
    }
    f->answers[f->n] = (ProtobufCMessage *)(uintptr_t)r->response; /* its arena is ours now */
    f->arenas[f->n++] = SV_TAKE(*r->arena);
    f->held += bytes;
    f->r->held += bytes;
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    const struct part *p = userdata;
    struct fan *f = p->fan;
    struct rtr_failure why;

    if (r->status >= 0) {
        add_answer(f, r, f->members.v[p->member].id);
    } else {
        rtr_failure_of(f->r, f->members.v[p->member].id, r, err, &why);
        add_failure(f, &why);
    }
    one_less(f);
}

/* ---- Start ---- */

static bool is_asked(const struct fan *f, size_t i, const char *only)
{
    return only ? strcmp(f->members.v[i].id, only) == 0 : f->members.candidates[i].active;
}

static void start(struct fan *f)
{
    const char *only = f->kind->only ? f->kind->only(f->x->request) : NULL;
    struct rtr_failure why;

    f->pending = 1; /* until all are asked */
    for (size_t i = 0; i < f->members.n && f->x; i++) {
        if (!is_asked(f, i, only))
            continue;
        f->parts[i] = (struct part){ f, i };
        f->pending++;
        if (rtr_call_member(f->x, &f->members.v[i], f->x->request, on_answer, &f->parts[i], &why) >=
            0)
            continue;
        f->pending--;
        add_failure(f, &why);
    }
    if (f->pending == 1 && !f->failed) {
        f->failure = (struct rtr_failure){ .class = JAVA_YARN_EXCEPTION };
        if (only)
            (void)sv_error_set(&f->failure.err, -ENOENT, "%.200s is no member of the federation",
                               only);
        else
            (void)sv_error_set(&f->failure.err, -EHOSTUNREACH,
                               "No active SubCluster available: of %zu members of the federation "
                               "none is SC_RUNNING",
                               f->members.n);
    }
    one_less(f);
}

static struct fan *fan_new(struct rtr_call *x, const struct fed_answer *a)
{
    struct sv_arena *arena = sv_arena_new(0);
    struct fan *f = arena ? sv_new(arena, struct fan) : NULL;

    if (f) {
        *f = (struct fan){ .r = x->r, .x = x, .arena = arena };
        f->parts = sv_newn(arena, struct part, a->n + 1);
        f->answers = sv_newn(arena, ProtobufCMessage *, a->n + 1);
        f->arenas = sv_newn(arena, struct sv_arena *, a->n + 1);
    }
    if (!f || !f->parts || !f->answers || !f->arenas ||
        rtr_members_copy(arena, a, &f->members) < 0) {
        sv_arena_free(arena);
        return NULL;
    }
    return f;
}

struct question {
    struct rtr_call *x;
    const struct rtr_fan_kind *kind;
};

static void on_members(const struct fed_answer *a, void *userdata)
{
    const struct question q = *(struct question *)userdata; /* in the call's arena */
    struct fan *f;

    if (a->error < 0) {
        rtr_call_store_failed(q.x, a);
        return;
    }
    f = fan_new(q.x, a);
    if (!f) {
        rtr_call_no_memory(q.x);
        return;
    }
    f->kind = q.kind;
    start(f);
}

void rtr_fan_out(struct rtr_call *x, const struct rtr_fan_kind *kind)
{
    struct question *q = sv_new(ipc_call_arena(x->call), struct question);

    if (q)
        *q = (struct question){ x, kind };
    if (!q || fed_cache_get(x->r->cache, &(struct fed_request){ .op = FED_MEMBER_LIST }, on_members,
                            q, NULL) < 0)
        rtr_call_no_memory(x);
}
