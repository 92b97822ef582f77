/* See operator-program.h. */
#include "nodemanager/health/operator-program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/fd.h"

#define OPEN_FILES 1024
#define END_MS 1000

static const char *const variables[] = {
    "PATH=",
    "LANG=",
    "LC_ALL=",
    "TZ=",
    "USER=",
    "HOME=",
    "JAVA_HOME=",
    "LD_LIBRARY_PATH=",
    "HADOOP_HOME=",
    "HADOOP_COMMON_HOME=",
    "HADOOP_HDFS_HOME=",
    "HADOOP_YARN_HOME=",
    "HADOOP_CONF_DIR=",
    "HADOOP_LOG_DIR=",
    "YARN_CONF_DIR=",
    "YARN_LOG_DIR=",
};

static int start_child(struct nm_program *p, char *const *argv, const struct cg_child_group *group,
                       int out, int failed, struct sv_error *err)
{
    _cleanup_free_ char **environment = sv_child_environment(variables, SV_ARRAY_LEN(variables));
    _cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct sv_child_limit limits[] = { { RLIMIT_NOFILE, OPEN_FILES } };
    const int fds[] = { null, out, null }; /* as in Hadoop, stderr does not count */

    if (!environment || null < 0)
        return sv_error_errno(err, environment ? -errno : -ENOMEM, "/dev/null");
    return sv_child_start(&(struct sv_child_spec){ .argv = argv,
                                                   .environment = environment,
                                                   .fds = fds,
                                                   .n_fds = SV_ARRAY_LEN(fds),
                                                   .limits = limits,
                                                   .n_limits = SV_ARRAY_LEN(limits),
                                                   .procs = group->procs,
                                                   .failed = failed },
                          &p->child, err);
}

int nm_program_start(struct nm_program *p, char *const *argv, const struct cg_child_group *group,
                     struct sv_error *err)
{
    int out[2], failed[2];

    if (pipe2(out, O_CLOEXEC) < 0)
        return sv_error_errno(err, -errno, "pipe");
    p->out = out[0];
    _cleanup_close_ int out_theirs = out[1];
    if (pipe2(failed, O_CLOEXEC) < 0)
        return sv_error_errno(err, -errno, "pipe");
    p->failed = failed[0];
    _cleanup_close_ int failed_theirs = failed[1];
    if (fcntl(p->out, F_SETFL, O_NONBLOCK) < 0 || fcntl(p->failed, F_SETFL, O_NONBLOCK) < 0)
        return sv_error_errno(err, -errno, "pipe");
    return start_child(p, argv, group, out_theirs, failed_theirs, err);
}

int nm_program_error(const struct nm_program *p)
{
    int error = 0;

    return read(p->failed, &error, sizeof(error)) == (ssize_t)sizeof(error) ? error : 0;
}

void nm_program_kill(const struct nm_program *p, const struct cg_child_group *group)
{
    cg_child_group_kill(group);
    sv_child_kill(&p->child);
}

void nm_program_close(struct nm_program *p)
{
    p->child.pidfd = sv_close(p->child.pidfd);
    p->out = sv_close(p->out);
    p->failed = sv_close(p->failed);
    *p = NM_NO_PROGRAM;
}

void nm_program_end(struct nm_program *p, struct cg_child_group *group)
{
    struct pollfd ended = { .fd = p->child.pidfd, .events = POLLIN };

    nm_program_kill(p, group);
    if (p->child.pid && poll(&ended, 1, END_MS) > 0)
        (void)sv_child_reap(&p->child); /* how does not matter, ignoring */
    if (group->dir >= 0)
        cg_child_group_wait(group, END_MS);
    nm_program_close(p);
    cg_child_group_close(group);
}
