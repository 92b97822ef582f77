/* See ticket.h. */
#include "gss/ticket.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "gss/login.h"
#include "gss/pool.h"
#include "gss/protocol.h"

#define RETRY_FIRST_MS 1000
#define RETRY_MAX_MS 60000
#define RENEW_MIN_MS 1000 /* a KDC that gives tickets of no life is not asked more often */

struct sgss_ticket {
    struct sgss_tickets *owner;
    unsigned users; /* the entry is one, and each handshake */
    struct sgss_login login;
};

struct entry {
    char principal[SGSS_NAME_MAX + 1];
    struct sgss_ticket *now; /* the newest ticket, also when it has ended; NULL: none yet */
    uint64_t attempts;       /* finished ones */
    int64_t next_ms;         /* of the next attempt; sv_now_ms() */
    int64_t retry_ms;        /* 0: the last attempt succeeded */
    struct sv_error last;    /* of the last attempt */
};

struct sgss_tickets {
    const struct sgss_keytabs *keytabs;
    pthread_mutex_t lock;
    pthread_cond_t wake;  /* the thread: an entry is new */
    pthread_cond_t ended; /* an attempt */
    struct entry entries[SGSS_PRINCIPALS_MAX];
    size_t n;
};

/* Drops one user, with the lock held; the last one's memory is freed without it. */
static struct sgss_ticket *drop(struct sgss_ticket *t)
{
    return t && --t->users == 0 ? t : NULL;
}

static void ticket_free(struct sgss_ticket *t)
{
    if (!t)
        return;
    sgss_login_end(&t->login);
    free(t);
}

struct sgss_ticket *sgss_ticket_release(struct sgss_ticket *t)
{
    struct sgss_tickets *owner = t ? t->owner : NULL;

    if (!owner)
        return NULL;
    pthread_mutex_lock(&owner->lock);
    t = drop(t);
    pthread_mutex_unlock(&owner->lock);
    ticket_free(t);
    return NULL;
}

gss_cred_id_t sgss_ticket_credential(const struct sgss_ticket *t)
{
    return t->login.credential;
}

int64_t sgss_ticket_until(const struct sgss_ticket *t)
{
    return t->login.until;
}

static bool is_valid(const struct sgss_ticket *t)
{
    return t && t->login.until > time(NULL);
}

/* ---- The thread ---- */

/* 50 to 80 % of what is left. */
static int64_t renewal_ms(const struct sgss_login *l)
{
    int64_t life = (l->until - time(NULL)) * 1000;
    uint32_t random = 0;

    (void)!getrandom(&random, sizeof(random), 0); /* without it at 50 %, ignoring */
    return SV_MAX(life / 2 + life * 3 / 10 * (random % 1024) / 1024, (int64_t)RENEW_MIN_MS);
}

static void succeeded(struct entry *e, struct sgss_ticket *t)
{
    e->now = t;
    e->next_ms = sv_now_ms() + renewal_ms(&t->login);
    if (e->retry_ms)
        sv_log_notice("%s: has a ticket again", e->principal);
    e->retry_ms = 0;
}

static void failed(struct entry *e)
{
    bool first = e->retry_ms == 0;

    e->retry_ms = first ? RETRY_FIRST_MS : SV_MIN(2 * e->retry_ms, (int64_t)RETRY_MAX_MS);
    e->next_ms = sv_now_ms() + e->retry_ms;
    if (first)
        sv_log_warning("%s", e->last.text);
}

/* Asks the KDC for entry i, which may take half a minute, without the lock. Entries stay. */
static void attempt(struct sgss_tickets *all, struct entry *e)
{
    struct sgss_ticket *t = calloc(1, sizeof(*t)), *old = NULL;
    struct sv_error err = { 0 };
    int r = t ? 0 : sv_error_set(&err, -ENOMEM, "out of memory");

    pthread_mutex_unlock(&all->lock);
    if (r == 0)
        r = sgss_login(all->keytabs, e->principal, &t->login, &err);
    pthread_mutex_lock(&all->lock);
    e->attempts++;
    e->last = err;
    if (r == 0) {
        old = drop(e->now);
        t->owner = all;
        t->users = 1;
        succeeded(e, SV_TAKE(t));
    } else {
        failed(e);
    }
    pthread_cond_broadcast(&all->ended);
    pthread_mutex_unlock(&all->lock);
    free(t);
    ticket_free(old);
    pthread_mutex_lock(&all->lock);
}

static struct timespec after(int64_t ms)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at); /* cannot fail */
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

static void *renew(void *data)
{
    struct sgss_tickets *all = data;

    pthread_mutex_lock(&all->lock);
    for (;;) {
        struct entry *first = NULL;
        struct timespec at;

        for (size_t i = 0; i < all->n; i++)
            if (!first || all->entries[i].next_ms < first->next_ms)
                first = &all->entries[i];
        if (!first) {
            pthread_cond_wait(&all->wake, &all->lock);
        } else if (first->next_ms <= sv_now_ms()) {
            attempt(all, first);
        } else {
            /* By the monotonic clock: a suspended machine is late by the time it slept. */
            at = after(first->next_ms - sv_now_ms());
            (void)pthread_cond_timedwait(&all->wake, &all->lock, &at); /* any wake-up, ignoring */
        }
    }
    return NULL;
}

int sgss_tickets_new(const struct sgss_keytabs *k, struct sgss_tickets **ret)
{
    struct sgss_tickets *all = calloc(1, sizeof(*all));
    pthread_condattr_t monotonic;
    int r;

    if (!all)
        return -ENOMEM;
    all->keytabs = k;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&all->wake, &monotonic);
    pthread_cond_init(&all->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    r = sgss_thread_start(renew, all);
    if (r == 0)
        *ret = all;
    else
        free(all);
    return r;
}

/* ---- Users ---- */

static struct entry *entry_of(struct sgss_tickets *all, const char *principal)
{
    struct entry *e;

    for (size_t i = 0; i < all->n; i++)
        if (sv_streq(all->entries[i].principal, principal))
            return &all->entries[i];
    if (all->n == SGSS_PRINCIPALS_MAX)
        return NULL;
    e = &all->entries[all->n++];
    snprintf(e->principal, sizeof(e->principal), "%s", principal);
    e->next_ms = sv_now_ms();
    pthread_cond_signal(&all->wake);
    return e;
}

/* Waits until the entry has a valid ticket or an attempt has failed after the first look. */
static int wait_for(struct sgss_tickets *all, struct entry *e, int64_t wait_ms,
                    struct sv_error *err)
{
    struct timespec end = after(wait_ms);
    uint64_t seen = e->attempts;

    while (!is_valid(e->now)) {
        bool resting = e->retry_ms && e->next_ms > sv_now_ms();

        if (e->last.code < 0 && (resting || e->attempts > seen)) {
            if (err)
                *err = e->last;
            return e->last.code;
        }
        if (!resting && e->next_ms > sv_now_ms()) { /* the wall clock was set forward */
            e->next_ms = sv_now_ms();
            pthread_cond_signal(&all->wake);
        }
        if (pthread_cond_timedwait(&all->ended, &all->lock, &end) == ETIMEDOUT)
            return sv_error_set(err, -ETIMEDOUT, "%s: no ticket in time%s%s", e->principal,
                                e->last.code < 0 ? "; the last attempt: " : "; no KDC answers",
                                e->last.code < 0 ? e->last.text : "");
    }
    return 0;
}

int sgss_ticket_take(struct sgss_tickets *all, const char *principal, int64_t wait_ms,
                     struct sgss_ticket **ret, struct sv_error *err)
{
    struct entry *e;
    int r;

    pthread_mutex_lock(&all->lock);
    e = entry_of(all, principal);
    r = e ? wait_for(all, e, wait_ms, err)
          : sv_error_set(err, -ENOSPC, "%s: more than %d principals log in", principal,
                         SGSS_PRINCIPALS_MAX);
    if (r == 0) {
        e->now->users++;
        *ret = e->now;
    }
    pthread_mutex_unlock(&all->lock);
    return r;
}
