/* One run of container-executor: a socket pair, a process, a request, an answer. The daemon's side; the
 * process that answers may stay on as a monitor. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utlist.h>

#include "common/fd.h"
#include "executor/channel.h"
#include "executor/dial.h"
#include "executor/internal.h"

struct exe_call {
    struct exe *exe;
    struct exe_call *prev, *next;
    struct exe_channel channel;
    uint64_t request_id;
    bool answered, forgotten;
    bool unread; /* the other end was closed, and nobody had read what was sent */
    struct exe_dial *dial; /* by a socket, until it is answered */
    int status;            /* by a socket: what `ended` is told */
    sd_event_source *on_socket, *on_end;
    struct exe_call_ops ops;
    void *userdata;
};

static void call_free(struct exe_call *c)
{
    DL_DELETE(c->exe->calls, c);
    (void)sd_event_source_disable_unref(c->on_socket);
    (void)sd_event_source_disable_unref(c->on_end);
    exe_channel_close(&c->channel);
    c->dial = exe_dial_free(c->dial);
    free(c);
}

void exe_calls_free(struct exe *x)
{
    while (x->calls)
        call_free(x->calls);
}

void exe_call_forget(struct exe_call *c)
{
    if (!c)
        return;
    c->forgotten = true;
    if (c->exe->dialer && c->channel.socket < 0) /* not sent, or hung up: nothing will be heard of it */
        call_free(c);
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

static void answer(struct exe_call *c, const struct exe_reply *reply, int pidfd, int status)
{
    c->answered = true;
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
        answer(c, &reply, pidfd, 0);
        return 0;
    }
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
        if (c->answered) { /* a localizer's end */
            (void)sv_close(pidfd);
            c->status = (reply.error & 0xff) << 8; /* as waitpid has it */
            return 0;
        }
        c->dial = exe_dial_free(c->dial);
        answer(c, &reply, pidfd, 0);
        return 0;
    }
    if (!c->answered && (c->unread || exe_dial_unsent(c->dial))) {
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
    int e = exe_dial(c->exe->dialer, r, fds, n_fds, &ops, c, &c->dial);
    if (e < 0) {
        call_free(c);
        return e == -EINVAL ? sv_error_set(err, e, "container-executor: request is not valid")
                            : sv_error_errno(err, e, "container-executor");
    }
    return 0;
}

int exe_call_start(struct exe *x, struct exe_request *r, const int *fds, size_t n_fds,
                   const struct exe_call_ops *ops, void *userdata, struct exe_call **ret,
                   struct sv_error *err)
{
    struct exe_call *c = calloc(1, sizeof(*c));
    if (!c)
        return sv_error_errno(err, -ENOMEM, "container-executor");
    *c = (struct exe_call){ .exe = x, .channel = EXE_CHANNEL_NONE, .ops = *ops,
                            .userdata = userdata };
    DL_APPEND(x->calls, c);
    r->request_id = c->request_id = ++x->next_request;
    if (x->dialer) {
        int e = call_by_socket(c, r, fds, n_fds, err);
        if (e == 0 && ret)
            *ret = c;
        return e;
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
    e = exe_channel_send(&c->channel, r, fds, n_fds);
    if (e == -EPIPE || e == -ECONNRESET)
        e = 0; /* it has ended already; why, is told by its answer or its exit status */
    if (e < 0) {
        c->forgotten = true; /* reaped when it has seen that nothing is asked */
        exe_call_hang_up(c);
        return e == -EINVAL ? sv_error_set(err, e, "container-executor: request is not valid")
                            : sv_error_errno(err, e, "%s", x->helper);
    }
    if (ret)
        *ret = c;
    return 0;
}
