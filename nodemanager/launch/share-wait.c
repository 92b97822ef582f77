/* See share-wait.h. A container is found by its name when its time comes: it may have been killed
 * meanwhile, which ends it without a launch. */
#include "nodemanager/launch/share-wait.h"

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

struct record {
    struct nm_context *ctx;
    char container[YARN_ID_TEXT_MAX];
};

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_launcher *l = userdata;
    struct nm_container *c, *tmp;

    (void)source;
    (void)usec;
    HASH_ITER (hh, l->ctx->containers, c, tmp) /* in the order of their start requests */
        if (c->launch.waits_since_ms && nm_container_may_launch(c))
            l->again(l, c);
    return 0;
}

static int arm(struct nm_launcher *l, int64_t in_ms)
{
    uint64_t usec = (uint64_t)SV_MAX(in_ms, (int64_t)0) * 1000, at, now;
    int r;

    if (!l->share_timer)
        return sd_event_add_time_relative(l->ctx->event, &l->share_timer, CLOCK_BOOTTIME, usec,
                                          1000, on_timer, l);
    r = sd_event_source_get_enabled(l->share_timer, NULL);
    if (r > 0 && sd_event_source_get_time(l->share_timer, &at) >= 0 &&
        sd_event_now(l->ctx->event, CLOCK_BOOTTIME, &now) >= 0 && at <= now + usec)
        return 0; /* an earlier one comes first, and asks for its next */
    r = sd_event_source_set_time_relative(l->share_timer, usec);
    return r < 0 ? r : sd_event_source_set_enabled(l->share_timer, SD_EVENT_ONESHOT);
}

bool nm_share_wait(struct nm_container *c)
{
    int64_t now = sv_now_ms(), left;

    if (!c->launch.waits_since_ms) {
        c->launch.waits_since_ms = now;
        sv_log(SV_LOG_INFO, c->text, "Container : %s is waiting for free GPU devices.", c->text);
    }
    left = c->launch.waits_since_ms + NM_SHARE_WAIT_MS - now;
    return left > 0 && arm(c->launch.launcher, left) >= 0;
}

static void on_recorded(void *userdata, int result)
{
    _cleanup_free_ struct record *r = userdata;
    struct nm_container *c = nm_container_find(r->ctx, r->container);

    if (!c || !nm_container_may_launch(c))
        return;
    if (result < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cannot record its GPUs in state store: %s", c->text,
               strerror(-result));
    c->launch.launcher->again(c->launch.launcher, c);
}

int nm_share_recorded(struct nm_container *c)
{
    struct record *r = calloc(1, sizeof(*r));
    int e;

    if (!r)
        return -ENOMEM;
    r->ctx = c->ctx;
    memcpy(r->container, c->text, sizeof(r->container));
    c->launch.waits_since_ms = 0;
    e = nm_store_after_commit(c->ctx->store, on_recorded, r);
    if (e < 0)
        free(r);
    return e;
}

void nm_share_released(void *launcher)
{
    struct nm_launcher *l = launcher;

    if (l->share_timer && arm(l, 0) < 0) /* the time of the first one is left, ignoring */
        sv_log_warning("containers that wait for GPUs: the timer failed");
}

void nm_share_stop(struct nm_launcher *l)
{
    l->share_timer = sd_event_source_disable_unref(l->share_timer);
}
