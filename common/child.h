/* Programs that a daemon starts for itself, with its account: none of its descriptors, signals as
 * at birth, no new privileges, watched by a pidfd, killed as a group, and ended with the daemon.
 * Nothing here waits for the program, nor opens a file of it before the fork. */
#ifndef SELVEDGE_COMMON_CHILD_H
#define SELVEDGE_COMMON_CHILD_H

#include <sys/types.h>

#include "common/base.h"
#include "common/error.h"

#define SV_CHILD_FDS_MAX 12

struct sv_child_limit {
    int resource;  /* RLIMIT_… */
    uint64_t most; /* soft and hard limit, as far as the daemon's hard limit goes */
};

struct sv_child_spec {
    char *const *argv;        /* [0] is an absolute path */
    char *const *environment; /* sv_child_environment() */
    const int *fds;           /* become descriptors 0, 1, 2, … */
    size_t n_fds;
    const struct sv_child_limit *limits; /* beside RLIMIT_CORE, which is 0 */
    size_t n_limits;
    int procs;  /* cgroup.procs of the cgroup to run in, open for writing; -1: the daemon's */
    int failed; /* a pipe that gets errno, an int, if the program is not executed; -1: none */
};

struct sv_child {
    pid_t pid; /* also the number of its process group; 0 = none */
    int pidfd; /* readable when it has ended */
};

#define SV_NO_CHILD ((struct sv_child){ .pidfd = -1 })

/* A program that cannot be executed ends with status 127 and a line on its descriptor 2. */
int sv_child_start(const struct sv_child_spec *c, struct sv_child *ret, struct sv_error *err)
    _must_use_;
/* Sends SIGKILL to its process group. */
void sv_child_kill(const struct sv_child *c);

struct sv_child_end {
    enum { SV_CHILD_UNKNOWN, SV_CHILD_EXITED, SV_CHILD_KILLED } how;
    int number; /* exit status or signal */
};
/* Reaps an ended process. */
struct sv_child_end sv_child_reap(const struct sv_child *c);
/* "exited with status 1" */
const char *sv_child_end_text(struct sv_child_end end, char *buf, size_t size);

/* The daemon's variables of these names ("PATH=", or a prefix: "HADOOP_"), for sv_child_spec. The
 * strings are environ's: free() frees the list. */
char **sv_child_environment(const char *const *names, size_t n);

#endif
