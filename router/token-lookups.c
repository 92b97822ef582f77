/* See token-lookups.h. */
#include "router/token-lookups.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "federation/store/token-info.h"

#define SWEEP_US 5000000 /* rows have passwords, which do not stay for long */
#define ACCURACY_US 1000000

struct lookup {
    UT_hash_handle hh;
    struct lookup *prev, *next;           /* the oldest first */
    struct lookup *open_prev, *open_next; /* of those that are open */
    struct rtr_token_lookups *all;
    struct in6_addr from; /* who asked for it first */
    int32_t sequence;
    bool open;       /* the store is being asked */
    bool dropped;    /* it is in no table, and freed with its answer */
    int64_t read_ms; /* monotonic */
    struct rtr_token_row row;
    uint8_t *id; /* owned */
};

struct rtr_token_lookups {
    struct fed_store *store;
    rtr_token_known known;
    void *userdata;
    sd_event_source *timer;
    struct lookup *by_sequence, *list, *open;
    size_t n_open;
};

static void lookup_free(struct lookup *x)
{
    free(x->id);
    OPENSSL_cleanse(x, sizeof(*x));
    free(x);
}

static void leave(struct lookup *x)
{
    HASH_DEL(x->all->by_sequence, x);
    DL_DELETE(x->all->list, x);
    x->dropped = true;
    if (!x->open)
        lookup_free(x);
}

static bool is_stale(const struct lookup *x)
{
    return !x->open && sv_now_ms() - x->read_ms > RTR_LOOKUP_FRESH_MS;
}

static void sweep(struct rtr_token_lookups *l)
{
    struct lookup *x, *next;

    DL_FOREACH_SAFE (l->list, x, next)
        if (is_stale(x))
            leave(x);
}

/* ---- Answers ---- */

static int take(struct lookup *x, const struct fed_token *t)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    struct fed_token_info info;
    int r = a ? fed_token_info_read(a, t->info, &info) : -ENOMEM;

    if (r < 0)
        return r;
    x->id = malloc(t->identifier_len + 1);
    if (!x->id)
        return -ENOMEM;
    memcpy(x->id, t->identifier, t->identifier_len);
    memcpy(x->row.password, info.password, info.password_len);
    x->row.id = x->id;
    x->row.id_len = t->identifier_len;
    x->row.password_len = info.password_len;
    x->row.renew_ms = info.renew_ms;
    return 0;
}

static void on_row(const struct fed_answer *a, void *userdata)
{
    struct lookup *x = userdata;
    struct rtr_token_lookups *l = x->all;
    const int32_t sequence = x->sequence;

    l->n_open--;
    DL_DELETE2(l->open, x, open_prev, open_next);
    x->open = false;
    x->read_ms = sv_now_ms();
    x->row.error = a->error < 0 ? a->error : take(x, &a->tokens[0]);
    if (x->row.error == -EBADMSG)
        sv_log_warning("state store: token %d of a Router: its text is broken", x->sequence);
    if (x->dropped)
        lookup_free(x);
    if (a->error != -ECANCELED)
        l->known(sequence, l->userdata);
}

/* ---- Questions ---- */

/* One address has a share alone, however many numbers it names. */
static bool may_ask(const struct rtr_token_lookups *l, const struct in6_addr *from)
{
    const struct lookup *x;
    size_t n = 0;

    DL_FOREACH2(l->open, x, open_next)
    n += IN6_ARE_ADDR_EQUAL(&x->from, from);
    return n < RTR_LOOKUPS_OF_ONE && l->n_open < RTR_LOOKUPS_OPEN;
}

/* A row that has come serves those who waited for it, and others for a moment alone. */
static void make_room(struct rtr_token_lookups *l)
{
    struct lookup *x, *next;

    DL_FOREACH_SAFE (l->list, x, next)
        if (!x->open && HASH_COUNT(l->by_sequence) >= RTR_LOOKUPS_MAX)
            leave(x);
}

static int ask(struct rtr_token_lookups *l, int32_t sequence, const struct in6_addr *from)
{
    const struct fed_request q = { .op = FED_TOKEN_GET, .token = { .sequence = sequence } };
    struct lookup *x = calloc(1, sizeof(*x));
    int r;

    if (!x)
        return -ENOMEM;
    *x = (struct lookup){ .all = l, .from = *from, .sequence = sequence, .open = true };
    r = fed_store_call(l->store, &q, on_row, x, NULL);
    if (r < 0) {
        free(x);
        return r;
    }
    l->n_open++;
    HASH_ADD_INT(l->by_sequence, sequence, x);
    DL_APPEND(l->list, x);
    DL_APPEND2(l->open, x, open_prev, open_next);
    return -EAGAIN;
}

int rtr_token_lookups_get(struct rtr_token_lookups *l, int32_t sequence,
                          const struct in6_addr *from, const struct rtr_token_row **ret)
{
    struct lookup *x;

    HASH_FIND_INT(l->by_sequence, &sequence, x);
    if (x && is_stale(x)) {
        leave(x);
        x = NULL;
    }
    if (x && x->open)
        return -EAGAIN;
    if (x) {
        *ret = &x->row;
        return 0;
    }
    if (!may_ask(l, from))
        return -EBUSY;
    make_room(l);
    return ask(l, sequence, from);
}

void rtr_token_lookups_drop(struct rtr_token_lookups *l, int32_t sequence)
{
    struct lookup *x;

    HASH_FIND_INT(l->by_sequence, &sequence, x);
    if (x)
        leave(x);
}

/* ---- Life ---- */

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();

    (void)usec;
    sweep(userdata);
    (void)sd_event_source_set_time_relative(s, SWEEP_US); /* a valid time, ignoring */
    return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

struct rtr_token_lookups *rtr_token_lookups_new(sd_event *event, struct fed_store *store,
                                                rtr_token_known known, void *userdata)
{
    struct rtr_token_lookups *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    *l = (struct rtr_token_lookups){ .store = store, .known = known, .userdata = userdata };
    if (sd_event_add_time_relative(event, &l->timer, CLOCK_MONOTONIC, SWEEP_US, ACCURACY_US,
                                   on_timer, l) < 0)
        return rtr_token_lookups_free(l);
    return l;
}

struct rtr_token_lookups *rtr_token_lookups_free(struct rtr_token_lookups *l)
{
    if (!l)
        return NULL;
    sd_event_source_disable_unref(l->timer);
    while (l->list)
        leave(l->list);
    free(l);
    return NULL;
}
