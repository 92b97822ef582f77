/* The store's answers for a while; see cache.h. Hostile: sizes of answers, whose records the store
 * has checked. */
#include "federation/cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/arena.h"
#include "common/clock.h"
#include "federation/hash.h"

struct waiter {
    uint64_t number;
    fed_done done;
    void *userdata;
    char *member; /* one of the list; NULL: all of it */
    struct waiter *prev, *next;
};

struct entry {
    struct fed_cache *cache;
    struct sv_arena *arena; /* of the answer; NULL: none yet */
    struct fed_answer answer;
    int64_t fresh_until_ms;
    uint64_t call; /* of the store; 0: none is open */
    struct waiter *waiters;
    bool telling;              /* in use: not to be dropped */
    struct entry *prev, *next; /* in the cache's list, the last used one first */
    UT_hash_handle hh;
    enum fed_op op;
    char key[];
};

struct fed_cache {
    struct fed_store *store;
    int64_t ttl_ms;
    size_t max_entries, bytes;
    uint64_t last_number;
    struct entry *by_key, *used;
    bool ending; /* takes no more questions */
    char away[SV_ERROR_TEXT_MAX];
};

/* ---- Entries ---- */

static size_t entry_bytes(const struct entry *e)
{
    return sizeof(*e) + strlen(e->key) + (e->arena ? sv_arena_used(e->arena) : 0);
}

static void drop(struct entry *e)
{
    struct fed_cache *c = e->cache;

    HASH_DEL(c->by_key, e);
    DL_DELETE(c->used, e);
    c->bytes -= entry_bytes(e);
    sv_arena_free(e->arena);
    free(e);
}

static bool is_idle(const struct entry *e)
{
    return !e->call && !e->waiters && !e->telling;
}

/* The ones that were not used for the longest time go. */
static void shrink(struct fed_cache *c)
{
    struct entry *e = c->used ? c->used->prev : NULL, *before;

    for (; e && (HASH_COUNT(c->by_key) > c->max_entries || c->bytes > FED_CACHE_BYTES_MAX);
         e = before) {
        before = e == c->used ? NULL : e->prev;
        if (is_idle(e))
            drop(e);
    }
}

/* The key of the record that the question is about: NULL where none is kept. */
static char *key_of(const struct fed_request *q, enum fed_op *ret_op)
{
    char app[YARN_ID_TEXT_MAX], *key = NULL;
    int n = -1;

    switch (q->op) {
    case FED_MEMBER_LIST:
    case FED_MEMBER_GET:
        *ret_op = FED_MEMBER_LIST;
        return strdup("members");
    case FED_POLICY_GET:
        *ret_op = q->op;
        n = asprintf(&key, "queue %s", q->policy.queue ? q->policy.queue : "");
        break;
    case FED_HOME_GET:
        *ret_op = q->op;
        n = asprintf(&key, "home %s", yarn_app_id_text(q->home.app, app));
        break;
    default:
        break;
    }
    return n < 0 ? NULL : key;
}

static struct entry *find(const struct fed_cache *c, const char *key)
{
    struct entry *e;

    HASH_FIND_STR(c->by_key, key, e);
    return e;
}

static struct entry *get_entry(struct fed_cache *c, const char *key, enum fed_op op)
{
    struct entry *e = find(c, key);
    size_t n = strlen(key);

    if (e) {
        DL_DELETE(c->used, e);
        DL_PREPEND(c->used, e);
        return e;
    }
    e = calloc(1, sizeof(*e) + n + 1);
    if (!e)
        return NULL;
    e->cache = c;
    e->op = op;
    memcpy(e->key, key, n + 1);
    HASH_ADD_KEYPTR(hh, c->by_key, e->key, n, e);
    if (!e->hh.tbl) {
        free(e);
        return NULL;
    }
    DL_PREPEND(c->used, e);
    c->bytes += entry_bytes(e);
    return e;
}

/* ---- Keeping an answer ---- */

static int copy_member(struct sv_arena *a, struct fed_member *m)
{
    m->id = sv_arena_strdup(a, m->id);
    m->am = sv_arena_strdup(a, m->am);
    m->client = sv_arena_strdup(a, m->client);
    m->admin = sv_arena_strdup(a, m->admin);
    m->web = sv_arena_strdup(a, m->web);
    m->capability = sv_arena_strdup(a, m->capability);
    return m->id && m->am && m->client && m->admin && m->web && m->capability ? 0 : -ENOMEM;
}

static int copy_policy(struct sv_arena *a, struct fed_policy *p)
{
    p->queue = sv_arena_strdup(a, p->queue);
    p->type = sv_arena_strdup(a, p->type);
    if (p->params)
        p->params = sv_arena_memdup(a, p->params, p->params_len);
    return p->queue && p->type && (p->params || p->params_len == 0) ? 0 : -ENOMEM;
}

static int copy_home(struct sv_arena *a, struct fed_home *h)
{
    h->home = sv_arena_strdup(a, h->home);
    if (h->context)
        h->context = sv_arena_memdup(a, h->context, h->context_len);
    return h->home && (h->context || h->context_len == 0) ? 0 : -ENOMEM;
}

static int copy_members(struct sv_arena *a, struct fed_answer *to)
{
    struct fed_member *v = sv_newn(a, struct fed_member, to->n + 1);
    int r = v ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < to->n; i++) {
        v[i] = to->members[i];
        r = copy_member(a, &v[i]);
    }
    to->members = v;
    return r;
}

/* Replaces the entry's answer by a copy. */
static int keep(struct entry *e, const struct fed_answer *from)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(FED_CACHE_BYTES_MAX);
    struct fed_answer to = *from;
    void *one = NULL;
    int r = a ? 0 : -ENOMEM;

    to.reason = "";
    if (to.n == 0)
        to.members = NULL;
    if (r == 0 && e->op == FED_MEMBER_LIST) {
        r = copy_members(a, &to);
    } else if (r == 0 && to.n == 1 && e->op == FED_POLICY_GET) {
        one = sv_arena_memdup(a, to.policies, sizeof(*to.policies));
        to.policies = one;
        r = one ? copy_policy(a, one) : -ENOMEM;
    } else if (r == 0 && to.n == 1) {
        one = sv_arena_memdup(a, to.homes, sizeof(*to.homes));
        to.homes = one;
        r = one ? copy_home(a, one) : -ENOMEM;
    }
    if (r < 0)
        return r;
    e->cache->bytes -= entry_bytes(e);
    sv_arena_free(e->arena);
    e->arena = SV_TAKE(a);
    e->answer = to;
    e->cache->bytes += entry_bytes(e);
    return 0;
}

/* ---- Telling ---- */

/* The one member out of the list. */
static void tell_member(const struct fed_answer *list, const char *id, fed_done done,
                        void *userdata)
{
    struct fed_answer one = *list;

    one.n = one.n_broken = 0;
    for (size_t i = 0; i < list->n && one.n == 0; i++)
        if (strcmp(list->members[i].id, id) == 0) {
            one.members = &list->members[i];
            one.n = 1;
        }
    if (one.n == 0 && one.error == 0) {
        one.error = -ENOENT;
        one.reason = "no member of the federation has this id";
    }
    done(&one, userdata);
}

static void tell(const struct fed_answer *a, const char *member, fed_done done, void *userdata)
{
    if (member)
        tell_member(a, member, done, userdata);
    else
        done(a, userdata);
}

static void free_waiter(struct waiter *w)
{
    free(w->member);
    free(w);
}

/* Waiters may ask and cancel meanwhile: each is taken off before it is told. */
static void tell_all(struct entry *e, const struct fed_answer *a)
{
    struct waiter *w;

    e->telling = true;
    while ((w = e->waiters)) {
        DL_DELETE(e->waiters, w);
        tell(a, w->member, w->done, w->userdata);
        free_waiter(w);
    }
    e->telling = false;
}

/* ---- Asking the store ---- */

/* An answer is of use: records, or that a queue has no policy. */
static bool is_kept(const struct entry *e, const struct fed_answer *a)
{
    return a->error == 0 || (a->error == -ENOENT && e->op == FED_POLICY_GET);
}

static bool outlasts_store(const struct entry *e)
{
    return e->arena && e->op != FED_HOME_GET;
}

static void note_away(struct fed_cache *c, const struct fed_answer *a)
{
    (void)snprintf(c->away, sizeof(c->away), "%s", fed_error_away(a->error) ? a->reason : "");
}

static void on_answer(const struct fed_answer *a, void *userdata)
{
    struct entry *e = userdata;
    struct fed_cache *c = e->cache;
    int64_t now = sv_now_ms();

    e->call = 0;
    if (c->ending)
        return;
    note_away(c, a);
    if (is_kept(e, a) && keep(e, a) == 0) {
        e->fresh_until_ms = c->ttl_ms > 0 ? now + c->ttl_ms : 0;
        a = &e->answer;
    } else if (fed_error_away(a->error) && outlasts_store(e)) {
        e->fresh_until_ms = now + FED_CACHE_RETRY_MS;
        a = &e->answer;
    }
    tell_all(e, a);
    if (!e->arena && is_idle(e))
        drop(e);
    shrink(c);
}

/* The entry's own question: the list for one member. */
static int ask_store(struct entry *e, const struct fed_request *q)
{
    struct fed_request all = *q;

    all.op = e->op;
    all.limit = 0;
    return fed_store_call(e->cache->store, &all, on_answer, e, &e->call);
}

static int add_waiter(struct entry *e, const struct fed_request *q, fed_done done, void *userdata,
                      uint64_t *ret_wait)
{
    const char *member = q->op == FED_MEMBER_GET ? q->member.id : NULL;
    struct waiter *w = calloc(1, sizeof(*w));

    if (w && member)
        w->member = strdup(member);
    if (!w || (member && !w->member)) {
        free(w);
        return -ENOMEM;
    }
    w->number = ++e->cache->last_number;
    w->done = done;
    w->userdata = userdata;
    DL_APPEND(e->waiters, w);
    if (ret_wait)
        *ret_wait = w->number;
    return 0;
}

static int wait_for(struct entry *e, const struct fed_request *q, fed_done done, void *userdata,
                    uint64_t *ret_wait)
{
    struct waiter *w;
    int r = add_waiter(e, q, done, userdata, ret_wait);

    if (r < 0)
        return r;
    if (!e->call)
        r = ask_store(e, q);
    if (r < 0) {
        w = e->waiters->prev; /* the last one */
        DL_DELETE(e->waiters, w);
        free_waiter(w);
    }
    return r;
}

/* ---- The interface ---- */

struct fed_cache *fed_cache_new(struct fed_store *s, int64_t ttl_ms, size_t max_entries)
{
    struct fed_cache *c = calloc(1, sizeof(*c));

    if (c)
        *c = (struct fed_cache){ .store = s, .ttl_ms = ttl_ms, .max_entries = max_entries };
    return c;
}

struct fed_cache *fed_cache_free(struct fed_cache *c)
{
    static const struct fed_answer canceled = { .error = -ECANCELED, .reason = "the cache ends" };
    struct entry *e, *next;

    if (!c)
        return NULL;
    c->ending = true;
    DL_FOREACH_SAFE (c->used, e, next) {
        if (e->call)
            (void)fed_store_cancel(c->store, e->call);
        tell_all(e, &canceled);
        drop(e);
    }
    free(c);
    return NULL;
}

int fed_cache_get(struct fed_cache *c, const struct fed_request *q, fed_done done, void *userdata,
                  uint64_t *ret_wait)
{
    enum fed_op op = q->op;
    _cleanup_free_ char *key = key_of(q, &op);
    struct entry *e = key && !c->ending ? get_entry(c, key, op) : NULL;
    bool was_telling;
    int r;

    if (c->ending)
        return -ECANCELED;
    if (op != FED_MEMBER_LIST && op != FED_POLICY_GET && op != FED_HOME_GET)
        return -EINVAL;
    if (!e)
        return -ENOMEM;
    if (e->arena && sv_now_ms() < e->fresh_until_ms) {
        was_telling = e->telling;
        e->telling = true;
        tell(&e->answer, q->op == FED_MEMBER_GET ? q->member.id : NULL, done, userdata);
        e->telling = was_telling;
        return 1;
    }
    r = wait_for(e, q, done, userdata, ret_wait);
    if (r < 0 && !e->arena && is_idle(e))
        drop(e);
    return r;
}

bool fed_cache_cancel(struct fed_cache *c, uint64_t wait)
{
    struct entry *e;
    struct waiter *w, *next;

    DL_FOREACH (c->used, e)
        DL_FOREACH_SAFE (e->waiters, w, next)
            if (w->number == wait) {
                DL_DELETE(e->waiters, w);
                free_waiter(w);
                return true;
            }
    return false;
}

void fed_cache_flush(struct fed_cache *c, const struct fed_request *q)
{
    enum fed_op op;
    _cleanup_free_ char *key = key_of(q, &op);
    struct entry *e = key ? find(c, key) : NULL;

    if (e)
        e->fresh_until_ms = 0;
}

const struct fed_answer *fed_cache_members(const struct fed_cache *c)
{
    const struct entry *e = find(c, "members");

    return e && e->arena ? &e->answer : NULL;
}

const char *fed_cache_away(const struct fed_cache *c)
{
    return c->away;
}
