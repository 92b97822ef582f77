/* Cgroups for programs that the daemon starts for itself, each beside the daemon's own cgroup or
 * below it: they hold whatever such a program forks, so that all of it can be killed, also by the
 * next daemon. Without controllers. systemd has to delegate the daemon's cgroup (Delegate=). */
#ifndef SELVEDGE_CGROUPS_CHILD_GROUP_H
#define SELVEDGE_CGROUPS_CHILD_GROUP_H

#include "common/error.h"

struct cg_child_group {
    int parent, dir; /* directories; -1 = none */
    int procs;       /* cgroup.procs, for sv_child_start() */
    char name[32];
};

#define CG_NO_CHILD_GROUP ((struct cg_child_group){ .parent = -1, .dir = -1, .procs = -1 })

/* Creates the cgroup, or opens one of a daemon that was killed, and kills what is in it. */
int cg_child_group_open(const char *name, struct cg_child_group *ret, struct sv_error *err)
    _must_use_;
/* Kills and removes what a daemon before left of that name. Nothing may be left. */
void cg_child_group_discard(const char *name);
void cg_child_group_kill(const struct cg_child_group *g);
/* 0, 1, -errno */
int cg_child_group_populated(const struct cg_child_group *g) _must_use_;
/* Waits for the end of its processes, which were killed, but not longer: at the daemon's end. */
void cg_child_group_wait(const struct cg_child_group *g, int most_ms);
/* Removes it, unless a process in it has not ended yet. */
void cg_child_group_close(struct cg_child_group *g);

#endif
