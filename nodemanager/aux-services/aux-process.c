/* See aux-process.h. */
#include "nodemanager/aux-services/aux-process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"

#define CONNECTION 3 /* its number in the service; listening sockets follow */
#define HIGH 64      /* above every number passed to the service */

extern char **environ;

/* Complete names, or prefixes if the last character is '_'. */
static bool is_inherited(const char *variable)
{
    static const char *const names[] = { "PATH=",  "LANG=",           "LC_ALL=",    "TZ=",
                                         "USER=",  "HOME=",           "JAVA_HOME=", "HADOOP_",
                                         "SPARK_", "LD_LIBRARY_PATH=" };

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        if (sv_has_prefix(variable, names[i]))
            return true;
    return false;
}

/* The pointers are environ's. */
static char **make_environment(void)
{
    size_t n = 0, kept = 0;
    char **list;

    while (environ[n])
        n++;
    list = calloc(n + 1, sizeof(*list));
    for (size_t i = 0; list && i < n; i++)
        if (is_inherited(environ[i]))
            list[kept++] = environ[i];
    return list;
}

/* ---- in the child, between fork and exec: system calls alone --------------------------------*/

static void die(const char *what)
{
    char text[128];
    int n = snprintf(text, sizeof(text), "<3>not started: %s: errno %d\n", what, errno);

    (void)!write(2, text, (size_t)n); /* the pipe of the log, ignoring */
    _exit(127);
}

/* fds: the descriptors to place at 0, 1, 2, 3, … */
static void place_descriptors(const int *fds, size_t n)
{
    int high[CONNECTION + 1 + NM_AUX_LISTEN_MAX];

    for (size_t i = 0; i < n; i++) {
        high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, HIGH);
        if (high[i] < 0)
            die("descriptors");
    }
    for (size_t i = 0; i < n; i++)
        if (dup2(high[i], (int)i) < 0)
            die("descriptors");
    if (syscall(SYS_close_range, (unsigned)n, ~0U, 0) < 0)
        die("close_range");
}

static void reset_signals(void)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, &plain, NULL); /* KILL and STOP refuse, ignoring */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL); /* cannot fail */
}

static void set_limit(int resource, uint64_t value)
{
    struct rlimit l;

    if (getrlimit(resource, &l) < 0)
        die("getrlimit");
    l.rlim_max = SV_MIN(l.rlim_max, (rlim_t)value);
    l.rlim_cur = l.rlim_max;
    if (setrlimit(resource, &l) < 0)
        die("setrlimit");
}

/* The daemon's unit protects the daemon from the OOM killer, not its children. */
static void reset_oom_score(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd >= 0 && write(fd, "0", 1) < 0)
        errno = 0; /* it stays protected, ignoring */
    sv_close(fd);
}

static void run_child(const struct nm_aux_command *c, const int *fds, pid_t daemon,
                      char *const *environment)
{
    (void)setpgid(0, 0);
    reset_signals();
    reset_oom_score();
    place_descriptors(fds, CONNECTION + 1 + c->n_listen);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        die("prctl");
    if (getppid() != daemon) /* the daemon ended before the line above */
        _exit(127);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NOFILE, c->files);
    if (c->memory_bytes)
        set_limit(RLIMIT_DATA, c->memory_bytes);
    if (chdir("/") < 0)
        die("chdir");
    execve(c->argv[0], c->argv, environment);
    die(c->argv[0]);
}

/* ---- in the daemon ----------------------------------------------------------------------------*/

int nm_aux_process_start(const struct nm_aux_command *c, struct nm_aux_process *ret,
                         struct sv_error *err)
{
    _cleanup_free_ char **environment = make_environment();
    _cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int pair[2], pipes[2], fds[CONNECTION + 1 + NM_AUX_LISTEN_MAX];
    pid_t daemon = getpid(), pid;

    if (!environment || null < 0 || c->n_listen > NM_AUX_LISTEN_MAX)
        return sv_error_errno(err, environment ? -errno : -ENOMEM, "%s", c->argv[0]);
    if (access(c->argv[0], X_OK) < 0)
        return sv_error_errno(err, -errno, "%s", c->argv[0]);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return sv_error_errno(err, -errno, "socketpair");
    _cleanup_close_ int ours = pair[0], theirs = pair[1];
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return sv_error_errno(err, -errno, "pipe");
    _cleanup_close_ int log = pipes[0], out = pipes[1];
    /* Reserves a number for the pidfd first: no process may run unwatched. */
    _cleanup_close_ int reserved = fcntl(ours, F_DUPFD_CLOEXEC, 0);
    if (reserved < 0 || fcntl(ours, F_SETFL, O_NONBLOCK) < 0 || fcntl(log, F_SETFL, O_NONBLOCK) < 0)
        return sv_error_errno(err, -errno, "%s", c->argv[0]);
    fds[0] = null;
    fds[1] = fds[2] = out;
    fds[CONNECTION] = theirs;
    for (size_t i = 0; i < c->n_listen; i++)
        fds[CONNECTION + 1 + i] = c->listen[i];
    pid = fork();
    if (pid < 0)
        return sv_error_errno(err, -errno, "fork");
    if (pid == 0)
        run_child(c, fds, daemon, environment);
    (void)setpgid(pid, pid); /* also done in the child; it may have executed already, ignoring */
    reserved = sv_close(reserved);
    *ret = (struct nm_aux_process){ .pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
    if (ret->pidfd < 0) {
        (void)kill(pid, SIGKILL);
        return sv_error_errno(err, -errno, "%s: pidfd", c->argv[0]);
    }
    ret->socket = sv_take_fd(&ours);
    ret->log = sv_take_fd(&log);
    return 0;
}

void nm_aux_process_kill(const struct nm_aux_process *p)
{
    if (p->pid > 0)
        (void)kill(-p->pid, SIGKILL); /* not reaped yet: the number is still its own */
}

const char *nm_aux_process_reap(const struct nm_aux_process *p, char *buf, size_t size)
{
    siginfo_t si = { 0 };

    if (waitid(P_PIDFD, (id_t)p->pidfd, &si, WEXITED | WNOHANG) < 0 || si.si_pid == 0)
        snprintf(buf, size, "ended");
    else if (si.si_code == CLD_EXITED)
        snprintf(buf, size, "exited with status %d", si.si_status);
    else
        snprintf(buf, size, "was killed by signal %d", si.si_status);
    return buf;
}

void nm_aux_process_close(struct nm_aux_process *p)
{
    sv_close(p->pidfd);
    sv_close(p->socket);
    sv_close(p->log);
    *p = NM_AUX_NO_PROCESS;
}
