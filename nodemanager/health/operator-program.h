/* One run of a program of the operator, for script-runner.c: its environment, limits and pipes.
 * The program may hang, fork, print without end or be gone. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_OPERATOR_PROGRAM_H
#define SELVEDGE_NODEMANAGER_HEALTH_OPERATOR_PROGRAM_H

#include "cgroups/child-group.h"
#include "common/child.h"
#include "common/error.h"

struct nm_program {
    struct sv_child child;
    int out;    /* its stdout, not blocking */
    int failed; /* nm_program_error */
};
#define NM_NO_PROGRAM ((struct nm_program){ .child = SV_NO_CHILD, .out = -1, .failed = -1 })

/* Starts it in the group, where there is one. `p` is closed; on failure it may hold some of its
 * descriptors, for nm_program_close(). -errno. */
int nm_program_start(struct nm_program *p, char *const *argv, const struct cg_child_group *group,
                     struct sv_error *err) _must_use_;
/* After its end: the errno of an execve() that failed; 0: it was executed. */
int nm_program_error(const struct nm_program *p);
/* Kills it, with all that it has forked. */
void nm_program_kill(const struct nm_program *p, const struct cg_child_group *group);
/* Closes the descriptors of a run that was reaped, or was not started. */
void nm_program_close(struct nm_program *p);
/* At the daemon's end, without its loop: kills a run, waits a second at most, and closes it and the
 * group. */
void nm_program_end(struct nm_program *p, struct cg_child_group *group);

#endif
