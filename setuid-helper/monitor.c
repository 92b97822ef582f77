/* The monitor: what the helper becomes once the container's init exists. An account of its own, no
 * capability, a filter that leaves it little more than waiting. Its death is the container's death
 * (init sees the pipe end), its record is how the container ended. */
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

static uint64_t usec(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

/* Waits for init and fills the end of the record. */
static void reap(int pidfd, struct exe_record *r)
{
    siginfo_t info;
    struct rusage ru;
    memset(&info, 0, sizeof(info));
    memset(&ru, 0, sizeof(ru));
    while (syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED, &ru) < 0 && errno == EINTR)
        ;
    r->end_ms = hlp_wall_ms();
    r->signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
    r->exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    r->utime_us = usec(ru.ru_utime);
    r->stime_us = usec(ru.ru_stime);
    r->maxrss_kib = (uint64_t)ru.ru_maxrss;
}

/* Not synced: it has to outlive the daemon, not the machine, and no container outlives the machine. */
static void store(struct hlp_watched *w)
{
    if (w->record >= 0)
        hlp_write_record(w->record, &w->r);
}

/* Into the monitors' group, out of the daemon's unit or of systemd's for one connection. The kernel
 * takes milliseconds over the first of a series of moves, so it comes when the answer is sent, and not
 * at all to what ends at once. */
static void change_group(const struct hlp_watched *w)
{
    struct pollfd ended = { .fd = w->pidfd, .events = POLLIN };
    if (poll(&ended, 1, 50) == 0) {
        (void)!write(w->monitors, "0", 1); /* the group is gone with the daemon's unit, ignoring */
        if (w->left >= 0)
            (void)close(w->left);
    }
    (void)close(w->monitors);
}

/* A localizer ends when the daemon lets go of the request socket. */
static void wait_or_hangup(int pidfd)
{
    struct pollfd p[2] = { { .fd = pidfd, .events = POLLIN }, { .fd = 0, .events = POLLIN } };
    while (poll(p, 2, -1) < 0 && errno == EINTR)
        ;
    if (p[0].revents == 0)
        _exit(0); /* and init with us */
}

void hlp_monitor(struct hlp_watched *w, const struct sock_fprog *filter)
{
    struct hlp_message m, last = { .status = EXE_STATUS_LOST };
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0) < 0)
        hlp_fail(EXE_STATUS_FILTER, errno, "monitor");
    /* A child that has failed already does not read this; why, is in the other pipe. */
    if (write(w->life, "g", 1) != 1) {
        (void)close(w->life); /* one that lives ends by this */
        w->life = -1;
    }
    /* 0 = about to execute, then the end of the pipe = executed; anything else = why not. */
    for (;;) {
        ssize_t n = read(w->status, &m, sizeof(m));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            last.status = EXE_STATUS_LOST;
        if (n != sizeof(m))
            break;
        last = m;
    }
    (void)close(w->status);
    if (last.status != 0) {
        (void)close(w->life);
        reap(w->pidfd, &w->r);
        w->r.state = EXE_RECORD_FAILED;
        w->r.exit_code = last.status;
        store(w);
        hlp_reply((uint16_t)last.status, last.error, last.what, strnlen(last.what, sizeof(last.what) - 1), 0, -1);
        _exit(last.status & 0xff);
    }
    hlp_reply(EXE_STATUS_OK, 0, "", 0, w->r.init_pid, w->pidfd);
    change_group(w);
    if (w->record < 0)
        wait_or_hangup(w->pidfd);
    reap(w->pidfd, &w->r);
    w->r.state = EXE_RECORD_EXITED;
    store(w);
    if (w->record < 0)
        hlp_reply_end(w->r.exit_code);
    /* Tells the daemon that it may read the record; systemd may have the socket open as well. */
    (void)shutdown(0, SHUT_RDWR);
    (void)close(0);
    _exit(w->record < 0 ? w->r.exit_code : 0);
}
