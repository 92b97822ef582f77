/* See localization-internal.h: the localizers, one for PUBLIC resources and one an application. */
#include "nodemanager/services/localization-internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/exit-meaning.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "executor/exe.h"
#include "nodemanager/core/application.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/node-health.h"

#define GRACE_MS 5000 /* for a localizer to exit after its channel was closed */

struct loc_process {
    struct loc_process *prev, *next;
    struct nm_localization *l;
    uint64_t id;
    struct yarn_app_id app; /* zero: PUBLIC resources, of any application */
    uint32_t local_mask;    /* the local directories passed to it */
    struct exe_localizer *exe;
    sd_event_source *grace;
    sd_event_source *reap;
};

static void process_free(struct loc_process *p)
{
    DL_DELETE(p->l->processes, p);
    sd_event_source_disable_unref(p->grace);
    sd_event_source_disable_unref(p->reap);
    exe_localizer_free(p->exe);
    free(p);
}

static struct loc_process *process_find(struct nm_localization *l, uint64_t id)
{
    struct loc_process *p;

    DL_FOREACH (l->processes, p)
        if (p->id == id)
            return p;
    return NULL;
}

static int on_reap(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    process_free(userdata);
    return 0;
}

static void on_localizer_ended(struct exe_localizer *x, const struct exe_failure *f, int status,
                               void *userdata)
{
    struct loc_process *p = userdata;
    char text[600];

    (void)x;
    if (f)
        snprintf(text, sizeof(text), "container-localizer could not be started: %s", f->text);
    else
        sv_exit_text("container-localizer", status, text, sizeof(text));
    if (f)
        nm_health_launch_failed(p->l->ctx->health, p->app, f);
    loc_cache_process_failed(p->l->cache, p->id, text);
    /* not from inside its own callback */
    if (sd_event_add_defer(p->l->ctx->event, &p->reap, on_reap, p) < 0)
        sv_log_err("localizer %llu: out of memory: it is not freed", (unsigned long long)p->id);
}

static const struct exe_localizer_ops localizer_ops = { .ended = on_localizer_ended };

int nm_localization_process_start(void *userdata, uint64_t id, const struct loc_scope *scope,
                                  int *ret_fd, struct sv_error *err)
{
    struct nm_localization *l = userdata;
    _cleanup_close_ int ours = -1, theirs = -1;
    struct loc_process *p = calloc(1, sizeof(*p));
    const struct nm_app *app = NULL;
    char text[YARN_ID_TEXT_MAX];
    int fds[2], r;

    if (!p)
        return sv_error_errno(err, -ENOMEM, "localizer");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0) {
        r = sv_error_errno(err, -errno, "localizer channel");
        free(p);
        return r;
    }
    ours = fds[0];
    theirs = fds[1];
    p->l = l;
    p->id = id;
    DL_APPEND(l->processes, p);
    if (!scope->public_cache)
        p->app = scope->app;
    if (!scope->public_cache)
        app = nm_app_find(l->ctx, yarn_app_id_text(scope->app, text));
    if (!scope->public_cache && !app) {
        process_free(p);
        return sv_error_set(err, -ENOENT, "localizer: %s is not an application of this node", text);
    }
    p->local_mask = nm_dirs_local_usable(l->ctx->dirs) & (app ? app->local_dirs : UINT32_MAX);
    if (!p->local_mask) {
        process_free(p);
        return sv_error_set(err, -ENOSPC, "no space available in any of the local directories");
    }
    r = exe_localizer_start(
        l->ctx->exe,
        &(struct exe_localizer_start){
            .user = app ? app->run_as : NULL,
            .submitter = scope->user,
            .app = scope->public_cache ? NULL : &scope->app,
            .visibility = scope->public_cache ? EXE_VISIBILITY_PUBLIC
                                              : EXE_VISIBILITY_PRIVATE | EXE_VISIBILITY_APPLICATION,
            .local_mask = p->local_mask,
            .categories = app ? app->categories : NULL,
            .channel = theirs,
        },
        &localizer_ops, p, &p->exe, err);
    if (r < 0) {
        p->exe = NULL;
        process_free(p);
        return r;
    }
    *ret_fd = sv_take_fd(&ours);
    return 0;
}

static int on_grace(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)usec;
    process_free(userdata); /* kills it */
    return 0;
}

void nm_localization_process_stop(void *userdata, uint64_t id)
{
    struct nm_localization *l = userdata;
    struct loc_process *p = process_find(l, id);

    if (p && !p->grace && !p->reap &&
        sd_event_add_time_relative(l->ctx->event, &p->grace, CLOCK_BOOTTIME, GRACE_MS * 1000, 0,
                                   on_grace, p) < 0)
        process_free(p);
}

int nm_localization_pick_dir(void *userdata, uint64_t process, int64_t size)
{
    struct nm_localization *l = userdata;
    const struct loc_process *p = process_find(l, process);

    return p ? nm_dirs_pick_local(l->ctx->dirs, p->local_mask, size) : -ENOSPC;
}

void nm_localization_processes_free(struct nm_localization *l)
{
    struct loc_process *p, *tmp;

    DL_FOREACH_SAFE (l->processes, p, tmp)
        process_free(p);
}
