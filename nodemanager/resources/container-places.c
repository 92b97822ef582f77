/* See container-places.h. */
#include "nodemanager/resources/container-places.h"

#include <utlist.h>

#include "nodemanager/core/container.h"
#include "wire/ipc/methods.h"

bool nm_is_opportunistic(const struct nm_container *c)
{
    return c->execution_type == HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC;
}

enum nm_place nm_place_running(const struct nm_container *c)
{
    return nm_is_opportunistic(c) ? NM_PLACE_RUNNING_OPPORTUNISTIC : NM_PLACE_RUNNING_GUARANTEED;
}

enum nm_place nm_place_leaving(const struct nm_container *c)
{
    return nm_is_opportunistic(c) ? NM_PLACE_LEAVING_OPPORTUNISTIC : NM_PLACE_LEAVING_GUARANTEED;
}

/* A guaranteed one that is paused was promoted meanwhile. */
enum nm_place nm_place_paused(const struct nm_container *c)
{
    return nm_is_opportunistic(c) ? NM_PLACE_PAUSED : NM_PLACE_QUEUED_GUARANTEED;
}

static enum nm_place queued(const struct nm_container *c)
{
    if (!nm_is_opportunistic(c))
        return NM_PLACE_QUEUED_GUARANTEED;
    return c->launch.frozen ? NM_PLACE_PAUSED : NM_PLACE_QUEUED_OPPORTUNISTIC;
}

enum nm_place nm_place_updated(const struct nm_container *c)
{
    switch (c->schedule.place) {
    case NM_PLACE_QUEUED_GUARANTEED:
    case NM_PLACE_QUEUED_OPPORTUNISTIC:
    case NM_PLACE_PAUSED:
        return queued(c);
    case NM_PLACE_RUNNING_GUARANTEED:
    case NM_PLACE_RUNNING_OPPORTUNISTIC:
        return nm_place_running(c);
    case NM_PLACE_LEAVING_GUARANTEED:
    case NM_PLACE_LEAVING_OPPORTUNISTIC:
        return nm_place_leaving(c);
    default:
        return (enum nm_place)c->schedule.place;
    }
}

struct nm_container *nm_place_first(const struct nm_places *p, enum nm_place place)
{
    return p->of[place].list;
}

struct nm_container *nm_place_last(const struct nm_places *p, enum nm_place place)
{
    return p->of[place].list ? p->of[place].list->schedule.prev : NULL;
}

/* In the place of what was counted of it. */
static void count(struct nm_places *p, struct nm_container *c, int64_t memory_mb, int64_t vcores)
{
    struct nm_room *room = &p->of[c->schedule.place].room;

    room->memory_mb += memory_mb - c->schedule.memory_mb;
    room->vcores += vcores - c->schedule.vcores;
    c->schedule.memory_mb = memory_mb;
    c->schedule.vcores = vcores;
}

void nm_place_recount(struct nm_places *p, struct nm_container *c)
{
    if (c->schedule.place != NM_PLACE_NONE)
        count(p, c, c->resource.memory_mb, c->resource.vcores);
}

/* A demoted or adopted one may be older than the last of those that run; after a restart containers
 * come back to their queue in any order. */
static bool is_before(const struct nm_container *c, const struct nm_container *other,
                      enum nm_place place)
{
    if (place == NM_PLACE_RUNNING_OPPORTUNISTIC)
        return c->schedule.order < other->schedule.order;
    return c->schedule.again && c->schedule.arrival < other->schedule.arrival;
}

static void insert(struct nm_places *p, struct nm_container *c, enum nm_place to)
{
    struct nm_container **list = &p->of[to].list, *at = nm_place_last(p, to);

    if (at && is_before(c, *list, to)) /* in reverse order: without a walk */
        at = NULL;
    while (at && is_before(c, at, to))
        at = at->schedule.prev;
    if (at)
        DL_APPEND_ELEM2(*list, at, c, schedule.prev, schedule.next);
    else
        DL_PREPEND2(*list, c, schedule.prev, schedule.next);
}

void nm_place_move(struct nm_places *p, struct nm_container *c, enum nm_place to)
{
    enum nm_place from = (enum nm_place)c->schedule.place;

    if (from == to)
        return;
    if (from != NM_PLACE_NONE) {
        count(p, c, 0, 0);
        DL_DELETE2(p->of[from].list, c, schedule.prev, schedule.next);
        p->of[from].n--;
    }
    c->schedule.place = (int)to;
    if (to == NM_PLACE_NONE)
        return;
    insert(p, c, to);
    p->of[to].n++;
    nm_place_recount(p, c);
}

struct nm_room nm_places_sum(const struct nm_places *p, const enum nm_place *places, size_t n)
{
    struct nm_room sum = { 0 };

    for (size_t i = 0; i < n; i++) {
        sum.memory_mb += p->of[places[i]].room.memory_mb;
        sum.vcores += p->of[places[i]].room.vcores;
    }
    return sum;
}
