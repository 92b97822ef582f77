/* The process of an auxiliary service (common/child.h), with its connection and its log. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_PROCESS_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_PROCESS_H

#include "common/child.h"
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
    struct sv_child child;
    int socket, log; /* the connection; stdout and stderr. Not blocking */
};

#define NM_AUX_NO_PROCESS ((struct nm_aux_process){ .child = SV_NO_CHILD, .socket = -1, .log = -1 })

int nm_aux_process_start(const struct nm_aux_command *c, struct nm_aux_process *ret,
                         struct sv_error *err) _must_use_;
/* Closes its descriptors. */
void nm_aux_process_close(struct nm_aux_process *p);

#endif
