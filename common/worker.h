/* Blocking calls off the event loop: a worker runs jobs in order on one thread of its own, and the
 * loop gets each result. A job that hangs blocks nothing but the jobs behind it; one with a
 * deadline is given up then, and what it still returns is dropped. For name services and disks. */
#ifndef SELVEDGE_COMMON_WORKER_H
#define SELVEDGE_COMMON_WORKER_H

#include <systemd/sd-event.h>

#include "common/base.h"

struct sv_worker;

struct sv_job {
    void *data, *userdata;
    /* Runs on the thread, with all signals blocked: must touch nothing but `data`, and must not
     * log. */
    void (*run)(void *data);
    /* Called once, from the loop: 0, or -ETIMEDOUT with NULL in place of the data. May free the
     * worker. */
    void (*done)(int status, void *data, void *userdata);
    /* Frees the data, on either thread: after `done`, or when the job is given up and `run` has
     * returned or will not be called. */
    void (*free)(void *data);
    int64_t deadline_ms; /* from now, including the wait for its turn; 0: none */
};

/* The thread exists while there are jobs; `name` is a literal of at most 15 bytes, for people. */
int sv_worker_new(sd_event *event, const char *name, struct sv_worker **ret) _must_use_;
/* For a caller without a loop, which waits by itself: the eventfd `told` (duplicated; -1: none) is
 * written when a job has ended, and sv_worker_dispatch() delivers. Jobs have no deadlines. */
int sv_worker_new_polled(int told, const char *name, struct sv_worker **ret) _must_use_;
/* Gives up all jobs; no `done` is called after it. Does not wait for the thread. Accepts NULL,
 * returns NULL. */
struct sv_worker *sv_worker_free(struct sv_worker *w);

/* On failure the caller keeps the data. */
int sv_worker_run(struct sv_worker *w, const struct sv_job *job) _must_use_;
/* Delivers one result. False: none is ready. */
bool sv_worker_dispatch(struct sv_worker *w);

#endif
