/* The manager; see nm.h. main.c makes one, starts it and runs the loop. */
#include "nodemanager/nm.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <utlist.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/http.h"
#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/am/container-manager.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/mount-watch.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/recovery.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/containers-monitor.h"
#include "nodemanager/resources/elastic-memory.h"
#include "nodemanager/resources/mcs.h"
#include "nodemanager/resources/numa.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/finished-containers.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/services/log-handler.h"
#include "nodemanager/store/state-store.h"
#include "nodemanager/web/nm-web.h"
#include "wire/ipc-conf.h"
#include "wire/ipc-server.h"

#define CLEAR_WAIT_MS 60000 /* for deletions at a start without recovery */
#define PORT_WAIT_MS 5000   /* for a port that the last life's children still hold */
#define REACH_USEC 1000000  /* between looks for a helper that cannot be reached */

/* ---- event queue ----------------------------------------------------------------------------*/

struct nm_event {
    struct nm_event *prev, *next;
    struct nm_container *container; /* one of the two */
    struct nm_app *app;
    int event, code;
    char *text;
};

static void drain(struct nm *nm)
{
    if (nm->draining)
        return;
    nm->draining = true;
    while (nm->queue) {
        struct nm_event *e = nm->queue;

        DL_DELETE(nm->queue, e);
        if (e->container)
            nm_container_handle(e->container, e->event, e->code, e->text);
        else
            nm_app_handle(e->app, e->event, e->text);
        free(e->text);
        free(e);
    }
    nm->draining = false;
    nm_container_free_dead(nm);
    nm_app_free_dead(nm);
}

static void post(struct nm *nm, const struct nm_event *what, const char *text)
{
    struct nm_event *e = calloc(1, sizeof(*e));

    if (!e) { /* a lost event would leave a container for ever: better restart and recover */
        sv_log_err("out of memory: stopping, a restart recovers");
        abort();
    }
    *e = *what;
    e->text = text ? strdup(text) : NULL;
    DL_APPEND(nm->queue, e);
    drain(nm);
}

void nm_post_container(struct nm_container *c, int event, int code, const char *text)
{
    post(c->nm, &(struct nm_event){ .container = c, .event = event, .code = code }, text);
}

void nm_post_app(struct nm_app *a, int event, const char *text)
{
    post(a->nm, &(struct nm_event){ .app = a, .event = event }, text);
}

/* ---- parts ----------------------------------------------------------------------------------*/

static void look_for_helper(struct nm *nm);

static void on_looked(const struct exe_failure *f, void *userdata)
{
    struct nm *nm = userdata;

    if (f && f->status != EXE_STATUS_SOCKET) {
        nm_set_unhealthy(nm, f->text);
    } else if (f) {
        look_for_helper(nm);
    } else {
        sv_log_notice("container-executor answers again: the node is healthy");
        nm->unhealthy[0] = '\0';
        nm->addresses = exe_addresses(nm->exe);
    }
}

static int on_reach_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct nm *nm = userdata;

    (void)s;
    (void)usec;
    nm->reach_timer = sd_event_source_disable_unref(nm->reach_timer);
    /* Mounts may have come and gone meanwhile. */
    if (exe_check(nm->exe, true, on_looked, nm) < 0)
        look_for_helper(nm);
    return 0;
}

static void look_for_helper(struct nm *nm)
{
    if (!nm->reach_timer && sd_event_add_time_relative(nm->event, &nm->reach_timer, CLOCK_BOOTTIME,
                                                       REACH_USEC, 0, on_reach_timer, nm) < 0)
        sv_log_err("out of memory: unhealthy until restart");
}

void nm_set_unhealthy(struct nm *nm, const char *why)
{
    if (strcmp(nm->unhealthy, why) != 0)
        sv_log_err("node is unhealthy: %s", why);
    snprintf(nm->unhealthy, sizeof(nm->unhealthy), "%s", why);
    if (exe_unreachable(nm->exe))
        look_for_helper(nm);
}

static void on_dir_failed(int index, void *userdata)
{
    struct nm *nm = userdata;

    if (nm->localization)
        nm_localization_dir_failed(nm->localization, index);
}

static int open_store(struct nm *nm, struct sv_error *err)
{
    char path[4096];
    int r, n;

    if (!nm->conf.recovery)
        return nm_store_open(nm->event, NULL, &nm->store, err);
    r = sv_mkdir_p(nm->conf.recovery_dir, 0700);
    if (r < 0)
        return sv_error_errno(err, r, "yarn.nodemanager.recovery.dir %s", nm->conf.recovery_dir);
    n = snprintf(path, sizeof(path), "%s/nm-state.db", nm->conf.recovery_dir);
    if (n < 0 || (size_t)n >= sizeof(path))
        return sv_error_set(err, -ENAMETOOLONG, "yarn.nodemanager.recovery.dir is too long");
    return nm_store_open(nm->event, path, &nm->store, err);
}

static void on_checked(const struct exe_failure *f, void *userdata)
{
    struct nm *nm = userdata;

    nm->addresses = exe_addresses(nm->exe);
    if (!f)
        return;
    /* What still runs is looked after, and what has ended is deleted. */
    if (f->status == EXE_STATUS_SOCKET || f->status == EXE_STATUS_DEVICE_FILTER) {
        nm_set_unhealthy(nm, f->text);
        return;
    }
    sv_log_err("container-executor refuses: %s", f->text);
    nm_stop(nm, "container-executor is not usable", EXIT_FAILURE);
}

static void on_prepared(const struct exe_failure *f, void *userdata)
{
    struct nm *nm = userdata;

    if (f)
        sv_log_err("new containers may not see a mount that came or went: %s", f->text);
    else
        nm->addresses = exe_addresses(nm->exe);
}

/* What containers see of the host is prepared: with the mounts of that moment. */
static void on_mounts_changed(void *userdata)
{
    struct nm *nm = userdata;
    int r = exe_check(nm->exe, true, on_prepared, nm);

    if (r < 0)
        sv_log_err("new containers may not see a mount that came or went: %s", strerror(-r));
    else
        sv_log_info("the host's mounts have changed: what containers see is prepared again");
}

static int open_executor(struct nm *nm, struct sv_error *err)
{
    const char *helper = nm->conf.executor_path;
    int r;

    r = exe_new(nm->event,
                &(struct exe_settings){
                    .helper = helper && *helper ? helper : LIBEXECDIR "/container-executor",
                    .socket = nm->conf.executor_socket,
                    .cgroups = nm->cgroups,
                    .local_dirs = nm->conf.local_dirs,
                    .log_dirs = nm->conf.log_dirs,
                    .unenforced_allowed = nm->conf.unenforced_allowed,
                    .labels = nm->conf.selinux_labels,
                    .profile = nm->conf.profile,
                    .network = nm->conf.network,
                    .net_rate_kbit = nm->conf.net_rate_kbit,
                    .net_ceil_kbit = nm->conf.net_ceil_kbit,
                },
                &nm->exe, err);
    if (r < 0)
        return r;
    r = exe_check(nm->exe, true, on_checked, nm);
    if (r < 0)
        return sv_error_errno(err, r, "container-executor");
    return nm_mount_watch_new(nm->event, "/proc/self/mountinfo", on_mounts_changed, nm, &nm->mounts,
                              err);
}

/* ---- RPC and web, last ------------------------------------------------------------------------*/

static int verify_nm_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                           size_t *ret_len, char ret_user[256], const char **ret_class,
                           struct sv_error *err, void *userdata)
{
    return nm_secrets_verify_nm_token(id, id_len, ret_password, ret_len, ret_user, ret_class, err,
                                      ((struct nm *)userdata)->secrets);
}

static int open_rpc(struct nm *nm, struct sv_error *err)
{
    static const struct ipc_protocol *const protocols[] = { &nm_container_management, NULL };
    struct ipc_server_settings settings;
    int r = ipc_settings_read(nm->conf.conf, &settings, err);

    if (r < 0)
        return r;
    r = ipc_server_new(nm->event,
                       &(struct ipc_server_config){
                           .host = nm->conf.bind_host ? nm->conf.bind_host : nm->conf.hostname,
                           .port = nm->conf.port,
                           .verify_token = verify_nm_token,
                           .protocols = protocols,
                           .userdata = nm,
                           .qop_mask = settings.qop_mask,
                           .limits = settings.limits,
                       },
                       &nm->rpc, err);
    if (r < 0)
        return sv_error_wrap(err, "yarn.nodemanager.address");
    nm->node_id.port = ipc_server_port(nm->rpc);
    yarn_node_id_text(&nm->node_id, nm->node_id_text);
    nm_secrets_set_node(nm->secrets, &nm->node_id);
    sv_log_info("ContainerManager started at %s", nm->node_id_text);
    return 0;
}

static int open_web(struct nm *nm, struct sv_error *err)
{
    int r = sv_http_new(nm->event, nm->conf.bind_host ? nm->conf.bind_host : nm->conf.web_host,
                        nm->conf.web_port, nm_web_handle, nm, &nm->http, err);

    return r < 0 ? sv_error_wrap(err, "yarn.nodemanager.webapp.address") : 0;
}

/* A daemon that was killed while it started a helper leaves a child that is not through its exec
 * yet, and has the listening sockets until then. The one that is started in its place waits for
 * that moment. Before the loop runs: nobody waits for an answer. */
static int open_port(struct nm *nm, int (*open)(struct nm *nm, struct sv_error *err),
                     struct sv_error *err)
{
    struct sv_error own = { 0 };
    int64_t end = sv_now_ms() + PORT_WAIT_MS;
    bool told = false;
    int r;

    while ((r = open(nm, &own)) == -EADDRINUSE && sv_now_ms() < end) {
        if (!told)
            sv_log_warning("%s; waiting for it to be given up", own.text);
        told = true;
        (void)poll(NULL, 0, 20);
    }
    if (r < 0 && err)
        *err = own;
    return r;
}

/* Without recovery the last life's directories are deleted first: a new container of the same user
 * must not see its files vanish. */
static int on_clear_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct nm *nm = userdata;

    (void)usec;
    if (nm_deletion_busy(nm->deletion) && sv_wall_ms() - nm->start_ms < CLEAR_WAIT_MS) {
        (void)sd_event_source_set_time_relative(s, 20000);
        (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT); /* ours, ignoring */
        return 0;
    }
    nm->clear_timer = sd_event_source_disable_unref(nm->clear_timer);
    nm_updater_start(nm->updater);
    return 0;
}

static int start_updater(struct nm *nm, struct sv_error *err)
{
    int r;

    if (nm->conf.recovery) {
        nm_updater_start(nm->updater);
        return 0;
    }
    r = sd_event_add_time_relative(nm->event, &nm->clear_timer, CLOCK_BOOTTIME, 0, 0,
                                   on_clear_timer, nm);
    return r < 0 ? sv_error_errno(err, r, "start") : 0;
}

int nm_start(struct nm *nm, struct sv_error *err)
{
    int r;

    nm->start_ms = sv_wall_ms();
    snprintf(nm->node_id.host, sizeof(nm->node_id.host), "%s", nm->conf.hostname);
    nm->node_id.port = nm->conf.port;
    yarn_node_id_text(&nm->node_id, nm->node_id_text);
    r = nm_dirs_new(nm->event, &nm->conf, on_dir_failed, nm, &nm->dirs, err);
    if (r >= 0)
        r = open_store(nm, err);
    if (r >= 0)
        r = nm_limits_new(nm, &nm->limits, err);
    if (r >= 0)
        r = nm_assignments_new(nm, &nm->assignments, err);
    if (r >= 0)
        r = nm_numa_new(nm, &nm->numa, err);
    if (r >= 0)
        r = nm_mcs_new(nm, &nm->mcs, err);
    if (r >= 0)
        r = open_executor(nm, err);
    if (r >= 0) {
        r = nm_secrets_new(nm->store, nm->conf.hmac, &nm->secrets);
        if (r < 0)
            (void)sv_error_errno(err, r, "token secret managers");
    }
    if (r >= 0)
        r = nm_localization_new(nm, &nm->localization, err);
    if (r >= 0)
        r = nm_deletion_new(nm, &nm->deletion, err);
    if (r >= 0)
        r = nm_log_handler_new(nm, &nm->logs, err);
    if (r >= 0)
        r = nm_monitor_new(nm, &nm->monitor, err);
    if (r >= 0)
        r = nm_elastic_new(nm, &nm->elastic, err);
    if (r >= 0)
        r = nm_updater_new(nm, &nm->updater, err);
    if (r >= 0) {
        nm->finished = nm_finished_new();
        r = nm->finished ? 0 : sv_error_errno(err, -ENOMEM, "finished containers");
    }
    if (r >= 0)
        r = nm_recover(nm, err);
    if (r >= 0)
        nm_recover_sweep(nm);
    if (r >= 0)
        r = open_port(nm, open_rpc, err);
    if (r >= 0)
        r = open_port(nm, open_web, err);
    if (r >= 0)
        r = start_updater(nm, err);
    return r;
}

void nm_registered(struct nm *nm)
{
    (void)sd_notifyf(0, "READY=1\nSTATUS=registered as %s",
                     nm->node_id_text); /* no systemd is fine */
}

/* ---- end ------------------------------------------------------------------------------------*/

static void leave_loop(void *userdata)
{
    struct nm *nm = userdata;

    if (nm_store_commit(nm->store) < 0)
        sv_log_err("the last records could not be written");
    (void)sd_event_exit(nm->event, nm->exit_status); /* only fails after the loop has ended */
}

static void say_goodbye(struct nm *nm)
{
    nm->stop_timer = sd_event_source_disable_unref(nm->stop_timer);
    if (nm->leave_running || nm->decommissioned)
        leave_loop(nm);
    else
        nm_updater_unregister(nm->updater, leave_loop, nm);
}

static int on_stop_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct nm *nm = userdata;
    unsigned alive = 0;

    (void)usec;
    for (struct nm_container *c = nm->containers; c; c = c->hh.next)
        alive += !nm_container_is_done(c);
    if ((alive || nm_deletion_busy(nm->deletion)) && sv_now_ms() < nm->stop_deadline_ms) {
        (void)sd_event_source_set_time_relative(s, 20000);
        (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT); /* ours, ignoring */
        return 0;
    }
    if (alive)
        sv_log_warning("%u containers have not ended in time", alive);
    say_goodbye(nm);
    return 0;
}

static void kill_all(struct nm *nm)
{
    for (struct nm_app *a = nm->apps; a; a = a->hh.next)
        nm_app_finish(a, "Application killed on shutdown");
    nm->stop_deadline_ms = sv_now_ms() + nm->conf.sigkill_delay_ms + nm->conf.kill_wait_ms + 1000;
    if (sd_event_add_time_relative(nm->event, &nm->stop_timer, CLOCK_BOOTTIME, 1000, 0,
                                   on_stop_timer, nm) < 0)
        say_goodbye(nm);
}

void nm_stop(struct nm *nm, const char *why, int exit_status)
{
    sv_log_notice("stopping: %s", why);
    (void)sd_notify(0, "STOPPING=1");
    if (nm->stopping) { /* asked twice: now */
        leave_loop(nm);
        return;
    }
    nm->stopping = true;
    nm->exit_status = exit_status;
    nm->leave_running = nm->conf.recovery && nm->conf.recovery_supervised && !nm->decommissioned;
    if (nm->leave_running || !nm->updater)
        leave_loop(nm);
    else
        kill_all(nm);
}

void nm_free(struct nm *nm)
{
    nm->http = sv_http_free(nm->http);
    nm->rpc = ipc_server_free(nm->rpc);
    nm->updater = nm_updater_free(nm->updater);
    nm->store = nm_store_close(nm->store); /* waiters answer their calls a last time */
    while (nm->containers) {
        struct nm_container *c = nm->containers;

        nm_localization_release(c);
        nm_container_remove(c);
    }
    while (nm->apps)
        nm_app_remove(nm->apps);
    while (nm->queue) {
        struct nm_event *e = nm->queue;

        DL_DELETE(nm->queue, e);
        free(e->text);
        free(e);
    }
    nm_container_free_dead(nm);
    nm_app_free_dead(nm);
    nm->finished = nm_finished_free(nm->finished);
    nm->elastic = nm_elastic_free(nm->elastic);
    nm->monitor = nm_monitor_free(nm->monitor);
    nm->logs = nm_log_handler_free(nm->logs);
    nm->deletion = nm_deletion_free(nm->deletion);
    nm->localization = nm_localization_free(nm->localization);
    nm->secrets = nm_secrets_free(nm->secrets);
    nm->mounts = nm_mount_watch_free(nm->mounts);
    nm->exe = exe_free(nm->exe);
    nm_app_free_inits(nm);
    nm_launch_free_terms(nm);
    nm->cgroups = cg_root_free(nm->cgroups);
    nm->limits = nm_limits_free(nm->limits);
    nm->assignments = nm_assignments_free(nm->assignments);
    nm->numa = nm_numa_free(nm->numa);
    nm->mcs = nm_mcs_free(nm->mcs);
    nm->dirs = nm_dirs_free(nm->dirs);
    sd_event_source_disable_unref(nm->stop_timer);
    sd_event_source_disable_unref(nm->clear_timer);
    sd_event_source_disable_unref(nm->reach_timer);
    nm_conf_free(&nm->conf);
}
