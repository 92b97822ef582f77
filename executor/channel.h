/* A way to container-executor: a socket whose other end is descriptor 0 of one run of it. How that
 * run comes about is this file's matter; what is said there, call.c's. */
#ifndef SELVEDGE_EXECUTOR_CHANNEL_H
#define SELVEDGE_EXECUTOR_CHANNEL_H

#include <sys/types.h>

#include "common/error.h"
#include "executor/ask.h"

struct exe_channel {
    int socket;  /* SOCK_SEQPACKET; -1: hung up */
    int process; /* pidfd: readable when the run has ended; a child of ours, to be waited for */
    pid_t pid;
};
#define EXE_CHANNEL_NONE ((struct exe_channel){ .socket = -1, .process = -1 })

/* Starts `helper`. It has not been asked for anything: hung up now, it ends by itself. */
int exe_channel_open(const char *helper, struct exe_channel *ret, struct sv_error *err) _must_use_;
/* One request; `fds` are duplicated by sending. -EINVAL: the helper would refuse it. */
int exe_channel_send(const struct exe_channel *c, const struct exe_request *r, const int *fds,
                     size_t n_fds) _must_use_;
/* Closes what is open; a process that runs is left to itself. */
void exe_channel_close(struct exe_channel *c);

#endif
