/* See child.h. */
#include "common/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"

#define HIGH 64 /* above every number passed to the program */

extern char **environ;

static bool is_listed(const char *variable, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sv_has_prefix(variable, names[i]))
            return true;
    return false;
}

char **sv_child_environment(const char *const *names, size_t n)
{
    size_t all = 0, kept = 0;
    char **list;

    while (environ[all])
        all++;
    list = calloc(all + 1, sizeof(*list));
    for (size_t i = 0; list && i < all; i++)
        if (is_listed(environ[i], names, n))
            list[kept++] = environ[i];
    return list;
}

/* ---- in the child, between fork and exec: system calls alone --------------------------------*/

static void die(int failed, const char *what)
{
    int error = errno, n;
    char text[128];

    if (failed >= 0)
        (void)!write(failed, &error, sizeof(error)); /* a pipe with room, ignoring */
    n = snprintf(text, sizeof(text), "<3>not started: %s: errno %d\n", what, error);
    (void)!write(2, text, (size_t)SV_MIN(n, (int)sizeof(text) - 1)); /* ignoring */
    _exit(127);
}

/* Leaves the `n` descriptors `fds` at 0, 1, 2, …, and `failed` and `procs` above them until the
 * program is executed. Returns `failed`'s new number. */
static int place_descriptors(const int *fds, size_t n, int failed, int procs, int *ret_procs)
{
    int high[SV_CHILD_FDS_MAX + 2];

    for (size_t i = 0; i < n; i++) {
        high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, HIGH);
        if (high[i] < 0)
            die(failed, "descriptors");
    }
    high[n] = failed < 0 ? -1 : fcntl(failed, F_DUPFD_CLOEXEC, HIGH);
    high[n + 1] = procs < 0 ? -1 : fcntl(procs, F_DUPFD_CLOEXEC, HIGH);
    if ((failed >= 0 && high[n] < 0) || (procs >= 0 && high[n + 1] < 0))
        die(failed, "descriptors");
    for (size_t i = 0; i < n; i++)
        if (dup2(high[i], (int)i) < 0)
            die(high[n], "descriptors");
    /* All others, those above included, close at exec. */
    if (syscall(SYS_close_range, (unsigned)n, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        die(high[n], "close_range");
    *ret_procs = high[n + 1];
    return high[n];
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

static void set_limit(int resource, uint64_t value, int failed)
{
    struct rlimit l;

    if (getrlimit((__rlimit_resource_t)resource, &l) < 0)
        die(failed, "getrlimit");
    l.rlim_max = SV_MIN(l.rlim_max, (rlim_t)value);
    l.rlim_cur = l.rlim_max;
    if (setrlimit((__rlimit_resource_t)resource, &l) < 0)
        die(failed, "setrlimit");
}

/* The daemon's unit protects the daemon from the OOM killer, not its children. */
static void reset_oom_score(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd >= 0 && write(fd, "0", 1) < 0)
        errno = 0; /* it stays protected, ignoring */
    sv_close(fd);
}

static void run_child(const struct sv_child_spec *c, pid_t daemon)
{
    int failed, procs;

    (void)setpgid(0, 0);
    reset_signals();
    reset_oom_score();
    failed = place_descriptors(c->fds, c->n_fds, c->failed, c->procs, &procs);
    if (procs >= 0 && write(procs, "0", 1) < 0)
        die(failed, "cgroup.procs");
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        die(failed, "prctl");
    if (getppid() != daemon) /* the daemon ended before the line above */
        _exit(127);
    set_limit(RLIMIT_CORE, 0, failed);
    for (size_t i = 0; i < c->n_limits; i++)
        set_limit(c->limits[i].resource, c->limits[i].most, failed);
    if (chdir("/") < 0)
        die(failed, "chdir");
    execve(c->argv[0], c->argv, c->environment);
    die(failed, c->argv[0]);
}

/* ---- in the daemon ----------------------------------------------------------------------------*/

int sv_child_start(const struct sv_child_spec *c, struct sv_child *ret, struct sv_error *err)
{
    pid_t daemon = getpid(), pid;

    if (c->n_fds < 3 || c->n_fds > SV_CHILD_FDS_MAX)
        return sv_error_errno(err, -EINVAL, "%s: descriptors", c->argv[0]);
    /* Reserves a number for the pidfd first: no process may run unwatched. */
    _cleanup_close_ int reserved = fcntl(c->fds[0], F_DUPFD_CLOEXEC, 0);
    if (reserved < 0)
        return sv_error_errno(err, -errno, "%s", c->argv[0]);
    pid = fork();
    if (pid < 0)
        return sv_error_errno(err, -errno, "fork");
    if (pid == 0)
        run_child(c, daemon);
    (void)setpgid(pid, pid); /* also done in the child; it may have executed already, ignoring */
    reserved = sv_close(reserved);
    *ret = (struct sv_child){ .pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
    if (ret->pidfd < 0) {
        int error = -errno;

        (void)kill(pid, SIGKILL);
        *ret = SV_NO_CHILD;
        return sv_error_errno(err, error, "%s: pidfd", c->argv[0]);
    }
    return 0;
}

void sv_child_kill(const struct sv_child *c)
{
    if (c->pid > 0)
        (void)kill(-c->pid, SIGKILL); /* not reaped yet: the number is still its own */
}

struct sv_child_end sv_child_reap(const struct sv_child *c)
{
    siginfo_t si = { 0 };

    if (waitid(P_PIDFD, (id_t)c->pidfd, &si, WEXITED | WNOHANG) < 0 || si.si_pid == 0)
        return (struct sv_child_end){ .how = SV_CHILD_UNKNOWN };
    return (struct sv_child_end){ .how =
                                      si.si_code == CLD_EXITED ? SV_CHILD_EXITED : SV_CHILD_KILLED,
                                  .number = si.si_status };
}

const char *sv_child_end_text(struct sv_child_end end, char *buf, size_t size)
{
    static const char *const words[] = { [SV_CHILD_UNKNOWN] = "ended",
                                         [SV_CHILD_EXITED] = "exited with status",
                                         [SV_CHILD_KILLED] = "was killed by signal" };

    if (end.how == SV_CHILD_UNKNOWN)
        snprintf(buf, size, "%s", words[end.how]);
    else
        snprintf(buf, size, "%s %d", words[end.how], end.number);
    return buf;
}
