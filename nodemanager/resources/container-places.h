/* The lists of container-scheduler.c, each with the memory and virtual cores of its containers; a
 * container is in one at most. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_CONTAINER_PLACES_H
#define SELVEDGE_NODEMANAGER_RESOURCES_CONTAINER_PLACES_H

#include "common/base.h"

struct nm_container;

enum nm_place {
    NM_PLACE_NONE,    /* not localized yet, or without a process */
    NM_PLACE_ARRIVED, /* nothing is decided yet */
    NM_PLACE_QUEUED_GUARANTEED,
    NM_PLACE_QUEUED_OPPORTUNISTIC,
    NM_PLACE_PAUSED, /* for a guaranteed container; resumed before a queued one starts */
    NM_PLACE_FROZEN, /* paused by an operator when its room was needed: an operator resumes it */
    NM_PLACE_RUNNING_GUARANTEED,    /* from the start of the launch */
    NM_PLACE_RUNNING_OPPORTUNISTIC, /* in the order of their starts */
    NM_PLACE_LEAVING_GUARANTEED,    /* being ended or paused */
    NM_PLACE_LEAVING_OPPORTUNISTIC,
    NM_N_PLACES
};

struct nm_room {
    int64_t memory_mb, vcores;
};

struct nm_places {
    struct {
        struct nm_container *list; /* utlist, by schedule.prev and schedule.next */
        int32_t n;
        struct nm_room room; /* of all in the list */
    } of[NM_N_PLACES];
};

/* To the end of another list, but NM_PLACE_RUNNING_OPPORTUNISTIC is ordered by schedule.order, and
 * a queue by schedule.arrival for those that the last daemon accepted. */
void nm_place_move(struct nm_places *p, struct nm_container *c, enum nm_place to);
/* Its resource has changed. */
void nm_place_recount(struct nm_places *p, struct nm_container *c);
struct nm_container *nm_place_first(const struct nm_places *p, enum nm_place place);
struct nm_container *nm_place_last(const struct nm_places *p, enum nm_place place);
struct nm_room nm_places_sum(const struct nm_places *p, const enum nm_place *places, size_t n);

/* Where it belongs by its execution type. */
bool nm_is_opportunistic(const struct nm_container *c);
enum nm_place nm_place_running(const struct nm_container *c);
enum nm_place nm_place_leaving(const struct nm_container *c);
enum nm_place nm_place_paused(const struct nm_container *c);
/* The counterpart of its place after a change of the execution type. */
enum nm_place nm_place_updated(const struct nm_container *c);

#endif
