/* State that container-executor passes to the two programs beside a container: container-monitor,
 * in its parent, and container-init, in the launched child. Both MUST be executed after the drop,
 * through a descriptor of root's file, with an empty environment and no other descriptors than
 * these. */
#ifndef SELVEDGE_SETUID_HELPER_HANDOFF_H
#define SELVEDGE_SETUID_HELPER_HANDOFF_H

#include "executor/request.h"

struct hlp_message { /* of the launched child, status 0: about to execute; of container-prepare */
    int32_t status, error;
    char what[480];
};

/* container-monitor: descriptor 0 is the request socket; a struct hlp_handoff follows on a pipe. It
 * is executed through one fixed descriptor number, the only one for which its filter allows exec,
 * and exec closes it. */
enum { HLP_MONITOR_TASK = 1, HLP_MONITOR_PROGRAM = 2 };
struct hlp_handoff {      /* descriptors, by their present numbers; -1: none */
    int32_t pidfd;        /* init's */
    int32_t status, life; /* pipes from the launched child and to it */
    int32_t record;       /* locked; -1: a localizer, which ends with the caller's socket */
    int32_t monitors;     /* cgroup.procs of the monitors' cgroup */
    int32_t left;         /* socket-activated mode: closed when the monitor has left the service */
    /* The container's mount namespace: kept open, so that the kernel tears it down in this process
     * and not in the exit of init, which is on the critical path. */
    int32_t mounts;
    uint16_t version; /* of the answers, and the request that they answer */
    uint64_t request_id;
    struct exe_record r;
};

/* container-init: the pipe that ends with the monitor, and the listening socket of
 * executor/session.h, if the request had one. Every signal is blocked, and the main process is the
 * first that pid 1 has created. */
enum { HLP_INIT_LIFE = 3, HLP_INIT_DOOR = 4, HLP_INIT_MAIN = 2 };
/* The main process' status as a shell reports it. */
#define HLP_SHELL_STATUS(s) (WIFEXITED(s) ? WEXITSTATUS(s) : 128 + WTERMSIG(s))

#endif
