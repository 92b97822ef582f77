/* See turns.h. */
#include "nodemanager/federation/turns.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/web/http.h"

/* Behind heartbeats and RPC, beside the web: a timer, for sd-event takes the sources of one
 * priority in the order in which they became ready, and a deferred source is always the first. */
#define PRIORITY SV_HTTP_PRIORITY

/* Each source is dispatched in an iteration of its own: what is left belongs to one handler. */
static struct fed_budget *budget(struct nm_turns *t)
{
    uint64_t now = 0;

    (void)sd_event_get_iteration(t->event, &now); /* cannot fail in its own process, ignoring */
    if (now != t->iteration || !now)
        t->left.rows = NM_TURN_ROWS;
    t->iteration = now;
    return &t->left;
}

static void later(struct nm_turns *t)
{
    int r = sd_event_source_set_time(t->source, 0);

    if (r >= 0)
        r = sd_event_source_set_enabled(t->source, SD_EVENT_ONESHOT);
    if (r < 0)
        sv_log_err("AMRMProxy: timer: %s; masters with long requests wait for the next event",
                   strerror(-r));
}

static void run(struct nm_turns *t, struct nm_turn *turn, struct fed_budget *b)
{
    bool more = turn->run(turn, b);

    t->most = SV_MAX(t->most, NM_TURN_ROWS - b->rows);
    if (!more || turn->waiting)
        return;
    turn->waiting = true;
    DL_APPEND(t->queue, turn);
    later(t);
}

static int on_turn(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_turns *t = userdata;
    struct fed_budget *b = budget(t);

    (void)s;
    (void)usec;
    while (t->queue && !fed_spent(b)) {
        struct nm_turn *turn = t->queue;

        nm_turns_stop(t, turn);
        run(t, turn, b);
    }
    if (t->queue)
        later(t);
    return 0;
}

int nm_turns_open(sd_event *event, struct nm_turns *ret)
{
    int r;

    *ret = (struct nm_turns){ .event = event };
    r = sd_event_add_time(event, &ret->source, CLOCK_MONOTONIC, 0, 0, on_turn, ret);
    if (r >= 0)
        r = sd_event_source_set_enabled(ret->source, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_source_set_priority(ret->source, PRIORITY);
    return r < 0 ? r : 0;
}

/* ---- Objects that leave ---- */

struct nm_leaving {
    struct nm_turn turn; /* first */
    struct nm_turns *turns;
    void *object;
    int (*leave)(void *object, struct fed_budget *b);
    struct nm_leaving *prev, *next;
};

static bool run_leaving(struct nm_turn *turn, struct fed_budget *b)
{
    struct nm_leaving *l = (struct nm_leaving *)turn;

    if (l->leave(l->object, b) == FED_MORE)
        return true;
    DL_DELETE(l->turns->leaving, l);
    free(l);
    return false;
}

void nm_turns_leave(struct nm_turns *t, void *object,
                    int (*leave)(void *object, struct fed_budget *b))
{
    struct nm_leaving *l = object ? calloc(1, sizeof(*l)) : NULL;
    struct fed_budget all = FED_BUDGET_ALL;

    if (l) {
        *l = (struct nm_leaving){
            .turn = { .run = run_leaving }, .turns = t, .object = object, .leave = leave
        };
        DL_APPEND(t->leaving, l);
        nm_turns_go(t, &l->turn);
    } else if (object) {
        (void)leave(object, &all); /* all of it, ignoring */
    }
}

static void leave_all(struct nm_turns *t)
{
    struct fed_budget all = FED_BUDGET_ALL;

    while (t->leaving) {
        nm_turns_stop(t, &t->leaving->turn);
        (void)run_leaving(&t->leaving->turn, &all); /* all of it, ignoring */
    }
}

void nm_turns_close(struct nm_turns *t)
{
    leave_all(t);
    t->source = sd_event_source_disable_unref(t->source);
}

void nm_turns_go(struct nm_turns *t, struct nm_turn *turn)
{
    struct fed_budget *b = budget(t);

    if (turn->waiting)
        return;
    if (!fed_spent(b)) {
        run(t, turn, b);
        return;
    }
    turn->waiting = true;
    DL_APPEND(t->queue, turn);
    later(t);
}

void nm_turns_stop(struct nm_turns *t, struct nm_turn *turn)
{
    if (turn->waiting)
        DL_DELETE(t->queue, turn);
    turn->waiting = false;
}
