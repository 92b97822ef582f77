/* See policies.h. */
#include "router/policies.h"

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
    UT_hash_handle hh;
    char name[];
};

struct rtr_policies {
    struct router *r;
    struct queue *queues;
};

struct question {
    struct rtr_policies *p;
    char *queue;
    rtr_policy_done done;
    void *userdata;
};

struct rtr_policies *rtr_policies_new(struct router *r)
{
    struct rtr_policies *p = calloc(1, sizeof(*p));

    if (p)
        p->r = r;
    return p;
}

static void drop(struct rtr_policies *p, struct queue *q)
{
    HASH_DEL(p->queues, q);
    fed_manager_free(q->manager);
    free(q);
}

struct rtr_policies *rtr_policies_free(struct rtr_policies *p)
{
    if (!p)
        return NULL;
    while (p->queues)
        drop(p, p->queues);
    free(p);
    return NULL;
}

static struct queue *queue_of(struct rtr_policies *p, const char *name)
{
    struct queue *q;

    HASH_FIND_STR(p->queues, name, q);
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
static const struct fed_manager *use_row(struct rtr_policies *p, const struct fed_policy *row)
{
    struct queue *q = queue_of(p, row->queue);
    struct sv_error err = { 0 };
    int r;

    if (!q)
        return NULL;
    r = fed_manager_renew(&q->manager, row, FED_SIDE_ROUTER, &err);
    if (r < 0 && q->refused != row_hash(row)) {
        q->refused = row_hash(row);
        sv_log_warning("policy of queue %s: %s; %s", row->queue, err.text,
                       q->manager ? "the earlier row is used" : "the row is not used");
    }
    return q->manager;
}

static void answer(struct question *q, const struct fed_manager *m, const struct fed_answer *a)
{
    q->done(m, a, q->userdata);
    free(q->queue);
    free(q);
}

static void on_any(const struct fed_answer *a, void *userdata)
{
    struct question *q = userdata;
    const struct fed_manager *m = NULL;

    if (a->error < 0 && a->error != -ENOENT) {
        answer(q, NULL, a);
        return;
    }
    if (a->error >= 0)
        m = use_row(q->p, &a->policies[0]);
    answer(q, m ?: q->p->r->policy.manager, a);
}

static void on_row(const struct fed_answer *a, void *userdata)
{
    struct question *q = userdata;
    const struct fed_manager *m = a->error >= 0 ? use_row(q->p, &a->policies[0]) : NULL;
    const struct fed_answer no_memory = { .error = -ENOMEM, .reason = "no memory" };

    if (m || (a->error < 0 && a->error != -ENOENT))
        answer(q, m, a);
    else if (fed_cache_get(q->p->r->cache,
                           &(struct fed_request){ .op = FED_POLICY_GET,
                                                  .policy = { .queue = FED_QUEUE_ANY } },
                           on_any, q, NULL) < 0)
        answer(q, NULL, &no_memory);
}

int rtr_policy_get(struct rtr_policies *p, const char *queue, rtr_policy_done done, void *userdata)
{
    struct question *q = calloc(1, sizeof(*q));
    int r;

    if (!q || !(q->queue = strdup(queue))) {
        free(q);
        return -ENOMEM;
    }
    *q = (struct question){ p, q->queue, done, userdata };
    r = fed_cache_get(
        p->r->cache, &(struct fed_request){ .op = FED_POLICY_GET, .policy = { .queue = q->queue } },
        on_row, q, NULL);
    if (r < 0) {
        free(q->queue);
        free(q);
    }
    return r;
}
