/* Requests for containers: kept by name (priority and request id) until they are allocated or taken
 * back, sent when they change. As the ResourceManager does, an allocation lowers the count of its
 * request. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/am-internal.h"
#include "common/str.h"

#define TAGS_MAX CLI_CONSTRAINT_TEXTS_MAX

/* ---- The table ---- */

static struct am_ask_key key_of(int32_t priority, int64_t request_id)
{
    return (struct am_ask_key){ .request_id = request_id, .priority = priority };
}

static struct am_ask *find(const struct cli_am *am, int32_t priority, int64_t request_id)
{
    const struct am_ask_key key = key_of(priority, request_id);
    struct am_ask *w;

    HASH_FIND(hh, am->asks, &key, sizeof(key), w);
    return w;
}

static void mark(struct cli_am *am, struct am_ask *w)
{
    if (!w->dirty)
        DL_APPEND(am->dirty_asks, w);
    w->dirty = true;
}

static void unmark(struct cli_am *am, struct am_ask *w)
{
    if (w->dirty)
        DL_DELETE(am->dirty_asks, w);
    w->dirty = false;
}

static void free_ask(struct am_ask *w)
{
    sv_arena_free(w->arena);
    free(w);
}

/* The pending request may point to its texts. */
static void forget(struct cli_am *am, struct am_ask *w)
{
    unmark(am, w);
    HASH_DEL(am->asks, w);
    if (am->request && w->arena)
        LL_PREPEND(am->buried, w);
    else
        free_ask(w);
}

void cli_am_bury(struct cli_am *am)
{
    struct am_ask *w, *tmp;

    LL_FOREACH_SAFE (am->buried, w, tmp)
        free_ask(w);
    am->buried = NULL;
}

void cli_am_asks_free(struct cli_am *am)
{
    struct am_ask *w, *tmp;

    HASH_ITER (hh, am->asks, w, tmp)
        forget(am, w);
    cli_am_bury(am);
}

/* ---- Requests of the program ---- */

static int check_common(int32_t priority, struct yarn_resource resource, int32_t count,
                        struct sv_error *err)
{
    if (count < 0)
        return sv_error_set(err, -EINVAL, "request of priority %d: %d containers: 0 or more",
                            priority, count);
    if (count > 0 && (resource.memory_mb < 0 || resource.vcores < 0))
        return sv_error_set(err, -EINVAL,
                            "request of priority %d: %lld MB and %d vcores: not below 0", priority,
                            (long long)resource.memory_mb, resource.vcores);
    return 0;
}

static void put(struct cli_am *am, struct am_ask *w, struct am_ask *old)
{
    if (old) {
        w->held = old->held;
        forget(am, old);
    }
    HASH_ADD(hh, am->asks, key, sizeof(w->key), w);
    mark(am, w);
    cli_am_wake_soon(am);
}

static struct am_ask *new_ask(int32_t priority, int64_t request_id, bool texts)
{
    struct am_ask *w = calloc(1, sizeof(*w));

    if (w && texts && !(w->arena = sv_arena_new(0))) {
        free(w);
        return NULL;
    }
    if (w)
        w->key = key_of(priority, request_id);
    return w;
}

static int fill_ask(struct am_ask *w, const struct cli_ask *q, const struct am_ask *old,
                    struct sv_error *err)
{
    int r = 0;

    w->resource = q->resource;
    w->count = q->count;
    w->execution = q->execution;
    w->enforce = q->enforce;
    if (q->label && !(w->label = sv_arena_strdup(w->arena, q->label)))
        return -ENOMEM;
    if (q->n_places) {
        w->strict = q->strict;
        r = cli_am_ask_places(w, q, err);
    }
    if (r >= 0 && old && w->arena)
        r = cli_am_ask_gone(w, old);
    return r;
}

int cli_am_ask(struct cli_am *am, const struct cli_ask *q, struct sv_error *err)
{
    struct am_ask *old = find(am, q->priority, q->request_id), *w;
    int r = check_common(q->priority, q->resource, q->count, err);

    if (r >= 0 && q->label && q->n_places)
        r = sv_error_set(err, -EINVAL,
                         "request of priority %d: a node label and places cannot be combined",
                         q->priority);
    if (r >= 0 && old && old->placed)
        r = sv_error_set(err, -EINVAL,
                         "request of priority %d, id %lld: it is a scheduling request", q->priority,
                         (long long)q->request_id);
    if (r < 0)
        return r;
    w = new_ask(q->priority, q->request_id, q->label || q->n_places || (old && old->arena));
    r = w ? fill_ask(w, q, old, err) : -ENOMEM;
    if (r < 0) {
        if (w)
            free_ask(w);
        return r == -ENOMEM ? sv_error_errno(err, r, "request of priority %d", q->priority) : r;
    }
    put(am, w, old);
    return 0;
}

int cli_am_want(struct cli_am *am, int32_t priority, struct yarn_resource resource, int32_t count)
{
    return cli_am_ask(am,
                      &(struct cli_ask){ .request_id = CLI_NO_REQUEST_ID,
                                         .priority = priority,
                                         .resource = resource,
                                         .count = count },
                      NULL);
}

int cli_am_cancel(struct cli_am *am, int32_t priority, int64_t request_id)
{
    struct am_ask *w = find(am, priority, request_id);

    if (!w || w->count == 0)
        return -ENOENT;
    w->count = 0;
    mark(am, w);
    cli_am_wake_soon(am);
    return 0;
}

int32_t cli_am_open(const struct cli_am *am, int32_t priority, int64_t request_id)
{
    const struct am_ask *w = find(am, priority, request_id);

    return w ? w->count : 0;
}

/* ---- Scheduling requests ---- */

/* Whether two requests differ at most in their counts, the only change that Hadoop allows. */
static int same_but_count(Hadoop__Yarn__SchedulingRequestProto *old,
                          const Hadoop__Yarn__SchedulingRequestProto *new)
{
    const int32_t count = old->resourcesizing->numallocations; /* the pending request has it, too */
    _cleanup_free_ uint8_t *a = NULL, *b = NULL;
    size_t n = hadoop__yarn__scheduling_request_proto__get_packed_size(new);
    int r = 0;

    old->resourcesizing->numallocations = new->resourcesizing->numallocations;
    if (n == hadoop__yarn__scheduling_request_proto__get_packed_size(old)) {
        a = malloc(n);
        b = malloc(n);
        r = a && b ? 1 : -ENOMEM;
    }
    if (r > 0) {
        hadoop__yarn__scheduling_request_proto__pack(old, a);
        hadoop__yarn__scheduling_request_proto__pack(new, b);
        r = memcmp(a, b, n) == 0;
    }
    old->resourcesizing->numallocations = count;
    return r;
}

static int check_placed(const struct cli_scheduling_request *q, const struct am_ask *old,
                        struct sv_error *err)
{
    int r = check_common(q->priority, q->resource, q->count, err);

    if (r < 0)
        return r;
    if (old && !old->placed)
        return sv_error_set(err, -EINVAL,
                            "request of priority %d, id %lld: it is not a scheduling request",
                            q->priority, (long long)q->request_id);
    if (q->n_tags > TAGS_MAX)
        return sv_error_set(err, -EINVAL, "scheduling request: %zu tags, at most %d", q->n_tags,
                            TAGS_MAX);
    for (size_t i = 0; i < q->n_tags; i++)
        if (!cli_am_is_name(q->tags[i]))
            return sv_error_set(err, -EINVAL, "scheduling request: a tag has 1 to %d bytes",
                                CLI_CONSTRAINT_TEXT_MAX);
    return q->constraint ? cli_constraint_check(q->constraint, err) : 0;
}

int cli_am_schedule(struct cli_am *am, const struct cli_scheduling_request *q, struct sv_error *err)
{
    struct am_ask *old = find(am, q->priority, q->request_id), *w;
    int r = check_placed(q, old, err);

    if (r < 0)
        return r;
    w = new_ask(q->priority, q->request_id, true);
    if (w)
        w->placed = cli_am_placed_to(w->arena, q);
    r = !w || !w->placed ? -ENOMEM : old ? same_but_count(old->placed, w->placed) : 1;
    if (r > 0) {
        w->count = q->count;
        put(am, w, old);
        return 0;
    }
    if (w)
        free_ask(w);
    return r < 0 ? sv_error_errno(err, r, "scheduling request")
                 : sv_error_set(err, -EINVAL,
                                "scheduling request of priority %d, id %lld: only its count may "
                                "change; use another id",
                                q->priority, (long long)q->request_id);
}

void cli_am_adds(struct cli_am *am)
{
    am->adds = true;
}

/* ---- Answers ---- */

/* Nothing is open, here and at the ResourceManager. */
static bool over(const struct am_ask *w)
{
    return w->count == 0 && w->held == 0;
}

void cli_am_ask_answered(struct cli_am *am, int32_t priority, int64_t request_id, int32_t n)
{
    struct am_ask *w = find(am, priority, request_id);

    if (!w)
        return;
    w->count -= SV_MIN(w->count, n);
    w->held -= SV_MIN(w->held, n);
    if (w->n_hosts || w->n_racks)
        mark(am, w); /* which of its names the ResourceManager counted down is not known */
    else if (over(w) && !w->dirty)
        forget(am, w);
}

void cli_am_asks_again(struct cli_am *am)
{
    struct am_ask *w, *tmp;

    HASH_ITER (hh, am->asks, w, tmp) {
        w->held = 0;
        if (w->count == 0)
            forget(am, w);
        else
            mark(am, w);
    }
}

void cli_am_asks_taken(struct cli_am *am)
{
    struct am_ask *w, *tmp;

    DL_FOREACH_SAFE (am->dirty_asks, w, tmp) {
        unmark(am, w);
        w->n_gone = 0;
        if (am->adds && w->placed)
            w->held = SV_MAX(w->held, w->count);
        if (over(w))
            forget(am, w);
    }
}
