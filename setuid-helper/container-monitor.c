/* container-monitor: the program that container-executor becomes after a launch. It has an account
 * of its own, no capability, and a filter that allows little more than waiting and no new
 * descriptor. It reports the start to the daemon, waits for init and writes the exit record. Its
 * death ends the container (init sees the pipe end).
 *
 * Messages of the launched child come from the job's user and MUST be bounded. The file is not
 * readable by the monitor's account (mode 0711), so only root can trace it (handoff.h, decision
 * 057). */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "setuid-helper/handoff.h"

/* A daemon that has ended or does not read loses its answer, nothing else. */
static void reply(const struct hlp_handoff *w, enum exe_status status, int error, const char *text,
                  int pidfd)
{
    struct exe_reply_head head = {
        .magic = EXE_REPLY_MAGIC,
        .version = w->version,
        .status = (uint16_t)status,
        .request_id = w->request_id,
        .error = error,
        .pid = pidfd >= 0 ? w->r.init_pid : 0,
        .text_len = (uint16_t)strlen(text),
    };
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { 0 };
    struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)text, head.text_len } };
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
    if (pidfd >= 0) {
        msg.msg_control = control.space;
        msg.msg_controllen = sizeof(control.space);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &pidfd, sizeof(int));
    }
    (void)sendmsg(0, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static uint64_t usec(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

/* Waits for init and fills the end of the record. */
static void reap(int pidfd, struct exe_record *r)
{
    siginfo_t info;
    struct rusage ru;
    struct timespec t = { 0 };
    memset(&info, 0, sizeof(info));
    memset(&ru, 0, sizeof(ru));
    while (syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED, &ru) < 0 && errno == EINTR)
        ;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    r->end_ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    r->signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
    r->exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    r->utime_us = usec(ru.ru_utime);
    r->stime_us = usec(ru.ru_stime);
    r->maxrss_kib = (uint64_t)ru.ru_maxrss;
}

/* The second write of the same size over the record: no new block, so no ENOSPC. Not synced: it has
 * to outlive the daemon, not the machine, and no container outlives the machine. */
static void store(struct hlp_handoff *w, enum exe_record_state state)
{
    ssize_t n;
    if (w->record < 0)
        return;
    w->r.state = (uint16_t)state;
    exe_record_seal(&w->r);
    while ((n = pwrite(w->record, &w->r, sizeof(w->r), 0)) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof(w->r))
        _exit(EXE_STATUS_RECORD);
}

/* Moves into the monitors' cgroup, out of the daemon's unit or of systemd's for one connection. The
 * kernel takes milliseconds over the first of a series of moves, so it is done after the answer is
 * sent, and not at all for a container that ends at once. */
static void change_group(const struct hlp_handoff *w)
{
    struct pollfd ended = { .fd = w->pidfd, .events = POLLIN };
    if (poll(&ended, 1, 50) == 0) {
        (void)!write(w->monitors, "0", 1); /* gone with the daemon's unit, ignoring */
        if (w->left >= 0)
            (void)close(w->left);
    }
    (void)close(w->monitors);
}

/* A localizer ends when the daemon closes the request socket. */
static void wait_or_hangup(int pidfd)
{
    struct pollfd p[2] = { { .fd = pidfd, .events = POLLIN }, { .fd = 0, .events = POLLIN } };
    while (poll(p, 2, -1) < 0 && errno == EINTR)
        ;
    if (p[0].revents == 0)
        _exit(0); /* which ends init */
}

/* Message of the launched child: 0 = about to execute, then the end of the pipe = executed;
 * anything else is a failure. The text is its own, up to the NUL that is appended here. */
static struct hlp_message hear(int from)
{
    struct hlp_message m, last = { .status = EXE_STATUS_LOST };
    for (;;) {
        ssize_t n = read(from, &m, sizeof(m));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            last.status = EXE_STATUS_LOST;
        if (n != (ssize_t)sizeof(m))
            break;
        last = m;
    }
    last.what[sizeof(last.what) - 1] = '\0';
    return last;
}

int main(void)
{
    struct hlp_handoff w;
    /* Also not readable if root lets programs leave core files after a change of ids
     * (fs.suid_dumpable=1). */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
        read(HLP_MONITOR_TASK, &w, sizeof(w)) != (ssize_t)sizeof(w) ||
        prctl(PR_SET_NAME, "container-monitor", 0, 0, 0) < 0) /* which an older kernel names "2" */
        return EXE_STATUS_LOST;
    (void)close(HLP_MONITOR_TASK);
    const struct hlp_message last = hear(w.status);
    (void)close(w.status);
    if (last.status != 0) {
        (void)close(w.life);
        reap(w.pidfd, &w.r);
        w.r.exit_code = last.status;
        store(&w, EXE_RECORD_FAILED);
        reply(&w, (enum exe_status)last.status, last.error, last.what, -1);
        return last.status & 0xff;
    }
    reply(&w, EXE_STATUS_OK, 0, "", w.pidfd);
    change_group(&w);
    if (w.record < 0)
        wait_or_hangup(w.pidfd);
    reap(w.pidfd, &w.r);
    store(&w, EXE_RECORD_EXITED);
    if (w.record < 0)
        reply(&w, EXE_STATUS_OK, w.r.exit_code, "", -1);
    /* Notifies the daemon that it may read the record; systemd may have the socket open as well. */
    (void)shutdown(0, SHUT_RDWR);
    (void)close(0);
    _exit(w.record < 0 ? w.r.exit_code : 0);
}
