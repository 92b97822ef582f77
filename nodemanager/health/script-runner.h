/* Runs a program of the operator once or now and then, and hands over what it printed: bounded in
 * time and output, killed with all that it has forked. The program may hang, fork, print without
 * end or be gone; the daemon neither waits for it nor opens it. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_SCRIPT_RUNNER_H
#define SELVEDGE_NODEMANAGER_HEALTH_SCRIPT_RUNNER_H

#include <systemd/sd-event.h>

#include "common/error.h"

#define NM_RUN_OUTPUT_MAX 65536 /* bytes; a program that prints more is killed */

struct nm_runner;

struct nm_runner_conf {
    const char *name;    /* of the cgroup, and in messages */
    char *const *argv;   /* [0] is an absolute path; outlives the runner */
    int64_t interval_ms; /* from start to start, -1 = one run */
    int64_t timeout_ms;
    /* A run has ended, or its time is over. `output`: what it printed to stdout, terminated by a
     * NUL, if it ended well; else NULL, and `why` says what happened. */
    void (*ended)(const char *output, const char *why, void *userdata);
    void *userdata;
};

/* The first run begins with the loop. Before it runs: what a killed daemon's program has left is
 * killed. */
int nm_runner_new(sd_event *event, const struct nm_runner_conf *conf, struct nm_runner **ret,
                  struct sv_error *err) _must_use_;
/* Kills a run. */
struct nm_runner *nm_runner_free(struct nm_runner *r);

#endif
