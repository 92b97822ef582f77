/* container-localizer: fetches and unpacks for the NodeManager, as the application's user or as the
 * public account, inside the sandbox that container-executor created.
 *
 * Inherits the channel and the cache directories as descriptors (executor/request.h); takes no
 * arguments and reads no environment. Trusts the NodeManager; fetched data is hostile and handled
 * only by worker processes (worker.h). Ends when the channel closes. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/worker-sandbox.h"
#include "executor/request.h"
#include "localizer/channel.h"
#include "localizer/worker.h"

#define SEND_WAIT_MS 10000 /* for the NodeManager to accept an answer */
#define TICK_MS (LOC_PROGRESS_MS / 2)

_Static_assert(LOC_CHANNEL_FD == EXE_LOCALIZER_CHANNEL_FD, "the helper's descriptor");
_Static_assert(LOC_DIRS_MAX <= EXE_DIRS_MAX, "the helper's directories");

enum slot_state { SLOT_FREE = 0, SLOT_WORKING, SLOT_REMOVING };

struct slot {
    enum slot_state state;
    uint64_t request;
    struct loc_fetch fetch;
    int cache;
    struct loc_worker worker;
    struct loc_report report; /* the last report; `done` when the worker has finished */
    bool reported;            /* a final report arrived */
    int64_t deadline_ms;
};

static struct slot slots[LOC_WORKERS_MAX];

/* Answers must be delivered; progress messages may be dropped while the NodeManager is busy. */
static int answer(const struct loc_msg *m)
{
    for (;;) {
        struct pollfd p = { .fd = LOC_CHANNEL_FD, .events = POLLOUT };
        int r = loc_msg_send(LOC_CHANNEL_FD, m);

        if (r != -EAGAIN || m->type == LOC_MSG_PROGRESS)
            return r == -EAGAIN ? 0 : r;
        if (poll(&p, 1, SEND_WAIT_MS) <= 0)
            return -ETIMEDOUT;
    }
}

static int send_failed(uint64_t request, enum loc_fail reason, const char *text)
{
    struct loc_msg m = { .type = LOC_MSG_FAILED, .request = request };

    m.failed.reason = (uint8_t)reason;
    (void)snprintf(m.failed.text, sizeof(m.failed.text), "%.*s", LOC_TEXT_MAX, text);
    sv_log_info("request %llu failed: %s", (unsigned long long)request, m.failed.text);
    return answer(&m);
}

static void set_failed(struct slot *s, enum loc_fail reason, const char *text)
{
    s->report = (struct loc_report){ .done = 2, .reason = (uint8_t)reason };
    (void)snprintf(s->report.text, sizeof(s->report.text), "%.*s", LOC_TEXT_MAX, text);
    s->reported = true;
}

/* Ends the slot's process; returns its wait status. */
static int end_worker(struct slot *s, bool force)
{
    int status = -1;

    if (force)
        (void)kill(s->worker.pid, SIGKILL); /* it may have exited, ignoring */
    while (waitpid(s->worker.pid, &status, 0) < 0 && errno == EINTR)
        ;
    s->worker.pipe = sv_close(s->worker.pipe);
    s->worker.pid = 0;
    return status;
}

static int remove_entry(struct slot *s)
{
    s->state = SLOT_REMOVING;
    if (loc_worker_remove(&s->fetch, s->cache, &s->worker) == 0)
        return 0;
    s->state = SLOT_FREE;
    return send_failed(s->request, LOC_FAIL_LEFTOVER, s->report.text);
}

static int finish(struct slot *s)
{
    struct loc_msg m = { .type = LOC_MSG_DONE, .request = s->request };
    int r;

    if (s->report.done != 1)
        return remove_entry(s);
    r = loc_worker_publish(&s->fetch, s->cache);
    if (r < 0) {
        char text[128];

        (void)snprintf(text, sizeof(text), "cannot publish the entry: %s", strerror(-r));
        set_failed(s, r == -EEXIST ? LOC_FAIL_TAKEN : LOC_FAIL_DISK, text);
        return remove_entry(s);
    }
    s->state = SLOT_FREE;
    m.done.size = s->report.bytes;
    m.done.entries = s->report.entries;
    m.done.tree = s->report.tree;
    return answer(&m);
}

/* Reads the pipe: reports, or end of file. */
static int on_pipe(struct slot *s)
{
    struct loc_report r;
    ssize_t n = read(s->worker.pipe, &r, sizeof(r));
    int status;

    if (s->state == SLOT_WORKING && n == sizeof(r) && !s->reported && r.done <= 2 && r.tree <= 1 &&
        memchr(r.text, 0, sizeof(r.text)) && r.bytes <= INT64_MAX) {
        s->report = r;
        s->reported = r.done != 0;
        if (r.done == 2 && (r.reason < 1 || r.reason > LOC_FAIL_LAST))
            s->report.reason = LOC_FAIL_INTERNAL;
        return 0;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (s->state == SLOT_REMOVING) {
        status = end_worker(s, false);
        s->state = SLOT_FREE;
        return send_failed(s->request, status == 0 ? s->report.reason : LOC_FAIL_LEFTOVER,
                           s->report.text);
    }
    status = end_worker(s, n != 0); /* not a report: do not wait for its exit */
    if (!s->reported) {
        char text[128];

        (void)snprintf(text, sizeof(text), "the worker that fetched and unpacked it %s %d",
                       WIFSIGNALED(status) ? "was killed by signal" : "exited with",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        set_failed(s, LOC_FAIL_INTERNAL, text);
    }
    return finish(s);
}

static int stop_worker(struct slot *s, enum loc_fail reason, const char *text)
{
    (void)end_worker(s, true);
    set_failed(s, reason, text);
    return remove_entry(s);
}

static int on_fetch(const struct loc_msg *m, int credentials)
{
    const struct loc_fetch *q = &m->fetch;
    struct slot *s = NULL;
    int fd;

    for (size_t i = 0; i < LOC_WORKERS_MAX && !s; i++)
        if (slots[i].state == SLOT_FREE)
            s = &slots[i];
    if (!s)
        return send_failed(m->request, LOC_FAIL_INTERNAL, "too many requests at once");
    fd = q->visibility == LOC_APPLICATION ? EXE_LOCALIZER_APP_FD(q->dir)
                                          : EXE_LOCALIZER_CACHE_FD(q->dir);
    if (fcntl(fd, F_GETFD) < 0)
        return send_failed(m->request, LOC_FAIL_INTERNAL,
                           "the localizer was not given the cache directory");
    *s = (struct slot){
        .request = m->request, .fetch = *q, .cache = fd, .deadline_ms = sv_now_ms() + q->deadline_ms
    };
    if (loc_worker_start(q, fd, credentials, &s->worker, &s->report) < 0)
        return send_failed(m->request, s->report.reason, s->report.text);
    s->state = SLOT_WORKING;
    return 0;
}

static int on_cancel(uint64_t request)
{
    for (size_t i = 0; i < LOC_WORKERS_MAX; i++)
        if (slots[i].state == SLOT_WORKING && slots[i].request == request)
            return stop_worker(&slots[i], LOC_FAIL_CANCELLED, "cancelled");
    return 0; /* answered already, or being removed */
}

/* 1 = continue, 0 = the NodeManager has closed the channel. */
static int on_channel(void)
{
    _cleanup_close_ int credentials = -1;
    struct loc_msg m;
    int r = loc_msg_recv_with(LOC_CHANNEL_FD, LOC_PEER_NM, &m, &credentials);

    if (r == -EAGAIN)
        return 1;
    if (r <= 0)
        return r;
    r = m.type == LOC_MSG_FETCH ? on_fetch(&m, credentials) : on_cancel(m.request);
    return r < 0 ? r : 1;
}

static int on_tick(void)
{
    int64_t now = sv_now_ms();

    for (size_t i = 0; i < LOC_WORKERS_MAX; i++) {
        struct slot *s = &slots[i];
        struct loc_msg m = { .type = LOC_MSG_PROGRESS, .request = s->request };
        int r;

        if (s->state == SLOT_FREE)
            continue;
        if (s->state == SLOT_WORKING && now >= s->deadline_ms) {
            r = stop_worker(s, LOC_FAIL_LIMIT, "it took longer than the limit for one resource");
        } else {
            m.progress.bytes = s->report.bytes;
            r = answer(&m);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

/* Polls the channel, then the slots' pipes; returns 1 to continue. */
static int run_once(int64_t *next_tick)
{
    struct pollfd p[1 + LOC_WORKERS_MAX] = { { .fd = LOC_CHANNEL_FD, .events = POLLIN } };
    int64_t wait = *next_tick - sv_now_ms();
    bool busy = false;
    int r;

    for (size_t i = 0; i < LOC_WORKERS_MAX; i++) {
        busy |= slots[i].state != SLOT_FREE;
        p[1 + i].fd = slots[i].state == SLOT_FREE ? -1 : slots[i].worker.pipe;
        p[1 + i].events = POLLIN;
        if (slots[i].state == SLOT_WORKING)
            wait = SV_MIN(wait, slots[i].deadline_ms - sv_now_ms());
    }
    r = poll(p, SV_ARRAY_LEN(p), busy ? (int)SV_MAX(wait, 0) : -1);
    if (r < 0)
        return errno == EINTR ? 1 : -errno;
    if (p[0].revents & POLLHUP) /* requests that are queued are a dead daemon's */
        return 0;
    for (size_t i = 0; i < LOC_WORKERS_MAX; i++) {
        r = p[1 + i].revents ? on_pipe(&slots[i]) : 0;
        if (r < 0)
            return r;
    }
    if (sv_now_ms() >= *next_tick || wait <= 0) {
        *next_tick = sv_now_ms() + TICK_MS;
        r = on_tick();
        if (r < 0)
            return r;
    }
    return p[0].revents ? on_channel() : 1;
}

/* The NodeManager closed the channel: abort unfinished requests. */
static void close_all_workers(void)
{
    for (size_t i = 0; i < LOC_WORKERS_MAX; i++) {
        struct slot *s = &slots[i];

        if (s->state == SLOT_WORKING) {
            (void)end_worker(s, true);
            s->state = SLOT_REMOVING;
            if (loc_worker_remove(&s->fetch, s->cache, &s->worker) < 0)
                s->state = SLOT_FREE; /* the daemon deletes the files by its record */
        }
    }
    for (size_t i = 0; i < LOC_WORKERS_MAX; i++)
        if (slots[i].state == SLOT_REMOVING)
            (void)end_worker(&slots[i], false);
}

static int check_start(void)
{
    struct sv_error err = { 0 };
    int type = 0;
    socklen_t n = sizeof(type);

    if (getuid() == 0 || geteuid() == 0) {
        sv_log_err("container-localizer: must not run as root");
        return -EPERM;
    }
    if (getsockopt(LOC_CHANNEL_FD, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_SEQPACKET) {
        sv_log_err("container-localizer: descriptor %d is not the NodeManager's channel; this "
                   "program is started by the NodeManager only",
                   LOC_CHANNEL_FD);
        return -ENOTSOCK;
    }
    if (sv_sandbox_program(&err) < 0) {
        sv_log_err("%s", err.text);
        return err.code;
    }
    return 0;
}

int main(void)
{
    int64_t next_tick = sv_now_ms() + TICK_MS;
    int r;

    clearenv();
    sv_log_init("container-localizer");
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives are bytes or UTF-8, ignoring */
    if (check_start() < 0)
        return 1;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
    do
        r = run_once(&next_tick);
    while (r > 0);
    if (r < 0)
        sv_log_warning("channel to the NodeManager: %s", strerror(-r));
    close_all_workers();
    return r < 0 ? 1 : 0;
}
