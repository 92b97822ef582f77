/* The launched child: completes its sandbox as root without file rights, drops to the job's user,
 * writes the job's two files, starts the job, and becomes container-init, pid 1 of the container.
 * It MUST NOT drop before its parent has become the monitor, and MUST NOT write or execute anything
 * of the job before the drop, Landlock and the filter. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

/* The parent is the monitor from here on: this process may now drop to the user. */
static void wait_for_monitor(int life)
{
    char c;
    ssize_t n;
    while ((n = read(life, &c, 1)) < 0 && errno == EINTR)
        ;
    if (n != 1)
        _exit(EXE_STATUS_LOST);
}

static void become_user(const struct hlp *h, const struct hlp_child *c)
{
    struct pollfd life = { .fd = c->life, .events = POLLIN };
    /* As root: an empty keyring counts against root's quota, not against the 200 of a user. */
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
        hlp_fail(EXE_STATUS_SESSION, errno, "session keyring");
    hlp_drop(&h->user);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        hlp_fail(EXE_STATUS_DROP, errno, "prctl");
    hlp_label(h, HLP_LABEL_CHILD);
    if (poll(&life, 1, 0) != 0) /* the monitor died before the prctl */
        _exit(EXE_STATUS_LOST);
}

static void write_file(const struct hlp *h, int dir, const char *name, mode_t mode, int from,
                       enum exe_status status)
{
    struct stat st;
    if (h->req.what & EXE_LAUNCH_AGAIN)
        (void)unlinkat(dir, name, 0); /* of the last launch; what remains fails the open */
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0 || fstat(from, &st) < 0)
        hlp_fail(status, errno, name);
    off_t at = 0;
    while (at < st.st_size) {
        ssize_t n = sendfile(fd, from, &at, (size_t)(st.st_size - at));
        if (n <= 0)
            hlp_fail(status, n < 0 ? errno : EIO, name);
    }
    if (close(fd) < 0)
        hlp_fail(status, errno, name);
    (void)close(from);
}

/* The network namespace is the host's, and with it every abstract unix socket (CVE-2020-15257):
 * Landlock's scopes prevent the job from connecting to those, and from signalling, outside its own
 * container. From Linux 6.12 on (ABI 6); an older kernel has no such scope, and a server there must
 * check its callers. The structure is the kernel's <linux/landlock.h>, newer than the C
 * library's. */
static void scope(void)
{
    const struct {
        uint64_t handled_access_fs, handled_access_net, scoped;
    } attr = { 0, 0, 3 };
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* version */);
    if (abi < 0 && errno != ENOSYS && errno != EOPNOTSUPP)
        hlp_fail(EXE_STATUS_FILTER, errno, "landlock");
    if (abi < 6)
        return;
    int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) < 0)
        hlp_fail(EXE_STATUS_FILTER, errno, "landlock");
    (void)close(fd);
}

static void signals(int how)
{
    sigset_t all;
    (void)sigfillset(&all);
    if (sigprocmask(how, &all, NULL) < 0)
        hlp_fail(EXE_STATUS_EXEC, errno, "sigprocmask");
}

static const char *const environment[] = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL
};

/* LOCALIZE's programs and their arguments: log-uploader for LOGS and ROLLED_LOGS. */
static const char *const programs[] = { LIBEXECDIR "/container-localizer",
                                        LIBEXECDIR "/log-uploader" };
static const char *const arguments[][2] = { { "container-localizer" }, { "log-uploader" } };
#define PROGRAM(h) ((h)->req.what >= EXE_VISIBILITY_LOGS)

static bool for_bash; /* the script's first line is what the daemon writes */

/* The main process. The kernel reads the first line of the script (or loads it, if it is a
 * program), as with Hadoop's container-executor; container-start takes those for bash, and those
 * without. By its path: an interpreter must find it. Until it executes it only makes system calls
 * (vfork), and shares all but the signal mask with this process. */
_Noreturn static void main_process(const struct hlp *h, const char *script, int program)
{
    const char *const start[] = { "container-start", script, NULL };
    const char *const *argv = script ? start : arguments[PROGRAM(h)];
    hlp_label(h, script ? HLP_LABEL_CONTAINER : HLP_LABEL_LOCALIZER);
    (void)setsid(); /* a localizer's filter forbids it, ignoring */
    (void)signal(SIGPIPE, SIG_DFL);
    signals(SIG_UNBLOCK);
    if (script && !for_bash)
        (void)syscall(SYS_execve, script, argv + 1, environment);
    if (!script || for_bash || errno == ENOEXEC)
        (void)syscall(SYS_execveat, program, "", argv, environment, AT_EMPTY_PATH);
    hlp_fail(EXE_STATUS_EXEC, errno, script ? script : argv[0]);
}

static void interrupted(int signal)
{
    (void)signal;
}

/* A job that ends within 20 ms saves the execution of container-init. Signals are delayed for that
 * time; the monitor's end is noticed. */
static void end_at_once(pid_t pid, int life)
{
    const struct timespec moment = { .tv_nsec = 20000000 };
    struct pollfd monitor = { .fd = life, .events = POLLIN };
    sigset_t others;
    int status;
    (void)sigfillset(&others);
    (void)sigdelset(&others, SIGCHLD);
    (void)signal(SIGCHLD, interrupted);
    if (ppoll(&monitor, 1, &moment, &others) < 0 && waitpid(pid, &status, WNOHANG) == pid)
        _exit(HLP_SHELL_STATUS(status));
}

/* pid 1 of the container: starts the main process and becomes container-init beside it, which
 * watches its end, its signals and the pipe. (A death signal cannot replace the pipe: the kernel
 * sends it with the monitor's rights, which has none over the user.) The job can never read
 * /proc/1: not dumpable here, not readable there. */
_Noreturn static void init(const struct hlp *h, const struct hlp_child *c, const char *script)
{
    static const struct hlp_message about_to_execute = { 0, 0, "" };
    static const char *const argv[] = { "container-init", NULL };
    signals(SIG_BLOCK);
    if (write(c->status, &about_to_execute, sizeof(about_to_execute)) !=
        (ssize_t)sizeof(about_to_execute))
        _exit(EXE_STATUS_LOST);
    pid_t pid = vfork();
    if (pid < 0)
        hlp_fail(EXE_STATUS_EXEC, errno, "fork");
    if (pid == 0)
        main_process(h, script, c->program);
    (void)close(c->status);
    end_at_once(pid, c->life);
    /* Channel and caches belong to the program; exec closes those from HLP_HIGH on. */
    if (pid == HLP_INIT_MAIN && syscall(SYS_close_range, 3, HLP_HIGH - 1, 0) == 0 &&
        dup2(c->life, HLP_INIT_LIFE) == HLP_INIT_LIFE &&
        (c->door < 0 || dup2(c->door, HLP_INIT_DOOR) == HLP_INIT_DOOR))
        (void)syscall(SYS_execveat, c->init, "", argv, &argv[1], AT_EMPTY_PATH);
    _exit(EXE_STATUS_LOST); /* which ends the container */
}

#define SCRIPT "launch_container.sh"

/* Enters the working directory and writes the job's two files, as the user; returns the path of the
 * script. */
static const char *enter_work_dir(const struct hlp *h, int script, int credentials)
{
    static char path[HLP_PATH_MAX + sizeof("/" SCRIPT)];
    static const char line[] = "#!/bin/bash\n";
    char cwd[HLP_PATH_MAX], first[sizeof(line) - 1];
    const ssize_t len = pread(script, first, sizeof(first), 0);
    if (len < 0)
        hlp_fail(EXE_STATUS_SCRIPT_FILE, errno, SCRIPT);
    for_bash = len == (ssize_t)sizeof(first) && memcmp(first, line, sizeof(first)) == 0;
    size_t n =
        hlp_format(path, HLP_PATH_MAX, "%s/usercache/%s/appcache/%s/%s",
                   h->cfg.local_dirs.v[h->req.work_dir], h->req.submitter, h->app, h->container);
    int dir = hlp_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    if (dir < 0)
        hlp_fail(EXE_STATUS_WORK_DIR, -dir, path);
    write_file(h, dir, SCRIPT, 0700, script, EXE_STATUS_SCRIPT_FILE);
    write_file(h, dir, "container_tokens", 0600, credentials, EXE_STATUS_CREDENTIALS_FILE);
    if (fchdir(dir) < 0 || !getcwd(cwd, sizeof(cwd)) || strcmp(cwd, path) != 0)
        hlp_fail(EXE_STATUS_WORK_DIR, errno, path);
    (void)close(dir);
    memcpy(path + n, "/" SCRIPT, sizeof("/" SCRIPT));
    return path;
}

void hlp_child(const struct hlp *h, struct hlp_child *c)
{
    const char *script = NULL;
    const bool container = h->req.op == EXE_OP_LAUNCH;
    int fds[EXE_FDS_MAX], n = 5, n_fds = container ? 2 : 1; /* without the launch lock */
    int *keep[8 + 2 * EXE_DIRS_MAX] = { &c->status, &c->life, &c->init, &c->door, &c->program };
    if (setsid() < 0)
        hlp_fail(EXE_STATUS_SESSION, errno, "setsid");
    hlp_finish_root(h, c);
    if (!container)
        c->program =
            hlp_open_trusted(programs[PROGRAM(h)], O_PATH, EXE_STATUS_EXEC, EXE_STATUS_EXEC);
    /* 1 and 2 are already the host's /dev/null; a container has its own. */
    int null = container ? open("/dev/null", O_RDWR | O_NOCTTY | O_CLOEXEC) : 1;
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        hlp_fail(EXE_STATUS_SESSION, errno, "/dev/null");
    hlp_rlimits();
    wait_for_monitor(c->life);
    for (int i = 0; i < n_fds; i++) {
        fds[i] = h->fds[i];
        keep[n++] = &fds[i];
    }
    for (int i = 0; i < 2 * EXE_DIRS_MAX; i++)
        keep[n++] = &c->caches[i];
    hlp_keep_only(keep, n);
    hlp_fail_to_pipe(c->status);
    become_user(h, c);
    (void)umask(027);
    if (container) {
        script = enter_work_dir(h, fds[0], fds[1]);
        scope();
    } else {
        for (int i = 0; i < 2 * EXE_DIRS_MAX; i++)
            if (c->caches[i] >= 0 && dup2(c->caches[i], EXE_LOCALIZER_CACHE_FD(i)) < 0)
                hlp_fail(EXE_STATUS_DESCRIPTORS, errno, "caches");
        if (dup2(fds[0], EXE_LOCALIZER_CHANNEL_FD) < 0 || close(fds[0]) < 0)
            hlp_fail(EXE_STATUS_DESCRIPTORS, errno, "channel");
    }
    hlp_load_filter(c->filter);
    init(h, c, script);
}
