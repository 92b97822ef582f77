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
    int private = hlp_make_dir(user_dir, "filecache", 0750, false, EXE_STATUS_USER_DIR);
    int apps = hlp_make_dir(user_dir, "appcache", 0750, false, EXE_STATUS_USER_DIR);
    int app = hlp_make_dir(apps, h->app, 0750, false, EXE_STATUS_APP_DIR);
    int cache = hlp_make_dir(app, "filecache", 0750, false, EXE_STATUS_APP_DIR);
    (void)close(private);
    (void)close(apps);
    (void)close(app);
    (void)close(cache);
}

void hlp_init_app(struct hlp *h)
{
    int user_dirs[EXE_DIRS_MAX];
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
    char name[64], text[512];
    (void)hlp_format(name, sizeof(name), "/proc/self/fdinfo/%d", pidfd);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        (void)close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
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
    int cgroup = hlp_open_cgroup(h);
    pid_t pid = pid_of(pidfd);
    if (pid <= 0 || !in_cgroup(cgroup, pid) || poll(&ended, 1, 0) != 0)
        hlp_fail(EXE_STATUS_SIGNAL_TARGET, ESRCH, h->container);
    (void)close(cgroup);
    hlp_drop(&h->user);
    if (syscall(SYS_pidfd_send_signal, pidfd, (int)h->req.signal, NULL, 0) < 0)
        hlp_fail(EXE_STATUS_SIGNAL, errno, h->container);
    done();
}

/* Appends directory `n` (0…) of a cache's hierarchy as Hadoop numbers them: in base 36, a digit a
 * level, where the first of several digits counts from 1: "0" … "z", "0/0", "0/1" … */
static void hierarchy(uint32_t n, char dir[HLP_PATH_MAX])
{
    static const char digit[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    unsigned digits[8], count = 0;
    do
        digits[count++] = n % 36;
    while (n /= 36);
    if (count > 1)
        digits[count - 1]--;
    for (size_t len = strlen(dir); count > 0; len += 2)
        (void)hlp_format(dir + len, HLP_PATH_MAX - len, "/%c", digit[digits[--count]]);
}

/* Where the deletion happens below one root: the directory to open as the user, and the name in it;
 * no name: everything in the directory. */
static void place(const struct hlp *h, char dir[HLP_PATH_MAX], char name[EXE_TEXT_MAX])
{
    const char *user = h->user.name;
    name[0] = '\0';
    switch (h->req.what) {
    case EXE_DELETE_CONTAINER:
        (void)hlp_format(dir, HLP_PATH_MAX, "usercache/%s/appcache/%s", user, h->app);
        (void)hlp_format(name, EXE_TEXT_MAX, "%s", h->container);
        return;
    case EXE_DELETE_CONTAINER_LOGS:
        (void)hlp_format(dir, HLP_PATH_MAX, "%s", h->app);
        (void)hlp_format(name, EXE_TEXT_MAX, "%s", h->container);
        return;
    case EXE_DELETE_APP:
        (void)hlp_format(dir, HLP_PATH_MAX, "usercache/%s/appcache", user);
        (void)hlp_format(name, EXE_TEXT_MAX, "%s", h->app);
        return;
    case EXE_DELETE_APP_LOGS:
        (void)hlp_format(dir, HLP_PATH_MAX, "%s", h->app);
        return;
    case EXE_DELETE_USER:
        (void)hlp_format(dir, HLP_PATH_MAX, "usercache/%s", user);
        return;
    case EXE_DELETE_PUBLIC:
        (void)hlp_format(dir, HLP_PATH_MAX, "filecache");
        return;
    default:
        break;
    }
    if (h->req.visibility == EXE_VISIBILITY_PUBLIC)
        (void)hlp_format(dir, HLP_PATH_MAX, "filecache");
    else if (h->req.visibility == EXE_VISIBILITY_PRIVATE)
        (void)hlp_format(dir, HLP_PATH_MAX, "usercache/%s/filecache", user);
    else
        (void)hlp_format(dir, HLP_PATH_MAX, "usercache/%s/appcache/%s/filecache", user, h->app);
    if (h->req.resource_dir)
        hierarchy(h->req.resource_dir - 1, dir);
    (void)hlp_format(name, EXE_TEXT_MAX, "%llu", (unsigned long long)h->req.resource_id);
}

static int delete_below(const struct hlp *h, int root)
{
    char dir[HLP_PATH_MAX], name[EXE_TEXT_MAX], temporary[EXE_TEXT_MAX + 8];
    place(h, dir, name);
    int fd = hlp_open_at(root, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0)
        return fd == -ENOENT ? 0 : -fd; /* nothing there is what was wanted */
    int r = name[0] ? hlp_remove_tree(fd, name) : hlp_remove_contents(fd);
    if (h->req.what == EXE_DELETE_RESOURCE) {
        (void)hlp_format(temporary, sizeof(temporary), "%s_tmp", name);
        int r2 = hlp_remove_tree(fd, temporary);
        r = r ? r : r2;
    }
    (void)close(fd);
    return r;
}

void hlp_delete(struct hlp *h)
{
    int roots[2 * EXE_DIRS_MAX], n = 0, error = 0;
    hlp_fs_as(h->nm.uid, h->nm_gid);
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++)
        if (h->req.local_mask >> i & 1)
            roots[n++] = hlp_open_root(h, h->cfg.local_dirs.v[i], EXE_STATUS_LOCAL_DIR);
    for (unsigned i = 0; i < h->cfg.log_dirs.n; i++)
        if (h->req.log_mask >> i & 1)
            roots[n++] = hlp_open_root(h, h->cfg.log_dirs.v[i], EXE_STATUS_LOG_DIR);
    hlp_drop(&h->user);
    for (int i = 0; i < n; i++) {
        int e = delete_below(h, roots[i]);
        error = error ? error : e;
    }
    if (error)
        hlp_fail(EXE_STATUS_DELETE, error, "left over");
    done();
}
