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

/* The handler that runs, for the report; all strings live for ever. */
struct sv_watched {
    const char *where, *what;           /* the handler */
    const char *part_where, *part_what; /* its part that runs */
};

/* For the calling thread, of which a process has one. `limit_ms` > 0; tests have a short one. A
 * second call changes the limit. -errno of timer_create or sigaction. */
int sv_watchdog_start(int64_t limit_ms) _must_use_;
/* Without effect before sv_watchdog_start. `watched` stays valid until sv_watchdog_leave. */
void sv_watchdog_enter(const struct sv_watched *watched);
void sv_watchdog_leave(void);
/* The loop is about to wait. */
void sv_watchdog_idle(void);

#endif
