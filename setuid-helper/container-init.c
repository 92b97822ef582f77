/* container-init: pid 1 of a container, as the job's user and behind the job's filter.
 * container-executor's child executes it beside the job: it reaps processes, forwards signals, runs
 * sessions (init-sessions.h), and exits with the main process' status, or when the monitor is gone
 * (handoff.h).
 *
 * The job has the same user id, and MUST NOT be able to trace this process or to read its memory or
 * descriptors: its file is not readable by users (mode 0711), so the kernel never makes it dumpable
 * (ADR 28). It holds two descriptors, or three and those of sessions, no environment, and no byte
 * of the helper. */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "setuid-helper/handoff.h"
#include "setuid-helper/init-sessions.h"

/* The forwarded signals, as a signalfd; -1. */
static int take_signals(void)
{
    static const int numbers[] = { SIGCHLD, SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                   SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP };
    sigset_t forwarded;
    (void)sigemptyset(&forwarded);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        (void)sigaddset(&forwarded, numbers[i]);
    return signalfd(-1, &forwarded, SFD_CLOEXEC);
}

/* The container ends with the main process: the kernel kills the rest of the pid namespace. The
 * main process may have ended before this program began. Signals are sent to its group. */
int main(void)
{
    struct pollfd p[2 + INIT_SESSIONS_POLL] = { { .events = POLLIN },
                                                { .fd = HLP_INIT_LIFE, .events = POLLIN } };
    /* Also not readable if root lets programs leave core files after a change of ids
     * (fs.suid_dumpable=1). */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || (p[0].fd = take_signals()) < 0 ||
        prctl(PR_SET_NAME, "container-init", 0, 0, 0) <
            0) /* an older kernel names it after the descriptor's number */
        return EXE_STATUS_LOST;
    for (;;) {
        struct signalfd_siginfo info;
        int status;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (pid == HLP_INIT_MAIN)
                _exit(HLP_SHELL_STATUS(status));
            init_sessions_ended(pid, status);
        }
        init_sessions_prepare(&p[2]);
        if (poll(p, sizeof(p) / sizeof(p[0]), -1) < 0)
            continue;
        if (p[1].revents) /* the monitor has ended */
            _exit(EXE_STATUS_LOST);
        if (p[0].revents && read(p[0].fd, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
            info.ssi_signo != SIGCHLD)
            (void)kill(-HLP_INIT_MAIN, (int)info.ssi_signo);
        init_sessions_serve(&p[2]);
    }
}
