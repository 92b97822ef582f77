/* LAUNCH and LOCALIZE in the parent: verifies everything, clones a child into its cgroup and
 * namespaces, drops to the monitor's account for ever and becomes container-monitor.
 *
 * The exit record MUST exist and be locked before any other trace of the container. The launch lock
 * MUST stay open until the record is written. The cgroup MUST be verified before the clone. The
 * child MUST NOT continue before this process has dropped and has its filter. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

/* The daemon's files MUST be sealed: they cannot change after this check. */
static void check_memfd(int fd, const char *what)
{
    const int need = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & need) != need || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        st.st_size > EXE_FILE_MAX)
        hlp_fail(EXE_STATUS_REQUEST_FILE, EINVAL, what);
}

struct record {
    int dir, fd;
    char name[EXE_TEXT_MAX + sizeof(EXE_RECORD_SUFFIX)];
    const struct hlp *h;
};

static void remove_record(void *argument)
{
    struct record *r = argument;
    hlp_fs_as(r->h->cfg.nm.uid, r->h->cfg.nm_gid);
    (void)unlinkat(r->dir, r->name, 0); /* the daemon removes a record that remains */
}

/* The record is created in the daemon's private directory with the daemon's rights, given to the
 * monitor's account, and locked. */
static void make_record(const struct hlp *h, struct record *r)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    char path[HLP_PATH_MAX];
    r->h = h;
    (void)hlp_format(path, sizeof(path), "nmPrivate/%s/%s", h->app, h->container);
    (void)hlp_format(r->name, sizeof(r->name), "%s" EXE_RECORD_SUFFIX, h->container);
    hlp_label(h, HLP_LABEL_RECORD);
    hlp_fs_as(h->cfg.nm.uid, h->cfg.nm_gid);
    int local = hlp_open_root(h, h->cfg.local_dirs.v[h->req.work_dir], EXE_STATUS_LOCAL_DIR);
    r->dir = hlp_open_user_dir(local, path, h->cfg.nm.uid, EXE_STATUS_RECORD);
    (void)close(local);
    r->fd = openat(r->dir, r->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (r->fd < 0)
        hlp_fail(EXE_STATUS_RECORD, errno, r->name);
    hlp_on_fail(remove_record, r);
    if (fchmod(r->fd, 0640) < 0 || fchown(r->fd, h->cfg.monitor.uid, h->cfg.nm_gid) < 0 ||
        fcntl(r->fd, F_SETLK, &lock) < 0)
        hlp_fail(EXE_STATUS_RECORD, errno, r->name);
    hlp_fs_as(0, 0);
    hlp_label(h, HLP_LABEL_APP_FILES);
}

/* True in the child, which starts in its mount, IPC and UTS namespaces. */
static bool start(const struct hlp *h, int cgroup, struct hlp_child *c, struct hlp_handoff *w)
{
    int status[2], life[2], pidfd;
    struct clone_args args = {
        .flags = CLONE_PIDFD | CLONE_NEWPID | CLONE_INTO_CGROUP,
        .pidfd = (uint64_t)(uintptr_t)&pidfd,
        .exit_signal = SIGCHLD,
        .cgroup = (uint64_t)cgroup,
    };
    if (pipe2(status, O_CLOEXEC) < 0 || pipe2(life, O_CLOEXEC) < 0)
        hlp_fail(EXE_STATUS_CLONE, errno, "pipe");
    hlp_set_step_cap(HLP_CAP_DAC_OVERRIDE);
    long pid = syscall(SYS_clone3, &args, sizeof(args));
    int error = errno;
    hlp_set_step_cap(HLP_CAP_NONE);
    if (pid < 0)
        hlp_fail(EXE_STATUS_CLONE, error, h->container);
    if (pid == 0) {
        (void)close(status[0]);
        (void)close(life[1]);
        c->status = status[1];
        c->life = life[0];
        hlp_fail_to_pipe(status[1]);
        /* Dies with the parent, from the first instruction: here by a death signal, later (a change
         * of ids clears it) by the end of the pipe. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
            hlp_fail(EXE_STATUS_CLONE, errno, "prctl");
        return true;
    }
    hlp_enter_mount_ns(h->host_ns);
    w->r.init_pid = (int32_t)pid;
    w->pidfd = pidfd;
    w->status = status[0];
    w->life = life[1];
    return false;
}

/* A systemd service, and its slot among the connections, lasts as long as the started process: that
 * process waits here until its child, which continues, has left the service's cgroup or has exited,
 * which closes the pipe. */
static int leave_service(void)
{
    int left[2];
    char c;
    if (pipe2(left, O_CLOEXEC) < 0)
        hlp_fail(EXE_STATUS_CLONE, errno, "pipe");
    pid_t pid = fork();
    if (pid < 0)
        hlp_fail(EXE_STATUS_CLONE, errno, "fork");
    if (pid > 0) {
        hlp_keep_only((int *[]){ &left[0] }, 1); /* no lock */
        while (read(left[0], &c, 1) < 0 && errno == EINTR)
            ;
        _exit(0);
    }
    (void)close(left[0]);
    return left[1];
}

/* Refuses profiles and networks that root's configuration does not allow. */
static void check_allowed(const struct hlp *h)
{
    if (!(h->cfg.profiles >> h->req.profile & 1))
        hlp_fail(EXE_STATUS_PROFILE, EPERM, h->container);
    if (!(h->cfg.networks >> h->req.network & 1))
        hlp_fail(EXE_STATUS_NETWORK_MODE, EPERM, h->container);
}

/* Creates filecache of every local dir, which no other operation does. */
static void make_public_caches(const struct hlp *h)
{
    hlp_label(h, HLP_LABEL_USER_CACHE);
    hlp_fs_as(h->cfg.nm.uid, h->cfg.nm_gid);
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++) {
        if (!(h->req.local_mask >> i & 1))
            continue;
        int root = hlp_open_root(h, h->cfg.local_dirs.v[i], EXE_STATUS_LOCAL_DIR);
        (void)close(hlp_ensure_dir(h, root, "filecache", h->user.uid, 0755, EXE_STATUS_LOCAL_DIR));
        (void)close(root);
    }
    hlp_fs_as(0, 0);
}

/* Closes all but 0 to 2 and these (-1: none), without moving them: a POSIX lock is released with
 * the first closed copy of its descriptor. */
static void close_but(const int *keep, size_t n)
{
    for (unsigned from = 3, next; from != 0; from = next + 1) {
        next = ~0U;
        for (size_t i = 0; i < n; i++)
            if (keep[i] >= 0 && (unsigned)keep[i] >= from && (unsigned)keep[i] < next)
                next = (unsigned)keep[i];
        if (next > from && syscall(SYS_close_range, from, next - 1, 0) < 0)
            hlp_fail(EXE_STATUS_KERNEL, errno, "close_range");
    }
}

/* Records the container as running, before it runs. */
static void write_record(int fd, struct exe_record *r)
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_REALTIME, &now);
    r->start_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    exe_record_seal(r);
    ssize_t n = fd < 0 ? (ssize_t)sizeof(*r) : pwrite(fd, r, sizeof(*r), 0);
    if (n != (ssize_t)sizeof(*r))
        hlp_fail(EXE_STATUS_RECORD, n < 0 ? errno : ENOSPC, "exit record");
}

/* Drops, lets the child continue, and becomes container-monitor. */
_Noreturn static void become_monitor(struct hlp *h, struct hlp_handoff *w, int record_dir)
{
    static const char *const argv[] = { "container-monitor", NULL };
    const int keep[] = { 0,           w->pidfd, w->status, w->life,    w->record,
                         w->monitors, w->left,  w->mounts, record_dir, h->monitor_program };
    int task[2];
    write_record(w->record, &w->r); /* before the launch lock is closed */
    close_but(keep, sizeof(keep) / sizeof(keep[0]));
    h->host_ns = -1;            /* closed */
    for (int i = 0; i < 8; i++) /* container-monitor gets their numbers */
        if (keep[i] >= 0 && fcntl(keep[i], F_SETFD, 0) < 0)
            hlp_fail(EXE_STATUS_DESCRIPTORS, errno, "fcntl");
    if (pipe2(task, O_CLOEXEC) < 0 || write(task[1], w, sizeof(*w)) != (ssize_t)sizeof(*w))
        hlp_fail(EXE_STATUS_DESCRIPTORS, errno, argv[0]);
    (void)setsid();
    hlp_audit(h, EXE_STATUS_OK, 0);
    hlp_drop(&h->cfg.monitor);
    hlp_label(h, HLP_LABEL_MONITOR);
    if (w->record >= 0)
        (void)close(record_dir);
    hlp_on_fail(NULL, NULL);
    if (dup2(task[0], HLP_MONITOR_TASK) < 0 ||
        dup3(h->monitor_program, HLP_MONITOR_PROGRAM, O_CLOEXEC) < 0)
        hlp_fail(EXE_STATUS_DESCRIPTORS, errno, argv[0]);
    hlp_load_filter(&h->cfg.filters[HLP_FILTER_MONITOR]);
    /* A child that has failed does not read this; its message is in the other pipe. Waiting for the
     * child's message yields the processor to it until it executes, too. */
    if (write(w->life, "g", 1) == 1 || errno == EPIPE) {
        struct pollfd word = { .fd = w->status, .events = POLLIN };
        while (poll(&word, 1, -1) < 0 && errno == EINTR)
            ;
        (void)syscall(SYS_execveat, HLP_MONITOR_PROGRAM, "", argv, &argv[1], AT_EMPTY_PATH);
    }
    hlp_fail(EXE_STATUS_EXEC, errno, argv[0]);
}

void hlp_launch(struct hlp *h)
{
    static struct record record = { .fd = -1, .dir = -1 };
    static struct hlp_child c;
    static struct hlp_dirs dirs;
    struct hlp_groups groups;
    const bool container = h->req.op == EXE_OP_LAUNCH;
    struct hlp_handoff w = {
        .left = h->activated ? leave_service() : -1,
        .version = h->req.version,
        .request_id = h->req.request_id,
        .r = { .state = EXE_RECORD_RUNNING,
               .cluster_ts = h->req.cluster_ts,
               .app = h->req.app,
               .attempt = h->req.attempt,
               .container = h->req.container,
               .uid = h->user.uid },
    };
    memset(c.caches, 0xff, sizeof(c.caches)); /* -1 */
    c.door = container && h->req.what & EXE_LAUNCH_DOOR ? h->fds[3] : -1;
    if (c.door >= 0 && !hlp_is_channel(c.door))
        hlp_fail(EXE_STATUS_REQUEST_FDS, ENOTSOCK, "door");
    (void)umask(0);
    if (h->cfg.unfiltered[0])
        hlp_fail(EXE_STATUS_DEVICE_FILTER, 0, h->cfg.unfiltered);
    c.init = hlp_open_program("container-init", 066, EXE_STATUS_EXEC);
    h->monitor_program = hlp_open_program("container-monitor", 066, EXE_STATUS_EXEC);
    if (container) {
        check_allowed(h);
        c.program = hlp_open_program("container-start", 022, EXE_STATUS_EXEC);
        check_memfd(h->fds[0], "launch script");
        check_memfd(h->fds[1], "credentials");
        c.n_nodes = hlp_find_nodes(h, c.nodes);
    } else if (!hlp_is_channel(h->fds[0])) {
        hlp_fail(EXE_STATUS_REQUEST_FDS, ENOTSOCK, "channel");
    } else if (h->req.what == EXE_VISIBILITY_PUBLIC) {
        make_public_caches(h);
    }
    hlp_label(h, HLP_LABEL_APP_FILES);
    const int template = hlp_open_root_template(h);
    c.filter = &h->cfg.filters[!container                             ? HLP_FILTER_LOCALIZER
                               : h->req.profile == EXE_PROFILE_STRICT ? HLP_FILTER_STRICT
                                                                      : HLP_FILTER_HADOOP];
    groups.root = hlp_open_root_group(h);
    w.monitors = hlp_open_monitors(h, groups.root);
    if (container)
        make_record(h, &record);
    groups.own = hlp_open_group(h, groups.root, container ? h->container : CG_LOCALIZERS);
    if (container) {
        hlp_check_cgroup(h, groups.own);
        hlp_device_filter(h, groups.own, c.nodes, c.n_nodes);
    }
    hlp_network(h);
    hlp_open_dirs(h, &c, &dirs);
    hlp_enter_sandbox(h, template, &c, &dirs);
    if (start(h, groups.own, &c, &w)) {
        hlp_on_fail(NULL, NULL);
        hlp_child(h, &c);
    }
    hlp_verify_filtered(h, &groups);
    w.record = record.fd;
    w.mounts = c.mounts;
    become_monitor(h, &w, record.dir);
}
