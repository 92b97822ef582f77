/* See relaunch.h. The order that counts no failure twice and loses no launch: the decision is
 * committed with the start of the launch that has ended, then the exit record of executor/ is
 * deleted, then the container is launched. A daemon that finds both the decision and that exit
 * record goes on with the launch. */
#include "nodemanager/launch/relaunch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/launcher.h"
#include "nodemanager/store/state-store.h"

#define GROUP_WAIT_MS 15000 /* above the time that executor/ gives the removal of a cgroup */

static int count_retry(struct nm_container *c)
{
    _cleanup_free_ char *text = NULL;
    int r = nm_retry_count(&c->retry, sv_wall_ms());

    if (r >= 0 && !(text = nm_retry_text(&c->retry)))
        r = -ENOMEM;
    return r < 0 ? r : nm_store_container_again(c->ctx->store, c->text, text, c->launch.ended_ms);
}

/* 1: recorded. */
static int retry(struct nm_container *c, int code)
{
    int r = c->retry.policy ? nm_container_load_request(c) : -ENOENT;

    if (!c->retry.policy || (r >= 0 && !nm_retry_wanted(&c->retry, c->clc, code, sv_wall_ms())))
        return 0;
    r = r < 0 ? r : count_retry(c);
    return r < 0 ? r : 1;
}

/* 1: recorded. */
static int replace(struct nm_container *c, int kind)
{
    int r = nm_store_container_replace(c->ctx->store, c->text, kind, c->launch.ended_ms);

    c->launch.exit.replaced = r < 0 ? NM_REINIT_NONE : kind;
    return r < 0 ? r : 1;
}

/* A kill decides alone. What was frozen or was to be re-initialized when it failed ends. */
static int decide(struct nm_container *c, int *event, int code)
{
    int r;

    if (!c->launch.exit.ran || c->kill_requested)
        return 0;
    if (c->reinit.kills) { /* by our signal, whatever its code */
        *event = NM_CONTAINER_EV_KILLED_ON_REQUEST;
        return replace(c, c->reinit.kind);
    }
    if (*event != NM_CONTAINER_EV_EXITED_WITH_FAILURE || c->launch.frozen || c->reinit.kind)
        return 0;
    r = retry(c, code);
    return r == 0 && code > 0 && c->reinit.can_rollback ? replace(c, NM_REINIT_ROLLBACK) : r;
}

int nm_relaunch_decide(struct nm_container *c, int *event, int code)
{
    int r = decide(c, event, code);

    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cannot record its relaunch in state store: %s", c->text,
               strerror(-r));
    return r > 0;
}

void nm_relaunch_prepare(struct nm_container *c)
{
    c->launch.again = true;
    c->launch.pid = 0;
    c->launch.cleanup_started = false;
    c->launch.group_since_ms = 0;
    c->recovered = NM_RECOVERED_NOT;
    c->finish_ms = 0;
    c->usage.last = (struct cg_usage){ 0 }; /* of the last cgroup */
    c->usage.read_ms = 0;
    c->usage.over_readings = 0;
}

bool nm_relaunch_is_stale(const struct nm_container *c, int64_t record_start_ms)
{
    return c->recovered == NM_RECOVERED_REQUESTED && c->launch.again &&
           c->launch.ended_ms == record_start_ms;
}

static int on_due(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_container *c = userdata;

    (void)s;
    (void)usec;
    c->launch.again_timer = sd_event_source_disable_unref(c->launch.again_timer);
    if (nm_container_may_launch(c))
        c->launch.launcher->again(c->launch.launcher, c);
    return 0;
}

void nm_relaunch_after(struct nm_container *c, int64_t ms)
{
    int r;

    nm_relaunch_cancel(c);
    r = sd_event_add_time_relative(c->ctx->event, &c->launch.again_timer, CLOCK_BOOTTIME,
                                   (uint64_t)ms * 1000, 1000, on_due, c);
    if (r < 0) { /* no memory: at once */
        sv_log(SV_LOG_ERR, c->text, "%s: timer of its relaunch: %s", c->text, strerror(-r));
        c->launch.launcher->again(c->launch.launcher, c);
    }
}

bool nm_relaunch_wait(struct nm_container *c)
{
    int64_t now = sv_now_ms();

    if (!c->launch.group_since_ms)
        c->launch.group_since_ms = now;
    if (now - c->launch.group_since_ms >= GROUP_WAIT_MS)
        return false;
    nm_relaunch_after(c, NM_RELAUNCH_PROBE_MS);
    return true;
}

void nm_relaunch_cancel(struct nm_container *c)
{
    c->launch.again_timer = sd_event_source_disable_unref(c->launch.again_timer);
}
