#include "executor/helper-spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fd.h"

static int spawn(const char *helper, int theirs, pid_t *ret)
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
            r = posix_spawn(ret, helper, &actions, &attr, argv, envp);
        (void)posix_spawnattr_destroy(&attr);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

int exe_helper_spawn(const char *helper, struct exe_helper *ret, struct sv_error *err)
{
    int pair[2];
    pid_t pid = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return sv_error_errno(err, -errno, "container-executor: socketpair");
    _cleanup_close_ int ours = pair[0], theirs = pair[1];
    /* Reserves a number for the pidfd first: no process may run unwatched. */
    _cleanup_close_ int reserved = fcntl(ours, F_DUPFD_CLOEXEC, 0);
    if (reserved < 0)
        return sv_error_errno(err, -errno, "container-executor: pidfd");
    int e = spawn(helper, theirs, &pid);
    if (e < 0)
        return sv_error_errno(err, e, "%s", helper);
    reserved = sv_close(reserved);
    /* An unreaped child: its number cannot be reused. */
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0)
        return sv_error_errno(err, -errno, "container-executor: pidfd");
    *ret = (struct exe_helper){ .socket = sv_take_fd(&ours), .process = process, .pid = pid };
    return 0;
}

int exe_helper_send(const struct exe_helper *h, const struct exe_request *r, const int *fds,
                    size_t n_fds)
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
    return sendmsg(h->socket, &msg, MSG_NOSIGNAL) == n ? 0 : -errno;
}

void exe_helper_close(struct exe_helper *c)
{
    c->socket = sv_close(c->socket);
    c->process = sv_close(c->process);
}
