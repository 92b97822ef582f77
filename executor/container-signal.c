/* container-signal: performs a SIGNAL request, which container-executor has checked, as the job's
 * user. The helper executes it after dropping to that user for ever, with an empty environment and
 * these descriptors:
 *
 *    fd 0   the request socket, for the answer
 *    fd 1   a pipe with one struct exe_request
 *    fd 3   the daemon's pidfd, claimed to be the container's init
 *    fd 4   the container's cgroup
 *
 * Its file is not readable by users (mode 0711), so no process of the same user can trace it.
 *
 * The signal is sent to init, which forwards it to the main process' group. The kernel does not let
 * it reach processes of other users; membership of the cgroup proves that it is this
 * container's. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/request.h"

enum { REQUEST = 1, INIT = 3, CGROUP = 4 };

/* The pid of a pidfd's process in this pid namespace; 0 if it is no pidfd or the process has
 * ended. */
static long pid_of(int pidfd)
{
    char name[64], text[512];
    (void)snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", pidfd);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        (void)close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *s = strstr(text, "\nPid:\t");
    long pid = 0;
    for (s = s ? s + 6 : ""; *s >= '0' && *s <= '9' && pid < 1 << 26; s++)
        pid = pid * 10 + (*s - '0');
    return pid;
}

static bool in_cgroup(int cgroup, long pid)
{
    static char text[65536];
    char want[32];
    int fd = openat(cgroup, "cgroup.procs", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    size_t n = 1, len = (size_t)snprintf(want, sizeof(want), "\n%ld\n", pid);
    text[0] = '\n';
    for (ssize_t r = 1; fd >= 0 && r > 0 && n<sizeof(text); n += r> 0 ? (size_t)r : 0)
        r = read(fd, text + n, sizeof(text) - n);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0 && memmem(text, n, want, len) != NULL;
}

static int answer(const struct exe_request *r, enum exe_status status, int error)
{
    char text[EXE_TEXT_MAX] = "";
    if (status != EXE_STATUS_OK)
        exe_container_text(r, text);
    struct exe_reply_head head = { .magic = EXE_REPLY_MAGIC,
                                   .version = r->version,
                                   .status = (uint16_t)status,
                                   .error = error,
                                   .request_id = r->request_id,
                                   .text_len = (uint16_t)strlen(text) };
    struct iovec iov[2] = { { &head, sizeof(head) }, { text, head.text_len } };
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
    (void)sendmsg(0, &msg, MSG_NOSIGNAL); /* the daemon may have ended, ignoring */
    return (int)status;
}

int main(int argc, char **argv)
{
    uint8_t buf[EXE_REQUEST_SIZE];
    struct exe_request r;
    struct pollfd ended = { .fd = INIT, .events = POLLIN };
    (void)argv;
    if (argc != 1 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || geteuid() == 0 ||
        read(REQUEST, buf, sizeof(buf)) != (ssize_t)sizeof(buf) ||
        exe_request_decode(buf, sizeof(buf), &r) < 0 || r.op != EXE_OP_SIGNAL)
        return EXE_STATUS_REQUEST;
    long pid = pid_of(INIT);
    if (pid <= 0 || !in_cgroup(CGROUP, pid) || poll(&ended, 1, 0) != 0)
        return answer(&r, EXE_STATUS_SIGNAL_TARGET, ESRCH);
    if (syscall(SYS_pidfd_send_signal, INIT, (int)r.signal, NULL, 0) < 0)
        return answer(&r, EXE_STATUS_SIGNAL, errno);
    return answer(&r, EXE_STATUS_OK, 0);
}
