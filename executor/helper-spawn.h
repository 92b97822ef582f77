/* Connection to one helper process in setuid mode: started with a socket as descriptor 0. */
#ifndef SELVEDGE_EXECUTOR_HELPER_SPAWN_H
#define SELVEDGE_EXECUTOR_HELPER_SPAWN_H

#include <sys/types.h>

#include "common/error.h"
#include "executor/helper-protocol.h"

struct exe_helper {
    int socket;  /* SOCK_SEQPACKET; -1: closed */
    int process; /* pidfd of our child: readable when it has exited */
    pid_t pid;
};
#define EXE_HELPER_NONE ((struct exe_helper){ .socket = -1, .process = -1 })

/* Starts `helper`, which waits for a request, and exits if the socket is closed instead. */
int exe_helper_spawn(const char *helper, struct exe_helper *ret, struct sv_error *err) _must_use_;
/* Sends one request; `fds` are duplicated by sending. -EINVAL: the helper would refuse it. */
int exe_helper_send(const struct exe_helper *c, const struct exe_request *r, const int *fds,
                    size_t n_fds) _must_use_;
/* Closes both descriptors; does not end the process. */
void exe_helper_close(struct exe_helper *c);

#endif
