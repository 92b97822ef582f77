/* See token-keys.h. */
#include "router/token-keys.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"

#define FIND_MAX 100 /* numbers, back from the first key of this life */

struct waiting {
    struct waiting *next;
    rtr_key_done done;
    void *userdata;
};

struct old_key {
    struct old_key *next;
    int32_t id;
    int64_t expiry_ms;
};

struct rtr_token_keys {
    struct fed_store *store;
    const struct rtr_conf_tokens *conf;
    struct yarn_master_key key, fresh; /* len 0: there is none; `fresh` is being stored */
    int64_t made_ms, fresh_ms;         /* wall clock */
    struct waiting *waiting;           /* for `fresh` */
    struct old_key *old;
    bool busy;     /* the store is being asked */
    int32_t found; /* the number that is looked at for keys of before */
    size_t to_find;
};

struct rtr_token_keys *rtr_token_keys_new(struct fed_store *store,
                                          const struct rtr_conf_tokens *conf)
{
    struct rtr_token_keys *k = calloc(1, sizeof(*k));

    if (k)
        *k = (struct rtr_token_keys){ .store = store, .conf = conf };
    return k;
}

struct rtr_token_keys *rtr_token_keys_free(struct rtr_token_keys *k)
{
    struct old_key *o, *next;

    if (!k)
        return NULL;
    LL_FOREACH_SAFE (k->old, o, next)
        free(o);
    OPENSSL_cleanse(k, sizeof(*k));
    free(k);
    return NULL;
}

static int64_t expiry_of(const struct rtr_token_keys *k, int64_t made_ms)
{
    return made_ms + k->conf->key_ms + k->conf->max_ms;
}

/* Answers all that wait; with an error none of them may make a call of the store. */
static void finish(struct rtr_token_keys *k, const struct fed_answer *a)
{
    struct waiting *all = k->waiting, *w, *next;

    k->waiting = NULL;
    k->busy = false;
    OPENSSL_cleanse(&k->fresh, sizeof(k->fresh));
    LL_FOREACH_SAFE (all, w, next) {
        w->done(a->error < 0 ? NULL : &k->key, a, w->userdata);
        free(w);
    }
}

static void fail(struct rtr_token_keys *k, int error)
{
    finish(k, &(struct fed_answer){ .error = error, .reason = "" });
}

/* ---- Old ones ---- */

static void on_deleted(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    if (a->error < 0 && a->error != -ENOENT && a->error != -ECANCELED)
        sv_log_debug("delegation tokens: an old key is not deleted: %s", a->reason);
}

/* The key of before has tokens for as long as the last of them lives. */
static void put_aside(struct rtr_token_keys *k)
{
    struct old_key *o = k->key.len ? calloc(1, sizeof(*o)) : NULL;

    if (!o) /* without memory it stays in the store, ignoring */
        return;
    *o = (struct old_key){ .id = k->key.key_id, .expiry_ms = sv_wall_ms() + k->conf->max_ms };
    LL_APPEND(k->old, o);
}

static void delete_old(struct rtr_token_keys *k)
{
    struct old_key *o, *next;

    LL_FOREACH_SAFE (k->old, o, next) {
        const struct fed_request q = { .op = FED_KEY_DELETE, .key = { .id = o->id } };

        if (o->expiry_ms >= sv_wall_ms() ||
            fed_store_call(k->store, &q, on_deleted, NULL, NULL) < 0)
            continue;
        LL_DELETE(k->old, o);
        free(o);
    }
}

/* ---- Keys of lives before, and of other Routers, by their numbers ---- */

static void find_more(struct rtr_token_keys *k);

static void on_found(const struct fed_answer *a, void *userdata)
{
    struct rtr_token_keys *k = userdata;
    const struct fed_request q = { .op = FED_KEY_DELETE, .key = { .id = k->found } };

    if (a->error < 0 && a->error != -ENOENT && a->error != -EBADMSG)
        return; /* the next start looks again */
    if (a->error >= 0 && a->keys[0].expiry_ms < sv_wall_ms() &&
        fed_store_call(k->store, &q, on_deleted, NULL, NULL) < 0)
        return;
    find_more(k);
}

static void find_more(struct rtr_token_keys *k)
{
    const struct fed_request q = { .op = FED_KEY_GET, .key = { .id = k->found - 1 } };

    if (k->to_find == 0 || k->found <= 1 || fed_store_call(k->store, &q, on_found, k, NULL) < 0)
        return;
    k->to_find--;
    k->found--;
}

static void find_old(struct rtr_token_keys *k)
{
    k->found = k->key.key_id;
    k->to_find = FIND_MAX;
    find_more(k);
}

/* ---- A new one ---- */

static void on_stored(const struct fed_answer *a, void *userdata)
{
    struct rtr_token_keys *k = userdata;

    if (a->error >= 0) {
        const bool first = k->key.len == 0;

        put_aside(k);
        k->key = k->fresh;
        k->made_ms = k->fresh_ms;
        sv_log_info("delegation tokens: key %d", k->key.key_id);
        delete_old(k);
        if (first)
            find_old(k);
    }
    finish(k, a);
}

static void on_number(const struct fed_answer *a, void *userdata)
{
    struct rtr_token_keys *k = userdata;
    struct fed_request q = { .op = FED_KEY_ADD };
    int r;

    if (a->error < 0) {
        finish(k, a);
        return;
    }
    k->fresh_ms = sv_wall_ms();
    r = yarn_master_key_generate(a->sequences[0].value, (size_t)k->conf->key_bits / 8, &k->fresh);
    if (r >= 0) {
        q.key = (struct fed_key){ .id = k->fresh.key_id,
                                  .expiry_ms = expiry_of(k, k->fresh_ms),
                                  .bytes = k->fresh.bytes,
                                  .len = k->fresh.len };
        r = fed_store_call(k->store, &q, on_stored, k, NULL);
    }
    if (r < 0)
        fail(k, r);
}

static int make(struct rtr_token_keys *k)
{
    const struct fed_request q = { .op = FED_SEQUENCE_NEXT,
                                   .sequence = { .counter = FED_KEY_SEQUENCE } };
    int r = k->busy ? 0 : fed_store_call(k->store, &q, on_number, k, NULL);

    k->busy = r >= 0;
    return r;
}

int rtr_token_keys_get(struct rtr_token_keys *k, rtr_key_done done, void *userdata)
{
    const int64_t now = sv_wall_ms();
    struct waiting *w;
    int r;

    if (k->key.len && now >= k->made_ms && now - k->made_ms < k->conf->key_ms) {
        done(&k->key, &(struct fed_answer){ .reason = "" }, userdata);
        return 0;
    }
    w = calloc(1, sizeof(*w));
    if (!w)
        return -ENOMEM;
    *w = (struct waiting){ NULL, done, userdata };
    r = make(k);
    if (r < 0) {
        free(w);
        return r;
    }
    LL_APPEND(k->waiting, w);
    return 0;
}
