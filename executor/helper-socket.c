#include "executor/helper-socket.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "executor/helper-spawn.h"

#define RETRY_USEC 100000
#define WATCH_USEC 1000000

struct exe_dialer {
    sd_event *event;
    struct sockaddr_un address;
    struct exe_dial *waiting;   /* utlist, in order of arrival */
    struct exe_dial *in_flight; /* utlist: sent and not answered */
    unsigned n_in_flight;
    sd_event_source *watch; /* while any is in flight: finds requests that stay unread */
    sd_event_source *timer; /* retry timer, after a failed attempt */
    bool retry_armed;       /* no attempt before it fires */
    bool logged;            /* an unreachable socket was logged */
};

struct exe_dial {
    struct exe_dialer *dialer;
    struct exe_dial *prev, *next; /* of waiting or of in_flight */
    struct exe_request request;
    int fds[EXE_FDS_MAX];
    size_t n_fds;
    bool sent;
    int send_error;   /* -errno of sending on the present connection; 0: sent */
    int64_t since_ms; /* first of the failed attempts with the same kind of error; 0: none */
    int error;        /* -errno of the last attempt */
    int socket;       /* the socket that carried the request; owned by the callee */
    int64_t sent_ms;
    struct exe_dial_ops ops;
    void *userdata;
};

/* A socket, or -errno; never blocks: a full backlog is -EAGAIN. */
static int connect_to(const struct exe_dialer *d)
{
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&d->address, sizeof(d->address)) < 0)
        return -errno;
    return sv_take_fd(&fd);
}

static int try_send(struct exe_dial *q)
{
    _cleanup_close_ int fd = connect_to(q->dialer);
    if (fd < 0)
        return fd;
    const struct exe_helper channel = { .socket = fd, .process = -1 };
    int e = q->ops.connected(fd, q->userdata);
    if (e < 0)
        return e;
    (void)sv_take_fd(&fd);
    q->send_error = exe_helper_send(&channel, &q->request, q->fds, q->n_fds);
    if (q->send_error < 0)
        (void)shutdown(channel.socket,
                       SHUT_RDWR); /* its owner sees the end and calls exe_dial_retry */
    q->socket = channel.socket;
    return 0;
}

static bool unread(const struct exe_dial *q)
{
    int n = 0;
    return ioctl(q->socket, SIOCOUTQ, &n) == 0 && n > 0;
}

static int on_watch(sd_event_source *s, uint64_t usec, void *userdata);

static void mark_sent(struct exe_dial *q)
{
    struct exe_dialer *d = q->dialer;
    q->sent = true;
    q->sent_ms = sv_now_ms();
    d->n_in_flight++;
    DL_APPEND(d->in_flight, q);
    if (!d->watch)
        (void)sd_event_add_time_relative(d->event, &d->watch, CLOCK_BOOTTIME, WATCH_USEC, 0,
                                         on_watch, d);
}

static void mark_unsent(struct exe_dial *q)
{
    DL_DELETE(q->dialer->in_flight, q);
    q->dialer->n_in_flight--;
    q->sent = false;
    q->prev = NULL;
}

/* True if systemd serves the socket, but refuses more connections at present. */
static bool is_busy(int error)
{
    return error == -EAGAIN || error == -ECONNRESET || error == -EPIPE;
}

static void note_failure(struct exe_dial *q, int error)
{
    if (!q->since_ms || is_busy(error) != is_busy(q->error))
        q->since_ms = sv_now_ms();
    q->error = error;
}

/* Sends the pending requests in order; after a failure the others wait for the retry timer. */
static void dispatch_pending(struct exe_dialer *d)
{
    while (d->waiting && d->n_in_flight < EXE_DIAL_IN_FLIGHT_MAX) {
        struct exe_dial *q = d->waiting, *other;
        int e = try_send(q);
        if (e < 0) {
            if (!d->logged && e != -EAGAIN) /* the other end is busy */
                sv_log_warning("%s: %s; trying again", d->address.sun_path, strerror(-e));
            d->logged = d->logged || e != -EAGAIN;
            DL_FOREACH (d->waiting, other)
                note_failure(other, e);
            break;
        }
        d->logged = false;
        DL_DELETE(d->waiting, q);
        mark_sent(q);
    }
}

static void arm_retry_timer(struct exe_dialer *d)
{
    d->retry_armed = true; /* neither call fails on a timer of ours */
    (void)sd_event_source_set_time_relative(d->timer, RETRY_USEC);
    (void)sd_event_source_set_enabled(d->timer, SD_EVENT_ONESHOT);
}

static void dispatch(struct exe_dialer *d)
{
    if (d->retry_armed)
        return;
    dispatch_pending(d);
    if (d->waiting && d->n_in_flight < EXE_DIAL_IN_FLIGHT_MAX)
        arm_retry_timer(d);
}

static struct exe_dial *find_expired(const struct exe_dialer *d)
{
    struct exe_dial *q;
    const int64_t now = sv_now_ms();
    DL_FOREACH (d->waiting, q)
        if (q->since_ms &&
            now - q->since_ms >= (is_busy(q->error) ? EXE_DIAL_UNREAD_MS : EXE_DIAL_PATIENCE_MS))
            return q;
    return NULL;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct exe_dialer *d = userdata;
    struct exe_dial *q;
    (void)s;
    (void)usec;
    d->retry_armed = false;
    dispatch(d);
    while ((q = find_expired(d))) { /* a callback may free others */
        DL_DELETE(d->waiting, q);
        q->prev = NULL;
        q->ops.failed(q->error, q->userdata);
    }
    return 0;
}

/* The kernel accepts connections as long as the socket exists, served or not. A request that is
 * unread for a minute fails: a helper that starts later finds the connection closed. */
static int on_watch(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct exe_dialer *d = userdata;
    struct exe_dial *q, *late;
    const int64_t since = sv_now_ms() - EXE_DIAL_UNREAD_MS;
    (void)s;
    (void)usec;
    do {
        late = NULL;
        DL_FOREACH (d->in_flight, q)
            if (q->sent_ms <= since && unread(q))
                late = q;
        if (late) {
            mark_unsent(late);
            late->ops.failed(-ETIMEDOUT, late->userdata);
        }
    } while (late);
    d->watch = sd_event_source_disable_unref(d->watch);
    if (d->in_flight)
        (void)sd_event_add_time_relative(d->event, &d->watch, CLOCK_BOOTTIME, WATCH_USEC, 0,
                                         on_watch, d);
    dispatch(d);
    return 0;
}

int exe_dialer_new(sd_event *event, const char *path, struct exe_dialer **ret)
{
    if (path[0] != '/' || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
        return -EINVAL;
    struct exe_dialer *d = calloc(1, sizeof(*d));
    if (!d)
        return -ENOMEM;
    d->event = event;
    d->address.sun_family = AF_UNIX;
    memcpy(d->address.sun_path, path, strlen(path));
    int r = sd_event_add_time_relative(event, &d->timer, CLOCK_BOOTTIME, 0, RETRY_USEC / 10,
                                       on_timer, d);
    if (r >= 0)
        r = sd_event_source_set_enabled(d->timer, SD_EVENT_OFF);
    if (r < 0) {
        (void)exe_dialer_free(d);
        return r;
    }
    *ret = d;
    return 0;
}

struct exe_dialer *exe_dialer_free(struct exe_dialer *d)
{
    if (!d)
        return NULL;
    d->watch = sd_event_source_disable_unref(d->watch);
    d->timer = sd_event_source_disable_unref(d->timer);
    free(d);
    return NULL;
}

const char *exe_dialer_path(const struct exe_dialer *d)
{
    return d->address.sun_path;
}

int exe_dial(struct exe_dialer *d, const struct exe_request *r, const int *fds, size_t n_fds,
             const struct exe_dial_ops *ops, void *userdata, struct exe_dial **ret)
{
    struct exe_dial *q = exe_request_ok(r) ? calloc(1, sizeof(*q)) : NULL;
    if (!exe_request_ok(r))
        return -EINVAL;
    if (!q)
        return -ENOMEM;
    *q = (struct exe_dial){ .dialer = d, .request = *r, .ops = *ops, .userdata = userdata };
    for (; q->n_fds < n_fds; q->n_fds++)
        if ((q->fds[q->n_fds] = fcntl(fds[q->n_fds], F_DUPFD_CLOEXEC, 0)) < 0) {
            int e = -errno;
            (void)exe_dial_free(q);
            return e;
        }
    DL_APPEND(d->waiting, q);
    *ret = q;
    dispatch(d);
    return 0;
}

void exe_dial_retry(struct exe_dial *q)
{
    struct exe_dialer *d = q->dialer;
    mark_unsent(q);
    DL_PREPEND(d->waiting, q);
    note_failure(q, q->send_error < 0 ? q->send_error : -ECONNRESET);
    q->send_error = 0;
    if (!d->retry_armed)
        arm_retry_timer(d);
}

bool exe_dial_send_failed(const struct exe_dial *q)
{
    return q && q->send_error < 0;
}

struct exe_dial *exe_dial_free(struct exe_dial *q)
{
    if (!q)
        return NULL;
    struct exe_dialer *d = q->dialer;
    const bool sent = q->sent;
    if (sent)
        mark_unsent(q);
    else if (q->prev)
        DL_DELETE(d->waiting, q);
    for (size_t i = 0; i < q->n_fds; i++)
        (void)sv_close(q->fds[i]);
    free(q);
    if (sent)
        dispatch(d);
    return NULL;
}
