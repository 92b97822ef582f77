/* An ApplicationMaster's timer, which sends the next message, and the end of an attempt. */
#include <errno.h>

#include "client/lib/am-internal.h"

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct cli_am *am = userdata;

    (void)s;
    (void)usec;
    am->tick(am);
    return 0;
}

void cli_am_lost(struct cli_am *am, const struct sv_error *err)
{
    am->phase = OVER;
    if (am->ops.lost)
        am->ops.lost(am, err, am->userdata);
}

void cli_am_wake(struct cli_am *am, int64_t after_ms)
{
    struct sv_error err = { 0 };
    uint64_t now = 0, old = 0, next;
    int r = sd_event_now(am->event, CLOCK_MONOTONIC, &now), enabled = SD_EVENT_OFF;

    next = now + (uint64_t)after_ms * 1000;
    if (!am->timer) {
        r = sd_event_add_time(am->event, &am->timer, CLOCK_MONOTONIC, next, 1000, on_timer, am);
    } else {
        (void)sd_event_source_get_enabled(am->timer, &enabled);
        (void)sd_event_source_get_time(am->timer, &old);
        if (enabled != SD_EVENT_OFF && old > now && old < next)
            return;
        r = sd_event_source_set_time(am->timer, next);
        if (r >= 0)
            r = sd_event_source_set_enabled(am->timer, SD_EVENT_ONESHOT);
    }
    if (r < 0) {
        sv_error_errno(&err, r, "timer");
        cli_am_lost(am, &err);
    }
}

void cli_am_wake_soon(struct cli_am *am)
{
    if (am->phase == RUNNING)
        cli_am_wake(am, AM_SOON_MS);
}
