/* One run of container-executor: a socket pair, a process, a request, an answer. The daemon's side; the
 * process that answers may stay on as a monitor. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "common/fd.h"
#include "executor/internal.h"

struct exe_call {
    struct exe *exe;
    struct exe_call *prev, *next;
    int socket, pidfd;
    uint64_t request_id;
    pid_t pid;
    bool answered, forgotten;
    sd_event_source *on_socket, *on_end;
    struct exe_call_ops ops;
    void *userdata;
};

static void call_free(struct exe_call *c)
{
    DL_DELETE(c->exe->calls, c);
    (void)sd_event_source_disable_unref(c->on_socket);
    (void)sd_event_source_disable_unref(c->on_end);
    c->socket = sv_close(c->socket);
    c->pidfd = sv_close(c->pidfd);
    free(c);
}

void exe_calls_free(struct exe *x)
{
    while (x->calls)
        call_free(x->calls);
}

void exe_call_forget(struct exe_call *c)
{
    if (c)
        c->forgotten = true;
}

void exe_call_hang_up(struct exe_call *c)
{
    c->on_socket = sd_event_source_disable_unref(c->on_socket);
    c->socket = sv_close(c->socket);
}

static int spawn(struct exe *x, int theirs, pid_t *ret)
{
    char *argv[] = { (char *)"container-executor", NULL }, *envp[] = { NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t all, none;
    int r = posix_spawn_file_actions_init(&actions);
    if (r)
        return -r;
    r = posix_spawnattr_init(&attr);
    if (r == 0) {
        (void)sigfillset(&all);
        (void)sigemptyset(&none);
        (void)posix_spawnattr_setsigdefault(&attr, &all);
        (void)posix_spawnattr_setsigmask(&attr, &none);
        (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        r = posix_spawn_file_actions_adddup2(&actions, theirs, 0);
        if (r == 0)
            r = posix_spawn(ret, x->helper, &actions, &attr, argv, envp);
        (void)posix_spawnattr_destroy(&attr);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

static int send_request(int fd, struct exe_request *r, const int *fds, size_t n_fds)
{
    uint8_t buf[EXE_REQUEST_SIZE];
    union {
        char space[CMSG_SPACE(sizeof(int) * EXE_FDS_MAX)];
        struct cmsghdr align;
    } control = { 0 };
    int n = exe_request_encode(r, buf, sizeof(buf));
    if (n < 0)
        return n;
    struct iovec iov = { .iov_base = buf, .iov_len = (size_t)n };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    if (n_fds > 0) {
        msg.msg_control = control.space;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
    }
    return sendmsg(fd, &msg, MSG_NOSIGNAL) == n ? 0 : -errno;
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
    ssize_t n = c->socket < 0 ? -1 : recvmsg(c->socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == ECONNRESET) /* told once, before what may still be in the queue */
        n = recvmsg(c->socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
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
    if (waitpid(c->pid, &status, WNOHANG) == 0)
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

int exe_call_start(struct exe *x, struct exe_request *r, const int *fds, size_t n_fds,
                   const struct exe_call_ops *ops, void *userdata, struct exe_call **ret,
                   struct sv_error *err)
{
    int pair[2] = { -1, -1 }, e;
    struct exe_call *c = calloc(1, sizeof(*c));
    if (!c)
        return sv_error_errno(err, -ENOMEM, "container-executor");
    *c = (struct exe_call){ .exe = x, .socket = -1, .pidfd = -1, .ops = *ops,
                            .userdata = userdata };
    DL_APPEND(x->calls, c);
    r->request_id = c->request_id = ++x->next_request;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        e = -errno;
        call_free(c);
        return sv_error_errno(err, e, "container-executor: socketpair");
    }
    c->socket = pair[0];
    e = send_request(c->socket, r, fds, n_fds);
    if (e == 0)
        e = spawn(x, pair[1], &c->pid);
    (void)sv_close(pair[1]);
    if (e < 0) {
        call_free(c);
        return e == -EINVAL ? sv_error_set(err, e, "container-executor: request is not valid")
                            : sv_error_errno(err, e, "%s", x->helper);
    }
    /* Ours and not waited for: the number cannot have become somebody else's. */
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    e = c->pidfd < 0 ? -errno
                     : sd_event_add_io(x->event, &c->on_end, c->pidfd, EPOLLIN, on_end, c);
    if (e >= 0)
        e = sd_event_add_io(x->event, &c->on_socket, c->socket, EPOLLIN, on_socket, c);
    if (e >= 0) /* an answer is seen before the end */
        e = sd_event_source_set_priority(c->on_socket, SD_EVENT_PRIORITY_NORMAL - 10);
    if (e < 0) {
        /* It runs already: without its socket it ends by itself, refused or lost. */
        call_free(c);
        return sv_error_errno(err, e, "container-executor: event loop");
    }
    if (ret)
        *ret = c;
    return 0;
}
