/* See aux-process.h. */
#include "nodemanager/aux-services/aux-process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fd.h"

#define CONNECTION 3 /* its number in the service; listening sockets follow */
_Static_assert(CONNECTION + 1 + NM_AUX_LISTEN_MAX <= SV_CHILD_FDS_MAX, "descriptors of a service");

static const char *const variables[] = { "PATH=",  "LANG=",           "LC_ALL=",    "TZ=",
                                         "USER=",  "HOME=",           "JAVA_HOME=", "HADOOP_",
                                         "SPARK_", "LD_LIBRARY_PATH=" };

static int start_child(const struct nm_aux_command *c, const int *fds, struct sv_child *ret,
                       struct sv_error *err)
{
    _cleanup_free_ char **environment = sv_child_environment(variables, SV_ARRAY_LEN(variables));
    const struct sv_child_limit limits[] = { { RLIMIT_NOFILE, c->files },
                                             { RLIMIT_DATA, c->memory_bytes } };

    if (!environment)
        return sv_error_errno(err, -ENOMEM, "%s", c->argv[0]);
    return sv_child_start(&(struct sv_child_spec){ .argv = c->argv,
                                                   .environment = environment,
                                                   .fds = fds,
                                                   .n_fds = CONNECTION + 1 + c->n_listen,
                                                   .limits = limits,
                                                   .n_limits = c->memory_bytes ? 2 : 1,
                                                   .procs = -1,
                                                   .failed = -1 },
                          ret, err);
}

int nm_aux_process_start(const struct nm_aux_command *c, struct nm_aux_process *ret,
                         struct sv_error *err)
{
    _cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int pair[2], pipes[2], fds[CONNECTION + 1 + NM_AUX_LISTEN_MAX], r;

    if (null < 0 || c->n_listen > NM_AUX_LISTEN_MAX)
        return sv_error_errno(err, null < 0 ? -errno : -E2BIG, "%s", c->argv[0]);
    if (access(c->argv[0], X_OK) < 0)
        return sv_error_errno(err, -errno, "%s", c->argv[0]);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return sv_error_errno(err, -errno, "socketpair");
    _cleanup_close_ int ours = pair[0], theirs = pair[1];
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return sv_error_errno(err, -errno, "pipe");
    _cleanup_close_ int log = pipes[0], out = pipes[1];
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0 || fcntl(log, F_SETFL, O_NONBLOCK) < 0)
        return sv_error_errno(err, -errno, "%s", c->argv[0]);
    fds[0] = null;
    fds[1] = fds[2] = out;
    fds[CONNECTION] = theirs;
    for (size_t i = 0; i < c->n_listen; i++)
        fds[CONNECTION + 1 + i] = c->listen[i];
    r = start_child(c, fds, &ret->child, err);
    if (r < 0)
        return r;
    ret->socket = sv_take_fd(&ours);
    ret->log = sv_take_fd(&log);
    return 0;
}

void nm_aux_process_close(struct nm_aux_process *p)
{
    sv_close(p->child.pidfd);
    sv_close(p->socket);
    sv_close(p->log);
    *p = NM_AUX_NO_PROCESS;
}
