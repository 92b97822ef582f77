/* The monitor: what the helper becomes once the container's init exists. An account of its own, no
 * capability, a filter that leaves it little more than waiting. Its death is the container's death
 * (init sees the pipe end), its record is how the container ended. */
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

struct message { /* as hlp_fail writes it in the child */
    int32_t status, error;
    char what[120];
};

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

static void store(int fd, const struct exe_record *r)
{
    uint8_t buf[EXE_RECORD_SIZE];
    if (fd < 0)
        return;
    exe_record_encode(r, buf);
    /* Over the RUNNING record of the same size: no new block, so no ENOSPC. Not synced: it has to
     * outlive the daemon, not the machine, and no container outlives the machine either. */
    while (pwrite(fd, buf, sizeof(buf), 0) < 0 && errno == EINTR)
        ;
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

void hlp_monitor(const struct hlp *h, const struct hlp_watched *w,
                 const struct sock_fprog *filter)
{
    struct exe_record r = { .cluster_ts = h->req.cluster_ts, .app = h->req.app,
                            .attempt = h->req.attempt, .container = h->req.container,
                            .init_pid = w->pid, .uid = h->user.uid, .start_ms = hlp_wall_ms() };
    struct message m, last = { .status = EXE_STATUS_LOST };
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0) < 0)
        hlp_fail(EXE_STATUS_FILTER, errno, "monitor");
    /* A child that has failed already does not read this; why, is in the other pipe. */
    (void)!write(w->life, "g", 1);
    /* 0 = about to execute, then the end of the pipe = executed; anything else = why not. */
    for (;;) {
        ssize_t n = read(w->status, &m, sizeof(m));
        if (n < 0 && errno == EINTR)
            continue;
        if (n != sizeof(m))
            break;
        last = m;
    }
    (void)close(w->status);
    if (last.status != 0) {
        (void)close(w->life);
        reap(w->pidfd, &r);
        r.state = EXE_RECORD_FAILED;
        r.exit_code = last.status;
        store(w->record, &r);
        hlp_reply((uint16_t)last.status, last.error, last.what, strnlen(last.what, 119), 0, -1);
        _exit(last.status & 0xff);
    }
    hlp_reply(EXE_STATUS_OK, 0, "", 0, w->pid, w->pidfd);
    if (w->record < 0)
        wait_or_hangup(w->pidfd);
    else
        (void)close(0);
    reap(w->pidfd, &r);
    r.state = EXE_RECORD_EXITED;
    store(w->record, &r);
    _exit(w->record < 0 ? r.exit_code : 0);
}
