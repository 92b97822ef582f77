/* One run of container-executor: a way to it, a request, an answer. The daemon's side; the process
 * that answers may stay on as a monitor.
 *
 * The spare: with a launch one is started, or connected to, that is asked nothing yet, for the next
 * launch to find it ready. There is one at most, for eight seconds; nothing but its descriptor
 * binds it to this process, with whose end it ends. It never decides whether a request is done:
 * what a spare has not read is asked of another one. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utlist.h>

#include "common/fd.h"
#include "executor/channel.h"
#include "executor/dial.h"
#include "executor/internal.h"

#define SPARE_USEC (8 * UINT64_C(1000000)) /* less than the helper's own ten seconds */

/* What a helper was asked, until it has answered. */
struct asked {
    struct exe_request request;
    int fds[EXE_FDS_MAX];
    size_t n_fds;
};

struct exe_call {
    struct exe *exe;
    struct exe_call *prev, *next;
    struct exe_channel channel;
    uint64_t request_id;
    bool answered, forgotten;
    bool ready;            /* the container's group is made */
    bool unread;           /* the other end was closed, and nobody had read what was sent */
    struct exe_dial *dial; /* by a socket, until it is answered; not of a spare */
    int status;            /* by a socket: what `ended` is told */
    struct asked *asked;   /* a helper that did nothing of it is followed by another, once */
    sd_event_source *on_socket, *on_end;
    struct exe_call_ops ops;
    void *userdata;
};

static struct asked *asked_free(struct asked *a)
{
    for (size_t i = 0; a && i < a->n_fds; i++)
        (void)sv_close(a->fds[i]);
    free(a);
    return NULL;
}

static void call_free(struct exe_call *c)
{
    DL_DELETE(c->exe->calls, c);
    if (c->exe->spare == c)
        c->exe->spare = NULL;
    (void)sd_event_source_disable_unref(c->on_socket);
    (void)sd_event_source_disable_unref(c->on_end);
    exe_channel_close(&c->channel);
    c->dial = exe_dial_free(c->dial);
    c->asked = asked_free(c->asked);
    free(c);
}

void exe_calls_free(struct exe *x)
{
    x->spare_start = sd_event_source_disable_unref(x->spare_start);
    x->spare_end = sd_event_source_disable_unref(x->spare_end);
    while (x->calls)
        call_free(x->calls);
}

void exe_call_forget(struct exe_call *c)
{
    if (!c)
        return;
    const bool already = c->forgotten;
    c->forgotten = true;
    if (c->exe->dialer && !already && c->channel.socket < 0)
        call_free(c); /* not sent, or hung up: nothing will be heard of it */
}

void exe_call_hang_up(struct exe_call *c)
{
    c->on_socket = sd_event_source_disable_unref(c->on_socket);
    c->channel.socket = sv_close(c->channel.socket);
    c->unread = false;
}

/* The reply, if there is one: true. Descriptors beyond the one that is expected are closed. */
static bool receive(struct exe_call *c, uint8_t buf[EXE_REPLY_SIZE_MAX], struct exe_reply *ret,
                    int *ret_fd)
{
    union {
        char space[CMSG_SPACE(sizeof(int) * 4)];
        struct cmsghdr align;
    } control;
    struct iovec iov = { .iov_base = buf, .iov_len = EXE_REPLY_SIZE_MAX };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.space,
                          .msg_controllen = sizeof(control.space) };
    _cleanup_close_ int got = -1;
    const int from = c->channel.socket;
    if (from < 0) /* hung up: what errno says is of another one */
        return false;
    ssize_t n = recvmsg(from, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == ECONNRESET) { /* told once, before what may still be in the queue */
        c->unread = true;
        n = recvmsg(from, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    }
    if (n <= 0)
        return false;
    for (struct cmsghdr *m = CMSG_FIRSTHDR(&msg); m; m = CMSG_NXTHDR(&msg, m)) {
        if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS)
            continue;
        int fds[4];
        size_t count = (m->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(m), count * sizeof(int));
        for (size_t i = 0; i < count; i++) {
            got = sv_close(got);
            got = fds[i];
        }
    }
    if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || exe_reply_decode(buf, (size_t)n, ret) < 0 ||
        (ret->request_id != c->request_id && ret->request_id != 0))
        return false;
    *ret_fd = sv_take_fd(&got);
    return true;
}

/* After one of these more will come, and soon. */
static bool uses_spare(uint16_t op)
{
    return op == EXE_OP_LAUNCH || op == EXE_OP_LOCALIZE || op == EXE_OP_INIT_APP;
}

static bool ask_another(struct exe_call *c, const struct exe_reply *reply);

static void answer(struct exe_call *c, const struct exe_reply *reply, int pidfd, int status)
{
    c->answered = true;
    c->asked = asked_free(c->asked);
    if (c->forgotten)
        (void)sv_close(pidfd);
    else
        c->ops.answer(reply, pidfd, status, c->userdata);
}

static void over(struct exe_call *c, int status)
{
    if (!c->forgotten && c->ops.ended)
        c->ops.ended(status, c->userdata);
    call_free(c);
}

static void on_reply(struct exe_call *c, const struct exe_reply *reply, int pidfd)
{
    c->exe->unreachable = false;
    if (!c->answered && !ask_another(c, reply)) {
        c->dial = exe_dial_free(c->dial);
        answer(c, reply, pidfd, 0);
        return;
    }
    if (c->answered)                            /* a localizer's end */
        c->status = (reply->error & 0xff) << 8; /* as waitpid has it */
    (void)sv_close(pidfd);
}

static int on_socket(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct exe_call *c = userdata;
    uint8_t buf[EXE_REPLY_SIZE_MAX];
    struct exe_reply reply;
    int pidfd = -1;
    (void)s;
    (void)fd;
    (void)revents;
    if (receive(c, buf, &reply, &pidfd)) {
        on_reply(c, &reply, pidfd);
        return 0;
    }
    if (ask_another(c, NULL))
        return 0;
    if (c->dial && !c->answered && !c->forgotten && (c->unread || exe_dial_unsent(c->dial))) {
        exe_call_hang_up(c);
        exe_dial_again(c->dial);
        return 0;
    }
    /* Closed, or nothing that makes sense. What is wrong is told by the exit status, if the process
     * is ours; the end of a connection is the end of the call. To close it takes a while, and is
     * waited for by nobody. */
    const bool answered = c->answered;
    if (c->exe->dialer)
        c->dial = exe_dial_free(c->dial);
    if (c->exe->dialer && !answered)
        answer(c, NULL, -1, 0);
    else if (answered && !c->forgotten && c->ops.closed)
        c->ops.closed(c->userdata);
    exe_call_hang_up(c);
    if (c->exe->dialer)
        over(c, c->status);
    return 0;
}

static int on_end(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct exe_call *c = userdata;
    uint8_t buf[EXE_REPLY_SIZE_MAX];
    struct exe_reply reply;
    int pidfd = -1, status = 0;
    (void)s;
    (void)fd;
    (void)revents;
    if (c->channel.pid > 0 && waitpid(c->channel.pid, &status, WNOHANG) == 0)
        return 0;
    c->channel.pid = 0; /* from here on the number may be another child's */
    if (!c->answered) {
        bool have = receive(c, buf, &reply, &pidfd);
        if (ask_another(c, have ? &reply : NULL)) {
            (void)sv_close(pidfd);
            return 0;
        }
        answer(c, have ? &reply : NULL, pidfd, status);
    }
    over(c, status);
    return 0;
}

/* ---- the way to a helper ---------------------------------------------------------------------*/

/* One that has no way yet and belongs to nobody. */
static struct exe_call *call_new(struct exe *x)
{
    struct exe_call *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    *c = (struct exe_call){ .exe = x, .channel = EXE_CHANNEL_NONE, .forgotten = true };
    DL_APPEND(x->calls, c);
    return c;
}

static int listen_to(struct exe_call *c)
{
    int e = sd_event_add_io(c->exe->event, &c->on_socket, c->channel.socket, EPOLLIN, on_socket, c);
    if (e >= 0 && c->channel.process >= 0) {
        e = sd_event_add_io(c->exe->event, &c->on_end, c->channel.process, EPOLLIN, on_end, c);
        if (e >= 0) /* an answer is seen before the end */
            e = sd_event_source_set_priority(c->on_socket, SD_EVENT_PRIORITY_NORMAL - 10);
    }
    return e;
}

/* A helper that is asked nothing yet. Where it is started and cannot be watched it ends by itself,
 * when the call is freed. */
static int reach(struct exe_call *c, struct sv_error *err)
{
    struct exe *x = c->exe;
    int e = x->dialer ? exe_dial_connect(x->dialer, x->helper, &c->channel)
                      : exe_channel_open(x->helper, &c->channel, err);
    if (e < 0)
        return e;
    e = listen_to(c);
    return e < 0 ? sv_error_errno(err, e, "container-executor: event loop") : 0;
}

/* Another process in the place of `c`'s, which is left to end. */
static int renew(struct exe_call *c, struct sv_error *err)
{
    const struct exe_call was = *c;
    struct exe_call *other = call_new(c->exe);
    int e = other ? reach(other, err) : sv_error_errno(err, -ENOMEM, "container-executor");
    if (e < 0) {
        if (other)
            call_free(other);
        return e;
    }
    c->channel = other->channel;
    c->on_socket = other->on_socket;
    c->on_end = other->on_end;
    c->unread = false;
    (void)sd_event_source_set_userdata(c->on_socket, c);
    (void)sd_event_source_set_userdata(c->on_end, c);
    other->channel = was.channel;
    other->on_socket = was.on_socket;
    other->on_end = was.on_end;
    (void)sd_event_source_set_userdata(other->on_end, other);
    exe_call_hang_up(other);
    return 0;
}

static int on_connected(int socket, void *userdata)
{
    struct exe_call *c = userdata;
    if (c->channel.socket == socket) /* of a spare */
        return 0;
    c->channel.socket = socket;
    int e = listen_to(c);
    if (e < 0) {
        c->on_socket = sd_event_source_disable_unref(c->on_socket);
        c->channel.socket = -1;
    }
    return e;
}

static void on_unreachable(int error, void *userdata)
{
    struct exe_call *c = userdata;
    const char *path = exe_dialer_path(c->exe->dialer);
    const struct exe_reply reply = { .status = EXE_STATUS_SOCKET,
                                     .error = -error,
                                     .text = path,
                                     .text_len = (uint16_t)strlen(path) };
    c->exe->unreachable = true;
    c->dial = exe_dial_free(c->dial);
    if (!c->forgotten) {
        c->forgotten = true; /* by the callee, too: not freed in there */
        c->ops.answer(&reply, -1, 0, c->userdata);
    }
    call_free(c);
}

static int worded(const struct exe_call *c, int e, struct sv_error *err)
{
    if (e == -EINVAL)
        return sv_error_set(err, e, "container-executor: request is not valid");
    return e < 0 ? sv_error_errno(err, e, "%s", c->exe->helper) : 0;
}

static int dial(struct exe_call *c, const struct exe_request *r, const int *fds, size_t n_fds,
                struct sv_error *err)
{
    static const struct exe_dial_ops ops = { .connected = on_connected, .failed = on_unreachable };
    int e = exe_dial(c->exe->dialer, r, fds, n_fds, c->channel.socket, &ops, c, &c->dial);
    if (e >= 0 && c->ready)
        exe_call_ready(c);
    return worded(c, e, err);
}

/* Asks one that was not ready before, in the place of the spare if there was one. */
static int ask(struct exe_call *c, const struct exe_request *r, const int *fds, size_t n_fds,
               struct sv_error *err)
{
    if (c->exe->dialer) {
        exe_call_hang_up(c);
        c->dial = exe_dial_free(c->dial);
        return dial(c, r, fds, n_fds, err);
    }
    int e = c->channel.process >= 0 ? renew(c, err) : reach(c, err);
    if (e < 0)
        return e;
    e = exe_channel_send(&c->channel, r, fds, n_fds);
    if (e == -EPIPE || e == -ECONNRESET)
        e = 0; /* it has ended already; why, is told by its answer or its exit status */
    if (c->ready)
        exe_call_ready(c);
    return worded(c, e, err);
}

/* ---- the spare -------------------------------------------------------------------------------*/

static void spare_drop(struct exe *x)
{
    struct exe_call *c = SV_TAKE(x->spare);
    if (c && x->dialer)
        call_free(c);
    else if (c)
        exe_call_hang_up(c); /* it ends by that, and is reaped then */
}

static int on_spare_end(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    spare_drop(userdata);
    return 0;
}

/* From the loop, when nothing else is to be done. One that cannot be had is done without. */
static int on_spare_start(sd_event_source *s, void *userdata)
{
    struct exe *x = userdata;
    (void)s;
    x->spare_end = sd_event_source_disable_unref(x->spare_end);
    if (x->spare || !(x->spare = call_new(x)))
        return 0;
    if (reach(x->spare, NULL) < 0)
        call_free(x->spare);
    else if (sd_event_add_time_relative(x->event, &x->spare_end, CLOCK_BOOTTIME, SPARE_USEC, 0,
                                        on_spare_end, x) < 0)
        spare_drop(x);
    return 0;
}

static void spare_soon(struct exe *x)
{
    if (x->spare_start) {
        (void)sd_event_source_set_enabled(x->spare_start, SD_EVENT_ONESHOT);
    } else if (sd_event_add_defer(x->event, &x->spare_start, on_spare_start, x) >= 0) {
        (void)sd_event_source_set_priority(x->spare_start, SD_EVENT_PRIORITY_NORMAL + 10);
    }
}

/* NULL: there is none, or it is of no use any more. */
static struct exe_call *spare_take(struct exe *x)
{
    struct exe_call *c = x->spare;
    struct pollfd p = { .fd = c ? c->channel.socket : -1, .events = POLLIN };
    if (p.fd >= 0 && !c->answered && (!x->dialer || exe_dial_at_once(x->dialer)) &&
        exe_channel_is_current(&c->channel, x->helper) && poll(&p, 1, 0) == 0) {
        x->spare = NULL;
        return c;
    }
    spare_drop(x);
    return NULL;
}

/* A spare may end just when it is asked: it was killed, or has waited for too long; and root's
 * configuration may change between a request and the word after it. What was not read was not done,
 * and who answers without the request's number says so. */
static bool ask_another(struct exe_call *c, const struct exe_reply *reply)
{
    if (!c->asked || c->forgotten || (reply ? reply->request_id != 0 : !c->unread))
        return false;
    struct asked *a = SV_TAKE(c->asked);
    bool done = ask(c, &a->request, a->fds, a->n_fds, NULL) >= 0;
    (void)asked_free(a);
    return done;
}

/* ---- a call ----------------------------------------------------------------------------------*/

/* For ask_another; without memory or descriptors to spare it is not needed: what is asked now runs.
 */
static struct asked *keep(const struct exe_request *r, const int *fds, size_t n_fds)
{
    struct asked *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->request = *r;
    for (; a->n_fds < n_fds; a->n_fds++)
        if ((a->fds[a->n_fds] = fcntl(fds[a->n_fds], F_DUPFD_CLOEXEC, 0)) < 0)
            return asked_free(a);
    return a;
}

static int ask_spare(struct exe_call *c, const struct exe_request *r, const int *fds, size_t n_fds,
                     struct sv_error *err)
{
    if (c->exe->dialer)
        return dial(c, r, fds, n_fds, err);
    int e = exe_channel_send(&c->channel, r, fds, n_fds);
    return e == -EPIPE || e == -ECONNRESET ? ask(c, r, fds, n_fds, err) : worded(c, e, err);
}

int exe_call_start(struct exe *x, struct exe_request *r, const int *fds, size_t n_fds,
                   const struct exe_call_ops *ops, void *userdata, struct exe_call **ret,
                   struct sv_error *err)
{
    struct exe_call *c = uses_spare(r->op) ? spare_take(x) : NULL;
    const bool spare = c != NULL;
    if (!c)
        c = call_new(x);
    if (!c)
        return sv_error_errno(err, -ENOMEM, "container-executor");
    r->request_id = c->request_id = ++x->next_request;
    c->forgotten = false;
    c->ops = *ops;
    c->userdata = userdata;
    if (uses_spare(r->op))
        c->asked = keep(r, fds, n_fds);
    int e = spare ? ask_spare(c, r, fds, n_fds, err) : ask(c, r, fds, n_fds, err);
    if (e < 0) {
        exe_call_abandon(c);
        return e;
    }
    if (uses_spare(r->op))
        spare_soon(x);
    if (ret)
        *ret = c;
    return 0;
}

void exe_call_ready(struct exe_call *c)
{
    c->ready = true;
    const int e = c->dial                  ? exe_dial_ready(c->dial)
                  : c->channel.socket >= 0 ? exe_channel_ready(&c->channel)
                                           : 0;
    if (e == -ECONNRESET)
        c->unread = true; /* told once: its end does not tell it any more */
}

void exe_call_abandon(struct exe_call *c)
{
    c->forgotten = true;
    if (c->on_end)
        exe_call_hang_up(c);
    else
        call_free(c);
}
