/* A way to container-executor: a socket whose other end is descriptor 0 of one run of it. How that
 * run comes about is this file's matter; what is said there, call.c's. */
#ifndef SELVEDGE_EXECUTOR_CHANNEL_H
#define SELVEDGE_EXECUTOR_CHANNEL_H

#include <sys/types.h>

#include "common/error.h"
#include "executor/ask.h"

/* Which file it was that was started: an upgrade makes another one, a chmod a later one. */
struct exe_channel_file {
    uint64_t dev, ino;
    int64_t changed, changed_ns; /* ctime */
};

struct exe_channel_file exe_channel_look(const char *path); /* all 0: it is not there */

struct exe_channel {
    int socket;  /* SOCK_SEQPACKET; -1: hung up */
    int process; /* pidfd: readable when the run has ended; a child of ours, to be waited for */
    pid_t pid;
    struct exe_channel_file file;
};
#define EXE_CHANNEL_NONE ((struct exe_channel){ .socket = -1, .process = -1 })

/* Starts `helper`. It has not been asked for anything: hung up now, it ends by itself. */
int exe_channel_open(const char *helper, struct exe_channel *ret, struct sv_error *err) _must_use_;
/* Would exe_channel_open start the same file now? */
bool exe_channel_is_current(const struct exe_channel *c, const char *helper);
/* One request; `fds` are duplicated by sending. -EINVAL: the helper would refuse it. */
int exe_channel_send(const struct exe_channel *c, const struct exe_request *r, const int *fds,
                     size_t n_fds) _must_use_;
/* After LAUNCH: the container's group is made. */
int exe_channel_ready(const struct exe_channel *c) _must_use_;
/* Closes what is open; a process that runs is left to itself. */
void exe_channel_close(struct exe_channel *c);

#endif
