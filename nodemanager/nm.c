/* See nm.h. main.c creates one, starts it and runs the loop. */
#include "nodemanager/nm.h"

#include <errno.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/ldap/ldap-groups.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/web/http.h"
#include "executor/exe.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/conf/conf-address.h"
#include "nodemanager/conf/conf-unread.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/recently-stopped.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/dbus/bus.h"
#include "nodemanager/federation/classes.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/labels/described.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/nm-end.h"
#include "nodemanager/nm-parts.h"
#include "nodemanager/nm-ports.h"
#include "nodemanager/recovery.h"
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

#define CLEAR_WAIT_MS 60000  /* for deletions at a start without recovery */
#define LABELS_WAIT_MS 60000 /* for the first runs of scripts: systemd's patience is 90 s */
#define PORT_WAIT_MS 5000    /* for a port still held by children of the last run */

/* ---- callbacks of components ------------------------------------------------------------------*/

static void on_dir_changed(int index, bool usable, bool lost, void *userdata)
{
    struct nm *nm = userdata;

    if (lost && index >= 0)
        nm_apps_lose_dir(&nm->ctx, index);
    if ((lost || !usable) && index >= 0 && nm->localization)
        nm_localization_dir_failed(nm->localization, index, !lost);
    if (usable)
        nm_apps_make_dirs(&nm->ctx, &nm->app_services);
    if (index >= 0)
        nm_aux_dirs_changed(nm->aux);
}

/* True for a transient error: lack of memory, processes or disk may be over at the next start. */
static bool may_pass(int error)
{
    return error == ENOMEM || error == EAGAIN || error == EMFILE || error == ENFILE ||
           error == ENOSPC || error == EDQUOT || error == EIO || error == ETIMEDOUT;
}

static void on_helper_refused(const struct exe_failure *f, void *userdata)
{
    char why[sizeof(f->text) + 64];

    (void)snprintf(why, sizeof(why), "container-executor is not usable: %s", f->text);
    nm_stop(userdata, why, may_pass(f->error) ? EXIT_FAILURE : NM_EXIT_HELPER);
}

static void on_registered(void *userdata)
{
    struct nm *nm = userdata;

    nm->ready = true;
    (void)sd_notifyf(0, "READY=1\nSTATUS=registered as %s",
                     nm->ctx.node_id_text); /* no systemd, ignoring */
}

static void on_gpus_changed(void *userdata)
{
    struct nm *nm = userdata;

    if (nm->updater)
        nm_updater_register_again(nm->updater);
}

/* As in Hadoop, a decommissioned node has ended well: a supervisor does not start it again. */
static void on_updater_stop(const char *why, enum nm_updater_end end, void *userdata)
{
    static const int status[] = { [NM_END_FAILED] = EXIT_FAILURE,
                                  [NM_END_DECOMMISSIONED] = EXIT_SUCCESS,
                                  [NM_END_REFUSED] = NM_EXIT_REFUSED };
    struct nm *nm = userdata;

    nm->unwanted = nm->unwanted || end != NM_END_FAILED;
    nm->decommissioned = nm->decommissioned || end == NM_END_DECOMMISSIONED;
    nm_stop(nm, why, status[end]);
}

static void on_federation_unusable(const char *why, void *userdata)
{
    nm_stop(userdata, why, NM_EXIT_CONFIGURATION);
}

/* ---- components in order ----------------------------------------------------------------------*/

static int open_store(struct nm *nm, struct sv_error *err)
{
    char path[4096];
    int r;

    if (!nm->conf.recovery)
        return nm_store_open(nm->event, NULL, &nm->ctx.store, err);
    r = sv_mkdir_p(nm->conf.recovery_dir, 0700);
    if (r < 0)
        return sv_error_errno(err, r, "yarn.nodemanager.recovery.dir %s", nm->conf.recovery_dir);
    if (nm_store_path(nm, path, sizeof(path)) < 0)
        return sv_error_set(err, -ENAMETOOLONG, "yarn.nodemanager.recovery.dir is too long");
    r = nm_store_open(nm->event, path, &nm->ctx.store, err);
    /* Another schema, or damage: the next start would fail alike. */
    if (r == -EPROTO || r == -EBADMSG)
        nm->exit_status = NM_EXIT_CONFIGURATION;
    return r;
}

/* Checks the helper before recovery, which is useless if the helper refuses this daemon. */
static int check_helper(struct nm *nm, const struct exe_settings *s, struct sv_error *err)
{
    struct exe_failure f;
    int r = exe_check_first(nm->ctx.exe, s, &f);

    if (r >= 0)
        return 0;
    nm->exit_status = may_pass(f.error) ? EXIT_FAILURE : NM_EXIT_HELPER;
    return sv_error_set(err, r, "container-executor is not usable: %s", f.text);
}

static int open_executor(struct nm *nm, struct sv_error *err)
{
    const struct nm_conf *conf = &nm->conf;
    const char *helper = conf->executor_path;
    const struct exe_settings s = {
        .helper = helper && *helper ? helper : LIBEXECDIR "/container-executor",
        .socket = conf->executor_socket,
        .cgroups = nm->ctx.cgroups,
        .local_dirs = conf->local_dirs,
        .log_dirs = conf->log_dirs,
        .unenforced_allowed = conf->unenforced_allowed,
        .labels = conf->selinux_labels,
        .profile = conf->profile,
        .network = conf->network,
        .net_rate_kbit = conf->net_rate_kbit,
        .net_ceil_kbit = conf->net_ceil_kbit,
    };
    int r = exe_new(nm->event, &s, &nm->ctx.exe, err);

    if (r >= 0)
        r = check_helper(nm, &s, err);
    if (r >= 0)
        r = nm_health_new(nm->event, nm->ctx.exe, nm->ctx.dirs, nm->ctx.store, on_helper_refused,
                          nm, &nm->ctx.health, err);
    if (r >= 0)
        r = nm_health_count_launches(nm->ctx.health, (unsigned)conf->launch_failures,
                                     conf->launch_retry_ms, err);
    if (r >= 0)
        r = nm_health_run_scripts(nm->ctx.health, &conf->health, err);
    return r;
}

static int open_context(struct nm *nm, struct sv_error *err)
{
    struct nm_context *ctx = &nm->ctx;
    int r = nm_context_open(ctx, nm->event, &nm->conf, err);
    const char *rm;

    if (r < 0)
        return r;
    nm_conf_log_unread(nm->conf.conf);
    nm_conf_policy_log(&nm->conf);
    if (nm_host_is_local_name(nm->conf.hostname, &nm->conf.rm, &rm))
        sv_log_warning("%s, this node's name, resolves to loopback addresses only, and the "
                       "ResourceManager is on %s: neither it nor jobs on other nodes can connect; "
                       "correct /etc/hosts, or set yarn.nodemanager.hostname",
                       nm->conf.hostname, rm);
    ctx->start_ms = sv_wall_ms();
    yarn_types_set(&nm->conf.types);
    ctx->total = nm->conf.resource;
    if (nm->conf.detect_hardware)
        sv_log_info("hardware: %lld MB, %d processors, %d cores: this node has <memory:%lld, "
                    "vCores:%d>",
                    (long long)nm->conf.hardware.memory_mb, nm->conf.hardware.processors,
                    nm->conf.hardware.cores, (long long)ctx->total.memory_mb, ctx->total.vcores);
    snprintf(ctx->node_id.host, sizeof(ctx->node_id.host), "%s", nm->conf.hostname);
    ctx->node_id.port = nm->conf.port;
    yarn_node_id_text(&ctx->node_id, ctx->node_id_text);
    ctx->stopped = nm_stopped_new(nm->conf.track_stopped_ms);
    return ctx->stopped ? nm_secure_start(&nm->secure, ctx, &nm->updater, err)
                        : sv_error_errno(err, -ENOMEM, "context");
}

/* store, health, resources */
static int open_lower_layers(struct nm *nm, struct sv_error *err)
{
    struct nm_context *ctx = &nm->ctx;
    int r = nm_dirs_new(nm->event, &nm->conf, on_dir_changed, nm, &ctx->dirs, err);

    if (r >= 0 && (r = nm_log_disks_new(nm->event, ctx->dirs, &ctx->log_disks)) < 0)
        (void)sv_error_errno(err, r, "threads of log directories");
    if (r >= 0)
        r = open_store(nm, err);
    if (r >= 0)
        r = nm_limits_new(ctx, &nm->limits, err);
    if (r >= 0)
        r = nm_assignments_new(ctx, "", &nm->assignments, err);
    if (r >= 0)
        ctx->total.gpus = nm_assignments_gpus(nm->assignments);
    if (r >= 0)
        r = nm_numa_new(&nm->conf, &nm->numa, err);
    if (r >= 0)
        r = nm_mcs_new(ctx, &nm->mcs, err);
    if (r < 0)
        return r;
    r = open_executor(nm, err);
    if (r < 0) {
        nm->exit_status = may_pass(-r) ? EXIT_FAILURE : NM_EXIT_HELPER;
        return r;
    }
    r = nm_secrets_new(ctx->store, nm->conf.hmac, &ctx->secrets);
    if (r >= 0)
        r = nm_credentials_new(ctx, &ctx->credentials);
    return r < 0 ? sv_error_errno(err, r, "token secret managers") : 0;
}

static int open_services(struct nm *nm, struct sv_error *err)
{
    struct nm_context *ctx = &nm->ctx;
    int r = nm_deletion_new(ctx, &nm->deletion, err);

    if (r >= 0)
        r = nm_localization_new(ctx, nm->deletion, &nm->localization, err);
    if (r >= 0)
        r = nm_log_handler_new(ctx, nm->deletion, &nm->logs, err);
    if (r >= 0)
        r = nm_aggregation_new(ctx, nm->logs, &nm->aggregation, err);
    if (r >= 0)
        r = nm_monitor_new(ctx, &nm->monitor, err);
    if (r >= 0)
        r = nm_elastic_new(ctx, &nm->elastic, err);
    if (r >= 0)
        r = nm_aux_new(ctx, nm->held_ports, &nm->aux, err);
    if (r >= 0)
        r = nm_amrm_new(ctx, nm_amrm_classes, on_federation_unusable, nm, &nm->amrm, err);
    if (r < 0)
        return r;
    nm->finished = nm_finished_new();
    nm->scheduler = nm_scheduler_new(ctx);
    nm->launcher = nm->scheduler
                       ? nm_launcher_new(ctx, nm->assignments, nm->scheduler, nm->numa, nm->aux)
                       : NULL;
    if (!nm->finished || !nm->launcher)
        return sv_error_errno(err, -ENOMEM, "services");
    r = nm_describers_new(nm->event, &nm->conf, nm->labels, err);
    if (r < 0)
        return r;
    r = nm_gpu_watch_new(ctx, "", nm->assignments, on_gpus_changed, nm, &nm->gpu_watch);
    if (r < 0)
        return sv_error_errno(err, r, "checks of GPUs");
    return nm_updater_new(
        &(struct nm_updater_config){ .ctx = ctx,
                                     .limits = nm->limits,
                                     .monitor = nm->monitor,
                                     .scheduler = nm->scheduler,
                                     .finished = nm->finished,
                                     .aggregation = nm->aggregation,
                                     .labels = { nm->labels[NM_LABELS], nm->labels[NM_ATTRIBUTES] },
                                     .registered = on_registered,
                                     .stop = on_updater_stop,
                                     .userdata = nm },
        &nm->updater, err);
}

static void on_groups_known(void *userdata)
{
    struct nm *nm = userdata;

    sv_http_retry(nm->server.port.http);
    nm_bus_groups_known(nm->bus);
}

static int open_groups(struct nm *nm, struct sv_error *err)
{
    struct sv_groups_conf conf = { .cache_ms = nm->conf.web.auth.groups_cache_ms,
                                   .negative_ms = nm->conf.web.auth.groups_negative_ms,
                                   .overrides = nm->conf.web.auth.groups_overrides,
                                   .known = on_groups_known,
                                   .userdata = nm };
    int r = sv_ldap_groups_source(nm->conf.conf, &conf.source, err);

    if (r < 0)
        return r;
    r = sv_groups_new(nm->event, &conf, &nm->groups);
    sv_groups_source_unref(&conf.source);
    return r < 0 ? sv_error_errno(err, r, "groups of users") : 0;
}

/* Connects the users of the services: state machines, RPC methods, web pages. */
static void connect_services(struct nm *nm)
{
    nm->container_services = (struct nm_container_services){ .localization = nm->localization,
                                                             .deletion = nm->deletion,
                                                             .assignments = nm->assignments,
                                                             .scheduler = nm->scheduler,
                                                             .launcher = nm->launcher,
                                                             .aux = nm->aux,
                                                             .aggregation = nm->aggregation,
                                                             .updater = nm->updater };
    nm->app_services = (struct nm_app_services){ .localization = nm->localization,
                                                 .deletion = nm->deletion,
                                                 .aggregation = nm->aggregation,
                                                 .mcs = nm->mcs,
                                                 .aux = nm->aux,
                                                 .amrm = nm->amrm,
                                                 .updater = nm->updater };
    sv_dispatcher_register(nm->ctx.dispatcher, NM_MACHINE_CONTAINER, nm_container_handle,
                           &nm->container_services);
    sv_dispatcher_register(nm->ctx.dispatcher, NM_MACHINE_APP, nm_app_handle, &nm->app_services);
    nm->am = (struct nm_am){ .ctx = &nm->ctx,
                             .assignments = nm->assignments,
                             .scheduler = nm->scheduler,
                             .updater = nm->updater,
                             .aux = nm->aux,
                             .amrm = nm->amrm,
                             .aggregation = nm->aggregation,
                             .localization = nm->localization };
    nm->web = (struct nm_web){ .ctx = &nm->ctx,
                               .finished = nm->finished,
                               .updater = nm->updater,
                               .groups = nm->groups,
                               .aux = nm->aux,
                               .localization = nm->localization,
                               .aggregation = nm->aggregation,
                               .labels = nm->labels,
                               .monitor = nm->monitor,
                               .scheduler = nm->scheduler,
                               .assignments = nm->assignments,
                               .lists = &nm->web_lists,
                               .sends = &nm->web_sends };
}

static int recover(struct nm *nm, struct sv_error *err)
{
    const struct nm_recovery services = { .ctx = &nm->ctx,
                                          .assignments = nm->assignments,
                                          .scheduler = nm->scheduler,
                                          .deletion = nm->deletion,
                                          .localization = nm->localization,
                                          .logs = nm->logs,
                                          .aggregation = nm->aggregation };
    int r = nm_recover(&services, err);

    if (r >= 0)
        r = nm_amrm_recover(nm->amrm, err);
    if (r >= 0)
        nm_recover_sweep(&services);
    return r;
}

/* ---- start ------------------------------------------------------------------------------------*/

/* Without recovery, or with a new store, the directories of the last run are deleted first: a new
 * container of the same user must not lose its files to that, nor find them in its place. Also
 * after a restart in the middle of it. Auxiliary services must be ready too: the registration needs
 * their metadata. So does it need the label, without which the node would take other jobs, and the
 * health scripts that an operator wants to run before. */
static bool must_wait(const struct nm *nm)
{
    const int64_t waited_ms = sv_wall_ms() - nm->ctx.start_ms;

    return (nm_deletion_clears(nm->deletion) && waited_ms < CLEAR_WAIT_MS) ||
           nm_aux_starting(nm->aux) || nm_health_starting(nm->ctx.health) ||
           (nm_describers_starting(nm->labels) && waited_ms < LABELS_WAIT_MS);
}

static int on_clear_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm *nm = userdata;

    (void)usec;
    if (must_wait(nm)) {
        (void)sd_event_source_set_time_relative(s, 20000);
        (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT); /* ours, ignoring */
        return 0;
    }
    nm->clear_timer = sd_event_source_disable_unref(nm->clear_timer);
    if (nm_describers_starting(nm->labels))
        sv_log_warning("a script of yarn.nodemanager.node-labels or node-attributes has not ended "
                       "within %d s: the node registers without its result",
                       LABELS_WAIT_MS / 1000);
    nm_updater_start(nm->updater);
    return 0;
}

static int start_updater(struct nm *nm, struct sv_error *err)
{
    int r;

    if (!must_wait(nm)) {
        nm_updater_start(nm->updater);
        return 0;
    }
    r = sd_event_add_time_relative(nm->event, &nm->clear_timer, CLOCK_BOOTTIME, 0, 0,
                                   on_clear_timer, nm);
    return r < 0 ? sv_error_errno(err, r, "start") : 0;
}

static int start_all(struct nm *nm, struct sv_error *err)
{
    int r = nm_ports_check(nm, err);

    if (r >= 0)
        r = open_context(nm, err);
    if (r >= 0)
        r = open_lower_layers(nm, err);
    if (r >= 0)
        r = open_services(nm, err);
    if (r >= 0)
        r = open_groups(nm, err);
    if (r < 0)
        return r;
    connect_services(nm);
    r = recover(nm, err);
    if (r >= 0)
        r = nm_ports_open(nm, err);
    if (r >= 0)
        r = nm_aux_start(nm->aux, err);
    if (r >= 0)
        r = nm_ports_open_bus(nm, err);
    if (r >= 0)
        r = start_updater(nm, err);
    return r;
}

/* -EINVAL and the like: a value that a component cannot use. */
int nm_start(struct nm *nm, struct sv_error *err)
{
    int r = start_all(nm, err);

    if (r < 0 && nm->exit_status == EXIT_SUCCESS)
        nm->exit_status =
            r == -EINVAL || r == -EOPNOTSUPP || r == -E2BIG ? NM_EXIT_CONFIGURATION : EXIT_FAILURE;
    return r;
}

void nm_reloaded(struct nm *nm)
{
    nm_describers_reload(nm->labels);
}
