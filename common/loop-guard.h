/* Event loop of a daemon, with a guard: a daemon runs on one thread, so a handler that computes or
 * blocks delays heartbeats, REST and every other request. A handler that takes longer than
 * SV_LOOP_SLOW_MS is counted and logged with its name when it returns. */
#ifndef SELVEDGE_COMMON_LOOP_GUARD_H
#define SELVEDGE_COMMON_LOOP_GUARD_H

#include <systemd/sd-event.h>

#include "common/base.h"

/* A tenth of the heartbeat interval of one second; roughly a delay that a person notices. */
#define SV_LOOP_SLOW_MS 100
/* Rate limit of log lines; further slow handlers are counted. */
#define SV_LOOP_LOG_MS 10000

/* Environment variable of tests: each handler that computes for more milliseconds is logged, also
 * those that are no slower than SV_LOOP_SLOW_MS, without a rate limit. Processor time, which other
 * work of the machine does not lengthen. */
#define SV_LOOP_CPU_VARIABLE "SELVEDGE_LOOP_CPU_MS"

struct sv_loop_stats {
    uint64_t slow;      /* handlers over SV_LOOP_SLOW_MS since the start */
    int64_t longest_ms; /* longest handler */
};

/* From now on a handler that runs for more than a second is reported with its stack while it runs
 * (loop-watchdog.h), and SV_LOOP_CPU_VARIABLE is honoured. For the thread that calls sv_loop_run; a
 * failure is logged. */
void sv_loop_watch(void);
/* As sd_event_loop(): returns the exit code, or -errno. */
int sv_loop_run(sd_event *event) _must_use_;
struct sv_loop_stats sv_loop_stats(void);
/* How long the running handler has taken so far: work that can wait goes on in another turn of the
 * loop. 0: no handler runs in sv_loop_run(). */
int64_t sv_loop_spent_ms(void);

/* The first line of every handler of an event source (tests/tools/check-style): sd-event does not
 * say which source it dispatches. */
#define SV_LOOP_HANDLER() sv_loop_enter(__FILE__, __func__)
/* Marks the start of a named part of a handler: a method, a transition. Time is attributed to it
 * until the next part starts or the handler returns. Both strings must have static lifetime. */
void sv_loop_enter(const char *where, const char *what);

#endif
