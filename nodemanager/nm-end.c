/* See nm-end.h. */
#include "nodemanager/nm-end.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/web/http-events.h"
#include "executor/exe.h"
#include "nodemanager/am/call-turns.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/amrmproxy/server.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/recently-stopped.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/dbus/bus.h"
#include "nodemanager/exec/sessions.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/labels/described.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/nm-parts.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/container-scheduler.h"
#include "nodemanager/resources/containers-monitor.h"
#include "nodemanager/resources/elastic-memory.h"
#include "nodemanager/resources/gpu-watch.h"
#include "nodemanager/resources/mcs.h"
#include "nodemanager/resources/numa.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/finished-containers.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/services/log-handler.h"
#include "nodemanager/store/state-store.h"
#include "wire/ipc/ipc-server.h"

static void leave_loop(void *userdata)
{
    struct nm *nm = userdata;
    int r = nm_store_commit(nm->ctx.store);

    if (r < 0)
        sv_log_err("state store: the last records could not be written: %s", strerror(-r));
    (void)sd_event_exit(nm->event, nm->exit_status); /* only fails after the loop has ended */
}

static void unregister(struct nm *nm)
{
    nm->stop_timer = sd_event_source_disable_unref(nm->stop_timer);
    if (nm->leave_running || nm->unwanted)
        leave_loop(nm);
    else
        nm_updater_unregister(nm->updater, leave_loop, nm);
}

static int on_stop_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm *nm = userdata;
    unsigned alive = 0;

    (void)usec;
    for (struct nm_container *c = nm->ctx.containers; c; c = c->hh.next)
        alive += !nm_container_is_done(c);
    if ((alive || nm_deletion_busy(nm->deletion)) && sv_now_ms() < nm->stop_deadline_ms) {
        (void)sd_event_source_set_time_relative(s, 20000);
        (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT); /* ours, ignoring */
        return 0;
    }
    if (alive)
        sv_log_warning("stopping: %u containers have not ended in time", alive);
    unregister(nm);
    return 0;
}

static void kill_all(struct nm *nm)
{
    for (struct nm_app *a = nm->ctx.apps; a; a = a->hh.next)
        nm_app_finish(a, "Application killed on shutdown");
    nm->stop_deadline_ms = sv_now_ms() + nm->conf.sigkill_delay_ms + nm->conf.kill_wait_ms + 1000;
    if (sd_event_add_time_relative(nm->event, &nm->stop_timer, CLOCK_BOOTTIME, 1000, 0,
                                   on_stop_timer, nm) < 0)
        unregister(nm);
}

void nm_stop(struct nm *nm, const char *why, int exit_status)
{
    sv_log_notice("stopping: %s", why);
    (void)sd_notifyf(0, "STOPPING=1\nSTATUS=stopped: %s", why); /* no systemd, ignoring */
    if (nm->ctx.stopping) {                                     /* second call: immediately */
        leave_loop(nm);
        return;
    }
    nm->ctx.stopping = true;
    nm->exit_status = exit_status;
    nm->leave_running = nm->conf.recovery && nm->conf.recovery_supervised && !nm->unwanted;
    if (nm->leave_running || !nm->updater)
        leave_loop(nm);
    else
        kill_all(nm);
}

static void drop_objects(struct nm *nm)
{
    while (nm->ctx.containers) {
        struct nm_container *c = nm->ctx.containers;

        nm_localization_release(nm->localization, c);
        nm_container_remove(c);
    }
    while (nm->ctx.apps)
        nm_app_remove(nm->ctx.apps);
}

int nm_store_path(const struct nm *nm, char *ret, size_t size)
{
    int n = snprintf(ret, size, "%s/nm-state.db", nm->conf.recovery_dir);

    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* The records of a decommissioned node are useless to a later one of the same name. */
static void remove_store(const struct nm *nm)
{
    char path[4096];
    int r = nm_store_path(nm, path, sizeof(path));

    if (r >= 0)
        r = nm_store_unlink(path);
    if (r < 0)
        sv_log_warning("state store of the decommissioned node, in %s: cannot be removed: %s",
                       nm->conf.recovery_dir, strerror(-r));
}

void nm_free(struct nm *nm)
{
    struct nm_context *ctx = &nm->ctx;

    ctx->changed = NULL;
    nm->bus = nm_bus_free(nm->bus);
    nm->web.live = sv_http_events_free(nm->web.live);
    nm->web.sessions = nm_sessions_free(nm->web.sessions);
    nm_web_server_close(&nm->server);
    nm->groups = sv_groups_free(nm->groups);
    nm->rpc = ipc_server_free(nm->rpc);
    nm->amrm_server = nm_amrm_server_free(nm->amrm_server);
    nm->amrm = nm_amrm_free(nm->amrm); /* refuses masters that start */
    nm->am.amrm = nm->app_services.amrm = NULL;
    nm->am.turns = nm_call_turns_free(nm->am.turns);
    nm->updater = nm_updater_free(nm->updater);
    nm_describers_free(nm->labels);
    nm->container_services.updater = nm->app_services.updater = NULL;
    ctx->store = nm_store_close(ctx->store); /* waiters answer their calls a last time */
    drop_objects(nm);
    nm_context_close(ctx);
    nm->finished = nm_finished_free(nm->finished);
    nm->elastic = nm_elastic_free(nm->elastic);
    nm->monitor = nm_monitor_free(nm->monitor);
    nm->aggregation = nm_aggregation_free(nm->aggregation);
    nm->logs = nm_log_handler_free(nm->logs);
    nm->localization = nm_localization_free(nm->localization);
    nm->deletion = nm_deletion_free(nm->deletion);
    ctx->secrets = nm_secrets_free(ctx->secrets);
    ctx->credentials = nm_credentials_free(ctx->credentials);
    ctx->health = nm_health_free(ctx->health);
    ctx->exe = exe_free(ctx->exe);
    nm_secure_stop(&nm->secure);
    nm_app_free_inits(&nm->app_services);
    nm->launcher = nm_launcher_free(nm->launcher);
    nm->scheduler = nm_scheduler_free(nm->scheduler);
    nm->aux = nm_aux_free(nm->aux);
    ctx->cgroups = cg_root_free(ctx->cgroups);
    nm->limits = nm_limits_free(nm->limits);
    nm->gpu_watch = nm_gpu_watch_free(nm->gpu_watch);
    nm->assignments = nm_assignments_free(nm->assignments);
    nm->numa = nm_numa_free(nm->numa);
    nm->mcs = nm_mcs_free(nm->mcs);
    ctx->stopped = nm_stopped_free(ctx->stopped);
    ctx->log_disks = nm_log_disks_free(ctx->log_disks);
    ctx->dirs = nm_dirs_free(ctx->dirs);
    if (nm->decommissioned && nm->conf.recovery)
        remove_store(nm);
    sd_event_source_disable_unref(nm->stop_timer);
    sd_event_source_disable_unref(nm->clear_timer);
    nm_conf_free(&nm->conf);
}
