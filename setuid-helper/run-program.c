/* Programs of ours that the helper executes and waits for: container-prepare, user-lookup and
 * container-network. All but the first, which stays root, MUST run as an account without rights;
 * all MUST have an empty environment and only the given descriptors. Their output and their time
 * are bounded. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

#define SECONDS 10
#define HIGH 100 /* above the numbers of the program's descriptors */

_Noreturn static void execute(const struct hlp_program *p, int program)
{
    char *argv[] = { (char *)(uintptr_t)p->name, (char *)(uintptr_t)p->arguments[0],
                     (char *)(uintptr_t)p->arguments[1], NULL };
    char *envp[] = { NULL };
    if (p->net_namespace >= 0 && setns(p->net_namespace, CLONE_NEWNET) < 0)
        _exit(1);
    for (int i = 0; i < HLP_PROGRAM_FDS; i++)
        if (fcntl(p->fds[i] < 0 ? 2 : p->fds[i], F_DUPFD_CLOEXEC, HIGH + i) != HIGH + i)
            _exit(1);
    program = fcntl(program, F_DUPFD_CLOEXEC, HIGH + HLP_PROGRAM_FDS);
    for (int i = 0; i < HLP_PROGRAM_FDS; i++)
        if (p->fds[i] >= 0 || i < 3 ? dup2(HIGH + i, i) != i : close(i) < 0 && errno != EBADF)
            _exit(1);
    if (p->as && p->net_namespace < 0)
        hlp_drop(p->as);
    else
        hlp_drop_keeping(p->as);
    if (syscall(SYS_close_range, HLP_PROGRAM_FDS, HIGH - 1, 0) == 0)
        (void)syscall(SYS_execveat, program, "", argv, envp, AT_EMPTY_PATH);
    _exit(1);
}

/* Without CAP_KILL root may signal a process of another account only under its id; the same check
 * makes a death signal useless. */
_Noreturn static void give_up(const struct hlp_program *p, pid_t pid)
{
    if (setresuid((uid_t)-1, p->as ? p->as->uid : 0, (uid_t)-1) < 0 || kill(pid, SIGKILL) < 0 ||
        setresuid((uid_t)-1, 0, (uid_t)-1) < 0)
        _exit(p->status);
    (void)waitpid(pid, NULL, 0);
    hlp_fail(p->status, ETIMEDOUT, p->name);
}

int hlp_run_program(const struct hlp_program *p, void *out, size_t max, size_t *ret_got)
{
    struct hlp_program with = *p;
    int status, from[2];
    int program = hlp_open_program(p->name, p->without, p->status);
    if (pipe2(from, O_CLOEXEC | O_NONBLOCK) < 0)
        hlp_fail(p->status, errno, "pipe");
    with.fds[1] = from[1];
    pid_t pid = fork();
    if (pid == 0)
        execute(&with, program);
    int pidfd = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        hlp_fail(p->status, errno, "fork");
    (void)close(from[1]);
    (void)close(program);
    struct pollfd ended = { .fd = pidfd, .events = POLLIN };
    if (poll(&ended, 1, SECONDS * 1000) != 1)
        give_up(p, pid);
    ssize_t n = read(from[0], out, max); /* the pipe holds all of it */
    (void)close(from[0]);
    (void)close(pidfd);
    *ret_got = n > 0 ? (size_t)n : 0;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
