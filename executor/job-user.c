#include "executor/job-user.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_TRIES 128 /* EAGAIN: a rename raced with the walk */

bool job_user_request(int argc, enum exe_op op, struct exe_request *r)
{
    uint8_t buf[EXE_REQUEST_SIZE];
    return argc == 1 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && geteuid() != 0 &&
           read(1, buf, sizeof(buf)) == (ssize_t)sizeof(buf) &&
           exe_request_decode(buf, sizeof(buf), r) == 0 && r->op == op;
}

int job_user_answer(const struct exe_request *r, enum exe_status status, int error,
                    const char *text)
{
    struct exe_reply_head head = { .magic = EXE_REPLY_MAGIC,
                                   .version = r->version,
                                   .status = (uint16_t)status,
                                   .error = error,
                                   .request_id = r->request_id,
                                   .text_len = (uint16_t)strnlen(text, EXE_TEXT_MAX - 1) };
    struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)text, head.text_len } };
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
    (void)sendmsg(0, &msg, MSG_NOSIGNAL); /* the daemon may have ended, ignoring */
    return (int)status;
}

int job_user_open(int dirfd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    for (int i = 0; i < OPEN_TRIES; i++) {
        long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
    return -EAGAIN;
}
