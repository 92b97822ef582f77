/* Watchdog of a daemon's event loop: while a handler runs for longer than a limit, the names of the
 * handler and of its part and the stack of the thread are written to stderr, which is the journal.
 * systemd's WatchdogSec= ends a daemon that hangs; this line shows where it hung.
 *
 * A POSIX timer signals the loop's own thread, and the signal handler writes: it works while the
 * thread computes or blocks in a system call. The timer is armed by the first handler after the
 * loop was idle and disarmed when it is idle again, so neither a busy nor an idle loop pays for it.
 * The timer of a thread is not inherited by children. */
#ifndef SELVEDGE_COMMON_LOOP_WATCHDOG_H
#define SELVEDGE_COMMON_LOOP_WATCHDOG_H

#include "common/base.h"

#define SV_WATCHDOG_MS 1000        /* first report of a handler */
#define SV_WATCHDOG_AGAIN_MS 10000 /* later ones of the same handler */

/* The current handler, for the report; all strings have static lifetime. */
struct sv_watched {
    const char *where, *what;           /* the handler */
    const char *part_where, *part_what; /* its current part */
};

/* Starts the watchdog for the calling thread, one per process. `limit_ms` > 0; tests use a short
 * one. A second call changes the limit. -errno of timer_create or sigaction. */
int sv_watchdog_start(int64_t limit_ms) _must_use_;
/* No effect before sv_watchdog_start. `watched` must be valid until sv_watchdog_leave. */
void sv_watchdog_enter(const struct sv_watched *watched);
void sv_watchdog_leave(void);
/* Call before the loop waits. */
void sv_watchdog_idle(void);

#endif
