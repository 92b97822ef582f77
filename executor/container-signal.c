/* container-signal: performs a SIGNAL request, which container-executor has checked, as the job's
 * user (executor/job-user.h). Beside the request it has
 *
 *    fd 3   the daemon's pidfd, claimed to be the container's init
 *    fd 4   the container's cgroup
 *
 * Its file is not readable by users (mode 0711), so no process of the same user can trace it.
 *
 * The signal is sent to init, which forwards it to the main process' group. SIGQUIT, which asks a
 * JVM for its threads and ends every process that does not catch it, goes to those of the container
 * that do; the answer's text has their pids. The kernel does not let a signal reach processes of
 * other users; membership of the cgroup proves that it is this container's. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/job-user.h"

enum { INIT = 3, CGROUP = 4 };
#define QUIT_MAX 64 /* processes that get SIGQUIT; a container has one JVM or a few */

/* The pid of a pidfd's process in this pid namespace; 0 if it is no pidfd or the process has
 * ended. */
static long pid_of(int pidfd)
{
    char name[64], text[512];
    (void)snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", pidfd);
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
    return pid;
}

/* Reads a file of a kernel file system, behind a newline and with a NUL; cut at the size. */
static void read_text(int dir, const char *name, char *text, size_t size)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    size_t n = 1;
    text[0] = '\n';
    for (ssize_t r = 1; fd >= 0 && r > 0 && n<size - 1; n += r> 0 ? (size_t)r : 0)
        r = read(fd, text + n, size - 1 - n);
    text[n] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

static bool in_cgroup(int cgroup, long pid)
{
    static char text[65536];
    char want[32];
    (void)snprintf(want, sizeof(want), "\n%ld\n", pid);
    read_text(cgroup, "cgroup.procs", text, sizeof(text));
    return strstr(text, want) != NULL;
}

static bool catches(long pid, int signal)
{
    static char text[65536];
    char name[64];
    (void)snprintf(name, sizeof(name), "/proc/%ld/status", pid);
    read_text(AT_FDCWD, name, text, sizeof(text));
    const char *s = strstr(text, "\nSigCgt:\t");
    return s && strtoull(s + 9, NULL, 16) >> (signal - 1) & 1;
}

/* Sends it to the processes that catch it, but init. The pidfd comes first: if the number is of
 * another process meanwhile, the signal reaches none. */
static void signal_catching(int cgroup, long init, int signal, char sent[EXE_TEXT_MAX])
{
    static char text[65536];
    size_t n = 0, count = 0;
    read_text(cgroup, "cgroup.procs", text, sizeof(text));
    for (char *s = text; *s && count < QUIT_MAX;) {
        long pid = strtol(s, &s, 10);
        s += *s == '\n';
        int fd = pid > 0 && pid != init ? (int)syscall(SYS_pidfd_open, (int)pid, 0) : -1;
        if (fd >= 0 && catches(pid, signal) && in_cgroup(cgroup, pid) &&
            syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) == 0) {
            count++;
            if (n + 24 < EXE_TEXT_MAX) /* more are sent than told */
                n += (size_t)snprintf(sent + n, EXE_TEXT_MAX - n, "%s%ld", n ? ", " : "pid ", pid);
        }
        if (fd >= 0)
            (void)close(fd);
    }
    if (count == 0)
        (void)snprintf(sent, EXE_TEXT_MAX, EXE_SIGNAL_TO_NONE);
}

static int refuse(const struct exe_request *r, enum exe_status status, int error)
{
    char container[EXE_TEXT_MAX];
    exe_container_text(r, container);
    return job_user_answer(r, status, error, container);
}

int main(int argc, char **argv)
{
    char sent[EXE_TEXT_MAX] = "";
    struct exe_request r;
    struct pollfd ended = { .fd = INIT, .events = POLLIN };
    (void)argv;
    if (!job_user_request(argc, EXE_OP_SIGNAL, &r))
        return EXE_STATUS_REQUEST;
    long pid = pid_of(INIT);
    if (pid <= 0 || !in_cgroup(CGROUP, pid) || poll(&ended, 1, 0) != 0)
        return refuse(&r, EXE_STATUS_SIGNAL_TARGET, ESRCH);
    if (r.signal == SIGQUIT)
        signal_catching(CGROUP, pid, SIGQUIT, sent);
    else if (syscall(SYS_pidfd_send_signal, INIT, (int)r.signal, NULL, 0) < 0)
        return refuse(&r, EXE_STATUS_SIGNAL, errno);
    return job_user_answer(&r, EXE_STATUS_OK, 0, sent);
}
