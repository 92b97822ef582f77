/* See queue-policies.h. */
#include "federation/policy/queue-policies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/log.h"
#include "common/str.h"

#define QUEUES_MAX 10000 /* with policies that were used; beyond it they are read again */

struct queue {
    struct fed_manager *manager; /* NULL: no row was good yet */
    uint64_t refused;            /* hash of the row that was refused and logged; 0: none */
    enum { NOT_ASKED, OWN_ROW, ROW_OF_ANY, CONFIGURED } last; /* where its policy was found */
    UT_hash_handle hh;
    char name[];
};

struct fed_policies {
    struct fed_cache *cache;
    const struct fed_manager *configured;
    enum fed_side side;
    struct queue *queues;
};

struct question {
    struct fed_policies *p;
    char *queue;
    fed_policy_done done;
    void *userdata;
};

struct fed_policies *fed_policies_new(struct fed_cache *cache, const struct fed_manager *configured,
                                      enum fed_side side)
{
    struct fed_policies *p = calloc(1, sizeof(*p));

    if (p)
        *p = (struct fed_policies){ .cache = cache, .configured = configured, .side = side };
    return p;
}

static void drop(struct fed_policies *p, struct queue *q)
{
    HASH_DEL(p->queues, q);
    fed_manager_free(q->manager);
    free(q);
}

struct fed_policies *fed_policies_free(struct fed_policies *p)
{
    if (!p)
        return NULL;
    while (p->queues)
        drop(p, p->queues);
    free(p);
    return NULL;
}

static struct queue *find(const struct fed_policies *p, const char *name)
{
    struct queue *q;

    HASH_FIND_STR(p->queues, name, q);
    return q;
}

static struct queue *queue_of(struct fed_policies *p, const char *name)
{
    struct queue *q = find(p, name);

    if (q)
        return q;
    if (HASH_COUNT(p->queues) >= QUEUES_MAX)
        drop(p, p->queues);
    q = calloc(1, sizeof(*q) + strlen(name) + 1);
    if (!q)
        return NULL;
    memcpy(q->name, name, strlen(name) + 1);
    HASH_ADD_STR(p->queues, name, q);
    return q;
}

/* FNV-1a, never 0. */
static uint64_t row_hash(const struct fed_policy *row)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (const char *c = row->type; *c; c++)
        h = (h ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < row->params_len; i++)
        h = (h ^ row->params[i]) * UINT64_C(0x100000001b3);
    return h | 1;
}

/* NULL: the row is broken, and none was good before it. */
static const struct fed_manager *use_row(struct fed_policies *p, const struct fed_policy *row)
{
    struct queue *q = queue_of(p, row->queue);
    struct sv_error err = { 0 };
    int r;

    if (!q)
        return NULL;
    r = fed_manager_renew(&q->manager, row, (unsigned)p->side, &err);
    if (r < 0 && q->refused != row_hash(row)) {
        q->refused = row_hash(row);
        sv_log_warning("policy of queue %s: %s; %s", row->queue, err.text,
                       q->manager ? "the earlier row is used" : "the row is not used");
    }
    return q->manager;
}

/* NULL: why is in the answer. */
static void answer(struct question *q, const struct fed_manager *m, const struct fed_answer *a)
{
    q->done(m, a, q->userdata);
    free(q->queue);
    free(q);
}

static void remember(struct question *q, int where)
{
    struct queue *queue = queue_of(q->p, q->queue);

    if (queue)
        queue->last = where;
}

static void on_any(const struct fed_answer *a, void *userdata)
{
    struct question *q = userdata;
    const struct fed_manager *m = NULL;

    if (a->error < 0 && a->error != -ENOENT) {
        answer(q, NULL, a);
        return;
    }
    remember(q, CONFIGURED); /* first: it may drop another queue */
    if (a->error >= 0)
        m = use_row(q->p, &a->policies[0]);
    if (m)
        remember(q, ROW_OF_ANY);
    answer(q, m ?: q->p->configured, a);
}

static void on_row(const struct fed_answer *a, void *userdata)
{
    struct question *q = userdata;
    const struct fed_manager *m = a->error >= 0 ? use_row(q->p, &a->policies[0]) : NULL;
    const struct fed_answer no_memory = { .error = -ENOMEM, .reason = "no memory" };

    if (m)
        remember(q, OWN_ROW);
    if (m || (a->error < 0 && a->error != -ENOENT))
        answer(q, m, a);
    else if (fed_cache_get(q->p->cache,
                           &(struct fed_request){ .op = FED_POLICY_GET,
                                                  .policy = { .queue = FED_QUEUE_ANY } },
                           on_any, q, NULL) < 0)
        answer(q, NULL, &no_memory);
}

int fed_policy_get(struct fed_policies *p, const char *queue, fed_policy_done done, void *userdata)
{
    struct question *q = calloc(1, sizeof(*q));
    int r;

    if (!q || !(q->queue = strdup(queue))) {
        free(q);
        return -ENOMEM;
    }
    *q = (struct question){ p, q->queue, done, userdata };
    r = fed_cache_get(
        p->cache, &(struct fed_request){ .op = FED_POLICY_GET, .policy = { .queue = q->queue } },
        on_row, q, NULL);
    if (r < 0) {
        free(q->queue);
        free(q);
    }
    return r;
}

const struct fed_manager *fed_policy_last(const struct fed_policies *p, const char *queue)
{
    const struct queue *q = find(p, queue);

    if (!q || q->last == NOT_ASKED)
        return NULL;
    if (q->last == OWN_ROW)
        return q->manager;
    q = q->last == ROW_OF_ANY ? find(p, FED_QUEUE_ANY) : NULL;
    return q && q->manager ? q->manager : p->configured;
}
