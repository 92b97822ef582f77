/* The process of an auxiliary service: started with the daemon's account and none of its
 * descriptors, watched by a pidfd, killed as a group. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_PROCESS_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_PROCESS_H

#include "common/base.h"
#include "common/error.h"

#define NM_AUX_LISTEN_MAX 8 /* systemd sockets for one service */

struct nm_aux_command {
    char *const *argv; /* [0] is an absolute path */
    const int *listen; /* become descriptors 4, 5 … */
    size_t n_listen;
    uint64_t memory_bytes; /* RLIMIT_DATA; 0 = no limit */
    uint64_t files;        /* RLIMIT_NOFILE, as far as the daemon's hard limit goes */
};

struct nm_aux_process {
    pid_t pid;       /* also the number of its process group; 0 = none */
    int pidfd;       /* readable when it has ended */
    int socket, log; /* the connection; stdout and stderr. Not blocking */
};

#define NM_AUX_NO_PROCESS ((struct nm_aux_process){ .pidfd = -1, .socket = -1, .log = -1 })

int nm_aux_process_start(const struct nm_aux_command *c, struct nm_aux_process *ret,
                         struct sv_error *err) _must_use_;
/* Sends SIGKILL to its process group. */
void nm_aux_process_kill(const struct nm_aux_process *p);
/* Reaps an ended process; returns its exit as text ("exited with status 1"). */
const char *nm_aux_process_reap(const struct nm_aux_process *p, char *buf, size_t size);
/* Closes its descriptors. */
void nm_aux_process_close(struct nm_aux_process *p);

#endif
