/* See container-scheduler.h. */
#include "nodemanager/resources/container-scheduler.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/container-places.h"

#define TURN_MS 5 /* of a handler of the loop, for starts, kills and pauses */

struct nm_scheduler {
    struct nm_context *ctx;
    void (*start)(void *userdata, struct nm_container *c);
    void *userdata;
    struct nm_places places;
    int64_t last_arrival, last_order; /* of a start */
    int32_t max_queue;
    bool queues; /* false: guaranteed containers start whatever runs */
    bool shedding;
    int32_t shed_to;
    bool running;
    sd_event_source *turn; /* NULL: no run has taken long yet */
};

/* ---- room -------------------------------------------------------------------------------------*/

static bool in_total(const struct nm_scheduler *s, struct nm_room r,
                     const struct nm_container *more)
{
    if (more) {
        r.memory_mb += more->resource.memory_mb;
        r.vcores += more->resource.vcores;
    }
    return r.memory_mb <= s->ctx->total.memory_mb && r.vcores <= s->ctx->total.vcores;
}

static const enum nm_place holders[] = { NM_PLACE_RUNNING_GUARANTEED,
                                         NM_PLACE_RUNNING_OPPORTUNISTIC,
                                         NM_PLACE_LEAVING_GUARANTEED,
                                         NM_PLACE_LEAVING_OPPORTUNISTIC };

/* Also one that is larger than the node has become, which would wait for ever, on a free node. */
static bool fits(const struct nm_scheduler *s, const struct nm_container *c)
{
    int32_t n = 0;

    for (size_t i = 0; i < SV_ARRAY_LEN(holders); i++)
        n += s->places.of[holders[i]].n;
    return n == 0 || in_total(s, nm_places_sum(&s->places, holders, SV_ARRAY_LEN(holders)), c);
}

/* True if those that stay leave no room for the guaranteed ones that wait. */
static bool lacks_room(const struct nm_scheduler *s)
{
    static const enum nm_place stay[] = { NM_PLACE_RUNNING_GUARANTEED,
                                          NM_PLACE_RUNNING_OPPORTUNISTIC,
                                          NM_PLACE_QUEUED_GUARANTEED };

    return nm_place_first(&s->places, NM_PLACE_QUEUED_GUARANTEED) &&
           !in_total(s, nm_places_sum(&s->places, stay, SV_ARRAY_LEN(stay)), NULL);
}

static bool may_queue(const struct nm_scheduler *s, const struct nm_container *c)
{
    static const enum nm_place all[] = { NM_PLACE_RUNNING_GUARANTEED,
                                         NM_PLACE_RUNNING_OPPORTUNISTIC,
                                         NM_PLACE_LEAVING_GUARANTEED,
                                         NM_PLACE_LEAVING_OPPORTUNISTIC,
                                         NM_PLACE_QUEUED_GUARANTEED,
                                         NM_PLACE_QUEUED_OPPORTUNISTIC,
                                         NM_PLACE_PAUSED };

    if (s->ctx->conf->queue_policy == NM_QUEUE_BY_RESOURCES)
        return in_total(s, nm_places_sum(&s->places, all, SV_ARRAY_LEN(all)), c);
    return s->places.of[NM_PLACE_QUEUED_OPPORTUNISTIC].n + s->places.of[NM_PLACE_PAUSED].n <
           s->max_queue;
}

/* ---- decisions --------------------------------------------------------------------------------*/

/* Its kill is recorded, the event is on its way. */
static bool is_killed(struct nm_scheduler *s, struct nm_container *c)
{
    if (c->kill_requested)
        nm_place_move(&s->places, c, c->launch.frozen ? nm_place_leaving(c) : NM_PLACE_NONE);
    return c->kill_requested;
}

static void begin(struct nm_scheduler *s, struct nm_container *c)
{
    if (is_killed(s, c))
        return;
    if (!c->schedule.order)
        c->schedule.order = ++s->last_order;
    nm_place_move(&s->places, c, nm_place_running(c));
    if (c->launch.frozen) {
        c->schedule.resuming = true;
        nm_container_post(c, NM_CONTAINER_EV_RESUME, "Container resumed, its room is free again.");
    } else {
        s->start(s->userdata, c);
    }
}

static bool start_guaranteed(struct nm_scheduler *s)
{
    struct nm_container *c = nm_place_first(&s->places, NM_PLACE_QUEUED_GUARANTEED);

    if (!c || (s->queues && !fits(s, c)))
        return false;
    begin(s, c);
    return true;
}

/* None starts before a guaranteed one that waits, and none overtakes another. */
static bool start_opportunistic(struct nm_scheduler *s)
{
    struct nm_container *c = nm_place_first(&s->places, NM_PLACE_PAUSED)
                                 ?: nm_place_first(&s->places, NM_PLACE_QUEUED_OPPORTUNISTIC);

    if (!c || nm_place_first(&s->places, NM_PLACE_QUEUED_GUARANTEED) || !fits(s, c))
        return false;
    begin(s, c);
    return true;
}

static void end(struct nm_scheduler *s, struct nm_container *c, enum nm_place to, const char *why)
{
    nm_place_move(&s->places, c, to);
    sv_log(SV_LOG_INFO, c->text, "%s: %s", c->text, why);
    nm_container_kill(c, YARN_EXIT_KILLED_BY_CONTAINER_SCHEDULER, why);
}

static void post_pause(struct nm_container *c)
{
    static const char why[] = "Container Paused to make room for Guaranteed Container";

    sv_log(SV_LOG_INFO, c->text, "%s: %s", c->text, why);
    nm_container_post(c, NM_CONTAINER_EV_PAUSE, why);
}

/* One that is being resumed is paused again as soon as it runs. */
static void pause_it(struct nm_scheduler *s, struct nm_container *c)
{
    c->schedule.pausing = true;
    nm_place_move(&s->places, c, nm_place_leaving(c));
    if (c->state == NM_CONTAINER_RUNNING)
        post_pause(c);
}

static bool can_pause(const struct nm_container *c)
{
    return c->schedule.resuming || c->state == NM_CONTAINER_RESUMING ||
           (c->state == NM_CONTAINER_RUNNING && !c->reinit.kind);
}

/* The youngest one is killed, or paused: one that has not begun loses nothing by a kill, one that
 * is re-initialized cannot be paused. */
static bool make_room(struct nm_scheduler *s)
{
    struct nm_container *c = nm_place_last(&s->places, NM_PLACE_RUNNING_OPPORTUNISTIC);
    const bool pauses = s->ctx->conf->queue_pauses;

    if (!c || !s->queues || !lacks_room(s))
        return false;
    if (c->kill_requested)
        nm_place_move(&s->places, c, nm_place_leaving(c));
    else if (pauses && can_pause(c))
        pause_it(s, c);
    else if (pauses && c->launch.frozen)
        nm_place_move(&s->places, c, NM_PLACE_FROZEN);
    else
        end(s, c, nm_place_leaving(c), "Container Killed to make room for Guaranteed Container.");
    return true;
}

/* Its request, up to 8 MiB, is read again at its launch. */
static void queue(struct nm_scheduler *s, struct nm_container *c, enum nm_place place)
{
    nm_place_move(&s->places, c, place);
    if (s->queues && (nm_place_first(&s->places, place) != c || !fits(s, c)))
        nm_container_drop_request(c);
}

static bool admit(struct nm_scheduler *s)
{
    struct nm_container *c = nm_place_first(&s->places, NM_PLACE_ARRIVED);

    if (!c)
        return false;
    if (is_killed(s, c))
        return true;
    if (!nm_is_opportunistic(c))
        queue(s, c, NM_PLACE_QUEUED_GUARANTEED);
    else if (c->schedule.again || may_queue(s, c))
        queue(s, c, NM_PLACE_QUEUED_OPPORTUNISTIC);
    else
        end(s, c, NM_PLACE_NONE, "Opportunistic container queue is full.");
    return true;
}

static bool shed(struct nm_scheduler *s)
{
    struct nm_container *c = nm_place_last(&s->places, NM_PLACE_QUEUED_OPPORTUNISTIC);

    s->shedding = s->shedding && c && s->places.of[NM_PLACE_QUEUED_OPPORTUNISTIC].n > s->shed_to;
    if (s->shedding)
        end(s, c, NM_PLACE_NONE, "Container De-queued to meet NM queuing limits.");
    return s->shedding;
}

/* One decision, the most urgent one first. False: none is due. */
static bool step(struct nm_scheduler *s)
{
    return start_guaranteed(s) || make_room(s) || start_opportunistic(s) || admit(s) || shed(s);
}

/* ---- turns ------------------------------------------------------------------------------------*/

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)source;
    nm_scheduler_run(userdata);
    return 0;
}

/* True: the rest waits for another turn of the loop. */
static bool waits_for_turn(struct nm_scheduler *s)
{
    int r = 0;

    if (sv_loop_spent_ms() < TURN_MS)
        return false;
    if (!s->turn)
        r = sd_event_add_defer(s->ctx->event, &s->turn, on_turn, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->turn, SD_EVENT_ONESHOT);
    return r >= 0; /* no memory: all of it now */
}

void nm_scheduler_run(struct nm_scheduler *s)
{
    /* Posted events are handled afterwards. */
    SV_DISPATCH_BATCH(s->ctx->dispatcher);

    if (s->running || s->ctx->stopping)
        return;
    s->running = true;
    while (!waits_for_turn(s) && step(s))
        ;
    s->running = false;
}

/* ---- what happens to containers ---------------------------------------------------------------*/

void nm_scheduler_add(struct nm_scheduler *s, struct nm_container *c, bool again)
{
    c->schedule.again = again;
    if (!c->schedule.arrival)
        c->schedule.arrival = ++s->last_arrival;
    nm_place_move(&s->places, c, NM_PLACE_ARRIVED);
    nm_scheduler_run(s);
}

void nm_scheduler_restore(struct nm_scheduler *s, struct nm_container *c)
{
    c->schedule.arrival = ++s->last_arrival;
    if (c->recovered != NM_RECOVERED_LAUNCHED || nm_container_is_done(c))
        return;
    c->schedule.order = c->launch_ms;
    s->last_order = SV_MAX(s->last_order, c->launch_ms);
    nm_place_move(&s->places, c, nm_place_running(c));
}

/* The store does not tell for what a container was frozen: one that is opportunistic, or was, is
 * taken for one that this daemon paused. */
void nm_scheduler_launched(struct nm_scheduler *s, struct nm_container *c, bool frozen)
{
    if (frozen && (nm_is_opportunistic(c) || c->began_opportunistic)) {
        nm_place_move(&s->places, c, nm_place_paused(c));
        nm_scheduler_run(s);
    } else if (c->schedule.place == NM_PLACE_NONE) { /* adopted; its launch was not on record */
        c->schedule.order = ++s->last_order;
        nm_place_move(&s->places, c, nm_place_running(c));
    }
}

void nm_scheduler_paused(struct nm_scheduler *s, struct nm_container *c)
{
    if (!c->schedule.pausing)
        return;
    c->schedule.pausing = false;
    nm_place_move(&s->places, c, nm_place_paused(c));
    nm_scheduler_run(s);
}

void nm_scheduler_resumed(struct nm_scheduler *s, struct nm_container *c)
{
    c->schedule.resuming = false;
    if (nm_scheduler_waits(c) || c->schedule.place == NM_PLACE_FROZEN) { /* by an operator */
        nm_place_move(&s->places, c, nm_place_running(c));
        nm_scheduler_run(s);
    }
    if (c->schedule.pausing) /* decided before it was RUNNING */
        post_pause(c);
}

void nm_scheduler_ending(struct nm_scheduler *s, struct nm_container *c)
{
    c->schedule.pausing = false;
    if (c->schedule.place != NM_PLACE_NONE)
        nm_place_move(&s->places, c, nm_place_leaving(c));
}

void nm_scheduler_leave(struct nm_scheduler *s, struct nm_container *c)
{
    if (c->schedule.place == NM_PLACE_NONE)
        return;
    nm_place_move(&s->places, c, NM_PLACE_NONE);
    nm_scheduler_run(s);
}

void nm_scheduler_updated(struct nm_scheduler *s, struct nm_container *c)
{
    if (c->schedule.place == NM_PLACE_NONE)
        return;
    nm_place_recount(&s->places, c);
    nm_place_move(&s->places, c, nm_place_updated(c));
    nm_scheduler_run(s);
}

bool nm_scheduler_waits(const struct nm_container *c)
{
    return c->schedule.place == NM_PLACE_QUEUED_GUARANTEED ||
           c->schedule.place == NM_PLACE_QUEUED_OPPORTUNISTIC ||
           c->schedule.place == NM_PLACE_PAUSED;
}

void nm_scheduler_shed(struct nm_scheduler *s, int32_t max_queue_length)
{
    if (max_queue_length < 0)
        return;
    s->shedding = true;
    s->shed_to = max_queue_length;
    nm_scheduler_run(s);
}

/* ---- service ----------------------------------------------------------------------------------*/

void nm_scheduler_figures(const struct nm_scheduler *s, struct nm_scheduler_figures *ret)
{
    static const enum nm_place theirs[] = { NM_PLACE_RUNNING_OPPORTUNISTIC,
                                            NM_PLACE_LEAVING_OPPORTUNISTIC };
    const struct nm_room room = nm_places_sum(&s->places, theirs, SV_ARRAY_LEN(theirs));

    *ret = (struct nm_scheduler_figures){
        .queued_guaranteed = s->places.of[NM_PLACE_QUEUED_GUARANTEED].n,
        .queued_opportunistic =
            s->places.of[NM_PLACE_QUEUED_OPPORTUNISTIC].n + s->places.of[NM_PLACE_PAUSED].n,
        .queue_capacity = s->max_queue,
        .running = s->places.of[NM_PLACE_RUNNING_OPPORTUNISTIC].n +
                   s->places.of[NM_PLACE_LEAVING_OPPORTUNISTIC].n,
        .memory_mb = room.memory_mb,
        .vcores = room.vcores,
    };
}

void nm_scheduler_on_start(struct nm_scheduler *s,
                           void (*start)(void *userdata, struct nm_container *c), void *userdata)
{
    s->start = start;
    s->userdata = userdata;
}

struct nm_scheduler *nm_scheduler_new(struct nm_context *ctx)
{
    struct nm_scheduler *s = calloc(1, sizeof(*s));
    const bool by_resources = ctx->conf->queue_policy == NM_QUEUE_BY_RESOURCES;

    if (!s)
        return NULL;
    s->ctx = ctx;
    s->max_queue = by_resources ? 0 : (int32_t)ctx->conf->queue_max;
    s->queues = by_resources || s->max_queue > 0;
    return s;
}

struct nm_scheduler *nm_scheduler_free(struct nm_scheduler *s)
{
    if (!s)
        return NULL;
    sd_event_source_disable_unref(s->turn);
    free(s);
    return NULL;
}
