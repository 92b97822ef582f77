/* See rm-session.h. */
#include "nodemanager/rm/rm-session.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "nodemanager/core/context.h"
#include "wire/ipc/backoff.h"
#include "wire/ipc/ipc-conf.h"
#include "wire/ipc/methods.h"

#define RETRY_FIRST_MS 250 /* after a refusal; doubles up to the configured interval */

void nm_rm_schedule(struct nm_updater *u, int64_t in_ms)
{
    int r = sd_event_source_set_time_relative(u->timer, (uint64_t)in_ms * 1000);

    if (r >= 0)
        r = sd_event_source_set_enabled(u->timer, SD_EVENT_ONESHOT);
    if (r < 0) /* without heartbeats the node is LOST: a restart is better */
        u->config.stop("heartbeat timer failed", NM_END_FAILED, u->config.userdata);
}

static const char *rm_text(const struct ipc_proxy_server *s)
{
    static char text[360]; /* for one log message */

    return ipc_proxy_server_text(s, text, sizeof(text));
}

void nm_rm_drop_answer(struct nm_updater *u)
{
    u->answer.arena = sv_arena_free(u->answer.arena);
    u->answer = (struct nm_answer){ .turn = u->answer.turn };
}

void nm_rm_recovered(struct nm_updater *u)
{
    if (u->away_since_ms)
        sv_log_info("ResourceManager %s answers again", rm_text(ipc_proxy_current(u->rm)));
    u->away_since_ms = 0;
    u->refusals = 0;
    nm_rm_login_recovered(u);
}

/* The proxy retries by itself. */
static void on_retry(const char *method, const struct sv_error *err, int64_t wait_ms,
                     const struct ipc_proxy_server *failed, const struct ipc_proxy_server *next,
                     void *userdata)
{
    struct nm_updater *u = userdata;

    if (nm_rm_login_hinders(u, err->code, false, err->text))
        return;
    if (!u->away_since_ms) {
        u->away_since_ms = sv_now_ms();
        sv_log_warning("ResourceManager %s: %s; trying again, containers keep running",
                       rm_text(failed), err->text);
    }
    if (failed != next)
        sv_log_info("%s: Failing over to ResourceManager %s", method, rm_text(next));
    else
        sv_log_debug("%s: again in %lld ms", method, (long long)wait_ms);
}

static void retry(struct nm_updater *u)
{
    const int64_t longest = u->ctx->conf->rm.retry.interval_ms;

    nm_rm_schedule(u, ipc_backoff_ms(RETRY_FIRST_MS, longest, u->refusals, ipc_backoff_noise()));
    if (u->refusals < 64)
        u->refusals++;
}

/* The proxy has given up: without an answer for the configured time, which ends the daemon as
 * Hadoop's; or because of an invalid answer, or for want of a login, and then the request is
 * retried. */
void nm_rm_unavailable(struct nm_updater *u, const char *what, const struct ipc_result *r,
                       const char *why)
{
    const struct ipc_proxy_server *rm = ipc_proxy_current(u->rm);
    const int64_t max_wait_ms = u->ctx->conf->rm.retry.max_wait_ms;
    int64_t now = sv_now_ms();

    if (nm_rm_login_hinders(u, r ? r->status : 0, r && ipc_failure_of(r) == IPC_FAILURE_AUTH,
                            why)) {
        retry(u);
        return;
    }
    if (!u->away_since_ms) {
        u->away_since_ms = now;
        sv_log_warning("ResourceManager %s: %s: %s; trying again, containers keep running",
                       rm_text(rm), what, why);
    }
    if ((r && ipc_failure_is_absence(ipc_failure_of(r))) ||
        (max_wait_ms >= 0 && now - u->away_since_ms > max_wait_ms)) {
        char text[512];

        snprintf(text, sizeof(text), "ResourceManager %s did not answer for %lld ms", rm_text(rm),
                 (long long)(now - u->away_since_ms));
        u->ended = true;
        u->config.stop(text, NM_END_FAILED, u->config.userdata);
        return;
    }
    retry(u);
}

void nm_rm_shut_down(struct nm_updater *u, enum nm_updater_end end, const char *why,
                     const char *from_rm)
{
    char text[512], shown[256];

    sv_escape(shown, sizeof(shown), from_rm ? from_rm : "");
    snprintf(text, sizeof(text), "%s Message from ResourceManager: %s", why, shown);
    u->ended = true;
    u->config.stop(text, end, u->config.userdata);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_updater *u = userdata;

    (void)s;
    (void)usec;
    if (u->ended && u->unregistered)            /* the unregistration took too long */
        (void)ipc_proxy_cancel(u->rm, u->call); /* it may just have been answered, ignoring */
    if (u->ended || u->call || u->answer.m)
        return 0;
    if (nm_rm_login_waits(u))
        nm_rm_schedule(u, NM_RM_LOOK_MS);
    else
        u->send(u);
    return 0;
}

static int proxy_open(struct nm_updater *u, struct sv_error *err)
{
    struct ipc_proxy_config cfg = u->ctx->conf->rm;
    struct ipc_server_settings settings;
    int r = ipc_settings_read(u->ctx->conf->conf, &settings, err);

    if (r < 0)
        return r;
    cfg.client.protocol = YARN_RESOURCE_TRACKER_PROTOCOL;
    cfg.client.qop_mask = settings.qop_mask;
    cfg.notify = on_retry;
    cfg.userdata = u;
    return nm_rm_login_open(u, &cfg, err);
}

int nm_rm_session_open(struct nm_updater *u, struct sv_error *err)
{
    int r = proxy_open(u, err);

    if (r < 0)
        return r;
    r = sd_event_add_time_relative(u->ctx->event, &u->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, u);
    if (r < 0)
        return sv_error_errno(err, r, "node status updater");
    (void)sd_event_source_set_enabled(u->timer, SD_EVENT_OFF); /* ours, ignoring */
    return 0;
}

void nm_rm_session_close(struct nm_updater *u)
{
    ipc_proxy_free(u->rm);
    nm_rm_drop_answer(u);
    sd_event_source_disable_unref(u->answer.turn);
    sd_event_source_disable_unref(u->timer);
}
