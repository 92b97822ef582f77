/* Methods of the interface Container. Stop and Kill end the container as every other kill does:
 * recorded first, then reported to the ResourceManager and the ApplicationMaster with the exit code
 * ABORTED, which no framework counts as a failure of the job. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-caller.h"
#include "nodemanager/dbus/bus-methods.h"
#include "nodemanager/exec/sessions.h"
#include "nodemanager/launch/container-cleanup.h"
#include "nodemanager/resources/set-limit.h"
#include "nodemanager/services/log-search.h"
#include "nodemanager/store/state-store.h"

static int not_running(const struct nm_container *c, struct sv_error *err)
{
    return sv_error_set(err, -ESRCH, "container %s does not run: it is %s", c->text,
                        nm_container_state_name(c->state));
}

static bool has_ended(const struct nm_container *c)
{
    return nm_container_is_done(c) || c->launch.exit.event ||
           c->state == NM_CONTAINER_EXITED_WITH_SUCCESS ||
           c->state == NM_CONTAINER_EXITED_WITH_FAILURE ||
           c->state == NM_CONTAINER_CLEANEDUP_AFTER_KILL;
}

static int end(struct nm_container *c, const char *what, const char *caller, struct sv_error *err)
{
    char why[512];

    if (c->recovering)
        return sv_error_set(err, -EAGAIN, "container %s is being recovered: call again", c->text);
    if (has_ended(c))
        return not_running(c, err);
    snprintf(why, sizeof(why), "Container %s by %.200s on the node.", what, caller);
    nm_container_kill(c, YARN_EXIT_ABORTED, why);
    return 0;
}

static int stop(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                struct sv_error *err)
{
    (void)m;
    return end(o->c, "stopped", caller, err);
}

/* ---- Kill: SIGKILL once the kill is recorded ---- */

struct kill {
    struct nm_context *ctx;
    char text[YARN_ID_TEXT_MAX];
};

static void on_recorded(void *userdata, int result)
{
    struct kill *k = userdata;
    struct nm_container *c = nm_container_find(k->ctx, k->text);

    if (c && result >= 0 && nm_cleanup_signal(c, SIGKILL) < 0)
        sv_log_debug("%s: has ended before SIGKILL", k->text);
    free(k);
}

static int kill_now(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                    struct sv_error *err)
{
    struct kill *k = calloc(1, sizeof(*k));
    int r;

    (void)m;
    if (!k)
        return sv_error_errno(err, -ENOMEM, "container %s", o->c->text);
    k->ctx = o->view->ctx;
    memcpy(k->text, o->c->text, sizeof(k->text));
    r = end(o->c, "killed", caller, err);
    if (r >= 0) {
        r = nm_store_after_commit(k->ctx->store, on_recorded, k);
        if (r >= 0)
            return 0;
        (void)sv_error_errno(err, r, "container %s", k->text);
    }
    free(k);
    return r;
}

/* ---- Signal, Freeze, Thaw ---- */

static int send_signal(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                       struct sv_error *err)
{
    static const int32_t allowed[] = { SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM };
    int32_t number;
    int r = sd_bus_message_read(m, "i", &number);
    bool known = false;

    (void)caller;
    if (r < 0)
        return sv_error_errno(err, r, "signal");
    for (size_t i = 0; i < SV_ARRAY_LEN(allowed); i++)
        known = known || allowed[i] == number;
    if (!known)
        return sv_error_set(err, -EINVAL,
                            "signal %d: HUP, INT, QUIT, USR1, USR2 and TERM are sent; call Kill "
                            "for SIGKILL, Freeze and Thaw for SIGSTOP and SIGCONT",
                            (int)number);
    r = nm_cleanup_signal(o->c, number);
    if (r == -EBUSY)
        return sv_error_set(err, r, "container %s is frozen: thaw it first", o->c->text);
    if (r == -ESRCH)
        return not_running(o->c, err);
    return r < 0 ? sv_error_errno(err, r, "container %s", o->c->text) : 0;
}

static int set_frozen(const struct nm_bus_object *o, bool frozen, const char *caller,
                      struct sv_error *err)
{
    struct nm_container *c = o->c;
    char why[512];

    if (has_ended(c) || (c->state != NM_CONTAINER_RUNNING && c->state != NM_CONTAINER_PAUSED))
        return not_running(c, err);
    if (c->reinit.kind)
        return sv_error_set(err, -EBUSY, "container %s is being re-initialized: call again",
                            c->text);
    if (c->launch.frozen == frozen)
        return 0;
    (void)snprintf(why, sizeof(why), "Container %s by %.200s on the node.",
                   frozen ? "paused" : "resumed", caller);
    nm_container_post(c, frozen ? NM_CONTAINER_EV_PAUSE : NM_CONTAINER_EV_RESUME, why);
    sv_dispatcher_run(c->ctx->dispatcher);
    return c->launch.frozen == frozen
               ? 0
               : sv_error_set(err, -EIO, "container %s: its cgroup cannot be %s; see the log",
                              c->text, frozen ? "frozen" : "thawed");
}

static int freeze(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                  struct sv_error *err)
{
    (void)m;
    return set_frozen(o, true, caller, err);
}

static int thaw(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                struct sv_error *err)
{
    (void)m;
    return set_frozen(o, false, caller, err);
}

/* ---- SetLimit ---- */

static int set_limit(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                     struct sv_error *err)
{
    const char *name;
    uint64_t value;
    int r = sd_bus_message_read(m, "st", &name, &value);

    if (r < 0)
        return sv_error_errno(err, r, "limit");
    r = nm_limit_set(o->c, name, value, err);
    if (r >= 0)
        sv_log(SV_LOG_NOTICE, o->c->text, "%s: %s set to %" PRIu64 " by %s", o->c->text, name,
               value, caller);
    return r;
}

/* ---- OpenLog: answered when the log's disk has opened it ---- */

struct opening {
    sd_bus_message *m;
    struct nm_log_search *search;
};

static void opening_free(struct opening *o)
{
    (void)nm_log_search_free(o->search);
    sd_bus_message_unref(o->m);
    free(o);
}

/* The descriptor is of a regular file of the job, read-only. */
static void on_opened(void *userdata)
{
    struct opening *o = userdata;
    const struct nm_log_file *file = nm_log_search_file(o->search);
    const char *why = nm_log_search_unread(o->search);

    /* The caller may have disconnected. */
    if (file)
        (void)sd_bus_reply_method_return(o->m, "h", file->fd); /* ignoring */
    else if (why)
        (void)sd_bus_reply_method_errorf(o->m, SD_BUS_ERROR_IO_ERROR, "%s", why); /* ignoring */
    else
        (void)sd_bus_reply_method_errorf(o->m, SD_BUS_ERROR_FILE_NOT_FOUND,
                                         "the container has no such log file"); /* ignoring */
    opening_free(o);
}

static int open_log(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                    struct sv_error *err)
{
    struct opening *p;
    const char *name;
    int r = sd_bus_message_read(m, "s", &name);

    (void)caller;
    if (r < 0)
        return sv_error_errno(err, r, "log file");
    p = calloc(1, sizeof(*p));
    if (!p)
        return sv_error_errno(err, -ENOMEM, "log file");
    *p = (struct opening){ .m = sd_bus_message_ref(m) };
    r = nm_log_search_new(o->view->ctx, o->c->id, name, on_opened, p, &p->search);
    if (r < 0) {
        opening_free(p);
        return r == -EINVAL ? sv_error_set(err, r, "not the name of a file without a directory")
                            : sv_error_errno(err, r, "log file");
    }
    if (nm_log_search_ended(p->search))
        on_opened(p);
    return 1;
}

/* ---- OpenSession ---- */

/* The container's owner, by the uid that the bus attests and the name of its account, and root. Not
 * whoever may read it. */
static bool may_have_session(const struct nm_bus_object *o)
{
    const struct nm_bus_caller *who = o->who;

    return who->uid == 0 || (*who->user && o->c->app && sv_streq(who->user, o->c->app->user));
}

static int check_session(const struct nm_bus_object *o, struct sv_error *err)
{
    if (!o->c->ctx->conf->exec.enabled)
        return sv_error_set(err, -EACCES, "selvedge.nodemanager.exec.enabled is false");
    if (!may_have_session(o))
        return sv_error_set(err, -EACCES, "its owner and root may run programs in %s", o->c->text);
    if (o->c->state != NM_CONTAINER_RUNNING || !o->c->launch.pid)
        return not_running(o->c, err);
    return 0;
}

/* The descriptor is a socket on which the caller speaks as on the web port (exec-words.h). */
static int open_session(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                        struct sv_error *err)
{
    char uid[32];
    const char *user = o->who->user;
    _cleanup_close_ int theirs = -1;
    struct nm_session *s;
    int pair[2], r = check_session(o, err);

    (void)caller;
    if (r < 0)
        return r;
    (void)snprintf(uid, sizeof(uid), "%u", (unsigned)o->who->uid);
    r = nm_session_new(o->view->sessions,
                       &(struct nm_session_ask){ .c = o->c, .user = *user ? user : uid }, &s);
    if (r == -EBUSY)
        return sv_error_set(err, r,
                            "this node has as many sessions as there may be (%d; %d of a user)",
                            NM_SESSIONS_MAX, NM_SESSIONS_OF_USER);
    if (r < 0)
        return sv_error_errno(err, r, "session");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
        r = -errno;
        nm_session_left(s);
        return sv_error_errno(err, r, "session");
    }
    theirs = pair[1];
    r = nm_session_serve(s, pair[0]);
    if (r < 0)
        return sv_error_errno(err, r, "session");
    (void)sd_bus_reply_method_return(m, "h",
                                     theirs); /* the caller may have disconnected, ignoring */
    return 1;
}

const struct nm_bus_method nm_bus_container_methods[NM_BUS_CONTAINER_METHODS] = {
    { "Stop", "", "", "", "stop", stop, NULL },
    { "Kill", "", "", "", "kill", kill_now, NULL },
    { "Signal", "i", "", "signal", "signal", send_signal, NULL },
    { "Freeze", "", "", "", "freeze", freeze, NULL },
    { "Thaw", "", "", "", "thaw", thaw, NULL },
    { "SetLimit", "st", "", "limit value", "setlimit", set_limit, NULL },
    { "OpenLog", "s", "h", "name", NULL, open_log, NULL },
    { "OpenSession", "", "h", "", NULL, open_session, NULL },
};
