/* The retry cache of the IPC server; see ipc-retry.h. Hostile: the ids that name an entry. */
#include "wire/ipc/ipc-retry.h"

#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/str.h"

struct retry_key {
    uint8_t client_id[16];
    int32_t call_id;
    int32_t zero; /* no padding in the hashed bytes */
};

struct ipc_retry_entry {
    UT_hash_handle hh;
    struct ipc_retry_entry *prev, *next; /* oldest first */
    struct ipc_retry_cache *cache;
    struct retry_key key;
    const struct ipc_method *method;
    char *user;
    bool token;
    bool done, dropped; /* dropped: no longer in the cache */
    int64_t begun_ms;
    struct ipc_call *waiters; /* by call->waits */
    uint8_t *body;
    size_t len;
};

struct ipc_retry_cache {
    unsigned refs; /* held by the server and each entry whose call is open */
    struct ipc_retry_entry *by_key, *by_age;
    size_t n, bytes;
    size_t max_entries, max_bytes;
    int64_t keep_ms;
};

struct ipc_retry_cache *ipc_retry_new(const struct ipc_limits *l)
{
    struct ipc_retry_cache *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->refs = 1;
    c->max_entries = l->retry_entries;
    c->max_bytes = l->retry_bytes;
    c->keep_ms = l->retry_ms;
    return c;
}

static void cache_unref(struct ipc_retry_cache *c)
{
    if (--c->refs == 0)
        free(c);
}

static void entry_free(struct ipc_retry_entry *e)
{
    free(e->user);
    free(e->body);
    free(e);
}

/* Removes an entry from the cache; while its call is open the entry stays allocated. */
static void entry_drop(struct ipc_retry_cache *c, struct ipc_retry_entry *e)
{
    HASH_DELETE(hh, c->by_key, e);
    DL_DELETE(c->by_age, e);
    c->n--;
    c->bytes -= e->len;
    e->dropped = true;
    if (e->done)
        entry_free(e);
}

struct ipc_retry_cache *ipc_retry_free(struct ipc_retry_cache *c)
{
    if (!c)
        return NULL;
    while (c->by_age)
        entry_drop(c, c->by_age);
    cache_unref(c);
    return NULL;
}

/* Drops expired entries, and the oldest ones above the limits. */
static void cache_trim(struct ipc_retry_cache *c)
{
    int64_t now = sv_now_ms();
    struct ipc_retry_entry *e, *tmp;
    DL_FOREACH_SAFE (c->by_age, e, tmp) {
        if (e->begun_ms + c->keep_ms > now && c->n < c->max_entries && c->bytes <= c->max_bytes)
            return;
        if (e->done)
            entry_drop(c, e);
    }
}

static struct ipc_retry_entry *entry_new(struct ipc_retry_cache *c, const struct retry_key *key,
                                         const struct ipc_call *call)
{
    struct ipc_retry_entry *e = calloc(1, sizeof(*e));
    if (!e || !(e->user = strdup(call->conn->peer.user))) {
        free(e);
        return NULL;
    }
    e->cache = c;
    e->key = *key;
    e->method = call->method;
    e->token = call->conn->peer.token;
    e->begun_ms = sv_now_ms();
    HASH_ADD(hh, c->by_key, key, sizeof(e->key), e);
    DL_APPEND(c->by_age, e);
    c->n++;
    c->refs++;
    return e;
}

enum ipc_retry ipc_retry_begin(struct ipc_retry_cache *c, struct ipc_call *call)
{
    struct retry_key key = { .call_id = call->echo.call_id };
    struct ipc_retry_entry *e;
    if (call->echo.client_id_len != sizeof(key.client_id))
        return IPC_RETRY_RUN;
    memcpy(key.client_id, call->echo.client_id, sizeof(key.client_id));
    cache_trim(c);
    HASH_FIND(hh, c->by_key, &key, sizeof(key), e);
    if (!e) {
        call->retry = c->n < c->max_entries ? entry_new(c, &key, call) : NULL;
        return IPC_RETRY_RUN;
    }
    if (e->method != call->method || e->token != call->conn->peer.token ||
        !sv_streq(e->user, call->conn->peer.user))
        return IPC_RETRY_RUN; /* the ids belong to another identity */
    if (e->done)
        ipc_call_answer(call, e->body, e->len);
    else
        LL_PREPEND2(e->waiters, call, waits);
    return IPC_RETRY_OVER;
}

/* Takes the waiting calls from the entry. */
static struct ipc_call *waiters_take(struct ipc_retry_entry *e)
{
    struct ipc_call *all = e->waiters;
    e->waiters = NULL;
    return all;
}

void ipc_retry_answered(struct ipc_call *call, const uint8_t *body, size_t n)
{
    struct ipc_retry_entry *e = SV_TAKE(call->retry);
    struct ipc_retry_cache *c = e->cache;
    struct ipc_call *w = waiters_take(e), *next;
    e->done = true;
    if (!e->dropped && n <= c->max_bytes && (e->body = malloc(n + 1))) {
        if (n > 0)
            memcpy(e->body, body, n);
        e->len = n;
        c->bytes += n;
    } else if (!e->dropped) {
        entry_drop(c, e);
    } else {
        entry_free(e);
    }
    for (; w; w = next) {
        next = w->waits;
        ipc_call_answer(w, body, n);
    }
    cache_trim(c);
    cache_unref(c);
}

void ipc_retry_failed(struct ipc_call *call, int detail, const char *java_class, const char *text)
{
    struct ipc_retry_entry *e = SV_TAKE(call->retry);
    struct ipc_retry_cache *c = e->cache;
    struct ipc_call *w = waiters_take(e), *next;
    e->done = true;
    if (e->dropped)
        entry_free(e);
    else
        entry_drop(c, e);
    for (; w; w = next) {
        next = w->waits;
        ipc_call_fail_detail(w, detail, java_class, "%s", text);
    }
    cache_unref(c);
}
