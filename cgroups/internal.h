/* What the files of this room share; not for others. */
#ifndef SELVEDGE_CGROUPS_INTERNAL_H
#define SELVEDGE_CGROUPS_INTERNAL_H

#include "cgroups/cg.h"

struct cg_root {
    int fd;
    char *path;
    char *missing; /* words, or NULL */
    unsigned controllers;
};

enum cg_counter { /* files that usage reads again and again */
    CG_CPU_STAT,
    CG_MEMORY_CURRENT,
    CG_MEMORY_PEAK,
    CG_MEMORY_EVENTS,
    CG_PIDS_CURRENT,
    CG_PIDS_PEAK,
    CG_N_COUNTERS,
};

struct cg_leaf {
    struct cg_root *root; /* borrowed; outlives its leaves */
    char *name;
    int fd;
    int counters[CG_N_COUNTERS]; /* open files; -1 not yet, -2 there is none */
    int events;                  /* cgroup.events while watched */
    sd_event_source *watch, *retry;
    cg_empty_fn empty;
    void *empty_userdata;
    cg_removed_fn removed; /* while it is being removed */
    void *removed_userdata;
    uint64_t give_up; /* µs, CLOCK_BOOTTIME */
};

#endif
