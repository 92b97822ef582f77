/* See door.h. */
#include "executor/door.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fd.h"
#include "executor/session.h"

/* Through its directory's descriptor: paths may be longer than an address. */
static void address(int dir, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    (void)snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/" EXE_DOOR_NAME, dir);
}

static int new_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return fd < 0 ? -errno : fd;
}

int exe_door_make(int dir)
{
    _cleanup_close_ int fd = new_socket();
    struct sockaddr_un a;

    if (fd < 0)
        return fd;
    if (unlinkat(dir, EXE_DOOR_NAME, 0) < 0 && errno != ENOENT)
        return -errno;
    address(dir, &a);
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, EXE_SESSIONS_MAX) < 0)
        return -errno;
    return sv_take_fd(&fd);
}

int exe_door_knock(int dir)
{
    _cleanup_close_ int fd = new_socket();
    struct sockaddr_un a;

    if (fd < 0)
        return fd;
    address(dir, &a);
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) /* -ENOENT: it has none */
        return errno == EAGAIN ? -EBUSY : errno == ECONNREFUSED ? -ESRCH : -errno;
    return sv_take_fd(&fd);
}
