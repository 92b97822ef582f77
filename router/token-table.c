/* See token-table.h. Another Router may have renewed or cancelled a token: its row is read before
 * it is deleted. One row at a time, and no more than SCAN_MAX in a scan. Tokens of before are read
 * from the store's list, FIND_ROWS at a time. */
#include "router/token-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "wire/token/token.h"

#define SCAN_MAX 10000      /* rows */
#define FIND_ROWS 256       /* of one answer */
#define FIND_AGAIN_MS 10000 /* where the store is away */
#define ACCURACY_US 1000000
#define SCAN_MS_MAX (366LL * 86400000)

struct holder {
    UT_hash_handle hh;
    size_t n;
    char name[];
};

struct token {
    UT_hash_handle hh;
    struct token *prev, *next; /* the one that was looked at last at the end */
    struct holder *holder;
    int64_t renew_ms;
    int32_t sequence;
};

struct rtr_token_table {
    struct fed_store *store;
    const struct rtr_conf_tokens *conf;
    sd_event_source *timer;
    struct token *by_sequence, *list;
    struct holder *holders;
    size_t to_scan;
    int32_t looked_at; /* its row is being read or deleted */
    bool found;        /* all tokens of before */
    int32_t find_from; /* those with a higher number are found */
};

static uint64_t scan_us(const struct rtr_conf_tokens *conf)
{
    return (uint64_t)SV_MIN(conf->scan_ms, (int64_t)SCAN_MS_MAX) * 1000;
}

static void rest(struct rtr_token_table *t)
{
    const uint64_t us = scan_us(t->conf);
    int r = sd_event_source_set_time_relative(
        t->timer, t->found ? us : SV_MIN(us, (uint64_t)FIND_AGAIN_MS * 1000));

    if (r >= 0)
        r = sd_event_source_set_enabled(t->timer, SD_EVENT_ONESHOT);
    if (r < 0)
        sv_log_err("delegation tokens: timer: %s", strerror(-r));
}

static void drop(struct rtr_token_table *t, struct token *x)
{
    if (--x->holder->n == 0) {
        HASH_DEL(t->holders, x->holder);
        free(x->holder);
    }
    HASH_DEL(t->by_sequence, x);
    DL_DELETE(t->list, x);
    free(x);
}

const char *rtr_token_holder(const struct yarn_delegation_token *what)
{
    return *what->real_user ? what->real_user : what->owner;
}

static struct token *find(const struct rtr_token_table *t, int32_t sequence)
{
    struct token *x;

    HASH_FIND_INT(t->by_sequence, &sequence, x);
    return x;
}

/* ---- Scans ---- */

static void scan(struct rtr_token_table *t);

static void on_deleted(const struct fed_answer *a, void *userdata)
{
    struct rtr_token_table *t = userdata;

    if (a->error < 0 && a->error != -ENOENT) {
        rest(t); /* the store is away, or going; the rest with the next scan */
        return;
    }
    rtr_token_table_drop(t, t->looked_at);
    scan(t);
}

static int delete_row(struct rtr_token_table *t)
{
    return fed_store_call(
        t->store,
        &(struct fed_request){ .op = FED_TOKEN_DELETE, .token = { .sequence = t->looked_at } },
        on_deleted, t, NULL);
}

static void on_row(const struct fed_answer *a, void *userdata)
{
    struct rtr_token_table *t = userdata;

    if (a->error < 0 && a->error != -ENOENT) {
        rest(t);
        return;
    }
    if (a->error == -ENOENT)
        rtr_token_table_drop(t, t->looked_at);
    else if (a->tokens[0].renew_ms >= sv_wall_ms())
        rtr_token_table_renewed(t, t->looked_at, a->tokens[0].renew_ms);
    else if (delete_row(t) >= 0)
        return;
    scan(t);
}

/* Goes on to the next token that has ended. */
static void scan(struct rtr_token_table *t)
{
    const int64_t now = sv_wall_ms();

    for (; t->to_scan > 0 && t->list; t->to_scan--) {
        struct token *x = t->list;
        const struct fed_request q = { .op = FED_TOKEN_GET, .token = { .sequence = x->sequence } };

        DL_DELETE(t->list, x);
        DL_APPEND(t->list, x);
        if (x->renew_ms >= now)
            continue;
        t->looked_at = x->sequence;
        t->to_scan--;
        if (fed_store_call(t->store, &q, on_row, t, NULL) >= 0)
            return;
        break;
    }
    rest(t);
}

static void begin_scan(struct rtr_token_table *t)
{
    t->to_scan = SV_MIN(rtr_token_table_count(t), (size_t)SCAN_MAX);
    scan(t);
}

/* ---- Tokens of before ---- */

/* An identifier that is none has no holder, and stays. */
static void take(struct rtr_token_table *t, const struct fed_token *row)
{
    struct yarn_delegation_token what;

    if (row->sequence <= 0 || find(t, row->sequence) ||
        yarn_delegation_token_decode(row->identifier, row->identifier_len, &what, NULL) < 0)
        return;
    (void)!rtr_token_table_add(t, row->sequence, rtr_token_holder(&what),
                               row->renew_ms); /* without memory it is not counted, ignoring */
}

/* The highest number that the rows of an answer are above. */
static int64_t below(const struct fed_answer *a)
{
    int64_t next = INT32_MAX;

    for (size_t i = 0; i < a->n; i++)
        next = SV_MIN(next, (int64_t)a->tokens[i].sequence - 1);
    return next;
}

/* That was the last answer: shorter than asked for, or of broken rows alone, whose numbers the
 * store does not tell. */
static bool is_last(const struct fed_answer *a)
{
    if (a->n == 0 && a->n_broken >= FIND_ROWS)
        sv_log_warning("state store: %zu tokens of Routers are broken, one after the other: those "
                       "with lower numbers do not count for their users",
                       a->n_broken);
    return a->n == 0 || a->n + a->n_broken < FIND_ROWS;
}

static void look_for_more(struct rtr_token_table *t);

static void on_list(const struct fed_answer *a, void *userdata)
{
    struct rtr_token_table *t = userdata;
    int64_t next;

    if (a->error < 0) {
        rest(t); /* and goes on from here */
        return;
    }
    for (size_t i = 0; i < a->n && rtr_token_table_count(t) < RTR_TOKENS_MAX; i++)
        take(t, &a->tokens[i]);
    next = below(a);
    t->found = is_last(a) || next <= 0 || rtr_token_table_count(t) >= RTR_TOKENS_MAX;
    if (t->found) {
        rest(t);
        return;
    }
    t->find_from = (int32_t)next;
    look_for_more(t);
}

static void look_for_more(struct rtr_token_table *t)
{
    const struct fed_request q = { .op = FED_TOKEN_LIST,
                                   .token = { .sequence = t->find_from },
                                   .limit = FIND_ROWS };

    if (fed_store_call(t->store, &q, on_list, t, NULL) < 0)
        rest(t);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rtr_token_table *t = userdata;

    (void)s;
    (void)usec;
    if (t->found)
        begin_scan(t);
    else
        look_for_more(t);
    return 0;
}

/* ---- The table ---- */

struct rtr_token_table *rtr_token_table_new(sd_event *event, struct fed_store *store,
                                            const struct rtr_conf_tokens *conf)
{
    struct rtr_token_table *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    *t = (struct rtr_token_table){ .store = store, .conf = conf, .find_from = INT32_MAX };
    if (sd_event_add_time_relative(event, &t->timer, CLOCK_MONOTONIC, 0, ACCURACY_US, on_timer, t) <
        0)
        return rtr_token_table_free(t);
    return t;
}

struct rtr_token_table *rtr_token_table_free(struct rtr_token_table *t)
{
    if (!t)
        return NULL;
    sd_event_source_disable_unref(t->timer);
    while (t->list)
        drop(t, t->list);
    free(t);
    return NULL;
}

size_t rtr_token_table_count(const struct rtr_token_table *t)
{
    return HASH_COUNT(t->by_sequence);
}

static struct holder *holder_of(const struct rtr_token_table *t, const char *name)
{
    struct holder *h;

    HASH_FIND_STR(t->holders, name, h);
    return h;
}

size_t rtr_token_table_of(const struct rtr_token_table *t, const char *holder)
{
    const struct holder *h = holder_of(t, holder);

    return h ? h->n : 0;
}

static struct holder *holder_make(struct rtr_token_table *t, const char *name)
{
    const size_t len = strlen(name) + 1;
    struct holder *h = holder_of(t, name);

    if (h)
        return h;
    h = calloc(1, sizeof(*h) + len);
    if (!h)
        return NULL;
    memcpy(h->name, name, len);
    HASH_ADD_STR(t->holders, name, h);
    return h;
}

int rtr_token_table_add(struct rtr_token_table *t, int32_t sequence, const char *holder,
                        int64_t renew_ms)
{
    struct token *x = calloc(1, sizeof(*x));
    struct holder *h = x ? holder_make(t, holder) : NULL;

    if (!h) {
        free(x);
        return -ENOMEM;
    }
    h->n++;
    rtr_token_table_drop(t, sequence); /* of a counter that was set back */
    *x = (struct token){ .holder = h, .renew_ms = renew_ms, .sequence = sequence };
    HASH_ADD_INT(t->by_sequence, sequence, x);
    DL_APPEND(t->list, x);
    return 0;
}

void rtr_token_table_renewed(struct rtr_token_table *t, int32_t sequence, int64_t renew_ms)
{
    struct token *x = find(t, sequence);

    if (x)
        x->renew_ms = renew_ms;
}

void rtr_token_table_drop(struct rtr_token_table *t, int32_t sequence)
{
    struct token *x = find(t, sequence);

    if (x)
        drop(t, x);
}
