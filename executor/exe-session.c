/* See exe-session.h. */
#include "executor/exe-session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fd.h"
#include "common/loop-guard.h"
#include "executor/door.h"
#include "executor/internal.h"

struct exe_session {
    int fd;
    bool terminal, started;
    struct exe_session_io io; /* until it has started */
    sd_event_source *on_socket, *on_time;
    struct exe_session_ops ops;
    void *userdata;
};

static void close_io(struct exe_session_io *io)
{
    io->in = sv_close(io->in);
    io->out = sv_close(io->out);
    io->err = sv_close(io->err);
}

struct exe_session *exe_session_free(struct exe_session *s)
{
    if (!s)
        return NULL;
    (void)sd_event_source_disable_unref(s->on_socket);
    (void)sd_event_source_disable_unref(s->on_time);
    s->fd = sv_close(s->fd);
    close_io(&s->io);
    free(s);
    return NULL;
}

static void end(struct exe_session *s, int error, int code)
{
    s->on_socket = sd_event_source_disable_unref(s->on_socket);
    s->on_time = sd_event_source_disable_unref(s->on_time);
    s->fd = sv_close(s->fd); /* kills what runs */
    s->ops.ended(error, code, s->userdata);
}

/* True for a terminal's master, the only thing that this process reads as one. */
static bool is_master(int fd)
{
    struct stat st;
    unsigned number;
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

    return flags >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
           ioctl(fd, TIOCGPTN, &number) == 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

static void on_started(struct exe_session *s, int passed)
{
    _cleanup_close_ int fd = passed;

    if (s->started || s->terminal != (fd >= 0) || (s->terminal && !is_master(fd))) {
        end(s, -EBADMSG, 0);
        return;
    }
    s->started = true;
    s->on_time = sd_event_source_disable_unref(s->on_time);
    if (s->terminal)
        s->io = (struct exe_session_io){ sv_take_fd(&fd), -1, -1 };
    const struct exe_session_io io = s->io;
    s->io = (struct exe_session_io){ -1, -1, -1 };
    s->ops.started(&io, s->userdata);
}

/* One answer, whose first descriptor is returned and whose others are closed. */
static ssize_t receive(int from, struct exe_session_answer *ret, int *ret_fd)
{
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { ret, sizeof(*ret) };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.space,
                          .msg_controllen = sizeof(control.space) };
    ssize_t n = recvmsg(from, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n < 0 && errno == ECONNRESET) /* the request was not read; an answer may be there */
        n = recvmsg(from, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
    *ret_fd = -1;
    if (n < 0)
        return -errno;
    /* the space holds two on some machines; the kernel closes what does not fit */
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        int fds[CMSG_SPACE(sizeof(int)) / sizeof(int)];
        size_t k = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        memcpy(fds, CMSG_DATA(c), k * sizeof(int));
        *ret_fd = k > 0 ? fds[0] : -1;
        for (size_t i = 1; i < k; i++)
            (void)sv_close(fds[i]);
    }
    return msg.msg_flags & MSG_TRUNC ? -EBADMSG : n;
}

static int on_socket(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct exe_session *s = userdata;
    struct exe_session_answer a = { 0 };
    _cleanup_close_ int passed = -1;
    ssize_t n = receive(fd, &a, &passed);

    (void)source;
    (void)revents;
    if (n == -EAGAIN || n == -EINTR)
        return 0;
    if (n == 0 || n == -ECONNRESET)
        end(s, -ESRCH, 0);
    else if (n != (ssize_t)sizeof(a) || a.magic != EXE_SESSION_MAGIC)
        end(s, -EBADMSG, 0);
    else if (a.word == EXE_SESSION_STARTED)
        on_started(s, sv_take_fd(&passed));
    else if (a.word == EXE_SESSION_FAILED && a.value > 0 && a.value < 4096)
        end(s, -a.value, 0);
    else if (a.word == EXE_SESSION_ENDED && s->started && a.value >= 0 && a.value <= 255)
        end(s, 0, a.value);
    else
        end(s, -EBADMSG, 0);
    return 0;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)source;
    (void)usec;
    end(userdata, -ETIMEDOUT, 0);
    return 0;
}

/* One pipe: *ours is this process' side, which does not block; *theirs the program's. */
static int make_pipe(bool to_program, int *ours, int *theirs)
{
    int p[2];

    if (pipe2(p, O_CLOEXEC) < 0)
        return -errno;
    *ours = to_program ? p[1] : p[0];
    *theirs = to_program ? p[0] : p[1];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int put_words(struct sv_buf *m, const char *const *words, uint16_t *ret_n)
{
    size_t n = 0;
    int r = 0;

    for (; r >= 0 && words && words[n]; n++)
        r = sv_buf_put(m, words[n], strlen(words[n]) + 1);
    if (n > EXE_SESSION_WORDS_MAX || r == -EMSGSIZE)
        return -E2BIG;
    *ret_n = (uint16_t)n;
    return r;
}

static int compose(const struct exe_session_request *q, struct sv_buf *m)
{
    struct exe_session_start head = { .magic = EXE_SESSION_MAGIC,
                                      .version = EXE_SESSION_VERSION,
                                      .terminal = q->terminal,
                                      .rows = q->rows,
                                      .columns = q->columns };
    int r = sv_buf_put(m, &head, sizeof(head));

    if (r >= 0)
        r = put_words(m, q->arguments, &head.n_arguments);
    if (r >= 0)
        r = put_words(m, q->variables, &head.n_variables);
    if (r < 0)
        return r;
    if (head.n_arguments == 0)
        return -EINVAL;
    if (head.n_arguments + head.n_variables > EXE_SESSION_WORDS_MAX)
        return -E2BIG;
    memcpy(m->data, &head, sizeof(head));
    return 0;
}

/* Sends the request, with the program's sides of the pipes, which are closed. */
static int send_request(struct exe_session *s, const struct exe_session_request *q, int theirs[3])
{
    _cleanup_buf_ struct sv_buf m =
        SV_BUF_INIT(sizeof(struct exe_session_start) + EXE_SESSION_TEXT_MAX);
    union {
        char space[CMSG_SPACE(sizeof(int) * 3)];
        struct cmsghdr align;
    } control = { 0 };
    int r = compose(q, &m);
    struct iovec iov = { m.data, m.len };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

    if (r < 0)
        return r;
    if (!q->terminal) {
        msg.msg_control = control.space;
        msg.msg_controllen = sizeof(control.space);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * 3);
        memcpy(CMSG_DATA(c), theirs, sizeof(int) * 3);
    }
    /* EPIPE: refused before it was read, as one too many is; the answer is there */
    return sendmsg(s->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE ? -errno : 0;
}

static int knock(const struct exe_container *c, struct exe **ret)
{
    _cleanup_close_ int dir = exe_container_private(c, ret);

    if (dir < 0)
        return dir == -ENOENT ? -ESRCH : dir;
    return exe_door_knock(dir);
}

static int begin(struct exe_session *s, struct exe *x, const struct exe_session_request *q)
{
    int theirs[3] = { -1, -1, -1 };
    int r = 0;

    if (!q->terminal)
        r = make_pipe(true, &s->io.in, &theirs[0]);
    if (r >= 0 && !q->terminal)
        r = make_pipe(false, &s->io.out, &theirs[1]);
    if (r >= 0 && !q->terminal)
        r = make_pipe(false, &s->io.err, &theirs[2]);
    if (r >= 0)
        r = send_request(s, q, theirs);
    for (size_t i = 0; i < SV_ARRAY_LEN(theirs); i++)
        (void)sv_close(theirs[i]);
    if (r >= 0)
        r = sd_event_add_io(x->event, &s->on_socket, s->fd, EPOLLIN, on_socket, s);
    if (r >= 0)
        r = sd_event_add_time_relative(x->event, &s->on_time, CLOCK_MONOTONIC,
                                       EXE_SESSION_START_MS * 1000ULL, 0, on_time, s);
    return r < 0 ? r : 0;
}

int exe_session_open(struct exe_container *c, const struct exe_session_request *q,
                     const struct exe_session_ops *ops, void *userdata, struct exe_session **ret)
{
    struct exe_session *s = calloc(1, sizeof(*s));
    struct exe *x;
    int r;

    if (!s)
        return -ENOMEM;
    *s = (struct exe_session){
        .fd = -1, .terminal = q->terminal, .io = { -1, -1, -1 }, .ops = *ops, .userdata = userdata
    };
    s->fd = knock(c, &x);
    r = s->fd < 0 ? s->fd : begin(s, x, q);
    if (r < 0) {
        (void)exe_session_free(s);
        return r;
    }
    *ret = s;
    return 0;
}
