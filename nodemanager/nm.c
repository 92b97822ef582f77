/* See nm.h. main.c creates one, starts it and runs the loop. */
#include "nodemanager/nm.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/listen-fds.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/web/http-events.h"
#include "common/web/http.h"
#include "executor/exe.h"
#include "gss/daemon.h"
#include "nodemanager/am/call-turns.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/conf/conf-address.h"
#include "nodemanager/conf/conf-unread.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/recently-stopped.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/dbus/bus.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/labels/described.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/logs/log-aggregation.h"
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
#include "nodemanager/web/live.h"
#include "wire/ipc/ipc-conf.h"
#include "wire/ipc/ipc-server.h"

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

/* ---- components in order ----------------------------------------------------------------------*/

static int store_path(const struct nm *nm, char *ret, size_t size)
{
    int n = snprintf(ret, size, "%s/nm-state.db", nm->conf.recovery_dir);

    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int open_store(struct nm *nm, struct sv_error *err)
{
    char path[4096];
    int r;

    if (!nm->conf.recovery)
        return nm_store_open(nm->event, NULL, &nm->ctx.store, err);
    r = sv_mkdir_p(nm->conf.recovery_dir, 0700);
    if (r < 0)
        return sv_error_errno(err, r, "yarn.nodemanager.recovery.dir %s", nm->conf.recovery_dir);
    if (store_path(nm, path, sizeof(path)) < 0)
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

    sv_http_retry(nm->server.http);
    nm_bus_groups_known(nm->bus);
}

static int open_groups(struct nm *nm, struct sv_error *err)
{
    const struct sv_groups_conf conf = { .cache_ms = nm->conf.web.auth.groups_cache_ms,
                                         .negative_ms = nm->conf.web.auth.groups_negative_ms,
                                         .overrides = nm->conf.web.auth.groups_overrides,
                                         .known = on_groups_known,
                                         .userdata = nm };
    int r = sv_groups_new(nm->event, &conf, &nm->groups);

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
                                                 .updater = nm->updater };
    sv_dispatcher_register(nm->ctx.dispatcher, NM_MACHINE_CONTAINER, nm_container_handle,
                           &nm->container_services);
    sv_dispatcher_register(nm->ctx.dispatcher, NM_MACHINE_APP, nm_app_handle, &nm->app_services);
    nm->am = (struct nm_am){ .ctx = &nm->ctx,
                             .assignments = nm->assignments,
                             .scheduler = nm->scheduler,
                             .updater = nm->updater,
                             .aux = nm->aux,
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
        nm_recover_sweep(&services);
    return r;
}

/* ---- RPC and web, last ------------------------------------------------------------------------*/

static int verify_nm_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                           size_t *ret_len, char ret_user[256], const char **ret_class,
                           struct sv_error *err, void *userdata)
{
    return nm_secrets_verify_nm_token(id, id_len, ret_password, ret_len, ret_user, ret_class, err,
                                      ((const struct nm_am *)userdata)->ctx->secrets);
}

/* FileDescriptorName= of the socket units. */
static const char *const held_names[] = { "containermanager", NM_WEB_SOCKET, NULL };

static int open_rpc(struct nm *nm, struct sv_error *err)
{
    static const struct ipc_protocol *const protocols[] = { &nm_container_management, NULL };
    _cleanup_close_ int held = -1;
    struct ipc_server_settings settings;
    int r = ipc_settings_read(nm->conf.conf, &settings, err);

    if (r >= 0)
        r = sv_listen_fds_take(nm->held_ports, held_names[0], nm->conf.bind_host, nm->conf.port,
                               "yarn.nodemanager.address and bind-host are", &held, err);
    if (r < 0)
        return r;
    r = nm_call_turns_new(nm->event, &nm->am.turns);
    if (r < 0)
        return sv_error_errno(err, r, "turns of calls");
    r = ipc_server_new(nm->event,
                       &(struct ipc_server_config){
                           .host = nm->conf.bind_host,
                           .port = nm->conf.port,
                           .listen_fd = &held,
                           .verify_token = verify_nm_token,
                           .authorization = nm->conf.policy ? nm_cm_authorize_peer : NULL,
                           .protocols = protocols,
                           .userdata = &nm->am,
                           .qop_mask = settings.qop_mask,
                           .limits = settings.limits,
                       },
                       &nm->rpc, err);
    if (r < 0)
        return sv_error_wrap(err, "yarn.nodemanager.address");
    nm->ctx.node_id.port = ipc_server_port(nm->rpc);
    yarn_node_id_text(&nm->ctx.node_id, nm->ctx.node_id_text);
    nm_secrets_set_node(nm->ctx.secrets, &nm->ctx.node_id);
    sv_log_info("ContainerManager started at %s", nm->ctx.node_id_text);
    return 0;
}

static int open_web(struct nm *nm, struct sv_error *err)
{
    struct sgss_client *kerberos = nm->ctx.kerberos ? sgss_daemon_client(nm->ctx.kerberos) : NULL;
    int r = nm_web_server_open(nm->event, &nm->conf, nm->held_ports, kerberos, &nm->web,
                               &nm->server, err);

    if (r < 0)
        return sv_error_wrap(err, "yarn.nodemanager.webapp.%s",
                             nm->conf.web.https ? "https.address" : "address");
    nm->web.rpc = nm->rpc;
    nm->ctx.http_port = sv_http_port(nm->server.http);
    r = nm_live_new(nm->event, &nm->web, &nm->web.live);
    return r < 0 ? sv_error_errno(err, r, "web: live figures") : 0;
}

static void on_changed(void *userdata)
{
    nm_bus_changed(((struct nm *)userdata)->bus);
}

static void on_ended(const struct nm_container *c, void *userdata)
{
    nm_bus_ended(((struct nm *)userdata)->bus, c);
}

static int open_bus(struct nm *nm, struct sv_error *err)
{
    const struct nm_bus_view view = { &nm->ctx, nm->updater };
    int r = nm_bus_new(&view, nm->conf.dbus, nm->groups, &nm->bus, err);

    nm->ctx.changed = on_changed;
    nm->ctx.ended = on_ended;
    nm->ctx.changed_userdata = nm;
    return r;
}

/* A daemon that was killed while it started a helper leaves a child that has not completed its exec
 * and holds the listening sockets until then. Retries: the loop does not run yet, so no answer is
 * delayed. */
static int open_port(struct nm *nm, int (*open)(struct nm *nm, struct sv_error *err),
                     struct sv_error *err)
{
    struct sv_error own = { 0 };
    int64_t end = sv_now_ms() + PORT_WAIT_MS;
    bool logged = false;
    int r;

    while ((r = open(nm, &own)) == -EADDRINUSE && sv_now_ms() < end) {
        if (!logged)
            sv_log_warning("%s; waiting for it to become free", own.text);
        logged = true;
        (void)poll(NULL, 0, 20);
    }
    if (r < 0 && err)
        *err = own;
    return r;
}

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

/* Ports of the daemon, and of its auxiliary services, which have their names. */
static int check_held_names(const struct nm *nm, struct sv_error *err)
{
    size_t n = 0, n_aux = sv_strv_len(nm->conf.aux_services);
    _cleanup_free_ const char **names = calloc(n_aux + SV_ARRAY_LEN(held_names), sizeof(*names));

    if (!names)
        return sv_error_errno(err, -ENOMEM, "sockets of systemd");
    for (size_t i = 0; held_names[i]; i++)
        names[n++] = held_names[i];
    for (size_t i = 0; i < n_aux; i++)
        names[n++] = nm->conf.aux_services[i];
    return sv_listen_fds_check_names(nm->held_ports, names, err);
}

static int start_all(struct nm *nm, struct sv_error *err)
{
    int r = check_held_names(nm, err);

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
        r = open_port(nm, open_rpc, err);
    if (r >= 0)
        r = open_port(nm, open_web, err);
    if (r >= 0)
        r = nm_aux_start(nm->aux, err);
    if (r >= 0)
        r = open_bus(nm, err);
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

/* ---- end ------------------------------------------------------------------------------------*/

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

void nm_reloaded(struct nm *nm)
{
    nm_describers_reload(nm->labels);
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

/* The records of a decommissioned node are useless to a later one of the same name. */
static void remove_store(const struct nm *nm)
{
    char path[4096];
    int r = store_path(nm, path, sizeof(path));

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
    nm_web_server_close(&nm->server);
    nm->groups = sv_groups_free(nm->groups);
    nm->rpc = ipc_server_free(nm->rpc);
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
