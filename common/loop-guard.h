/* The event loop of a daemon, with a guard: everything a daemon does happens on one thread, so that
 * a handler that computes or blocks stops heartbeats, REST and every other request. A handler that
 * takes longer than SV_LOOP_SLOW_MS is counted and logged with its name when it returns. */
#ifndef SELVEDGE_COMMON_LOOP_GUARD_H
#define SELVEDGE_COMMON_LOOP_GUARD_H

#include <systemd/sd-event.h>

#include "common/base.h"

/* A tenth of the heartbeat interval of one second, and about what a person notices in a client. */
#define SV_LOOP_SLOW_MS 100
/* One line in this time; the others are counted. */
#define SV_LOOP_LOG_MS 10000

struct sv_loop_stats {
    uint64_t slow;      /* handlers over SV_LOOP_SLOW_MS since the start */
    int64_t longest_ms; /* of them */
};

/* From now on a handler that runs for more than a second is reported with its stack while it runs
 * (loop-watchdog.h). For the thread that calls sv_loop_run; a failure is logged. */
void sv_loop_watch(void);
/* As sd_event_loop: the exit code, or -errno. */
int sv_loop_run(sd_event *event) _must_use_;
struct sv_loop_stats sv_loop_stats(void);

/* The first line of every handler of an event source (tests/tools/check-style): sd-event does not
 * say which source it dispatches. */
#define SV_LOOP_HANDLER() sv_loop_enter(__FILE__, __func__)
/* A part of a handler with a name of its own begins: a method, a transition. Time counts to it
 * until the next one begins or the handler returns. Both strings live for ever. */
void sv_loop_enter(const char *where, const char *what);

#endif
