/* See container-launch.h. The order that nothing is lost by: directories are chosen and on record
 * before the request is acknowledged; an exit is on record before anybody hears of it; the exit
 * record of executor/ goes only after that. */
#include "nodemanager/launch/container-launch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "executor/script.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container-diagnostics.h"
#include "nodemanager/core/container.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/launch/container-env.h"
#include "nodemanager/nm.h"
#include "nodemanager/resources/numa.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/store/state-store.h"

#define TERM_MS                                                                                    \
    20000 /* for SIGTERM to reach a container; the helper gives up what it runs for it after ten   \
             seconds */

static const uint8_t no_credentials[] = { 'H', 'D', 'T', 'S', 0, 0, 0 };

int nm_launch_work_dir(const struct nm_container *c, char *buf, size_t size)
{
    const char *top = nm_dirs_local(c->nm->dirs, c->local_dir);
    int n = top ? snprintf(buf, size, "%s/usercache/%s/appcache/%s/%s", top, c->app->run_as,
                           c->app->text, c->text)
                : -1;

    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int nm_launch_log_dir(const struct nm_container *c, int index, char *buf, size_t size)
{
    const char *top = nm_dirs_log(c->nm->dirs, index);
    char app[YARN_ID_TEXT_MAX];
    int n = top ? snprintf(buf, size, "%s/%s/%s", top, yarn_app_id_text(c->id.attempt.app, app),
                           c->text)
                : -1;

    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* ---- ends -----------------------------------------------------------------------------------*/

/* The record of the end is in the store: now others may hear of it, and what executor/ kept may
 * go. */
static void on_recorded(void *userdata, bool ok)
{
    struct nm_container *c = userdata;
    int event = c->pending_event;

    if (!ok)
        sv_log(SV_LOG_ERR, c->text, "%s: its exit is not on record", c->text);
    if (c->exe) {
        exe_container_forget(c->exe);
        c->exe = NULL;
    }
    c->recovering = false;
    nm_assign_release(c);
    nm_numa_release(c);
    c->pending_event = 0;
    nm_post_container(c, event, c->pending_code, c->pending_text);
    free(c->pending_text);
    c->pending_text = NULL;
}

/* The exit code that the container will end with, which a recorded kill decides for signals. */
static int final_code(const struct nm_container *c, int code)
{
    bool by_signal = code == YARN_EXIT_FORCE_KILLED || code == YARN_EXIT_TERMINATED;

    return c->kill_requested && by_signal ? c->kill_code : code;
}

/* `text` is taken. */
static void finish(struct nm_container *c, int event, int code, char *text)
{
    c->kill_timer = sd_event_source_disable_unref(c->kill_timer);
    c->pending_event = event;
    c->pending_code = code;
    c->pending_text = text;
    if (nm_store_container_completed(c->nm->store, c->text, final_code(c, code)) < 0 ||
        nm_store_after_commit(c->nm->store, on_recorded, c) < 0)
        on_recorded(c, false);
}

/* Diagnostics of the executor come before those of the exit, as in Hadoop: two entries. */
static void say(struct nm_container *c, char *text)
{
    if (text)
        nm_post_container(c, NM_CONTAINER_EV_UPDATE_DIAGNOSTICS, 0, text);
    free(text);
}

/* Hadoop's launcher puts the text of a failure into the diagnostics and into the event as well, so
 * that it stands there twice; whoever compares finds the same here. */
static void finish_failed(struct nm_container *c, int code)
{
    char *text = nm_diagnostics_exit(c, code);

    say(c, text ? strdup(text) : NULL);
    finish(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, code, text);
}

static void fail(struct nm_container *c, int code, const char *why)
{
    sv_log(SV_LOG_WARNING, c->text, "%s: launch failed: %s", c->text, why);
    say(c, nm_diagnostics_exception(c, code, why));
    finish_failed(c, code);
}

/* ---- what executor/ tells --------------------------------------------------------------------*/

static void on_started(struct exe_container *x, pid_t pid, void *userdata)
{
    struct nm_container *c = userdata;

    (void)x;
    c->recovering = false;
    c->pid = pid;
    if (!c->launch_ms)
        c->launch_ms = sv_wall_ms();
    if (c->recovered != NM_RECOVERED_LAUNCHED &&
        nm_store_container_launched(c->nm->store, c->text, c->launch_ms) < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: its launch is not on record", c->text);
    nm_post_container(c, NM_CONTAINER_EV_LAUNCHED, 0, NULL);
    if (c->cleanup_started) { /* asked for while the helper was at work */
        c->cleanup_started = false;
        nm_launch_cleanup(c);
    } else if (c->kill_requested) { /* adopted after a kill that was recorded */
        nm_post_container(c, NM_CONTAINER_EV_KILL, c->kill_code,
                          "Container was being killed when the NodeManager restarted.");
    }
}

static void launch_new(struct nm_container *c);

static void on_failed(struct exe_container *x, const struct exe_failure *f, void *userdata)
{
    struct nm_container *c = userdata;

    (void)x;
    if (c->recovering && f->status == EXE_STATUS_LOST) {
        exe_container_forget(c->exe);
        c->exe = NULL;
        c->recovering = false;
        if (c->recovered == NM_RECOVERED_LAUNCHED) {
            nm_post_container(c, NM_CONTAINER_EV_LAUNCHED, 0, NULL);
            finish_failed(c, YARN_EXIT_LOST);
        } else if (c->state == NM_CONTAINER_KILLING) {
            finish(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_TERMINATED,
                   strdup("Container terminated before launch."));
        } else if (c->kill_requested) { /* before the adoption, by this daemon or the one before */
            nm_container_kill(c, c->kill_code, NULL);
        } else { /* the daemon died before it had asked for the launch */
            c->recovered = NM_RECOVERED_NOT;
            launch_new(c);
        }
        return;
    }
    if (f->node_unhealthy)
        nm_set_unhealthy(c->nm, f->text);
    if (c->state == NM_CONTAINER_KILLING) {
        finish(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_TERMINATED,
               strdup("Container terminated before launch."));
        return;
    }
    fail(c, f->exit_code, f->text);
}

static void on_exited(struct exe_container *x, const struct exe_exit *e, void *userdata)
{
    struct nm_container *c = userdata;
    int code = e->lost ? YARN_EXIT_LOST : e->exit_code;
    char *text = NULL;

    (void)x;
    c->recovering = false;
    if (c->state == NM_CONTAINER_SCHEDULED) /* adopted after its end */
        nm_post_container(c, NM_CONTAINER_EV_LAUNCHED, 0, NULL);
    if (e->end_ms)
        c->finish_ms = e->end_ms;
    if (e->start_ms && !c->launch_ms)
        c->launch_ms = e->start_ms;
    if (e->usage.cpu_usec)
        c->usage = e->usage;
    else if (e->utime_us + e->stime_us > c->usage.cpu_usec)
        c->usage.cpu_usec = e->utime_us + e->stime_us;
    c->peak_bytes = SV_MAX(c->peak_bytes, e->usage.memory_peak);
    c->peak_bytes = SV_MAX(c->peak_bytes, e->maxrss_kib << 10);
    if (e->oom && !c->kill_requested) {
        finish(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, YARN_EXIT_KILLED_EXCEEDED_PMEM,
               nm_diagnostics_memory(c, c->pid, e->usage.memory_peak,
                                     e->usage.oom ? NM_MEMORY_BY_KERNEL : NM_MEMORY_BY_NODE));
        return;
    }
    if (code == 0) {
        finish(c, NM_CONTAINER_EV_EXITED_WITH_SUCCESS, 0, NULL);
        return;
    }
    if (code == YARN_EXIT_FORCE_KILLED || code == YARN_EXIT_TERMINATED) {
        if (sv_asprintf(&text, "Container killed on request. Exit code is %d", code) >= 0)
            say(c, text);
        finish(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, code, nm_diagnostics_exit(c, code));
        return;
    }
    say(c, nm_diagnostics_exception(c, code, ""));
    finish_failed(c, code);
}

static void on_oom(struct exe_container *x, void *userdata)
{
    struct nm_container *c = userdata;

    (void)x;
    sv_log(SV_LOG_WARNING, c->text,
           "%s: the kernel has killed for memory (%lld MB); all of it ends", c->text,
           (long long)c->resource.memory_mb);
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
    const struct nm_conf *conf = &c->nm->conf;
    char log_dir[PATH_MAX];
    struct exe_env *env = NULL;
    struct exe_link *links = NULL;
    struct exe_script s = { .debug_info = conf->debug_info };
    const char *java = nm_env_value(c, "JAVA_HOME");
    int r;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "%s", c->text);
    r = nm_launch_log_dir(c, c->log_dir, log_dir, sizeof(log_dir));
    if (r < 0)
        return sv_error_errno(err, r, "%s: log directory", c->text);
    r = nm_env_build(c, a, &env, &s.n_env, err);
    if (r < 0)
        return r;
    r = nm_localization_links(c, a, &links, &s.n_links);
    if (r < 0)
        return sv_error_errno(err, r, "%s: links", c->text);
    s.env = env;
    s.links = links;
    s.commands = (const char *const *)c->clc->command;
    s.n_commands = c->clc->n_command;
    s.log_dir = log_dir;
    s.add_opens = conf->add_opens ? conf->add_opens : java ? exe_add_opens(java) : "";
    return exe_script_build(&s, out, err);
}

static void launch_new(struct nm_container *c)
{
    _cleanup_buf_ struct sv_buf script = SV_BUF_INIT(EXE_FILE_MAX);
    struct sv_error err = { 0 };
    const struct nm_conf *conf = &c->nm->conf;
    struct exe_launch l = {
        .id = c->id,
        .user = c->app->run_as,
        .local_mask = nm_dirs_local_mask(c->nm->dirs),
        .log_mask = nm_dirs_log_mask(c->nm->dirs),
        .work_dir = (unsigned)c->local_dir,
        .profile = conf->profile,
        .network = conf->network,
        .categories = c->app->categories,
        .credentials = no_credentials,
        .credentials_len = sizeof(no_credentials),
    };
    int r;

    if (!(l.local_mask & (1u << c->local_dir)) || !(l.log_mask & (1u << c->log_dir))) {
        fail(c, YARN_EXIT_DISKS_FAILED, "Most of the disks failed.");
        return;
    }
    if (c->unassigned) {
        fail(c, YARN_EXIT_INVALID, c->unassigned);
        return;
    }
    nm_numa_assign(c);
    nm_limits_of(c, &l.resource);
    nm_assign_launch(c, &l);
    r = build_script(c, &script, &err);
    if (r >= 0) {
        l.script = script.data;
        l.script_len = script.len;
        if (c->clc->has_tokens && c->clc->tokens.len) {
            l.credentials = c->clc->tokens.data;
            l.credentials_len = c->clc->tokens.len;
        }
        r = exe_launch(c->nm->exe, &l, &ops, c, &c->exe, &err);
    }
    if (r < 0) {
        c->exe = NULL;
        fail(c, YARN_EXIT_INVALID, err.text);
    }
}

void nm_launch_start(struct nm_container *c)
{
    struct sv_error err = { 0 };
    int r;

    if (!c->recovering) {
        launch_new(c);
        return;
    }
    r = exe_adopt(c->nm->exe, c->id, c->app->run_as, (unsigned)c->local_dir, &ops, c, &c->exe,
                  &err);
    if (r < 0) {
        c->exe = NULL;
        c->recovering = false;
        sv_log(SV_LOG_ERR, c->text, "%s: cannot be adopted: %s", c->text, err.text);
        nm_post_container(c, NM_CONTAINER_EV_LAUNCHED, 0, NULL);
        finish_failed(c, YARN_EXIT_LOST);
        return;
    }
    nm_numa_adopt(c);
}

/* ---- end ------------------------------------------------------------------------------------*/

static int on_kill_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct nm_container *c = userdata;
    int r;

    (void)s;
    (void)usec;
    c->kill_timer = sd_event_source_disable_unref(c->kill_timer);
    r = c->exe ? exe_kill(c->exe) : 0;
    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cgroup.kill: %s", c->text, strerror(-r));
    return 0;
}

/* SIGTERM on its way. The container may be gone when it has come: found again by name. */
struct nm_launch_term {
    struct nm_launch_term *prev, *next;
    struct nm *nm;
    char text[YARN_ID_TEXT_MAX];
};

static void term_free(struct nm_launch_term *t)
{
    DL_DELETE(t->nm->terms, t);
    free(t);
}

void nm_launch_free_terms(struct nm *nm)
{
    while (nm->terms)
        term_free(nm->terms);
}

/* From here on it has the time that is configured: a busy node's helper may take longer than that
 * to come to it. */
static void on_terminated(const struct exe_failure *f, void *userdata)
{
    struct nm_launch_term *t = userdata;
    struct nm_container *c = nm_container_find(t->nm, t->text);

    if (f) /* it may have ended meanwhile; cgroup.kill follows in any case */
        sv_log_debug("signal: %s", f->text);
    if (c && c->kill_timer)
        (void)sd_event_source_set_time_relative(c->kill_timer,
                                                (uint64_t)t->nm->conf.sigkill_delay_ms * 1000);
    term_free(t);
}

static int terminate(struct nm_container *c)
{
    struct nm_launch_term *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return -ENOMEM;
    t->nm = c->nm;
    memcpy(t->text, c->text, sizeof(t->text));
    r = exe_signal(c->exe, SIGTERM, on_terminated, t);
    if (r < 0)
        free(t);
    else
        DL_APPEND(c->nm->terms, t);
    return r;
}

static void on_signalled(const struct exe_failure *f, void *userdata)
{
    (void)userdata;
    if (f) /* it may have ended meanwhile */
        sv_log_debug("signal: %s", f->text);
}

void nm_launch_cleanup(struct nm_container *c)
{
    int64_t delay = c->nm->conf.sigkill_delay_ms;
    int r = -EAGAIN;

    if (!c->exe || c->cleanup_started || c->pending_event)
        return;
    c->cleanup_started = true;
    if (!c->pid)
        return; /* on_started comes back here */
    if (delay > 0)
        r = terminate(c);
    if (r >= 0)
        r = sd_event_add_time_relative(c->nm->event, &c->kill_timer, CLOCK_BOOTTIME,
                                       (uint64_t)(delay + TERM_MS) * 1000, 1000, on_kill_timer, c);
    if (r < 0) {
        r = exe_kill(c->exe);
        if (r < 0)
            sv_log(SV_LOG_ERR, c->text, "%s: cgroup.kill: %s", c->text, strerror(-r));
    }
}

int nm_launch_signal(struct nm_container *c, int signal)
{
    if (!c->exe || !c->pid || c->pending_event)
        return -ESRCH;
    if (signal == SIGKILL)
        return exe_kill(c->exe);
    return exe_signal(c->exe, signal, on_signalled, NULL);
}
