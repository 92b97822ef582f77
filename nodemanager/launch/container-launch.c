/* See container-launch.h. The order that preserves every record: directories are chosen and
 * recorded before the request is acknowledged; an exit is recorded before it is reported; the exit
 * record of executor/ is deleted only after that. */
#include "nodemanager/launch/container-launch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "executor/script.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container-diagnostics.h"
#include "nodemanager/core/container-paths.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/launch/container-cleanup.h"
#include "nodemanager/launch/container-env.h"
#include "nodemanager/launch/launcher.h"
#include "nodemanager/launch/live-links.h"
#include "nodemanager/launch/relaunch.h"
#include "nodemanager/launch/share-wait.h"
#include "nodemanager/launch/tighter.h"
#include "nodemanager/launch/wanted-ports.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/container-scheduler.h"
#include "nodemanager/resources/numa.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/resources/set-limit.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/store/state-store.h"
#include "wire/exit-status.h"

static const uint8_t no_credentials[] = { 'H', 'D', 'T', 'S', 0, 0, 0 };

/* ---- exits ----------------------------------------------------------------------------------*/

/* The exit is committed: report it, and delete the exit record of executor/. */
static void on_recorded(void *userdata, int result)
{
    struct nm_container *c = userdata;
    int event = c->launch.exit.event;

    if (result < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cannot record exit in state store: %s", c->text,
               strerror(-result));
    if (c->launch.exe) {
        exe_container_forget(c->launch.exe);
        c->launch.exe = NULL;
    }
    c->recovering = false;
    c->launch.exit.again = c->launch.exit.again && result >= 0;
    if (c->launch.exit.again)
        nm_relaunch_prepare(c);
    else
        nm_launch_release(c);
    c->launch.exit.event = 0;
    c->launch.exit.ran = false;
    nm_container_post_exit(c, event, c->launch.exit.code, c->launch.exit.text);
    free(c->launch.exit.text);
    c->launch.exit.text = NULL;
}

/* The final exit code of the container: for signals a recorded kill determines it. */
static int final_code(const struct nm_container *c, int code)
{
    bool by_signal = code == YARN_EXIT_FORCE_KILLED || code == YARN_EXIT_TERMINATED;

    return c->kill_requested && by_signal ? c->kill_code : code;
}

void nm_launch_release(struct nm_container *c)
{
    c->launch.exit.again = false;
    c->launch.exit.replaced = NM_REINIT_NONE;
    nm_relaunch_cancel(c);
    if (!c->launch.launcher)
        return;
    nm_assign_release(c->launch.launcher->assignments, c);
    nm_numa_release(c->launch.launcher->numa, c);
}

/* The container has ended: whatever comes until the exit is recorded finds it so. */
static void begin_exit(struct nm_container *c, int event, int code)
{
    c->launch.kill_timer = sd_event_source_disable_unref(c->launch.kill_timer);
    c->launch.exit.event = event;
    c->launch.exit.code = code;
}

/* Takes ownership of `text`. */
static void record_exit(struct nm_container *c, char *text)
{
    struct nm_store *store = c->ctx->store;
    const int code = c->launch.exit.code;
    int r;

    c->launch.exit.text = text;
    r = nm_relaunch_decide(c, &c->launch.exit.event, code);
    c->launch.exit.again = r > 0;
    if (r == 0)
        r = nm_store_container_completed(store, c->text, final_code(c, code));
    if (r >= 0)
        r = nm_store_after_commit(store, on_recorded, c);
    if (r < 0)
        on_recorded(c, r);
}

/* Takes ownership of `text`. */
static void finish(struct nm_container *c, int event, int code, char *text)
{
    begin_exit(c, event, code);
    record_exit(c, text);
}

/* Diagnostics of the executor precede those of the exit, as in Hadoop: two entries. Takes ownership
 * of `text`. */
static void post_diagnostics(struct nm_container *c, char *text)
{
    if (text)
        nm_container_post(c, NM_CONTAINER_EV_UPDATE_DIAGNOSTICS, text);
    free(text);
}

/* Hadoop's launcher adds the text of a failure to the diagnostics and to the event as well, so that
 * it appears twice; the diagnostics here are equal. */
static void on_failure_text(struct nm_container *c, char *text)
{
    post_diagnostics(c, text ? strdup(text) : NULL);
    record_exit(c, text);
}

/* Its error files are read first, by the thread of their disk. */
static void finish_failed(struct nm_container *c, int code)
{
    begin_exit(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, code);
    nm_diagnostics_exit(c, code, on_failure_text);
}

static void fail(struct nm_container *c, int code, const char *why)
{
    sv_log(SV_LOG_WARNING, c->text, "%s: launch failed: %s", c->text, why);
    post_diagnostics(c, nm_diagnostics_exception(c, code, why));
    finish_failed(c, code);
}

static void count_launch(const struct nm_container *c)
{
    struct nm_counters *n = &c->ctx->counters;
    int64_t ms = c->launch_ms - c->start_ms - c->localize_ms;

    n->launched++;
    sv_rate_add(&n->launches, (double)SV_MAX(ms, (int64_t)0), sv_now_ms());
    sv_histogram_add(&n->launch_times, ms);
    sv_histogram_add(&n->request_times, c->launch_ms - c->start_ms);
}

/* ---- events of executor/ ----------------------------------------------------------------------*/

/* The last daemon has recorded a kill: it goes on, or has had its effect. */
static void post_recorded_kill(struct nm_container *c)
{
    if (c->kill_requested)
        nm_container_post_exit(c, NM_CONTAINER_EV_KILL, c->kill_code,
                               "Container was being killed when the NodeManager restarted.");
}

static void on_started(struct exe_container *x, pid_t pid, void *userdata)
{
    struct nm_container *c = userdata;
    int r = 0;

    (void)x;
    c->recovering = false;
    c->launch.pid = pid;
    if (!c->launch_ms)
        c->launch_ms = sv_wall_ms();
    c->launch.frozen = c->recovered != NM_RECOVERED_NOT && nm_cleanup_is_frozen(c);
    if (c->recovered == NM_RECOVERED_NOT) {
        nm_health_launch_succeeded(c->ctx->health);
        if (!c->launch.again)
            count_launch(c);
    }
    if (c->recovered != NM_RECOVERED_LAUNCHED)
        r = nm_store_container_launched(c->ctx->store, c->text, c->launch_ms);
    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cannot record launch in state store: %s", c->text,
               strerror(-r));
    nm_container_post(c,
                      c->launch.frozen && !c->launch.cleanup_started
                          ? NM_CONTAINER_EV_RECOVER_PAUSED
                          : NM_CONTAINER_EV_LAUNCHED,
                      NULL);
    if (c->launch.cleanup_started) { /* requested before the helper had answered */
        c->launch.cleanup_started = false;
        nm_cleanup_container(c);
    } else { /* adopted */
        post_recorded_kill(c);
    }
}

static void finish_before_launch(struct nm_container *c)
{
    finish(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_TERMINATED,
           strdup("Container terminated before launch."));
}

/* The end of a process, by the exit record of the launch that began then. */
static void note_end(struct nm_container *c, int64_t start_ms)
{
    c->launch.exit.ran = true;
    c->launch.ended_ms = start_ms;
}

/* A recovered container for which executor/ has neither a process nor an exit record, or one of a
 * launch that another was decided to follow. */
static void on_not_adopted(struct nm_container *c)
{
    exe_container_forget(c->launch.exe);
    c->launch.exe = NULL;
    c->recovering = false;
    if (c->recovered == NM_RECOVERED_LAUNCHED) {
        nm_container_post(c, NM_CONTAINER_EV_LAUNCHED, NULL);
        note_end(c, 0);
        finish_failed(c, YARN_EXIT_LOST);
    } else if (c->state == NM_CONTAINER_KILLING) {
        finish_before_launch(c);
    } else if (c->kill_requested) { /* before the adoption, by this daemon or the one before */
        nm_container_kill(c, c->kill_code, NULL);
    } else { /* it waited, or the daemon died before it requested the launch */
        c->recovered = NM_RECOVERED_NOT;
        nm_scheduler_add(c->launch.launcher->scheduler, c, true);
    }
}

static void on_failed(struct exe_container *x, const struct exe_failure *f, void *userdata)
{
    struct nm_container *c = userdata;

    (void)x;
    if (c->recovering && f->status == EXE_STATUS_LOST) {
        on_not_adopted(c);
        return;
    }
    nm_health_launch_failed(c->ctx->health, c->id.attempt.app, f);
    if (c->state == NM_CONTAINER_KILLING)
        finish_before_launch(c);
    else
        fail(c, f->exit_code, f->text);
}

static void note_usage(struct nm_container *c, const struct exe_exit *e)
{
    if (e->end_ms)
        c->finish_ms = e->end_ms;
    if (e->start_ms && !c->launch_ms)
        c->launch_ms = e->start_ms;
    if (e->usage.cpu_usec)
        nm_container_take_usage(c, &e->usage);
    else if (e->utime_us + e->stime_us > c->usage.last.cpu_usec)
        c->usage.last.cpu_usec = e->utime_us + e->stime_us;
    c->usage.peak_bytes = SV_MAX(c->usage.peak_bytes, e->usage.memory_peak);
    c->usage.peak_bytes = SV_MAX(c->usage.peak_bytes, e->maxrss_kib << 10);
}

static void on_exited(struct exe_container *x, const struct exe_exit *e, void *userdata)
{
    struct nm_container *c = userdata;
    int code = e->lost ? YARN_EXIT_LOST : e->exit_code;
    char *text = NULL;

    (void)x;
    if (nm_relaunch_is_stale(c, e->start_ms)) {
        on_not_adopted(c);
        return;
    }
    c->recovering = false;
    note_end(c, e->start_ms);
    if (c->state == NM_CONTAINER_SCHEDULED && !c->launch.pid) { /* adopted after its end */
        nm_container_post(c, NM_CONTAINER_EV_LAUNCHED, NULL);
        post_recorded_kill(c);
    }
    note_usage(c, e);
    if (e->oom && !c->kill_requested) {
        finish(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, YARN_EXIT_KILLED_EXCEEDED_PMEM,
               nm_diagnostics_memory(c, c->launch.pid, e->usage.memory_peak,
                                     e->usage.oom ? NM_MEMORY_BY_KERNEL : NM_MEMORY_BY_NODE));
        return;
    }
    if (code == 0) {
        finish(c, NM_CONTAINER_EV_EXITED_WITH_SUCCESS, 0, NULL);
        return;
    }
    if (code == YARN_EXIT_FORCE_KILLED || code == YARN_EXIT_TERMINATED) {
        if (sv_asprintf(&text, "Container killed on request. Exit code is %d", code) >= 0)
            post_diagnostics(c, text);
        begin_exit(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, code);
        nm_diagnostics_exit(c, code, record_exit);
        return;
    }
    post_diagnostics(c, nm_diagnostics_exception(c, code, ""));
    finish_failed(c, code);
}

static void on_oom(struct exe_container *x, void *userdata)
{
    struct nm_container *c = userdata;

    (void)x;
    sv_log(SV_LOG_WARNING, c->text,
           "%s: the kernel has killed a process at the memory limit (%lld MB); the container ends",
           c->text, (long long)c->resource.memory_mb);
}

static const struct exe_container_ops ops = {
    .started = on_started,
    .failed = on_failed,
    .exited = on_exited,
    .oom = on_oom,
};

/* ---- launch ---------------------------------------------------------------------------------*/

static int build_script(struct nm_container *c, struct sv_buf *out, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct nm_conf *conf = c->ctx->conf;
    char log_dir[PATH_MAX];
    struct exe_env *env = NULL;
    struct exe_link *links = NULL;
    struct exe_script s = { .niceness = conf->niceness,
                            .debug_info = conf->debug_info,
                            .debug_program = exe_debug_program(c->ctx->exe) };
    const char *java = nm_env_value(c, "JAVA_HOME");
    int r;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "%s", c->text);
    r = nm_container_log_dir(c, log_dir, sizeof(log_dir));
    if (r < 0)
        return sv_error_errno(err, r, "%s: log directory", c->text);
    r = nm_env_build(c, c->launch.launcher->aux, a, &env, &s.n_env, err);
    if (r < 0)
        return r;
    r = nm_resources_links(c, a, &links, &s.n_links);
    if (r < 0)
        return sv_error_errno(err, r, "%s: links", c->text);
    s.env = env;
    s.links = links;
    s.again = c->launch.again;
    s.commands = (const char *const *)c->clc->command;
    s.n_commands = c->clc->n_command;
    s.log_dir = log_dir;
    s.add_opens = conf->add_opens ? conf->add_opens : java ? exe_add_opens(java) : "";
    return exe_script_build(&s, out, err);
}

/* As in Hadoop, no launch with too few good directories, or without one that accepts new files. */
static bool has_disks(const struct nm_container *c, const struct exe_launch *l)
{
    const char *report;

    return !c->launch.no_dirs && nm_dirs_healthy(c->ctx->dirs, &report) &&
           l->local_mask & (1u << c->launch.local_dir) && l->log_mask & (1u << c->launch.log_dir);
}

static void fail_disks(struct nm_container *c)
{
    char why[NM_HEALTH_REPORT_MAX + 64];
    const char *report = "";

    (void)nm_dirs_healthy(c->ctx->dirs, &report);
    snprintf(why, sizeof(why), "Most of the disks failed. %s", report);
    fail(c, YARN_EXIT_DISKS_FAILED, why);
}

/* A job that requests an image must not run on the host instead. */
static bool runtime_allowed(const struct nm_container *c)
{
    const char *type = nm_env_value(c, "YARN_CONTAINER_RUNTIME_TYPE");

    return !type || !*type || strcasecmp(type, "default") == 0;
}

static void share_fails(struct nm_container *c, const char *why)
{
    char text[2 * SV_ERROR_TEXT_MAX];

    if (!c->launch.waits_since_ms) {
        fail(c, YARN_EXIT_NOT_LAUNCHED, why);
        return;
    }
    (void)snprintf(text, sizeof(text),
                   "Could not get valid GPU device for container '%s' as some other containers "
                   "might not releasing GPUs.\n%s",
                   c->text, why);
    fail(c, YARN_EXIT_NOT_LAUNCHED, text);
}

/* True if the container has what it needs alone. Else it waits, or it is launched when that is
 * recorded, or its launch has failed. */
static bool has_share(struct nm_container *c)
{
    struct nm_assignments *a = c->launch.launcher->assignments;
    char assigned[NM_ASSIGNED_TEXT_MAX];
    struct sv_error why = { 0 };
    int r;

    if (nm_assign_is_whole(a, c))
        return true;
    r = nm_assign(a, c, assigned, &why);
    if (r < 0) {
        if (!nm_assign_may_come(a, c) || !nm_share_wait(c))
            share_fails(c, why.text);
        return false;
    }
    r = nm_store_container_assigned(c->ctx->store, c->text, assigned);
    if (r >= 0)
        r = nm_share_recorded(c);
    if (r < 0)
        fail(c, YARN_EXIT_NOT_LAUNCHED, "its GPUs cannot be recorded in the state store");
    return false;
}

/* Applies the wishes of the container itself. */
static int tighten(struct nm_container *c, struct exe_launch *l, struct sv_error *err)
{
    struct nm_tighter t;
    int r = nm_tighter_of(c, &t, err);

    if (r < 0)
        return r;
    l->profile = t.profile;
    l->network = t.network;
    r = nm_limit_want(c, t.pids);
    return r < 0 ? sv_error_errno(err, r, "%s: its limits cannot be recorded", c->text) : 0;
}

/* In a network of its own a container has all ports. False: the launch has failed. */
static bool has_ports(struct nm_container *c, enum exe_network network)
{
    const char *ports = nm_env_own_value(c, YARN_VARIABLE_PORTS);
    struct sv_error err = { 0 };
    int r = ports && network == EXE_NETWORK_HOST ? nm_ports_try(ports, &err) : 0;

    if (r < 0)
        fail(c, r == -EADDRINUSE ? YARN_EXIT_PORT_CONFLICT : YARN_EXIT_NOT_LAUNCHED, err.text);
    return r == 0;
}

static void launch_new(struct nm_container *c)
{
    _cleanup_buf_ struct sv_buf script = SV_BUF_INIT(EXE_FILE_MAX);
    struct sv_error err = { 0 };
    struct exe_launch l = {
        .id = c->id,
        .user = c->app->run_as,
        .submitter = c->app->user,
        .local_mask = nm_dirs_local_usable(c->ctx->dirs) & c->app->local_dirs,
        .log_mask = nm_dirs_log_usable(c->ctx->dirs) & c->app->log_dirs,
        .work_dir = (unsigned)c->launch.local_dir,
        .categories = c->app->categories,
        .again = c->launch.again,
        .door = c->ctx->conf->exec.enabled,
        .credentials = no_credentials,
        .credentials_len = sizeof(no_credentials),
    };
    int r = nm_container_load_request(c);

    if (r < 0) {
        fail(c, YARN_EXIT_NOT_LAUNCHED, "its launch context cannot be read from the state store");
        return;
    }
    if (!has_disks(c, &l)) {
        if (l.again && c->app->initing) /* soon after a restart: which ones it has is asked */
            nm_relaunch_after(c, NM_RELAUNCH_PROBE_MS);
        else
            fail_disks(c);
        return;
    }
    if (!runtime_allowed(c)) {
        fail(c, YARN_EXIT_NOT_LAUNCHED, "Requested runtime not allowed.");
        return;
    }
    if (tighten(c, &l, &err) < 0) {
        fail(c, YARN_EXIT_NOT_LAUNCHED, err.text);
        return;
    }
    if (!has_share(c) || (nm_resources_to_come(c) && nm_relaunch_wait(c)))
        return;
    if (!has_ports(c, l.network))
        return;
    if (!c->share.numa)
        nm_numa_assign(c->launch.launcher->numa, c);
    nm_limits_of(c, &l.resource);
    nm_assign_launch(c->launch.launcher->assignments, c, &l);
    r = build_script(c, &script, &err);
    if (r >= 0) {
        l.script = script.data;
        l.script_len = script.len;
        if (c->clc->has_tokens && c->clc->tokens.len) {
            l.credentials = c->clc->tokens.data;
            l.credentials_len = c->clc->tokens.len;
        }
        r = exe_launch(c->ctx->exe, &l, &ops, c, &c->launch.exe, &err);
    }
    if (r < 0)
        c->launch.exe = NULL;
    if (r == -EEXIST && l.again && nm_relaunch_wait(c))
        return;
    if (r < 0)
        fail(c, YARN_EXIT_NOT_LAUNCHED, err.text);
}

void nm_launch_start(struct nm_launcher *launcher, struct nm_container *c)
{
    struct sv_error err = { 0 };
    int r;

    c->launch.launcher = launcher;
    if (!c->recovering) {
        launch_new(c);
        return;
    }
    r = exe_adopt(c->ctx->exe, c->id, c->app->run_as, (unsigned)c->launch.local_dir, &ops, c,
                  &c->launch.exe, &err);
    if (r < 0) {
        c->launch.exe = NULL;
        c->recovering = false;
        sv_log(SV_LOG_ERR, c->text, "%s: cannot be adopted: %s", c->text, err.text);
        nm_container_post(c, NM_CONTAINER_EV_LAUNCHED, NULL);
        finish_failed(c, YARN_EXIT_LOST);
        return;
    }
    nm_numa_adopt(launcher->numa, c);
}

/* ---- service --------------------------------------------------------------------------------*/

static void start_scheduled(void *launcher, struct nm_container *c)
{
    nm_launch_start(launcher, c);
}

struct nm_launcher *nm_launcher_new(struct nm_context *ctx, struct nm_assignments *assignments,
                                    struct nm_scheduler *scheduler, struct nm_numa *numa,
                                    const struct nm_aux *aux)
{
    struct nm_launcher *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    *l = (struct nm_launcher){ .ctx = ctx,
                               .assignments = assignments,
                               .scheduler = scheduler,
                               .numa = numa,
                               .aux = aux,
                               .again = nm_launch_start };
    nm_assignments_on_release(assignments, nm_share_released, l);
    nm_scheduler_on_start(scheduler, start_scheduled, l);
    return l;
}

struct nm_launcher *nm_launcher_free(struct nm_launcher *l)
{
    if (!l)
        return NULL;
    nm_assignments_on_release(l->assignments, NULL, NULL);
    nm_share_stop(l);
    nm_cleanup_free_terms(l);
    nm_live_links_free(l);
    free(l);
    return NULL;
}
