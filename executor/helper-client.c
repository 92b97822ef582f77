/* Client of the helper: one process of container-executor, one request, one answer. After a launch
 * the answering process becomes the container's monitor.
 *
 * In socket-activated mode a connection that the other end closed before the request was read is
 * retried (helper-socket.h). In setuid mode nothing is retried. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utlist.h>

#include "common/fd.h"
#include "common/loop-guard.h"
#include "executor/helper-socket.h"
#include "executor/helper-spawn.h"
#include "executor/internal.h"

struct exe_call {
    struct exe *exe;
    struct exe_call *prev, *next;
    struct exe_helper helper;
    uint64_t request_id;
    bool answered, forgotten;
    bool unread;           /* the other end closed before it read the request */
    struct exe_dial *dial; /* socket-activated mode, until the answer */
    int status;            /* socket-activated mode: argument of `ended` */
    sd_event_source *on_socket, *on_end;
    struct exe_call_ops ops;
    void *userdata;
};

static void call_free(struct exe_call *c)
{
    DL_DELETE(c->exe->calls, c);
    (void)sd_event_source_disable_unref(c->on_socket);
    (void)sd_event_source_disable_unref(c->on_end);
    exe_helper_close(&c->helper);
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
    const bool already = c->forgotten;
    c->forgotten = true;
    if (c->exe->dialer && !already && c->helper.socket < 0)
        call_free(c); /* not sent, or hung up: no event will come */
}

void exe_call_hang_up(struct exe_call *c)
{
    c->on_socket = sd_event_source_disable_unref(c->on_socket);
    c->helper.socket = sv_close(c->helper.socket);
    c->unread = false;
}

/* Receives the reply; false if there is none. Closes surplus descriptors. */
static bool receive_reply(struct exe_call *c, uint8_t buf[EXE_REPLY_SIZE_MAX],
                          struct exe_reply *ret, int *ret_fd)
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
    const int from = c->helper.socket;
    if (from < 0) /* hung up; errno is another call's */
        return false;
    ssize_t n = recvmsg(from, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == ECONNRESET) { /* reported once, ahead of what is still queued */
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

static void answer(struct exe_call *c, const struct exe_reply *reply, int pidfd, int status)
{
    c->answered = true;
    if (c->forgotten)
        (void)sv_close(pidfd);
    else
        c->ops.answer(reply, pidfd, status, c->userdata);
}

static void call_ended(struct exe_call *c, int status)
{
    if (!c->forgotten && c->ops.ended)
        c->ops.ended(status, c->userdata);
    call_free(c);
}

static void on_reply(struct exe_call *c, const struct exe_reply *reply, int pidfd)
{
    c->exe->unreachable = false;
    if (!c->answered) {
        c->dial = exe_dial_free(c->dial);
        answer(c, reply, pidfd, 0);
        return;
    }
    c->status = (reply->error & 0xff) << 8; /* exit of a localizer, as from waitpid */
    (void)sv_close(pidfd);
}

static int on_socket(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct exe_call *c = userdata;
    uint8_t buf[EXE_REPLY_SIZE_MAX];
    struct exe_reply reply;
    int pidfd = -1;
    (void)s;
    (void)fd;
    (void)revents;
    if (receive_reply(c, buf, &reply, &pidfd)) {
        on_reply(c, &reply, pidfd);
        return 0;
    }
    if (c->dial && !c->answered && !c->forgotten && (c->unread || exe_dial_send_failed(c->dial))) {
        exe_call_hang_up(c);
        exe_dial_retry(c->dial);
        return 0;
    }
    /* Closed, or malformed. Setuid mode: the exit status has the cause. Socket-activated mode: the
     * call ends with its connection. Closing takes a while, so it comes after the callback. */
    const bool answered = c->answered;
    if (c->exe->dialer)
        c->dial = exe_dial_free(c->dial);
    if (c->exe->dialer && !answered)
        answer(c, NULL, -1, 0);
    else if (answered && !c->forgotten && c->ops.closed)
        c->ops.closed(c->userdata);
    exe_call_hang_up(c);
    if (c->exe->dialer)
        call_ended(c, c->status);
    return 0;
}

static int on_end(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct exe_call *c = userdata;
    uint8_t buf[EXE_REPLY_SIZE_MAX];
    struct exe_reply reply;
    int pidfd = -1, status = 0;
    (void)s;
    (void)fd;
    (void)revents;
    if (c->helper.pid > 0 && waitpid(c->helper.pid, &status, WNOHANG) == 0)
        return 0;
    c->helper.pid = 0; /* reaped: the number may be reused */
    if (!c->answered) {
        bool have = receive_reply(c, buf, &reply, &pidfd);
        answer(c, have ? &reply : NULL, pidfd, status);
    }
    call_ended(c, status);
    return 0;
}

static int watch(struct exe_call *c)
{
    int e = sd_event_add_io(c->exe->event, &c->on_socket, c->helper.socket, EPOLLIN, on_socket, c);
    if (e >= 0 && c->helper.process >= 0) {
        e = sd_event_add_io(c->exe->event, &c->on_end, c->helper.process, EPOLLIN, on_end, c);
        if (e >= 0) /* the answer is dispatched before the exit */
            e = sd_event_source_set_priority(c->on_socket, SD_EVENT_PRIORITY_NORMAL - 10);
    }
    return e;
}

static int on_connected(int socket, void *userdata)
{
    struct exe_call *c = userdata;
    c->helper.socket = socket;
    int e = watch(c);
    if (e < 0) {
        c->on_socket = sd_event_source_disable_unref(c->on_socket);
        c->helper.socket = -1;
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
        c->forgotten = true; /* also by exe_call_forget from inside the callback: not freed there */
        c->ops.answer(&reply, -1, 0, c->userdata);
    }
    call_free(c);
}

int exe_call_open(struct exe *x, struct exe_call **ret, struct sv_error *err)
{
    struct exe_call *c = calloc(1, sizeof(*c));
    if (!c)
        return sv_error_errno(err, -ENOMEM, "container-executor");
    *c = (struct exe_call){ .exe = x, .helper = EXE_HELPER_NONE, .forgotten = true };
    DL_APPEND(x->calls, c);
    int e = x->dialer ? 0 : exe_helper_spawn(x->helper, &c->helper, err);
    if (e == 0 && !x->dialer && (e = watch(c)) < 0)
        (void)sv_error_errno(err, e, "container-executor: event loop");
    if (e < 0) {
        call_free(c);
        return e;
    }
    *ret = c;
    return 0;
}

int exe_call_send(struct exe_call *c, struct exe_request *r, const int *fds, size_t n_fds,
                  const struct exe_call_ops *ops, void *userdata, struct sv_error *err)
{
    static const struct exe_dial_ops dial = { .connected = on_connected, .failed = on_unreachable };
    struct exe *x = c->exe;
    r->version = x->version;
    r->request_id = c->request_id = ++x->next_request;
    c->forgotten = false;
    c->ops = *ops;
    c->userdata = userdata;
    int e = x->dialer ? exe_dial(x->dialer, r, fds, n_fds, &dial, c, &c->dial)
                      : exe_helper_send(&c->helper, r, fds, n_fds);
    if (e >= 0 || (!x->dialer && (e == -EPIPE || e == -ECONNRESET)))
        return 0; /* a helper that has ended reports the cause by its answer or exit status */
    exe_call_abandon(c);
    return e == -EINVAL ? sv_error_set(err, e, "container-executor: request is not valid")
                        : sv_error_errno(err, e, "%s", x->helper);
}

int exe_call_start(struct exe *x, struct exe_request *r, const int *fds, size_t n_fds,
                   const struct exe_call_ops *ops, void *userdata, struct exe_call **ret,
                   struct sv_error *err)
{
    struct exe_call *c;
    int e = exe_call_open(x, &c, err);
    if (e == 0)
        e = exe_call_send(c, r, fds, n_fds, ops, userdata, err);
    if (e == 0 && ret)
        *ret = c;
    return e;
}

void exe_call_abandon(struct exe_call *c)
{
    c->forgotten = true;
    if (c->on_end)
        exe_call_hang_up(c);
    else
        call_free(c);
}
