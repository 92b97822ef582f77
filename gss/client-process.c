/* See client-process.h. */
#include "gss/client-process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fd.h"
#include "gss/protocol.h"

#define DAEMON_FD 3 /* in the helper */

static int connect_socket(const char *path, struct sgss_process *ret, struct sv_error *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return sv_error_errno(err, -errno, "socket");
    if (strlen(path) >= sizeof(address.sun_path))
        return sv_error_set(err, -ENAMETOOLONG, "%s: too long for a socket", path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return sv_error_errno(err, -errno, "%s: is selvedge-gss.socket started?", path);
    ret->fd = sv_take_fd(&fd);
    return 0;
}

/* No variable of the daemon's reaches it but those of the log. */
static int start_program(char *const *argv, struct sgss_process *ret, struct sv_error *err)
{
    static const char *const variables[] = { "SELVEDGE_LOG_LEVEL=", "JOURNAL_STREAM=",
                                             "LD_LIBRARY_PATH=", "ASAN_OPTIONS=" };
    _cleanup_free_ char **environment = sv_child_environment(variables, SV_ARRAY_LEN(variables));
    _cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int pair[2], r;

    if (!environment || null < 0)
        return sv_error_errno(err, environment ? -errno : -ENOMEM, "%s", argv[0]);
    if (access(argv[0], X_OK) < 0)
        return sv_error_errno(err, -errno, "%s", argv[0]);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return sv_error_errno(err, -errno, "socketpair");
    _cleanup_close_ int ours = pair[0], theirs = pair[1];
    const int fds[] = { null, STDERR_FILENO, STDERR_FILENO, theirs };
    _Static_assert(SV_ARRAY_LEN(fds) == DAEMON_FD + 1, "the socket's number");
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        return sv_error_errno(err, -errno, "%s", argv[0]);
    r = sv_child_start(&(struct sv_child_spec){ .argv = argv,
                                                .environment = environment,
                                                .fds = fds,
                                                .n_fds = SV_ARRAY_LEN(fds),
                                                .procs = -1,
                                                .failed = -1 },
                       &ret->child, err);
    if (r == 0)
        ret->fd = sv_take_fd(&ours);
    return r;
}

int sgss_process_start(const char *socket, char *const *argv, struct sgss_process *ret,
                       struct sv_error *err)
{
    struct sgss_process p = SGSS_NO_PROCESS;
    int r = socket ? connect_socket(socket, &p, err) : start_program(argv, &p, err);

    if (r < 0)
        return r;
    sgss_socket_prepare(p.fd);
    *ret = p;
    return 0;
}

void sgss_process_kill(struct sgss_process *p)
{
    p->fd = sv_close(p->fd);
    sv_child_kill(&p->child);
}

const char *sgss_process_reap(struct sgss_process *p, char *buf, size_t size)
{
    const char *text = sv_child_end_text(sv_child_reap(&p->child), buf, size);

    p->child.pidfd = sv_close(p->child.pidfd);
    p->child = SV_NO_CHILD;
    return text;
}
