/* See addresses.h. Each queue is in the order of its times: one for each wait until a query, and
 * those of open queries. */
#include "service/am/check/addresses.h"

#include <errno.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"

#define WAITS 6

static const int64_t waits[WAITS] = {
    SVC_ADDRESS_SOON_MS,     2 * SVC_ADDRESS_SOON_MS,  4 * SVC_ADDRESS_SOON_MS,
    8 * SVC_ADDRESS_SOON_MS, 16 * SVC_ADDRESS_SOON_MS, SVC_ADDRESS_MS,
};

enum { OPEN = WAITS, OVERDUE, PLACES }; /* or the index of a wait */

struct entry {
    struct yarn_container_id id;
    char key[YARN_ID_TEXT_MAX];
    int place;
    int64_t since_ms; /* it is there */
    int wait;         /* the next one */
    struct entry *prev, *next;
    UT_hash_handle hh;
};

struct svc_addresses {
    struct svc_addresses_config cfg;
    struct entry *table, *queues[PLACES];
    size_t open;
    sd_event_source *timer;
};

static void move(struct svc_addresses *a, struct entry *e, int to)
{
    a->open += (to == OPEN ? 1 : 0) - (e->place == OPEN ? 1 : 0);
    DL_DELETE(a->queues[e->place], e);
    DL_APPEND(a->queues[to], e);
    e->place = to;
    e->since_ms = sv_now_ms();
}

static void drop(struct svc_addresses *a, struct entry *e)
{
    a->open -= e->place == OPEN ? 1 : 0;
    DL_DELETE(a->queues[e->place], e);
    HASH_DEL(a->table, e);
    free(e);
}

static struct entry *find(const struct svc_addresses *a, struct yarn_container_id id)
{
    char key[YARN_ID_TEXT_MAX];
    struct entry *e;

    yarn_container_id_text(id, key);
    HASH_FIND_STR(a->table, key, e);
    return e;
}

/* ---- Times ---- */

static void arm(struct svc_addresses *a, int64_t wait_ms)
{
    (void)sd_event_source_set_time_relative(a->timer, (uint64_t)SV_MAX(wait_ms, 0) * 1000);
    (void)sd_event_source_set_enabled(a->timer, SD_EVENT_ONESHOT); /* exists, ignoring */
}

/* The container whose query is due first; NULL: none waits. */
static struct entry *first(const struct svc_addresses *a, int64_t *ret_due)
{
    struct entry *found = NULL;

    *ret_due = INT64_MAX;
    for (int i = 0; i < WAITS; i++) {
        struct entry *e = a->queues[i];

        if (e && e->since_ms + waits[i] < *ret_due) {
            *ret_due = e->since_ms + waits[i];
            found = e;
        }
    }
    return found;
}

/* For the first of the next query, if there is room for one, and the next overdue one. */
static void arm_next(struct svc_addresses *a)
{
    const struct entry *open = a->queues[OPEN];
    int64_t due = INT64_MAX;

    if (a->open < SVC_ADDRESSES_OPEN)
        (void)first(a, &due);
    if (open)
        due = SV_MIN(due, open->since_ms + SVC_ADDRESS_OVERDUE_MS);
    if (due != INT64_MAX)
        arm(a, due - sv_now_ms());
}

/* ---- Queries ---- */

static void retry_later(struct svc_addresses *a, struct entry *e)
{
    if (!a->cfg.wanted(e->id, a->cfg.userdata)) {
        drop(a, e);
        return;
    }
    move(a, e, e->wait);
    e->wait = SV_MIN(e->wait + 1, WAITS - 1);
}

static void query(struct svc_addresses *a, struct entry *e)
{
    if (!a->cfg.wanted(e->id, a->cfg.userdata)) {
        drop(a, e);
        return;
    }
    move(a, e, OPEN);
    if (a->cfg.ask(e->id, a->cfg.userdata) < 0)
        retry_later(a, e);
}

static int on_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_addresses *a = userdata;
    int64_t now = sv_now_ms(), due;
    struct entry *e;

    (void)s;
    (void)usec;
    while ((e = a->queues[OPEN]) && e->since_ms + SVC_ADDRESS_OVERDUE_MS <= now)
        move(a, e, OVERDUE);
    for (unsigned n = 0; n < SVC_ADDRESSES_OPEN && a->open < SVC_ADDRESSES_OPEN; n++) {
        e = first(a, &due);
        if (!e || due > now)
            break;
        query(a, e);
    }
    arm_next(a);
    return 0;
}

/* ---- The table ---- */

int svc_addresses_add(struct svc_addresses *a, struct yarn_container_id id)
{
    struct entry *e;

    if (find(a, id))
        return 0;
    e = calloc(1, sizeof(*e));
    if (!e)
        return -ENOMEM;
    e->id = id;
    yarn_container_id_text(id, e->key);
    e->wait = 1;
    e->since_ms = sv_now_ms();
    DL_APPEND(a->queues[0], e);
    HASH_ADD_STR(a->table, key, e);
    arm_next(a);
    return 0;
}

void svc_addresses_answered(struct svc_addresses *a, struct yarn_container_id id)
{
    struct entry *e = a ? find(a, id) : NULL;

    if (!e || (e->place != OPEN && e->place != OVERDUE))
        return;
    retry_later(a, e);
    arm_next(a);
}

void svc_addresses_remove(struct svc_addresses *a, struct yarn_container_id id)
{
    struct entry *e = a ? find(a, id) : NULL;

    if (!e)
        return;
    drop(a, e);
    arm_next(a);
}

int svc_addresses_new(sd_event *event, const struct svc_addresses_config *cfg,
                      struct svc_addresses **ret)
{
    struct svc_addresses *a = calloc(1, sizeof(*a));
    int r;

    if (!a)
        return -ENOMEM;
    a->cfg = *cfg;
    r = sd_event_add_time_relative(event, &a->timer, CLOCK_MONOTONIC, 0, 1000, on_time, a);
    if (r >= 0)
        r = sd_event_source_set_enabled(a->timer, SD_EVENT_OFF);
    if (r < 0) {
        svc_addresses_free(a);
        return r;
    }
    *ret = a;
    return 0;
}

struct svc_addresses *svc_addresses_free(struct svc_addresses *a)
{
    struct entry *e, *next;

    if (!a)
        return NULL;
    HASH_ITER (hh, a->table, e, next)
        drop(a, e);
    sd_event_source_disable_unref(a->timer);
    free(a);
    return NULL;
}
