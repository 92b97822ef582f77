/* See renewals-internal.h: when a token is called for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rm-lite/security/renewals-internal.h"

/* ---- The heap of times ---- */

static void heap_set(struct rm_renewals *r, size_t at, struct rm_renewal *t)
{
    r->heap[at] = t;
    t->heap_at = at;
}

static void heap_up(struct rm_renewals *r, size_t at)
{
    struct rm_renewal *t = r->heap[at];

    for (; at > 0 && r->heap[(at - 1) / 2]->due_ms > t->due_ms; at = (at - 1) / 2)
        heap_set(r, at, r->heap[(at - 1) / 2]);
    heap_set(r, at, t);
}

static void heap_down(struct rm_renewals *r, size_t at)
{
    struct rm_renewal *t = r->heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < r->n_heap && r->heap[child + 1]->due_ms < r->heap[child]->due_ms)
            child++;
        if (child >= r->n_heap || r->heap[child]->due_ms >= t->due_ms)
            break;
        heap_set(r, at, r->heap[child]);
        at = child;
    }
    heap_set(r, at, t);
}

static void heap_remove(struct rm_renewals *r, struct rm_renewal *t)
{
    size_t at = t->heap_at;
    struct rm_renewal *last = r->heap[--r->n_heap];

    t->place = PLACE_NONE;
    if (last == t)
        return;
    heap_set(r, at, last);
    heap_up(r, at);
    heap_down(r, last->heap_at);
}

/* Each token has room: its adder has made it. */
void rm_renewal_due_at(struct rm_renewal *t, int64_t due_ms)
{
    struct rm_renewals *r = t->all;

    t->due_ms = due_ms;
    t->place = PLACE_HEAP;
    heap_set(r, r->n_heap, t);
    heap_up(r, r->n_heap++);
}

int rm_renewals_reserve(struct rm_renewals *r, size_t n)
{
    struct rm_renewal **grown;
    size_t room = SV_MAX(2 * r->room_heap, n + 16);

    if (n <= r->room_heap)
        return 0;
    grown = reallocarray(r->heap, room, sizeof(struct rm_renewal *));
    if (!grown)
        return -ENOMEM;
    r->heap = grown;
    r->room_heap = room;
    return 0;
}

/* ---- Queues of services ---- */

struct renewal_service *rm_renewal_service_of(struct rm_renewals *r, const char *name)
{
    size_t len = strlen(name);
    struct renewal_service *s = NULL;

    HASH_FIND(hh, r->services, name, len, s);
    if (s)
        return s;
    s = calloc(1, sizeof(*s) + len + 1);
    if (!s)
        return NULL;
    memcpy(s->name, name, len + 1);
    HASH_ADD_KEYPTR(hh, r->services, s->name, len, s);
    return s;
}

void rm_renewal_service_drop(struct rm_renewals *r, struct renewal_service *s)
{
    HASH_DEL(r->services, s);
    free(s);
}

static void take_turns(struct rm_renewals *r, struct renewal_service *s)
{
    if (s->in_turn || !s->queue || s->open >= RM_RENEWALS_OPEN_OF_SERVICE_MAX)
        return;
    DL_APPEND(r->turns, s);
    s->in_turn = true;
}

void rm_renewal_due_now(struct rm_renewal *t)
{
    if (t->place == PLACE_HEAP)
        heap_remove(t->all, t);
    if (t->place != PLACE_NONE)
        return;
    t->place = PLACE_QUEUE;
    DL_APPEND(t->service->queue, t);
    take_turns(t->all, t->service);
}

static void dequeue(struct rm_renewal *t)
{
    struct renewal_service *s = t->service;

    DL_DELETE(s->queue, t);
    t->place = PLACE_NONE;
    if (!s->queue && s->in_turn) {
        DL_DELETE(t->all->turns, s);
        s->in_turn = false;
    }
}

void rm_renewal_not_due(struct rm_renewal *t)
{
    if (t->place == PLACE_HEAP)
        heap_remove(t->all, t);
    if (t->place == PLACE_QUEUE)
        dequeue(t);
}

/* ---- Turns ---- */

static void start_one(struct rm_renewals *r, struct renewal_service *s)
{
    struct rm_renewal *t = s->queue;

    DL_DELETE(s->queue, t);
    t->place = PLACE_OPEN;
    r->open++;
    s->open++;
    if (t->cancelling)
        r->ops.cancel(r->ops.userdata, t);
    else
        r->ops.renew(r->ops.userdata, t);
}

/* A call may end inside of its begin, which comes here again. */
void rm_renewals_start(struct rm_renewals *r)
{
    if (r->starting)
        return;
    r->starting = true;
    while (r->turns && r->open < RM_RENEWALS_OPEN_MAX) {
        struct renewal_service *s = r->turns;
        bool more = s->queue->next && s->open + 1 < RM_RENEWALS_OPEN_OF_SERVICE_MAX;

        DL_DELETE(r->turns, s);
        s->in_turn = false;
        if (more) { /* behind the others */
            DL_APPEND(r->turns, s);
            s->in_turn = true;
        }
        start_one(r, s);
    }
    r->starting = false;
}

void rm_renewal_closed(struct rm_renewal *t)
{
    t->place = PLACE_NONE;
    t->all->open--;
    t->service->open--;
    take_turns(t->all, t->service);
}
