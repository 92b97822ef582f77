/* Descriptor 0 of container-executor: one datagram in, with its descriptors, and one out; and its
 * line in the machine's log.
 *
 * The datagram is hostile: one that is longer than a request, truncated, or carries anything but at
 * most EXE_FDS_MAX descriptors MUST be refused here. Its content is decoded by main.c, and MUST NOT
 * be read before the caller has been checked. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

bool hlp_is_channel(int fd)
{
    int domain = 0, type = 0;
    socklen_t len = sizeof(int);
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

size_t hlp_receive(uint8_t *buf, size_t size, int fds[EXE_FDS_MAX], int *ret_n_fds)
{
    union {
        char space[CMSG_SPACE(sizeof(int) * (EXE_FDS_MAX + 1))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { .iov_base = buf, .iov_len = size };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.space,
                          .msg_controllen = sizeof(control.space) };
    const struct timeval patience = { .tv_sec = 10 };
    ssize_t n;
    (void)setsockopt(0, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    do /* a wait with a time limit ends with EINTR in a process that was stopped and continued, as
          all are when a machine sleeps */
        n = recvmsg(0, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        hlp_fail(EXE_STATUS_REQUEST, errno, "recvmsg");
    if (n == 0) /* the other end was closed: no request */
        _exit(EXE_STATUS_REQUEST);
    const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    *ret_n_fds = 0;
    if (c) {
        const size_t bytes = c->cmsg_len - CMSG_LEN(0);
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
            bytes > EXE_FDS_MAX * sizeof(int) ||
            msg.msg_controllen > CMSG_SPACE(bytes)) /* and no other */
            hlp_fail(EXE_STATUS_REQUEST_FDS, EBADMSG, "control message");
        memcpy(fds, CMSG_DATA(c), bytes);
        *ret_n_fds = (int)(bytes / sizeof(int));
    }
    if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        hlp_fail(EXE_STATUS_REQUEST, EMSGSIZE, "request");
    return (size_t)n;
}

void hlp_reply(const struct exe_request *to, enum exe_status status, int error, const char *text)
{
    const size_t n = strlen(text);
    struct exe_reply_head head = {
        .magic = EXE_REPLY_MAGIC,
        .version = to->version,
        .status = (uint16_t)status,
        .request_id = to->request_id,
        .error = error,
        .text_len = (uint16_t)(n > EXE_REPLY_TEXT_MAX ? EXE_REPLY_TEXT_MAX : n),
    };
    struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)text, head.text_len } };
    const struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
    /* An unread request would reach the caller as a reset in place of this answer. */
    (void)recv(0, (char[1]){ 0 }, 1, MSG_DONTWAIT);
    /* A caller that has ended or does not read loses its answer, nothing else. */
    (void)sendmsg(0, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The request has been decoded, or is zero except for our version: only checked bytes of it are
 * written. */
void hlp_audit(const struct hlp *h, enum exe_status status, int error)
{
    static const char *const operations[] = { "none",     "CHECK",  "INIT_APP", "LAUNCH",
                                              "LOCALIZE", "SIGNAL", "DELETE",   "LINK" };
    _Static_assert(sizeof(operations) / sizeof(*operations) == EXE_OP_LINK + 1, "a name for each");
    struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };
    char line[512];
    int n = snprintf(line, sizeof(line),
                     "<%s[%d]: %s: operation=%s user=%s container=%s status=%d errno=%d "
                     "request=%llu",
                     status ? "84>container-executor" : "86>container-executor", (int)getpid(),
                     status ? "refused" : "accepted", operations[h->req.op], h->req.user,
                     h->req.container ? h->container : "-", status, error,
                     (unsigned long long)h->req.request_id);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && n > 0 && geteuid() == 0)
        (void)sendto(fd, line, (size_t)n, MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof(to));
    if (fd >= 0)
        (void)close(fd);
}
