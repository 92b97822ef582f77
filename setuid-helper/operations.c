/* The operations that start nothing: directories of users and applications, a signal, deletion.
 * Root makes only what lies directly in the daemon's directories; the rest happens after the
 * drop. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

_Noreturn static void done(void)
{
    hlp_reply(EXE_STATUS_OK, 0, "", 0, 0, -1);
    _exit(0);
}

/* The caches and the application's directories of one local dir, below usercache/<user>. */
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
    hlp_fs_as(h->nm.uid, h->nm_gid);
    (void)umask(0);
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++) {
        if (!(h->req.local_mask >> i & 1))
            continue;
        int root = hlp_open_root(h, h->cfg.local_dirs.v[i], EXE_STATUS_LOCAL_DIR);
        int users = hlp_ensure_dir(h, root, "usercache", h->nm.uid, 0755, EXE_STATUS_LOCAL_DIR);
        user_dirs[i] = hlp_ensure_dir(h, users, h->user.name, h->user.uid, 02750,
                                      EXE_STATUS_USER_DIR);
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
    hlp_drop(&h->user);
    (void)umask(027);
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++)
        if (h->req.local_mask >> i & 1)
            make_app_dirs(h, user_dirs[i]);
    done();
}

/* The pid behind a pidfd, as this pid namespace sees it; 0 when it is none or has ended. */
static pid_t pid_of(int pidfd)
{
    char text[512];
    if (!hlp_fdinfo(pidfd, text, sizeof(text)))
        return 0;
    const char *s = strstr(text, "\nPid:\t");
    long pid = 0;
    for (s = s ? s + 6 : ""; *s >= '0' && *s <= '9' && pid < 1 << 26; s++)
        pid = pid * 10 + (*s - '0');
    return (pid_t)pid;
}

static bool in_cgroup(int cgroup, pid_t pid)
{
    char text[65536], want[32];
    int fd = hlp_open_at(cgroup, "cgroup.procs", O_RDONLY);
    size_t n = 1, len = hlp_format(want, sizeof(want), "\n%d\n", (int)pid);
    text[0] = '\n';
    for (ssize_t r = 1; fd >= 0 && r > 0 && n < sizeof(text); n += r > 0 ? (size_t)r : 0)
        r = read(fd, text + n, sizeof(text) - n);
    return fd >= 0 && memmem(text, n, want, len) != NULL;
}

/* To the init of the container, which passes it to the main process' group. Sent as the job's user:
 * the kernel sees to it that it reaches nobody else's process. */
void hlp_signal(struct hlp *h)
{
    int pidfd = h->fds[0];
    struct pollfd ended = { .fd = pidfd, .events = POLLIN };
    struct hlp_groups groups;
    hlp_open_groups(h, h->container, &groups);
    pid_t pid = pid_of(pidfd);
    if (pid <= 0 || !in_cgroup(groups.own, pid) || poll(&ended, 1, 0) != 0)
        hlp_fail(EXE_STATUS_SIGNAL_TARGET, ESRCH, h->container);
    (void)close(groups.root);
    (void)close(groups.own);
    hlp_drop(&h->user);
    if (syscall(SYS_pidfd_send_signal, pidfd, (int)h->req.signal, NULL, 0) < 0)
        hlp_fail(EXE_STATUS_SIGNAL, errno, h->container);
    done();
}

/* The directories are opened here, the rest is container-delete's, executed after the full drop. */
void hlp_delete(struct hlp *h)
{
    const char *const argv[] = { "container-delete", NULL }, *const envp[] = { NULL };
    const struct hlp_list *dirs = h->req.local_mask ? &h->cfg.local_dirs : &h->cfg.log_dirs;
    const uint32_t mask = h->req.local_mask ? h->req.local_mask : h->req.log_mask;
    int roots[EXE_DIRS_MAX], p[2], *keep[EXE_DIRS_MAX + 2] = { &p[0] }, n = 0;
    int program = hlp_open_trusted(LIBEXECDIR "/container-delete", O_PATH, EXE_STATUS_EXEC,
                                   EXE_STATUS_EXEC);
    hlp_fs_as(h->nm.uid, h->nm_gid);
    for (unsigned i = 0; i < dirs->n; i++)
        if (mask >> i & 1) {
            keep[2 + n] = &roots[n];
            roots[n++] = hlp_open_root(h, dirs->v[i], h->req.local_mask ? EXE_STATUS_LOCAL_DIR
                                                                         : EXE_STATUS_LOG_DIR);
        }
    if (pipe2(p, O_CLOEXEC) < 0 || write(p[1], &h->req, sizeof(h->req)) != (ssize_t)sizeof(h->req))
        hlp_fail(EXE_STATUS_EXEC, errno, "pipe");
    keep[1] = &program;
    hlp_keep_only(keep, n + 2);
    hlp_drop(&h->user);
    bool placed = fcntl(0, F_SETFD, 0) == 0 && dup2(p[0], 1) == 1;
    for (int i = 0; placed && i < n; i++)
        placed = dup2(roots[i], 3 + i) == 3 + i;
    if (placed)
        (void)syscall(SYS_execveat, program, "", argv, envp, AT_EMPTY_PATH);
    hlp_fail(EXE_STATUS_EXEC, errno, argv[0]);
}
