/* The operations that start no container: directories of users and applications, signals, deletion,
 * links.
 * Root MUST make only the direct children of the daemon's directories; the rest MUST happen after
 * the drop. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

/* Creates the caches and the application's directories of one local dir, below
 * usercache/<submitter>. */
static void make_app_dirs(const struct hlp *h, int user_dir)
{
    hlp_label(h, HLP_LABEL_USER_CACHE);
    int private = hlp_make_dir(user_dir, "filecache", 0750, false, EXE_STATUS_USER_DIR);
    hlp_label(h, HLP_LABEL_PLAIN);
    int apps = hlp_make_dir(user_dir, "appcache", 0750, false, EXE_STATUS_USER_DIR);
    hlp_label(h, HLP_LABEL_APP_FILES);
    int app = hlp_make_dir(apps, h->app, 0750, false, EXE_STATUS_APP_DIR);
    hlp_label(h, HLP_LABEL_APP_CACHE);
    int cache = hlp_make_dir(app, "filecache", 0750, false, EXE_STATUS_APP_DIR);
    (void)close(private);
    (void)close(apps);
    (void)close(app);
    (void)close(cache);
}

void hlp_init_app(struct hlp *h)
{
    int user_dirs[EXE_DIRS_MAX];
    hlp_label(h, HLP_LABEL_PLAIN);
    hlp_fs_as(h->cfg.nm.uid, h->cfg.nm_gid);
    (void)umask(0);
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++) {
        if (!(h->req.local_mask >> i & 1))
            continue;
        int root = hlp_open_root(h, h->cfg.local_dirs.v[i], EXE_STATUS_LOCAL_DIR);
        int users = hlp_ensure_dir(h, root, "usercache", h->cfg.nm.uid, 0755, EXE_STATUS_LOCAL_DIR);
        user_dirs[i] =
            hlp_ensure_dir(h, users, h->req.submitter, h->user.uid, 02750, EXE_STATUS_USER_DIR);
        (void)close(users);
        (void)close(root);
    }
    hlp_label(h, HLP_LABEL_APP_FILES);
    for (unsigned i = 0; i < h->cfg.log_dirs.n; i++) {
        if (!(h->req.log_mask >> i & 1))
            continue;
        int root = hlp_open_root(h, h->cfg.log_dirs.v[i], EXE_STATUS_LOG_DIR);
        (void)close(hlp_ensure_dir(h, root, h->app, h->user.uid, 02750, EXE_STATUS_LOG_DIR));
        (void)close(root);
    }
    hlp_audit(h, EXE_STATUS_OK, 0);
    hlp_drop(&h->user);
    (void)umask(027);
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++)
        if (h->req.local_mask >> i & 1)
            make_app_dirs(h, user_dirs[i]);
    hlp_reply(&h->req, EXE_STATUS_OK, 0, "");
    _exit(0);
}

/* Drops to the job's user and executes one of our programs for the rest, with the socket, the
 * request and these descriptors from 3 on. */
_Noreturn static void hand_over(const struct hlp *h, const char *name, int *fds, int n)
{
    const char *const argv[] = { name, NULL }, *const envp[] = { NULL };
    int p[2], *keep[EXE_DIRS_MAX + 3] = { &p[0] };
    hlp_fs_as(0, 0);
    int program = hlp_open_program(name, 0, EXE_STATUS_EXEC);
    if (pipe2(p, O_CLOEXEC) < 0 || write(p[1], &h->req, sizeof(h->req)) != (ssize_t)sizeof(h->req))
        hlp_fail(EXE_STATUS_EXEC, errno, "pipe");
    keep[1] = &program;
    for (int i = 0; i < n; i++)
        keep[2 + i] = &fds[i];
    hlp_keep_only(keep, n + 2);
    hlp_audit(h, EXE_STATUS_OK, 0);
    hlp_drop(&h->user);
    bool placed = fcntl(0, F_SETFD, 0) == 0 && dup2(p[0], 1) == 1;
    for (int i = 0; placed && i < n; i++)
        placed = dup2(fds[i], 3 + i) == 3 + i;
    if (placed)
        (void)syscall(SYS_execveat, program, "", argv, envp, AT_EMPTY_PATH);
    hlp_fail(EXE_STATUS_EXEC, errno, name);
}

void hlp_signal(struct hlp *h)
{
    int group = hlp_open_group(h, hlp_open_root_group(h), h->container);
    hand_over(h, "container-signal", (int[]){ h->fds[0], group }, 2);
}

void hlp_delete(struct hlp *h)
{
    const struct hlp_list *dirs = h->req.local_mask ? &h->cfg.local_dirs : &h->cfg.log_dirs;
    const uint32_t mask = h->req.local_mask ? h->req.local_mask : h->req.log_mask;
    int roots[EXE_DIRS_MAX + 1], n = 0;
    hlp_fs_as(h->cfg.nm.uid, h->cfg.nm_gid);
    for (unsigned i = 0; i < dirs->n; i++)
        if (mask >> i & 1)
            roots[n++] = hlp_open_root(
                h, dirs->v[i], h->req.local_mask ? EXE_STATUS_LOCAL_DIR : EXE_STATUS_LOG_DIR);
    if (h->req.op == EXE_OP_LINK)
        roots[n++] = h->fds[0];
    hand_over(h, h->req.op == EXE_OP_LINK ? "container-link" : "container-delete", roots, n);
}
