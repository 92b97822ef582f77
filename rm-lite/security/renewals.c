/* See renewals.h. */
#include "rm-lite/security/renewals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "rm-lite/security/renewals-internal.h"

#define LIVE_PART 10 /* a token is renewed when a tenth of its life is left */
#define WHY_MAX 512
#define NO_END INT64_MAX

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
    struct renewal_service *s = t->service;

    rm_renewal_not_due(t);
    fail_live(t, false);
    HASH_DEL(r->tokens, t);
    if (--s->n_tokens == 0 && s->open == 0)
        rm_renewal_service_drop(r, s);
    if (t->kept)
        r->ops.released(r->ops.userdata, t->kept);
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
    struct renewal_service *s = t ? rm_renewal_service_of(r, from->service) : NULL;

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

/* 0 with NULL: there is none. */
static int token_find(const struct rm_renewals *r, const struct yarn_token *from,
                      struct rm_renewal **ret)
{
    size_t len = key_len_of(from), kind = strlen(from->kind) + 1;
    _cleanup_free_ uint8_t *key = malloc(len);

    if (!key)
        return -ENOMEM;
    memcpy(key, from->kind, kind);
    memcpy(key + kind, from->service, strlen(from->service) + 1);
    memcpy(key + len - from->id_len, from->id, from->id_len);
    HASH_FIND(hh, r->tokens, key, len, *ret);
    return 0;
}

/* NULL: out of memory. */
static struct rm_renewal *find_or_new(struct rm_renewals *r, const struct yarn_token *from)
{
    struct rm_renewal *t = NULL;

    if (token_find(r, from, &t) < 0)
        return NULL;
    return t ? t : token_new(r, from);
}

/* The last application has let go of it. */
static void abandon(struct rm_renewal *t)
{
    if (t->cancelling)
        return;
    if (t->live && !t->left && (!t->keep || t->all->settings.always_cancel) &&
        t->all->now_ms < t->expires_ms) {
        t->cancelling = true;
        rm_renewal_due_now(t); /* or at the end of its open call */
    } else if (t->place != PLACE_OPEN) {
        token_free(t);
    }
}

static void let_go(struct renewal_holder *h)
{
    struct rm_renewal *t = h->token;

    if (!t)
        return;
    DL_DELETE(t->holders, h);
    h->token = NULL;
    if (!t->holders)
        abandon(t);
}

/* When a token that lives until then is renewed. */
static int64_t due_of(const struct rm_renewals *r, int64_t expires_ms)
{
    int64_t life = expires_ms - r->now_ms;

    return r->now_ms + SV_MAX(life - life / LIVE_PART, (int64_t)RM_RENEWAL_RETRY_MIN_MS);
}

/* ---- Applications ---- */

static struct renewal_app *app_find(const struct rm_renewals *r, struct yarn_app_id id)
{
    const struct renewal_app_key key = { id.cluster_ts, id.id };
    struct renewal_app *a = NULL;

    HASH_FIND(hh, r->apps, &key, sizeof(key), a);
    return a;
}

static void app_free(struct rm_renewals *r, struct renewal_app *a)
{
    if (a->ended)
        DL_DELETE(r->ended, a);
    HASH_DEL(r->apps, a);
    if (r->ops.gone)
        r->ops.gone(r->ops.userdata, a->id);
    for (size_t i = 0; i < a->n; i++)
        let_go(&a->v[i]);
    free(a->v);
    free(a);
}

static struct renewal_app *app_new(struct rm_renewals *r, const struct rm_renewals_app *from)
{
    struct renewal_app *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->v = calloc(from->n_tokens + 1, sizeof(*a->v)); /* one for rm_renewals_replace() */
    if (!a->v) {
        free(a);
        return NULL;
    }
    a->id = from->id;
    a->key = (struct renewal_app_key){ from->id.cluster_ts, from->id.id };
    a->recovered = from->recovered;
    HASH_ADD(hh, r->apps, key, sizeof(a->key), a);
    return a;
}

static bool has_token(const struct renewal_app *a, const struct rm_renewal *t)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->v[i].token == t)
            return true;
    return false;
}

static int hold(struct rm_renewals *r, struct renewal_app *a, const struct yarn_token *from,
                bool cancel_at_end)
{
    struct rm_renewal *t = find_or_new(r, from);
    struct renewal_holder *h = &a->v[a->n];

    if (!t)
        return -ENOMEM;
    if (t->cancelling) /* its end is under way: a new application may not count on it */
        return -EKEYREVOKED;
    if (has_token(a, t))
        return 0;
    *h = (struct renewal_holder){ .app = a, .token = t };
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
static int hold_all(struct rm_renewals *r, struct renewal_app *a, const struct rm_renewals_app *app,
                    struct sv_error *err)
{
    int k = rm_renewals_reserve(r, HASH_COUNT(r->tokens) + app->n_tokens);

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
    struct renewal_app *a;
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
            rm_renewal_due_now(a->v[i].token);
    return a->n_waiting == 0 || a->recovered;
}

/* ---- A token in the place of others ---- */

/* Its end is not theirs: containers that have them read and write until they expire. */
static void let_go_of_kind(struct renewal_app *a, const char *kind)
{
    for (size_t i = 0; i < a->n; i++) {
        struct rm_renewal *t = a->v[i].token;

        if (!t || !sv_streq(t->token.kind, kind))
            continue;
        t->left = true;
        a->n_waiting -= !t->live;
        let_go(&a->v[i]);
    }
}

static struct renewal_holder *free_slot(struct renewal_app *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (!a->v[i].token)
            return &a->v[i];
    return &a->v[a->n++]; /* the spare one; a replaced token leaves its own */
}

static void hold_new(struct renewal_app *a, struct rm_renewal *t, int64_t max_ms, bool keep)
{
    struct renewal_holder *h = free_slot(a);

    *h = (struct renewal_holder){ .app = a, .token = t };
    DL_APPEND(t->holders, h);
    t->keep |= keep;
    t->live = true;
    t->expires_ms = max_ms;
    rm_renewal_due_now(t);
}

int rm_renewals_replace(struct rm_renewals *r, const struct rm_renewals_app *app, int64_t max_ms,
                        int64_t now_ms)
{
    struct renewal_app *a = app_find(r, app->id);
    bool fresh = !a;
    struct rm_renewal *t = NULL;
    int k = rm_renewals_reserve(r, HASH_COUNT(r->tokens) + 1);

    if (k < 0)
        return k;
    r->now_ms = now_ms;
    if (fresh)
        a = app_new(r, &(struct rm_renewals_app){ .id = app->id, .recovered = app->recovered });
    k = a ? token_find(r, app->tokens, &t) : -ENOMEM;
    if (k >= 0 && t) /* a NameNode gives each one once */
        k = -EEXIST;
    if (k >= 0 && !(t = token_new(r, app->tokens)))
        k = -ENOMEM;
    if (k < 0) {
        if (a && fresh)
            app_free(r, a);
        return k;
    }
    let_go_of_kind(a, t->token.kind);
    hold_new(a, t, max_ms, !app->cancel_at_end);
    return 0;
}

bool rm_renewals_has(const struct rm_renewals *r, struct yarn_app_id app)
{
    return app_find(r, app) != NULL;
}

void rm_renewals_end(struct rm_renewals *r, struct yarn_app_id app, int64_t at_ms)
{
    struct renewal_app *a = app_find(r, app);

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
    struct renewal_app *a = app_find(r, app);

    if (a && a->ended)
        a->until_ms = SV_MAX(a->until_ms, until_ms);
}

/* ---- Calls and their ends ---- */

/* The applications that waited for it, and need not any more. */
static void tell_live(struct rm_renewal *t)
{
    struct rm_renewals *r = t->all;
    struct renewal_holder *h;

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
        struct renewal_holder *h = t->holders;
        struct renewal_app *a = h->app;

        if (t->live || a->recovered) {
            a->n_waiting -= !t->live;
            let_go(h);
            if (!a->ended && r->ops.lost)
                r->ops.lost(r->ops.userdata, a->id, &t->token);
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
    rm_renewal_due_at(t, t->all->now_ms + t->retry_ms);
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
    bool first = !t->live;

    t->live = t->told = true;
    t->expires_ms = expires_ms;
    t->retry_ms = RM_RENEWAL_RETRY_MIN_MS;
    fail_live(t, false);
    r->renewed++;
    rm_renewal_due_at(t, due_of(r, expires_ms));
    if (first)
        tell_live(t);
}

void rm_renewal_renewed(struct rm_renewal *t, int status, int64_t expires_ms, const char *why,
                        int64_t now_ms)
{
    struct rm_renewals *r = t->all;

    r->now_ms = now_ms;
    rm_renewal_closed(t);
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
    rm_renewal_closed(t);
    token_free(t);
    rm_renewals_tick(r, r->now_ms);
}

/* ---- Turns ---- */

void rm_renewals_tick(struct rm_renewals *r, int64_t now_ms)
{
    struct renewal_app *a, *next;

    r->now_ms = now_ms;
    DL_FOREACH_SAFE (r->ended, a, next)
        if (a->until_ms <= now_ms)
            app_free(r, a);
    while (r->n_heap > 0 && r->heap[0]->due_ms <= now_ms)
        rm_renewal_due_now(r->heap[0]);
    rm_renewals_start(r);
}

const struct yarn_token *rm_renewal_token(const struct rm_renewal *t)
{
    return &t->token;
}

void *rm_renewal_userdata(const struct rm_renewal *t)
{
    return t->all->ops.userdata;
}

void *rm_renewal_kept(const struct rm_renewal *t)
{
    return t->kept;
}

void rm_renewal_keep(struct rm_renewal *t, void *kept)
{
    t->kept = kept;
}

int64_t rm_renewal_expires(const struct rm_renewal *t)
{
    return t->told ? t->expires_ms : 0;
}

bool rm_renewal_next_app(const struct rm_renewal *t, size_t at, struct yarn_app_id *ret)
{
    const struct renewal_holder *h = t->holders;

    for (; h && at > 0; at--)
        h = h->next;
    if (h)
        *ret = h->app->id;
    return h != NULL;
}

bool rm_renewal_app(const struct rm_renewal *t, struct yarn_app_id *ret)
{
    return rm_renewal_next_app(t, 0, ret);
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
    struct renewal_app *a, *next_app;
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
