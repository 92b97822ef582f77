#include "executor/dial.h"

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
#include "executor/channel.h"

#define TRY_AGAIN_USEC 100000
#define WATCH_USEC 1000000

struct exe_dialer {
    sd_event *event;
    struct sockaddr_un address;
    struct exe_dial *waiting; /* utlist, in the order of their coming */
    unsigned at_once;         /* those that were sent and are not answered */
    struct exe_dial *asked;   /* the same, utlist */
    sd_event_source *watch;   /* while there are any: does somebody read them? */
    sd_event_source *timer;   /* while one waits because an attempt has failed */
    bool resting;             /* until the timer: an attempt has failed */
    bool told;                /* that the socket cannot be reached */
};

struct exe_dial {
    struct exe_dialer *dialer;
    struct exe_dial *prev, *next; /* of the waiting ones, or of those that were asked */
    struct exe_request request;
    int fds[EXE_FDS_MAX];
    size_t n_fds;
    bool sent;
    int unsent;       /* why it could not be sent on the connection that it has; 0: it was */
    int64_t since_ms; /* of the first of its attempts that failed, for the same kind of reason; 0:
                         none has */
    int error;        /* the last one's, -errno */
    int socket;       /* the callee's, that it was sent on */
    int64_t asked_ms;
    struct exe_dial_ops ops;
    void *userdata;
};

/* A socket, or -errno; never waits: too long a queue at the other end is EAGAIN. */
static int connect_to(const struct exe_dialer *d)
{
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&d->address, sizeof(d->address)) < 0)
        return -errno;
    return sv_take_fd(&fd);
}

static int attempt(struct exe_dial *q)
{
    _cleanup_close_ int fd = connect_to(q->dialer);
    if (fd < 0)
        return fd;
    const struct exe_channel channel = { .socket = fd, .process = -1 };
    int e = q->ops.connected(fd, q->userdata);
    if (e < 0)
        return e;
    (void)sv_take_fd(&fd);
    q->unsent = exe_channel_send(&channel, &q->request, q->fds, q->n_fds);
    if (q->unsent < 0)
        (void)shutdown(channel.socket,
                       SHUT_RDWR); /* its owner sees the end, and asks exe_dial_again */
    q->socket = channel.socket;
    return 0;
}

static bool unread(const struct exe_dial *q)
{
    int n = 0;
    return ioctl(q->socket, SIOCOUTQ, &n) == 0 && n > 0;
}

static int on_watch(sd_event_source *s, uint64_t usec, void *userdata);

/* It has gone out. */
static void asked(struct exe_dial *q)
{
    struct exe_dialer *d = q->dialer;
    q->sent = true;
    q->asked_ms = sv_now_ms();
    d->at_once++;
    DL_APPEND(d->asked, q);
    if (!d->watch)
        (void)sd_event_add_time_relative(d->event, &d->watch, CLOCK_BOOTTIME, WATCH_USEC, 0,
                                         on_watch, d);
}

static void not_asked(struct exe_dial *q)
{
    DL_DELETE(q->dialer->asked, q);
    q->dialer->at_once--;
    q->sent = false;
    q->prev = NULL;
}

/* Somebody is there, and has more to do than he takes at once. */
static bool is_busy(int error)
{
    return error == -EAGAIN || error == -ECONNRESET || error == -EPIPE;
}

static void failed(struct exe_dial *q, int error)
{
    if (!q->since_ms || is_busy(error) != is_busy(q->error))
        q->since_ms = sv_now_ms();
    q->error = error;
}

/* Sends what can be sent; one that fails keeps the others behind it back until the timer. */
static void go_on(struct exe_dialer *d)
{
    while (d->waiting && d->at_once < EXE_DIAL_AT_ONCE) {
        struct exe_dial *q = d->waiting, *other;
        int e = attempt(q);
        if (e < 0) {
            if (!d->told && e != -EAGAIN) /* the other end is busy */
                sv_log_warning("%s: %s; trying again", d->address.sun_path, strerror(-e));
            d->told = d->told || e != -EAGAIN;
            DL_FOREACH (d->waiting, other)
                failed(other, e);
            break;
        }
        d->told = false;
        DL_DELETE(d->waiting, q);
        asked(q);
    }
}

static void wait_a_little(struct exe_dialer *d)
{
    d->resting = true; /* the timer is ours: neither fails */
    (void)sd_event_source_set_time_relative(d->timer, TRY_AGAIN_USEC);
    (void)sd_event_source_set_enabled(d->timer, SD_EVENT_ONESHOT);
}

static void proceed(struct exe_dialer *d)
{
    if (d->resting)
        return;
    go_on(d);
    if (d->waiting && d->at_once < EXE_DIAL_AT_ONCE)
        wait_a_little(d);
}

static struct exe_dial *too_late(const struct exe_dialer *d)
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
    struct exe_dialer *d = userdata;
    struct exe_dial *q;
    (void)s;
    (void)usec;
    d->resting = false;
    proceed(d);
    while ((q = too_late(d))) { /* each may take others with it */
        DL_DELETE(d->waiting, q);
        q->prev = NULL;
        q->ops.failed(q->error, q->userdata);
    }
    return 0;
}

/* The kernel takes connections as long as the socket is there, also when nobody serves it. What
 * nobody reads for a minute is given up: a helper that comes later finds that its asker is gone. */
static int on_watch(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct exe_dialer *d = userdata;
    struct exe_dial *q, *late;
    const int64_t since = sv_now_ms() - EXE_DIAL_UNREAD_MS;
    (void)s;
    (void)usec;
    do {
        late = NULL;
        DL_FOREACH (d->asked, q)
            if (q->asked_ms <= since && unread(q))
                late = q;
        if (late) {
            not_asked(late);
            late->ops.failed(-ETIMEDOUT, late->userdata);
        }
    } while (late);
    d->watch = sd_event_source_disable_unref(d->watch);
    if (d->asked)
        (void)sd_event_add_time_relative(d->event, &d->watch, CLOCK_BOOTTIME, WATCH_USEC, 0,
                                         on_watch, d);
    proceed(d);
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
    int r = sd_event_add_time_relative(event, &d->timer, CLOCK_BOOTTIME, 0, TRY_AGAIN_USEC / 10,
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
    proceed(d);
    return 0;
}

void exe_dial_again(struct exe_dial *q)
{
    struct exe_dialer *d = q->dialer;
    not_asked(q);
    DL_PREPEND(d->waiting, q);
    failed(q, q->unsent < 0 ? q->unsent : -ECONNRESET);
    q->unsent = 0;
    if (!d->resting)
        wait_a_little(d);
}

bool exe_dial_unsent(const struct exe_dial *q)
{
    return q && q->unsent < 0;
}

struct exe_dial *exe_dial_free(struct exe_dial *q)
{
    if (!q)
        return NULL;
    struct exe_dialer *d = q->dialer;
    const bool sent = q->sent;
    if (sent)
        not_asked(q);
    else if (q->prev)
        DL_DELETE(d->waiting, q);
    for (size_t i = 0; i < q->n_fds; i++)
        (void)sv_close(q->fds[i]);
    free(q);
    if (sent)
        proceed(d);
    return NULL;
}
