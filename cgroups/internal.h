/* Private declarations of cgroups. */
#ifndef SELVEDGE_CGROUPS_INTERNAL_H
#define SELVEDGE_CGROUPS_INTERNAL_H

#include "cgroups/cg.h"

struct cg_remover;

enum cg_counter { /* files read repeatedly for usage */
                  CG_CPU_STAT,
                  CG_MEMORY_CURRENT,
                  CG_MEMORY_PEAK,
                  CG_MEMORY_EVENTS,
                  CG_PIDS_CURRENT,
                  CG_PIDS_PEAK,
                  CG_N_COUNTERS,
};

struct cg_root {
    int fd;
    char *path;
    char *missing;     /* message, or NULL */
    char *unfulfilled; /* message, or NULL */
    unsigned controllers, wanted, optional;
    struct cg_policy policy;
    char **huge_sizes;             /* "2MB", … */
    int counters[CG_N_COUNTERS];   /* as in struct cg_leaf */
    struct cg_remover *remover;    /* NULL until something is removed */
    sd_event_source *watch, *rest; /* memory.events; the pause after each */
    int events;
    sd_event *event; /* borrowed, of the watch */
    cg_memory_fn changed;
    void *changed_userdata;
};

struct cg_leaf {
    struct cg_root *root; /* borrowed; outlives its leaves */
    char *name;
    int fd;
    int counters[CG_N_COUNTERS]; /* open files; -1 not yet opened, -2 missing */
    int events;                  /* cgroup.events while watched */
    int memory_events;           /* memory.events while watched */
    sd_event_source *watch, *oom_watch, *oom_rest;
    cg_empty_fn empty;
    void *empty_userdata;
    cg_oom_fn killed;
    void *killed_userdata;
};

/* root.c: opens the root's directory again after its unit was restarted. */
int cg_root_revive(struct cg_root *r, struct sv_error *err) _must_use_;

/* remover.c: takes ownership of `name` and `group`, its directory, also on failure. */
int cg_remover_add(struct cg_root *root, char *name, int group, sd_event *event,
                   unsigned timeout_ms, cg_removed_fn removed, void *userdata) _must_use_;
struct cg_remover *cg_remover_free(struct cg_remover *r);

/* limits.c */
#define CG_N_ROOT_ROWS 3
#define CG_N_LOCALIZERS_ROWS 3
extern const struct cg_row cg_root_rows[CG_N_ROOT_ROWS];
extern const struct cg_row cg_localizers_rows[CG_N_LOCALIZERS_ROWS];

#endif
