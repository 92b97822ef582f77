/* See renewals.h. A token is in one of three places: in its service's queue, when a call is due; in
 * no list, while the call is open; or in the heap of times, until its next renewal. */
#include "rm-lite/security/renewals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/log.h"
#include "common/str.h"

#define LIVE_PART 10 /* a token is renewed when a tenth of its life is left */
#define WHY_MAX 512
#define NO_END INT64_MAX

struct app_key {
    int64_t cluster_ts, id;
};

struct holder { /* an application that has a token */
    struct holder *prev, *next;
    struct waiting_app *app;
    struct rm_renewal *token;
};

struct service {
    UT_hash_handle hh;           /* by name */
    struct service *prev, *next; /* those that take turns */
    bool in_turn;
    struct rm_renewal *queue;
    unsigned open;
    size_t n_tokens; /* a service is freed with its last one */
    char name[];
};

enum place { PLACE_NONE, PLACE_QUEUE, PLACE_OPEN, PLACE_HEAP };

struct rm_renewal {
    UT_hash_handle hh;              /* by key */
    struct rm_renewal *prev, *next; /* in the service's queue */
    struct rm_renewals *all;
    struct service *service;
    struct holder *holders; /* the first brought it */
    enum place place;
    size_t heap_at;
    int64_t due_ms, expires_ms;
    int64_t retry_ms;
    int tries_left;
    bool live; /* was renewed once */
    bool keep; /* not to be cancelled at the end */
    bool cancelling;
    bool failing;            /* the last renewal failed */
    struct yarn_token token; /* points into `bytes` */
    size_t key_len;
    uint8_t bytes[]; /* kind, service, identifier (the key), password */
};

struct waiting_app {
    UT_hash_handle hh;
    struct app_key key;
    struct yarn_app_id id;
    struct holder *v;    /* [n] */
    size_t n, n_waiting; /* tokens that are not live yet */
    bool recovered, ended;
    int64_t until_ms;                /* of one that has ended */
    struct waiting_app *prev, *next; /* those that have ended */
};

struct rm_renewals {
    struct rm_renewals_settings settings;
    struct rm_renewals_ops ops;
    struct rm_renewal *tokens;
    struct waiting_app *apps, *ended;
    struct service *services, *turns;
    struct rm_renewal **heap;
    size_t n_heap, room_heap, open, failing;
    bool starting; /* inside of start_calls() */
    uint64_t renewed, failed, cancelled;
    int64_t now_ms;
};

/* ---- The heap of times ---- */

static void heap_set(struct rm_renewals *r, size_t at, struct rm_renewal *t)
{
    r->heap[at] = t;
    t->heap_at = at;
}

static void heap_up(struct rm_renewals *r, size_t at)
{
    struct rm_renewal *t = r->heap[at];

    for (; at > 0 && r->heap[(at - 1) / 2]->due_ms > t->due_ms; at = (at - 1) / 2)
        heap_set(r, at, r->heap[(at - 1) / 2]);
    heap_set(r, at, t);
}

static void heap_down(struct rm_renewals *r, size_t at)
{
    struct rm_renewal *t = r->heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < r->n_heap && r->heap[child + 1]->due_ms < r->heap[child]->due_ms)
            child++;
        if (child >= r->n_heap || r->heap[child]->due_ms >= t->due_ms)
            break;
        heap_set(r, at, r->heap[child]);
        at = child;
    }
    heap_set(r, at, t);
}

static void heap_remove(struct rm_renewals *r, struct rm_renewal *t)
{
    size_t at = t->heap_at;
    struct rm_renewal *last = r->heap[--r->n_heap];

    t->place = PLACE_NONE;
    if (last == t)
        return;
    heap_set(r, at, last);
    heap_up(r, at);
    heap_down(r, last->heap_at);
}

/* Each token has room: rm_renewals_add() made it. */
static void heap_add(struct rm_renewals *r, struct rm_renewal *t, int64_t due_ms)
{
    t->due_ms = due_ms;
    t->place = PLACE_HEAP;
    heap_set(r, r->n_heap, t);
    heap_up(r, r->n_heap++);
}

static int heap_reserve(struct rm_renewals *r, size_t n)
{
    struct rm_renewal **grown;
    size_t room = SV_MAX(2 * r->room_heap, n + 16);

    if (n <= r->room_heap)
        return 0;
    grown = reallocarray(r->heap, room, sizeof(struct rm_renewal *));
    if (!grown)
        return -ENOMEM;
    r->heap = grown;
    r->room_heap = room;
    return 0;
}

/* ---- Queues of services ---- */

static struct service *service_of(struct rm_renewals *r, const char *name)
{
    size_t len = strlen(name);
    struct service *s = NULL;

    HASH_FIND(hh, r->services, name, len, s);
    if (s)
        return s;
    s = calloc(1, sizeof(*s) + len + 1);
    if (!s)
        return NULL;
    memcpy(s->name, name, len + 1);
    HASH_ADD_KEYPTR(hh, r->services, s->name, len, s);
    return s;
}

static void take_turns(struct rm_renewals *r, struct service *s)
{
    if (s->in_turn || !s->queue || s->open >= RM_RENEWALS_OPEN_OF_SERVICE_MAX)
        return;
    DL_APPEND(r->turns, s);
    s->in_turn = true;
}

static void enqueue(struct rm_renewal *t)
{
    if (t->place == PLACE_HEAP)
        heap_remove(t->all, t);
    if (t->place != PLACE_NONE)
        return;
    t->place = PLACE_QUEUE;
    DL_APPEND(t->service->queue, t);
    take_turns(t->all, t->service);
}

static void dequeue(struct rm_renewal *t)
{
    struct service *s = t->service;

    DL_DELETE(s->queue, t);
    t->place = PLACE_NONE;
    if (!s->queue && s->in_turn) {
        DL_DELETE(t->all->turns, s);
        s->in_turn = false;
    }
}

/* ---- Tokens ---- */

static void fail_live(struct rm_renewal *t, bool failing)
{
    if (t->failing != failing)
        t->all->failing += failing ? 1 : (size_t)-1;
    t->failing = failing;
}

static void token_free(struct rm_renewal *t)
{
    struct rm_renewals *r = t->all;
    struct service *s = t->service;

    if (t->place == PLACE_HEAP)
        heap_remove(r, t);
    if (t->place == PLACE_QUEUE)
        dequeue(t);
    fail_live(t, false);
    HASH_DEL(r->tokens, t);
    if (--s->n_tokens == 0 && s->open == 0) {
        HASH_DEL(r->services, s);
        free(s);
    }
    explicit_bzero(t->bytes, t->key_len + t->token.password_len);
    free(t);
}

/* Kind and service with their NULs, then the identifier; the password is no part of it. */
static size_t key_len_of(const struct yarn_token *t)
{
    return strlen(t->kind) + strlen(t->service) + 2 + t->id_len;
}

static void copy_token(struct rm_renewal *t, const struct yarn_token *from)
{
    size_t kind = strlen(from->kind) + 1, service = strlen(from->service) + 1;
    uint8_t *p = t->bytes;

    t->token = *from;
    t->token.kind = memcpy(p, from->kind, kind);
    t->token.service = memcpy(p + kind, from->service, service);
    t->token.id = memcpy(p + kind + service, from->id, from->id_len);
    t->token.password = memcpy(p + t->key_len, from->password, from->password_len);
}

static struct rm_renewal *token_new(struct rm_renewals *r, const struct yarn_token *from)
{
    size_t key_len = key_len_of(from);
    struct rm_renewal *t = calloc(1, sizeof(*t) + key_len + from->password_len);
    struct service *s = t ? service_of(r, from->service) : NULL;

    if (!s) {
        free(t);
        return NULL;
    }
    t->all = r;
    t->service = s;
    t->key_len = key_len;
    t->tries_left = r->settings.tries;
    t->retry_ms = RM_RENEWAL_RETRY_MIN_MS;
    copy_token(t, from);
    s->n_tokens++;
    HASH_ADD_KEYPTR(hh, r->tokens, t->bytes, t->key_len, t);
    return t;
}

/* NULL: out of memory. */
static struct rm_renewal *find_or_new(struct rm_renewals *r, const struct yarn_token *from)
{
    size_t len = key_len_of(from), kind = strlen(from->kind) + 1;
    _cleanup_free_ uint8_t *key = malloc(len);
    struct rm_renewal *t = NULL;

    if (!key)
        return NULL;
    memcpy(key, from->kind, kind);
    memcpy(key + kind, from->service, strlen(from->service) + 1);
    memcpy(key + len - from->id_len, from->id, from->id_len);
    HASH_FIND(hh, r->tokens, key, len, t);
    return t ? t : token_new(r, from);
}

/* The last application has let go of it. */
static void abandon(struct rm_renewal *t)
{
    if (t->cancelling)
        return;
    if (t->live && (!t->keep || t->all->settings.always_cancel) && t->all->now_ms < t->expires_ms) {
        t->cancelling = true;
        enqueue(t); /* or at the end of its open call */
    } else if (t->place != PLACE_OPEN) {
        token_free(t);
    }
}

static void let_go(struct holder *h)
{
    struct rm_renewal *t = h->token;

    if (!t)
        return;
    DL_DELETE(t->holders, h);
    h->token = NULL;
    if (!t->holders)
        abandon(t);
}

/* ---- Applications ---- */

static struct waiting_app *app_find(const struct rm_renewals *r, struct yarn_app_id id)
{
    const struct app_key key = { id.cluster_ts, id.id };
    struct waiting_app *a = NULL;

    HASH_FIND(hh, r->apps, &key, sizeof(key), a);
    return a;
}

static void app_free(struct rm_renewals *r, struct waiting_app *a)
{
    if (a->ended)
        DL_DELETE(r->ended, a);
    HASH_DEL(r->apps, a);
    for (size_t i = 0; i < a->n; i++)
        let_go(&a->v[i]);
    free(a->v);
    free(a);
}

static struct waiting_app *app_new(struct rm_renewals *r, const struct rm_renewals_app *from)
{
    struct waiting_app *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->v = calloc(SV_MAX(from->n_tokens, (size_t)1), sizeof(*a->v));
    if (!a->v) {
        free(a);
        return NULL;
    }
    a->id = from->id;
    a->key = (struct app_key){ from->id.cluster_ts, from->id.id };
    a->recovered = from->recovered;
    HASH_ADD(hh, r->apps, key, sizeof(a->key), a);
    return a;
}

static bool has_token(const struct waiting_app *a, const struct rm_renewal *t)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->v[i].token == t)
            return true;
    return false;
}

static int hold(struct rm_renewals *r, struct waiting_app *a, const struct yarn_token *from,
                bool cancel_at_end)
{
    struct rm_renewal *t = find_or_new(r, from);
    struct holder *h = &a->v[a->n];

    if (!t)
        return -ENOMEM;
    if (t->cancelling) /* its end is under way: a new application may not count on it */
        return -EKEYREVOKED;
    if (has_token(a, t))
        return 0;
    *h = (struct holder){ .app = a, .token = t };
    DL_APPEND(t->holders, h);
    a->n++;
    a->n_waiting += !t->live;
    t->keep |= !cancel_at_end;
    return 0;
}

static int check(const struct rm_renewals *r, const struct rm_renewals_app *app,
                 struct sv_error *err)
{
    if (app_find(r, app->id))
        return -EEXIST;
    if (app->n_tokens > RM_RENEWALS_OF_APP_MAX)
        return sv_error_set(err, -E2BIG, "its %zu tokens are to be renewed, at most %d may be",
                            app->n_tokens, RM_RENEWALS_OF_APP_MAX);
    if (HASH_COUNT(r->tokens) + app->n_tokens > RM_RENEWALS_MAX)
        return sv_error_set(err, -E2BIG,
                            "the ResourceManager renews %d tokens already, its limit: submit again "
                            "when applications have ended",
                            RM_RENEWALS_MAX);
    return 0;
}

/* Adds them all: the heap has room for as many. */
static int hold_all(struct rm_renewals *r, struct waiting_app *a, const struct rm_renewals_app *app,
                    struct sv_error *err)
{
    int k = heap_reserve(r, HASH_COUNT(r->tokens) + app->n_tokens);

    for (size_t i = 0; i < app->n_tokens && k >= 0; i++)
        k = hold(r, a, &app->tokens[i], app->cancel_at_end);
    if (k == -EKEYREVOKED)
        return sv_error_set(err, k,
                            "one of its tokens is being cancelled, at the end of another "
                            "application that had it");
    return k < 0 ? sv_error_errno(err, k, "its tokens") : 0;
}

int rm_renewals_add(struct rm_renewals *r, const struct rm_renewals_app *app, int64_t now_ms,
                    struct sv_error *err)
{
    struct waiting_app *a;
    int k = check(r, app, err);

    if (k < 0)
        return k;
    r->now_ms = now_ms;
    a = app_new(r, app);
    if (!a)
        return sv_error_errno(err, -ENOMEM, "its tokens");
    k = hold_all(r, a, app, err);
    if (k < 0) {
        app_free(r, a);
        return k;
    }
    for (size_t i = 0; i < a->n; i++)
        if (!a->v[i].token->live)
            enqueue(a->v[i].token);
    return a->n_waiting == 0 || a->recovered;
}

void rm_renewals_end(struct rm_renewals *r, struct yarn_app_id app, int64_t at_ms)
{
    struct waiting_app *a = app_find(r, app);

    if (!a || a->ended)
        return;
    if (a->n_waiting > 0 && !a->recovered) {
        app_free(r, a);
        return;
    }
    a->ended = true;
    a->until_ms = at_ms;
    DL_APPEND(r->ended, a);
}

void rm_renewals_keep_alive(struct rm_renewals *r, struct yarn_app_id app, int64_t until_ms)
{
    struct waiting_app *a = app_find(r, app);

    if (a && a->ended)
        a->until_ms = SV_MAX(a->until_ms, until_ms);
}

/* ---- Calls and their ends ---- */

static void close_call(struct rm_renewal *t)
{
    t->place = PLACE_NONE;
    t->all->open--;
    t->service->open--;
    take_turns(t->all, t->service);
}

/* The applications that waited for it, and need not any more. */
static void tell_live(struct rm_renewal *t)
{
    struct rm_renewals *r = t->all;
    struct holder *h;

    DL_FOREACH (t->holders, h)
        if (--h->app->n_waiting == 0 && !h->app->recovered)
            r->ops.admitted(r->ops.userdata, h->app->id, NULL);
}

static void text_of(const struct rm_renewal *t, const char *why, char *ret, size_t size)
{
    char kind[128], service[256], reason[WHY_MAX];

    sv_escape(kind, sizeof(kind), t->token.kind);
    sv_escape(service, sizeof(service), t->token.service);
    sv_escape(reason, sizeof(reason), why ? why : "");
    (void)snprintf(ret, size, "Failed to renew token: Kind: %s, Service: %s: %s", kind, service,
                   reason);
}

/* No application may count on the token. Those that wait for it are refused. */
static void lose(struct rm_renewal *t, const char *why)
{
    struct rm_renewals *r = t->all;
    struct yarn_app_id refused;
    char text[WHY_MAX + 512];

    text_of(t, why, text, sizeof(text));
    sv_log_warning("%s", text);
    r->failed++;
    t->cancelling = true; /* nobody new takes it, and nothing is called for it */
    while (t->holders) {
        struct holder *h = t->holders;
        struct waiting_app *a = h->app;

        if (t->live || a->recovered) {
            a->n_waiting -= !t->live;
            let_go(h);
            continue;
        }
        refused = a->id;
        app_free(r, a);
        r->ops.admitted(r->ops.userdata, refused, text);
    }
    token_free(t);
}

static void again_later(struct rm_renewal *t, const char *why)
{
    char text[WHY_MAX + 512];

    if (!t->failing) {
        text_of(t, why, text, sizeof(text));
        sv_log_warning("%s; trying again", text);
    }
    fail_live(t, true);
    heap_add(t->all, t, t->all->now_ms + t->retry_ms);
    t->retry_ms = SV_MIN(2 * t->retry_ms, (int64_t)RM_RENEWAL_RETRY_MAX_MS);
}

/* A token of a service that does not answer, or that lives, is tried again. */
static bool worth_another(struct rm_renewal *t, int status)
{
    if (t->live)
        return t->all->now_ms < t->expires_ms;
    return status == -EAGAIN && --t->tries_left > 0;
}

static void renewed(struct rm_renewal *t, int64_t expires_ms)
{
    struct rm_renewals *r = t->all;
    int64_t life = expires_ms - r->now_ms;
    bool first = !t->live;

    t->live = true;
    t->expires_ms = expires_ms;
    t->retry_ms = RM_RENEWAL_RETRY_MIN_MS;
    fail_live(t, false);
    r->renewed++;
    heap_add(r, t, r->now_ms + SV_MAX(life - life / LIVE_PART, (int64_t)RM_RENEWAL_RETRY_MIN_MS));
    if (first)
        tell_live(t);
}

void rm_renewal_renewed(struct rm_renewal *t, int status, int64_t expires_ms, const char *why,
                        int64_t now_ms)
{
    struct rm_renewals *r = t->all;

    r->now_ms = now_ms;
    close_call(t);
    if (!t->holders) { /* all have ended meanwhile */
        t->live |= status == 0;
        t->expires_ms = status == 0 ? expires_ms : t->expires_ms;
        t->cancelling = false;
        abandon(t);
    } else if (status == 0 && expires_ms > now_ms) {
        renewed(t, expires_ms);
    } else if (worth_another(t, status)) {
        again_later(t, status == 0 ? "its end is in the past" : why);
    } else {
        lose(t, status == 0 ? "its end is in the past" : why);
    }
    rm_renewals_tick(r, now_ms);
}

void rm_renewal_cancelled(struct rm_renewal *t)
{
    struct rm_renewals *r = t->all;

    r->cancelled++;
    close_call(t);
    token_free(t);
    rm_renewals_tick(r, r->now_ms);
}

/* ---- Turns ---- */

static void start_one(struct rm_renewals *r, struct service *s)
{
    struct rm_renewal *t = s->queue;

    DL_DELETE(s->queue, t);
    t->place = PLACE_OPEN;
    r->open++;
    s->open++;
    if (t->cancelling)
        r->ops.cancel(r->ops.userdata, t);
    else
        r->ops.renew(r->ops.userdata, t);
}

/* A call may end inside of its begin, which comes here again. */
static void start_calls(struct rm_renewals *r)
{
    if (r->starting)
        return;
    r->starting = true;
    while (r->turns && r->open < RM_RENEWALS_OPEN_MAX) {
        struct service *s = r->turns;
        bool more = s->queue->next && s->open + 1 < RM_RENEWALS_OPEN_OF_SERVICE_MAX;

        DL_DELETE(r->turns, s);
        s->in_turn = false;
        if (more) { /* behind the others */
            DL_APPEND(r->turns, s);
            s->in_turn = true;
        }
        start_one(r, s);
    }
    r->starting = false;
}

void rm_renewals_tick(struct rm_renewals *r, int64_t now_ms)
{
    struct waiting_app *a, *next;

    r->now_ms = now_ms;
    DL_FOREACH_SAFE (r->ended, a, next)
        if (a->until_ms <= now_ms)
            app_free(r, a);
    while (r->n_heap > 0 && r->heap[0]->due_ms <= now_ms)
        enqueue(r->heap[0]);
    start_calls(r);
}

const struct yarn_token *rm_renewal_token(const struct rm_renewal *t)
{
    return &t->token;
}

void *rm_renewal_userdata(const struct rm_renewal *t)
{
    return t->all->ops.userdata;
}

bool rm_renewal_app(const struct rm_renewal *t, struct yarn_app_id *ret)
{
    if (!t->holders)
        return false;
    *ret = t->holders->app->id;
    return true;
}

void rm_renewals_counts(const struct rm_renewals *r, struct rm_renewals_counts *ret)
{
    *ret = (struct rm_renewals_counts){
        .applications = HASH_COUNT(r->apps),
        .tokens = HASH_COUNT(r->tokens),
        .waiting = HASH_COUNT(r->tokens) - r->n_heap - r->open,
        .open = r->open,
        .failing = r->failing,
        .renewed = r->renewed,
        .failed = r->failed,
        .cancelled = r->cancelled,
    };
}

struct rm_renewals *rm_renewals_new(const struct rm_renewals_settings *s,
                                    const struct rm_renewals_ops *ops)
{
    struct rm_renewals *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->settings = *s;
    r->ops = *ops;
    return r;
}

struct rm_renewals *rm_renewals_free(struct rm_renewals *r)
{
    struct waiting_app *a, *next_app;
    struct rm_renewal *t, *next;

    if (!r)
        return NULL;
    r->now_ms = NO_END; /* nothing is cancelled */
    HASH_ITER (hh, r->apps, a, next_app)
        app_free(r, a);
    HASH_ITER (hh, r->tokens, t, next) {
        t->service->open -= t->place == PLACE_OPEN;
        token_free(t);
    }
    free(r->heap);
    free(r);
    return NULL;
}
