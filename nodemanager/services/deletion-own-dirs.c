/* See deletion-own-dirs.h. The helper has just deleted below the same directories; one that has
 * become bad since is left out, for the sweep of the next start. */
#include "nodemanager/services/deletion-own-dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"

/* Opens `name` of local directory i. */
static int open_in_local(const struct nm_context *ctx, int i, const char *name)
{
    _cleanup_close_ int fd = open(nm_dirs_local(ctx->dirs, i), O_PATH | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -1 : openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static void remove_user_dirs(const struct nm_context *ctx, const struct exe_delete_what *w)
{
    uint32_t mask = w->local_mask & nm_dirs_local_mask(ctx->dirs);

    for (int i = 0; i < nm_dirs_n_local(ctx->dirs); i++) {
        _cleanup_close_ int users = mask & (1u << i) ? open_in_local(ctx, i, "usercache") : -1;

        if (users >= 0 && unlinkat(users, w->submitter, AT_REMOVEDIR) < 0 && errno != ENOENT)
            sv_log_warning("cannot remove %s/usercache/%s: %m", nm_dirs_local(ctx->dirs, i),
                           w->submitter);
    }
}

static void remove_log_dirs(const struct nm_context *ctx, const struct exe_delete_what *w)
{
    uint32_t mask = w->log_mask & nm_dirs_log_mask(ctx->dirs);
    char app[YARN_ID_TEXT_MAX];

    yarn_app_id_text(w->app, app);
    for (int i = 0; i < nm_dirs_n_log(ctx->dirs); i++) {
        _cleanup_close_ int fd = -1;

        if (!(mask & (1u << i)))
            continue;
        fd = open(nm_dirs_log(ctx->dirs, i), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && unlinkat(fd, app, AT_REMOVEDIR) < 0 && errno != ENOENT)
            sv_log(SV_LOG_WARNING, app, "%s: cannot remove log directory: %m", app);
    }
}

/* Removes them on each disk. The containers are done and recorded; a launch begun by a killed
 * daemon and repeated by its successor on another disk may have left a directory. */
static void remove_private_dirs(const struct nm_context *ctx, const struct exe_delete_what *w)
{
    uint32_t mask = nm_dirs_local_mask(ctx->dirs);
    char app[YARN_ID_TEXT_MAX];

    yarn_app_id_text(w->app, app);
    for (int i = 0; i < nm_dirs_n_local(ctx->dirs); i++) {
        _cleanup_close_ int private = mask & (1u << i) ? open_in_local(ctx, i, "nmPrivate") : -1;
        int r = private < 0 ? 0 : sv_remove_tree_at(private, app);

        if (r < 0)
            sv_log(SV_LOG_WARNING, app, "cannot remove %s/nmPrivate/%s: %s",
                   nm_dirs_local(ctx->dirs, i), app, strerror(-r));
    }
}

void nm_deletion_own_dirs(const struct nm_context *ctx, const struct exe_delete_what *done)
{
    if (done->what == EXE_DELETE_APP_LOGS)
        remove_log_dirs(ctx, done);
    else if (done->what == EXE_DELETE_APP)
        remove_private_dirs(ctx, done);
    else if (done->what == EXE_DELETE_USER)
        remove_user_dirs(ctx, done);
}
