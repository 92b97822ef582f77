/* A queue of all members as one: numbers are summed, as Hadoop's Router sums them, the least of a
 * queue's resources with the least; child queues are joined by name, where Hadoop's lists one for
 * each member. See merge.h. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"
#include "router/merge-apps.h"
#include "router/merge.h"
#include "router/names.h"

typedef Hadoop__Yarn__QueueInfoProto queue;

#define STATISTICS(X)                                                                              \
    X(numappssubmitted)                                                                            \
    X(numappsrunning)                                                                              \
    X(numappspending)                                                                              \
    X(numappscompleted)                                                                            \
    X(numappskilled)                                                                               \
    X(numappsfailed)                                                                               \
    X(numactiveusers)                                                                              \
    X(availablememorymb)                                                                           \
    X(allocatedmemorymb)                                                                           \
    X(pendingmemorymb)                                                                             \
    X(reservedmemorymb)                                                                            \
    X(availablevcores)                                                                             \
    X(allocatedvcores)                                                                             \
    X(pendingvcores)                                                                               \
    X(reservedvcores)                                                                              \
    X(allocatedcontainers)                                                                         \
    X(pendingcontainers)                                                                           \
    X(reservedcontainers)
#define SMALL_NUMBERS(X)                                                                           \
    X(maxparallelapps)                                                                             \
    X(minresourcevcore)                                                                            \
    X(maxresourcevcore)                                                                            \
    X(reservedresourcevcore)                                                                       \
    X(steadyfairsharevcore)                                                                        \
    X(maxrunningapp)
#define LARGE_NUMBERS(X)                                                                           \
    X(minresourcememory)                                                                           \
    X(maxresourcememory)                                                                           \
    X(reservedresourcememory)                                                                      \
    X(steadyfairsharememory)
#define SHARES(X)                                                                                  \
    X(capacity)                                                                                    \
    X(maximumcapacity)                                                                             \
    X(currentcapacity)

static int32_t sum32(int32_t a, int32_t b)
{
    int32_t s;

    return __builtin_add_overflow(a, b, &s) ? INT32_MAX : s;
}

static int64_t sum64(int64_t a, int64_t b)
{
    int64_t s;

    return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

#define SUM_WITH(sum, field)                                                                       \
    into->field = sum(into->field, more->field);                                                   \
    into->has_##field |= more->has_##field;
#define SUM32(field) SUM_WITH(sum32, field)
#define SUM64(field) SUM_WITH(sum64, field)
#define SUM_SHARE(field)                                                                           \
    into->field += more->field;                                                                    \
    into->has_##field |= more->has_##field;

static void sum_statistics(Hadoop__Yarn__QueueStatisticsProto *into,
                           const Hadoop__Yarn__QueueStatisticsProto *more)
{
    STATISTICS(SUM64)
}

static int join_labels(queue *into, const queue *more, struct sv_arena *a)
{
    char **v = sv_newn(a, char *, into->n_accessiblenodelabels + more->n_accessiblenodelabels + 1);
    struct rtr_names names = { .arena = a };
    size_t n = 0;
    bool new;
    int r = v ? 0 : -ENOMEM;

    for (size_t i = 0; i < into->n_accessiblenodelabels && r >= 0; i++)
        if ((r = rtr_names_number(&names, into->accessiblenodelabels[i], &new)) >= 0 && new)
            v[n++] = into->accessiblenodelabels[i];
    for (size_t i = 0; i < more->n_accessiblenodelabels && r >= 0; i++)
        if ((r = rtr_names_number(&names, more->accessiblenodelabels[i], &new)) >= 0 && new)
            v[n++] = more->accessiblenodelabels[i];
    rtr_names_clear(&names);
    if (r < 0)
        return r;
    into->accessiblenodelabels = v;
    into->n_accessiblenodelabels = n;
    return 0;
}

static int join_apps(queue *into, const queue *more, struct sv_arena *a, bool orphans)
{
    size_t room = into->n_applications + more->n_applications, n = 0;
    Hadoop__Yarn__ApplicationReportProto **v =
        sv_newn(a, Hadoop__Yarn__ApplicationReportProto *, room + 1);
    struct rtr_apps *apps = v ? rtr_apps_new(orphans) : NULL;
    int r = apps ? 0 : -ENOMEM;

    for (size_t i = 0; i < into->n_applications && r >= 0; i++)
        r = rtr_apps_add(apps, into->applications[i]);
    for (size_t i = 0; i < more->n_applications && r >= 0; i++)
        r = rtr_apps_add(apps, more->applications[i]);
    for (size_t i = 0; r >= 0 && i < rtr_apps_count(apps); i++)
        if (rtr_apps_at(apps, i))
            v[n++] = rtr_apps_at(apps, i);
    rtr_apps_free(apps);
    if (r < 0)
        return r;
    into->applications = v;
    into->n_applications = n;
    return 0;
}

static int join(queue *into, queue *more, struct sv_arena *a);

static int join_children(queue *into, queue *more, struct sv_arena *a)
{
    queue **v = sv_newn(a, queue *, into->n_childqueues + more->n_childqueues + 1);
    struct rtr_names names = { .arena = a };
    size_t n = 0;
    bool new;
    int r = v ? 0 : -ENOMEM;

    for (size_t i = 0; i < into->n_childqueues + more->n_childqueues && r >= 0; i++) {
        queue *child = i < into->n_childqueues ? into->childqueues[i]
                                               : more->childqueues[i - into->n_childqueues];
        int at = rtr_names_number(&names, child->queuepath ?: child->queuename ?: "", &new);

        r = at;
        if (r >= 0 && new)
            v[n++] = child;
        else if (r >= 0)
            r = join(v[at], child, a);
    }
    rtr_names_clear(&names);
    if (r < 0)
        return r;
    into->childqueues = v;
    into->n_childqueues = n;
    return 0;
}

/* As deep as the wire lets a message be. */
static int join(queue *into, queue *more, struct sv_arena *a)
{
    int r;

    SHARES(SUM_SHARE)
    SMALL_NUMBERS(SUM32)
    LARGE_NUMBERS(SUM64)
    if (into->queuestatistics && more->queuestatistics)
        sum_statistics(into->queuestatistics, more->queuestatistics);
    else if (more->queuestatistics)
        into->queuestatistics = more->queuestatistics;
    if (more->state == HADOOP__YARN__QUEUE_STATE_PROTO__Q_RUNNING)
        into->state = more->state; /* it takes applications somewhere */
    into->subclusterid = NULL;     /* of all of them */
    r = join_labels(into, more, a);
    if (r >= 0)
        r = join_apps(into, more, a, true); /* a master's report may follow */
    return r < 0 ? r : join_children(into, more, a);
}

static int drop_orphans(queue *q, struct sv_arena *a, bool partial)
{
    const queue none = HADOOP__YARN__QUEUE_INFO_PROTO__INIT;
    int r = q->n_applications && !partial ? join_apps(q, &none, a, false) : 0;

    for (size_t i = 0; i < q->n_childqueues && r >= 0; i++)
        r = drop_orphans(q->childqueues[i], a, partial);
    return r;
}

int rtr_merge_queue(const struct rtr_answers *in, struct sv_arena *a, const ProtobufCMessage **ret)
{
    Hadoop__Yarn__GetQueueInfoResponseProto *all =
        (Hadoop__Yarn__GetQueueInfoResponseProto *)in->v[0];
    int r = 0;

    for (size_t i = 1; i < in->n && r >= 0; i++) {
        Hadoop__Yarn__GetQueueInfoResponseProto *one =
            (Hadoop__Yarn__GetQueueInfoResponseProto *)in->v[i];

        if (!all->queueinfo)
            all->queueinfo = one->queueinfo;
        else if (one->queueinfo)
            r = join(all->queueinfo, one->queueinfo, a);
    }
    if (r >= 0 && all->queueinfo)
        r = drop_orphans(all->queueinfo, a, in->partial);
    *ret = &all->base;
    return r;
}
