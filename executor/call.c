/* One run of container-executor: a way to it, a request, an answer. The daemon's side; the process that
 * answers may stay on as a monitor.
 *
 * The spare: after a launch one is started that is asked nothing yet, for the next launch to find it
 * ready. There is one at most, for eight seconds; nothing but its descriptor binds it to this
 * process, with whose end it ends. It never decides whether a request is done: what a spare has not read
 * is asked of another one. */
#include <errno.h>
#include <fcntl.h>
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

/* What a spare was asked, until it has answered. */
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
    uint16_t op;
    bool answered, forgotten;
    bool unread; /* the other end was closed, and nobody had read what was sent */
    struct exe_dial *dial; /* by a socket, until it is answered */
    int status;            /* by a socket: what `ended` is told */
    struct asked *asked; /* of a spare: another one is asked the same if it has not read it */
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
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space,
                          .msg_controllen = sizeof(control.space) };
    _cleanup_close_ int got = -1;
    const int from = c->channel.socket;
    ssize_t n = from < 0 ? -1 : recvmsg(from, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    c->unread = n < 0 && errno == ECONNRESET;
    if (c->unread) /* told once, before what may still be in the queue */
        n = recvmsg(from, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
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

static void spare_soon(struct exe *x);
static bool ask_another(struct exe_call *c, const struct exe_reply *reply);

static void answer(struct exe_call *c, const struct exe_reply *reply, int pidfd, int status)
{
    c->answered = true;
    c->asked = asked_free(c->asked);
    if (uses_spare(c->op) && reply && reply->status == EXE_STATUS_OK) {
        if (c->exe->dialer)
            exe_dial_spare_soon(c->exe->dialer);
        else
            spare_soon(c->exe);
    }
    if (c->forgotten)
        (void)sv_close(pidfd);
    else
        c->ops.answer(reply, pidfd, status, c->userdata);
}

static int on_socket(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct exe_call *c = userdata;
    uint8_t buf[EXE_REPLY_SIZE_MAX];
    struct exe_reply reply;
    int pidfd = -1;
    (void)s;
    (void)fd;
    if (!c->answered && receive(c, buf, &reply, &pidfd)) {
        if (ask_another(c, &reply))
            (void)sv_close(pidfd);
        else
            answer(c, &reply, pidfd, 0);
        return 0;
    }
    if (ask_another(c, NULL))
        return 0;
    /* Closed, or nothing that makes sense: what is wrong is told by the exit status. */
    if (revents & (EPOLLHUP | EPOLLERR | EPOLLIN)) {
        exe_call_hang_up(c);
        if (c->answered && !c->forgotten && c->ops.closed)
            c->ops.closed(c->userdata);
    }
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
    if (waitpid(c->channel.pid, &status, WNOHANG) == 0)
        return 0;
    if (!c->answered) {
        bool have = receive(c, buf, &reply, &pidfd);
        if (ask_another(c, have ? &reply : NULL)) {
            (void)sv_close(pidfd);
            return 0;
        }
        answer(c, have ? &reply : NULL, pidfd, status);
    }
    if (!c->forgotten && c->ops.ended)
        c->ops.ended(status, c->userdata);
    call_free(c);
    return 0;
}

/* ---- by a socket -----------------------------------------------------------------------------*/

/* The end of the connection is the end of the call: what was answered is done, and a monitor has written its
 * record. What nobody has read is asked again. */
static int on_connection(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct exe_call *c = userdata;
    uint8_t buf[EXE_REPLY_SIZE_MAX];
    struct exe_reply reply;
    int pidfd = -1;
    (void)s;
    (void)fd;
    (void)revents;
    if (receive(c, buf, &reply, &pidfd)) {
        c->exe->unreachable = false;
        if (!c->answered && !c->forgotten && reply.request_id == 0 && exe_dial_on_spare(c->dial)) {
            (void)sv_close(pidfd);
            exe_call_hang_up(c);
            exe_dial_again(c->dial);
            return 0;
        }
        if (c->answered) { /* a localizer's end */
            (void)sv_close(pidfd);
            c->status = (reply.error & 0xff) << 8; /* as waitpid has it */
            return 0;
        }
        c->dial = exe_dial_free(c->dial);
        answer(c, &reply, pidfd, 0);
        return 0;
    }
    if (!c->answered && !c->forgotten && (c->unread || exe_dial_unsent(c->dial))) {
        exe_call_hang_up(c);
        exe_dial_again(c->dial);
        return 0;
    }
    c->dial = exe_dial_free(c->dial);
    if (!c->answered)
        answer(c, NULL, -1, 0);
    else if (!c->forgotten && c->ops.closed)
        c->ops.closed(c->userdata);
    if (!c->forgotten && c->ops.ended)
        c->ops.ended(c->status, c->userdata);
    call_free(c);
    return 0;
}

static int on_connected(int socket, void *userdata)
{
    struct exe_call *c = userdata;
    int e = sd_event_add_io(c->exe->event, &c->on_socket, socket, EPOLLIN, on_connection, c);
    if (e < 0)
        return e;
    c->channel.socket = socket;
    return 0;
}

static void on_unreachable(int error, void *userdata)
{
    struct exe_call *c = userdata;
    const char *path = exe_dialer_path(c->exe->dialer);
    const struct exe_reply reply = { .status = EXE_STATUS_SOCKET, .error = -error, .text = path,
                                     .text_len = (uint16_t)strlen(path) };
    c->exe->unreachable = true;
    c->dial = exe_dial_free(c->dial);
    if (!c->forgotten) {
        c->forgotten = true; /* by the callee, too: not freed in there */
        c->ops.answer(&reply, -1, 0, c->userdata);
    }
    call_free(c);
}

static int call_by_socket(struct exe_call *c, const struct exe_request *r, const int *fds, size_t n_fds,
                          struct sv_error *err)
{
    static const struct exe_dial_ops ops = { .connected = on_connected, .failed = on_unreachable };
    int e = exe_dial(c->exe->dialer, r, fds, n_fds, uses_spare(c->op), &ops, c, &c->dial);
    if (e == -EINVAL)
        return sv_error_set(err, e, "container-executor: request is not valid");
    return e < 0 ? sv_error_errno(err, e, "container-executor") : 0;
}

/* ---- by a process of ours --------------------------------------------------------------------*/

/* One that is asked nothing yet and belongs to nobody. */
static int call_new(struct exe *x, struct exe_call **ret, struct sv_error *err)
{
    struct exe_call *c = calloc(1, sizeof(*c));
    if (!c)
        return sv_error_errno(err, -ENOMEM, "container-executor");
    *c = (struct exe_call){ .exe = x, .channel = EXE_CHANNEL_NONE, .forgotten = true };
    DL_APPEND(x->calls, c);
    if (x->dialer) { /* the way comes with the request */
        *ret = c;
        return 0;
    }
    int e = exe_channel_open(x->helper, &c->channel, err);
    if (e < 0) {
        call_free(c);
        return e;
    }
    e = sd_event_add_io(x->event, &c->on_end, c->channel.process, EPOLLIN, on_end, c);
    if (e >= 0)
        e = sd_event_add_io(x->event, &c->on_socket, c->channel.socket, EPOLLIN, on_socket, c);
    if (e >= 0) /* an answer is seen before the end */
        e = sd_event_source_set_priority(c->on_socket, SD_EVENT_PRIORITY_NORMAL - 10);
    if (e < 0) {
        /* It runs already: without its socket it ends by itself. */
        call_free(c);
        return sv_error_errno(err, e, "container-executor: event loop");
    }
    *ret = c;
    return 0;
}

/* ---- the spare -------------------------------------------------------------------------------*/

static void spare_drop(struct exe *x)
{
    if (x->spare)
        exe_call_hang_up(SV_TAKE(x->spare)); /* it ends by that, and is reaped then */
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
    if (!x->spare && call_new(x, &x->spare, NULL) >= 0 &&
        sd_event_add_time_relative(x->event, &x->spare_end, CLOCK_BOOTTIME, SPARE_USEC, 0,
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
    if (!c)
        return NULL;
    if (exe_channel_is_current(&c->channel, x->helper) && exe_channel_announce(&c->channel) == 0 &&
        (c->asked = calloc(1, sizeof(*c->asked)))) {
        x->spare = NULL;
        return c;
    }
    spare_drop(x);
    return NULL;
}

/* Another process in the place of `c`'s, which is left to end. */
static int renew(struct exe_call *c, struct sv_error *err)
{
    const struct exe_call was = *c;
    struct exe_call *other;
    int e = call_new(c->exe, &other, err);
    if (e < 0)
        return e;
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

/* A spare may end just when it is asked: it was killed, or has waited for too long. What it has not
 * read it has not done. */
static bool ask_another(struct exe_call *c, const struct exe_reply *reply)
{
    if (!c->asked || c->forgotten || (reply ? reply->request_id != 0 : !c->unread))
        return false;
    struct asked *a = SV_TAKE(c->asked);
    bool done = renew(c, NULL) >= 0;
    if (done) /* if it has ended already: its end tells */
        (void)!exe_channel_send(&c->channel, &a->request, a->fds, a->n_fds);
    (void)asked_free(a);
    return done;
}

/* ---- a call ----------------------------------------------------------------------------------*/

int exe_call_open(struct exe *x, enum exe_op op, const struct exe_call_ops *ops, void *userdata,
                  struct exe_call **ret, struct sv_error *err)
{
    struct exe_call *c = uses_spare(op) ? spare_take(x) : NULL;
    int e = c ? 0 : call_new(x, &c, err);
    if (e < 0)
        return e;
    c->op = (uint16_t)op;
    c->forgotten = false;
    c->ops = *ops;
    c->userdata = userdata;
    *ret = c;
    return 0;
}

/* For ask_another; without descriptors to spare it is not needed: what is asked now runs. */
static struct asked *keep(struct asked *a, const struct exe_request *r, const int *fds, size_t n_fds)
{
    a->request = *r;
    for (; a->n_fds < n_fds; a->n_fds++)
        if ((a->fds[a->n_fds] = fcntl(fds[a->n_fds], F_DUPFD_CLOEXEC, 0)) < 0)
            return asked_free(a);
    return a;
}

int exe_call_send(struct exe_call *c, struct exe_request *r, const int *fds, size_t n_fds,
                  struct sv_error *err)
{
    const bool spare = c->asked != NULL;
    r->request_id = c->request_id = ++c->exe->next_request;
    if (c->exe->dialer)
        return call_by_socket(c, r, fds, n_fds, err);
    if (spare)
        c->asked = keep(c->asked, r, fds, n_fds);
    int e = exe_channel_send(&c->channel, r, fds, n_fds);
    if (spare && (e == -EPIPE || e == -ECONNRESET)) {
        c->asked = asked_free(c->asked);
        e = renew(c, err);
        if (e < 0)
            return e;
        e = exe_channel_send(&c->channel, r, fds, n_fds);
    }
    if (e == -EPIPE || e == -ECONNRESET)
        e = 0; /* it has ended already; why, is told by its answer or its exit status */
    if (e == -EINVAL)
        return sv_error_set(err, e, "container-executor: request is not valid");
    return e < 0 ? sv_error_errno(err, e, "%s", c->exe->helper) : 0;
}

void exe_call_abandon(struct exe_call *c)
{
    c->forgotten = true;
    if (c->exe->dialer)
        call_free(c);
    else
        exe_call_hang_up(c);
}

int exe_call_start(struct exe *x, struct exe_request *r, const int *fds, size_t n_fds,
                   const struct exe_call_ops *ops, void *userdata, struct exe_call **ret,
                   struct sv_error *err)
{
    struct exe_call *c;
    int e = exe_call_open(x, (enum exe_op)r->op, ops, userdata, &c, err);
    if (e < 0)
        return e;
    e = exe_call_send(c, r, fds, n_fds, err);
    if (e < 0)
        exe_call_abandon(c);
    else if (ret)
        *ret = c;
    return e;
}
