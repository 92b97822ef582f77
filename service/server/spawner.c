/* See spawner.h. */
#include "service/server/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "service/server/worker.h"

#define N_FDS 2 /* of a message: the request, where the answer goes */

struct svc_spawner {
    int fd;
};

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(N_FDS * sizeof(int))];
};

/* ---- The spawner's process ---- */

static int receive(int fd, int ret[N_FDS])
{
    union control c;
    char byte;
    struct iovec iov = { &byte, 1 };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
    };
    struct cmsghdr *h;
    ssize_t n;

    do {
        n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n < 0 ? -errno : -ECONNRESET;
    h = CMSG_FIRSTHDR(&m);
    if (!h || h->cmsg_len != CMSG_LEN(N_FDS * sizeof(int)) || (m.msg_flags & MSG_CTRUNC))
        return -EBADMSG;
    memcpy(ret, CMSG_DATA(h), N_FDS * sizeof(int));
    return 0;
}

static void serve_one(const struct svc_conf *conf, int fd, const int fds[N_FDS])
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)signal(SIGCHLD, SIG_DFL);
        (void)sv_close(fd);
        _exit(svc_worker_run(conf, fds[0], fds[1]));
    }
    if (pid < 0)
        sv_log_warning("a request's process: %s", strerror(errno));
    for (size_t i = 0; i < N_FDS; i++)
        (void)sv_close(fds[i]);
}

static int serve(const struct svc_conf *conf, int fd)
{
    int fds[N_FDS];

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* else it ends with the socket, ignoring */
    (void)signal(SIGCHLD, SIG_IGN);         /* requests' processes are reaped by the kernel */
    while (receive(fd, fds) == 0)
        serve_one(conf, fd, fds);
    return EXIT_SUCCESS;
}

/* Nothing of the server's but its socket and the log: descriptor 3. */
static void keep_only(int *fd)
{
    if (*fd != STDERR_FILENO + 1 && dup3(*fd, STDERR_FILENO + 1, O_CLOEXEC) >= 0)
        *fd = STDERR_FILENO + 1;
    (void)close_range(STDERR_FILENO + 2, ~0U, 0); /* an old kernel's: they stay, ignoring */
}

/* ---- The server ---- */

int svc_spawner_new(const struct svc_conf *conf, struct svc_spawner **ret, struct sv_error *err)
{
    struct svc_spawner *s = calloc(1, sizeof(*s));
    int fds[2];
    pid_t pid;

    if (!s || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
        free(s);
        return sv_error_errno(err, s ? -errno : -ENOMEM, "processes of requests");
    }
    pid = fork();
    if (pid == 0) {
        keep_only(&fds[1]);
        _exit(serve(conf, fds[1]));
    }
    (void)sv_close(fds[1]);
    if (pid < 0) {
        (void)sv_close(fds[0]);
        free(s);
        return sv_error_errno(err, -errno, "processes of requests");
    }
    s->fd = fds[0];
    *ret = s;
    return 0;
}

struct svc_spawner *svc_spawner_free(struct svc_spawner *s)
{
    if (s) {
        s->fd = sv_close(s->fd);
        free(s);
    }
    return NULL;
}

int svc_spawner_fd(const struct svc_spawner *s)
{
    return s->fd;
}

static int send_fds(int fd, const int fds[N_FDS])
{
    union control c = { 0 };
    char byte = 0;
    struct iovec iov = { &byte, 1 };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
    };
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);

    *h = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS,
                           .cmsg_len = CMSG_LEN(N_FDS * sizeof(int)) };
    memcpy(CMSG_DATA(h), fds, N_FDS * sizeof(int));
    return sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int svc_spawner_start(struct svc_spawner *s, int request)
{
    _cleanup_close_ int ours = -1, theirs = -1;
    int pipe_fds[2], r;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return -errno;
    ours = pipe_fds[0];
    theirs = pipe_fds[1];
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    r = send_fds(s->fd, (const int[N_FDS]){ request, theirs });
    return r < 0 ? r : sv_take_fd(&ours);
}
