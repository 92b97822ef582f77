/* See container-cleanup.h. */
#include "nodemanager/launch/container-cleanup.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "executor/exe.h"
#include "executor/request.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/launcher.h"
#include "wire/ipc/methods.h"

#define TERM_MS 20000 /* for delivery of SIGTERM; the helper's own limit is ten seconds */

static int on_kill_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_container *c = userdata;
    int r;

    (void)s;
    (void)usec;
    c->launch.kill_timer = sd_event_source_disable_unref(c->launch.kill_timer);
    r = c->launch.exe ? exe_kill(c->launch.exe) : 0;
    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cgroup.kill: %s", c->text, strerror(-r));
    return 0;
}

/* A request to send SIGTERM before a kill, or a signal that was asked for. The container may have
 * ended when the answer arrives: it is looked up by name. */
struct nm_cleanup_term {
    struct nm_cleanup_term *prev, *next;
    struct nm_launcher *launcher;
    int signal;
    char text[YARN_ID_TEXT_MAX];
};

static void term_free(struct nm_cleanup_term *t)
{
    DL_DELETE(t->launcher->terms, t);
    free(t);
}

void nm_cleanup_free_terms(struct nm_launcher *launcher)
{
    while (launcher->terms)
        term_free(launcher->terms);
}

/* The configured delay starts here: on a busy node the helper may take longer than that to send the
 * signal. */
static void on_terminated(const struct exe_failure *f, const char *sent, void *userdata)
{
    struct nm_cleanup_term *t = userdata;
    const struct nm_context *ctx = t->launcher->ctx;
    struct nm_container *c = nm_container_find(ctx, t->text);

    (void)sent;
    if (f) /* it may have ended meanwhile; cgroup.kill follows in any case */
        sv_log_debug("signal: %s", f->text);
    if (c && c->launch.kill_timer)
        (void)sd_event_source_set_time_relative(c->launch.kill_timer,
                                                (uint64_t)ctx->conf->sigkill_delay_ms * 1000);
    term_free(t);
}

static int send(struct nm_container *c, int signal, exe_signalled done)
{
    struct nm_cleanup_term *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return -ENOMEM;
    t->launcher = c->launch.launcher;
    t->signal = signal;
    memcpy(t->text, c->text, sizeof(t->text));
    r = exe_signal(c->launch.exe, signal, done, t);
    if (r < 0)
        free(t);
    else
        DL_APPEND(c->launch.launcher->terms, t);
    return r;
}

/* Hadoop's line (ContainerLaunch), also in the container's diagnostics, by which whoever has asked
 * for a thread dump learns which processes write one. */
static void on_signalled(const struct exe_failure *f, const char *sent, void *userdata)
{
    struct nm_cleanup_term *t = userdata;
    struct nm_container *c = nm_container_find(t->launcher->ctx, t->text);
    char line[400], shown[4 * EXE_TEXT_MAX];

    sv_escape(shown, sizeof(shown), sent);
    if (f) { /* it may have ended meanwhile */
        sv_log_debug("signal: %s", f->text);
    } else if (c && t->signal == SIGQUIT && *sent) {
        (void)snprintf(line, sizeof(line),
                       "Sent signal OUTPUT_THREAD_DUMP (SIGQUIT) to %.150s as user %.64s for "
                       "container %s, result=success",
                       shown, c->app ? c->app->run_as : "", t->text);
        sv_log(SV_LOG_INFO, t->text, "%s", line);
        nm_container_add_diagnostics_line(c, line);
    }
    term_free(t);
}

void nm_cleanup_container(struct nm_container *c)
{
    int64_t delay = c->ctx->conf->sigkill_delay_ms;
    int r = -EAGAIN;

    if (!c->launch.exe || c->launch.cleanup_started || c->launch.exit.event)
        return;
    c->launch.cleanup_started = true;
    if (!c->launch.pid)
        return; /* repeated once it has started */
    if (c->launch.frozen && (r = nm_cleanup_freeze(c, false)) < 0)
        sv_log(SV_LOG_WARNING, c->text, "%s: cgroup.freeze: %s", c->text, strerror(-r));
    r = -EAGAIN;
    if (delay > 0)
        r = send(c, SIGTERM, on_terminated);
    if (r >= 0)
        r = sd_event_add_time_relative(c->ctx->event, &c->launch.kill_timer, CLOCK_BOOTTIME,
                                       (uint64_t)(delay + TERM_MS) * 1000, 1000, on_kill_timer, c);
    if (r < 0) {
        r = exe_kill(c->launch.exe);
        if (r < 0)
            sv_log(SV_LOG_ERR, c->text, "%s: cgroup.kill: %s", c->text, strerror(-r));
    }
}

int nm_cleanup_signal(struct nm_container *c, int signal)
{
    if (!c->launch.exe || !c->launch.pid || c->launch.exit.event)
        return -ESRCH;
    if (signal == SIGKILL)
        return exe_kill(c->launch.exe);
    if (c->launch.frozen)
        return -EBUSY;
    return send(c, signal, on_signalled);
}

static struct cg_leaf *cgroup_of(const struct nm_container *c)
{
    return c->launch.exe && c->launch.pid && !c->launch.exit.event
               ? exe_container_cgroup(c->launch.exe)
               : NULL;
}

int nm_cleanup_freeze(struct nm_container *c, bool frozen)
{
    struct cg_leaf *leaf = cgroup_of(c);
    int r = leaf ? cg_leaf_freeze(leaf, frozen) : -ESRCH;

    if (r >= 0)
        c->launch.frozen = frozen;
    return r;
}

bool nm_cleanup_is_frozen(const struct nm_container *c)
{
    struct cg_leaf *leaf = cgroup_of(c);

    return leaf && cg_leaf_to_freeze(leaf) > 0;
}

int nm_cleanup_signal_number(int command)
{
    switch (command) {
    case HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__OUTPUT_THREAD_DUMP:
        return SIGQUIT;
    case HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__GRACEFUL_SHUTDOWN:
        return SIGTERM;
    case HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__FORCEFUL_SHUTDOWN:
        return SIGKILL;
    default:
        return 0;
    }
}
