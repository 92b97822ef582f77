/* Runs a program of the operator once or now and then, and hands over what it printed to stdout:
 * bounded in time and output, killed with all that it has forked. The program may hang, fork, print
 * without end or be gone; the daemon neither waits for it nor opens it. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_SCRIPT_RUNNER_H
#define SELVEDGE_NODEMANAGER_HEALTH_SCRIPT_RUNNER_H

#include <systemd/sd-event.h>

#include "common/error.h"

#define NM_RUN_OUTPUT_MAX 65536 /* bytes; a program that prints more is killed */

struct nm_runner;

enum nm_run_end {
    NM_RUN_GOOD,
    NM_RUN_FAILED, /* by its status or a signal */
    NM_RUN_NOT_STARTED,
    NM_RUN_TIMED_OUT,
    NM_RUN_TOO_MUCH, /* was printed */
    NM_RUN_LINGERS,  /* the last run: killed processes of it do not end, so there is no next one */
};

struct nm_runner_conf {
    const char *group;          /* name of the cgroup; this and the next are read by _new() alone */
    const char *name;           /* in messages */
    char *const *argv;          /* [0] is an absolute path; outlives the runner, as do the times */
    const int64_t *interval_ms; /* from start to start, -1 = one run; read at each use */
    const int64_t *timeout_ms;
    /* Takes the output as it comes, however much it is; NULL: it is kept for `ended`, up to
     * NM_RUN_OUTPUT_MAX. */
    void (*part)(const char *part, size_t n, void *userdata);
    /* A run has ended, its time is over, or it cannot begin. `text`: of a good end what it printed
     * to stdout, terminated by a NUL; else what happened. */
    void (*ended)(enum nm_run_end end, const char *text, void *userdata);
    void *userdata;
};

/* The first run begins with the loop. Before it runs: what a killed daemon's program has left is
 * killed. */
int nm_runner_new(sd_event *event, const struct nm_runner_conf *conf, struct nm_runner **ret,
                  struct sv_error *err) _must_use_;
/* Kills a run. */
struct nm_runner *nm_runner_free(struct nm_runner *r);

#endif
