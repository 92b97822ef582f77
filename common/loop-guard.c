/* See loop-guard.h. */
#include "common/loop-guard.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-watchdog.h"
#include "common/str.h"

struct part {
    const char *where, *what;
    int64_t ms; /* start time; in `longest`: duration */
};

static struct {
    bool running;        /* a handler is running */
    int64_t start_ms;    /* of the handler */
    struct part first;   /* the handler itself */
    struct part now;     /* the current part */
    struct part longest; /* longest completed part */
    int64_t cpu_us;      /* the thread's CPU time at the handler's start */
    int64_t cpu_most_us; /* of SV_LOOP_CPU_VARIABLE; 0: not set */
    int64_t next_log_ms; /* 0: nothing logged yet */
    uint64_t not_logged; /* slow handlers since the last line */
    struct sv_loop_stats stats;
    struct sv_watched watched; /* `first` and `now`, for the watchdog */
} guard;

static int64_t cpu_us(void)
{
    struct timespec t = { 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail for this clock, ignoring */
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void end_part(int64_t now)
{
    if (now - guard.now.ms >= guard.longest.ms)
        guard.longest = (struct part){ guard.now.where, guard.now.what, now - guard.now.ms };
}

/* Shows the watchdog's signal handler, which may interrupt anywhere, the part that runs. */
static void show_part(void)
{
    const struct part *first = guard.first.what ? &guard.first : &guard.now;

    guard.watched =
        (struct sv_watched){ first->where, first->what, guard.now.where, guard.now.what };
}

void sv_loop_enter(const char *where, const char *what)
{
    int64_t now;

    if (!guard.running)
        return;
    now = sv_now_ms();
    end_part(now);
    guard.now = (struct part){ where, what, now };
    if (!guard.first.what)
        guard.first = guard.now;
    show_part();
}

static void report(int64_t now, int64_t took)
{
    guard.stats.slow++;
    guard.stats.longest_ms = SV_MAX(guard.stats.longest_ms, took);
    if (guard.next_log_ms && now < guard.next_log_ms) {
        guard.not_logged++;
        return;
    }
    sv_log_warning("event loop: %s %s took %lld ms (%lld ms of processor time), of them %lld ms "
                   "since %s %s began; every other request waited (%llu more since the last such "
                   "line)",
                   guard.first.where, guard.first.what, (long long)took,
                   (long long)(cpu_us() - guard.cpu_us) / 1000, (long long)guard.longest.ms,
                   guard.longest.where, guard.longest.what, (unsigned long long)guard.not_logged);
    guard.not_logged = 0;
    guard.next_log_ms = now + SV_LOOP_LOG_MS;
}

static void report_cpu(int64_t us)
{
    if (us > guard.cpu_most_us)
        sv_log_warning("event loop: %s %s computed for %lld us, longest in %s %s",
                       guard.first.where, guard.first.what, (long long)us, guard.longest.where,
                       guard.longest.what);
}

/* Dispatches one event source. */
static int dispatch(sd_event *event)
{
    int64_t start = sv_now_ms(), now;
    int r;

    guard.running = true;
    guard.start_ms = start;
    guard.cpu_us = cpu_us();
    guard.now = (struct part){ "sd-event", "handler without a name", start };
    guard.first = guard.longest = (struct part){ 0 };
    show_part();
    sv_watchdog_enter(&guard.watched);
    r = sd_event_dispatch(event);
    sv_watchdog_leave();
    now = sv_now_ms();
    end_part(now);
    if (!guard.first.what)
        guard.first = guard.now;
    guard.running = false;
    if (guard.cpu_most_us)
        report_cpu(cpu_us() - guard.cpu_us);
    if (now - start > SV_LOOP_SLOW_MS)
        report(now, now - start);
    return r;
}

void sv_loop_watch(void)
{
    int r = sv_watchdog_start(SV_WATCHDOG_MS);
    const char *most = getenv(SV_LOOP_CPU_VARIABLE);
    int64_t ms;

    if (most && sv_parse_i64(most, 1, 60000, &ms) >= 0)
        guard.cpu_most_us = ms * 1000;

    if (r < 0)
        sv_log_warning("event loop: cannot start its watchdog: %s; a handler that hangs will not "
                       "be reported",
                       strerror(-r));
}

int sv_loop_run(sd_event *event)
{
    _unused_ _cleanup_(sd_event_unrefp) sd_event *held = sd_event_ref(event);
    int r = 0;

    while (r >= 0 && sd_event_get_state(event) != SD_EVENT_FINISHED) {
        r = sd_event_prepare(event);
        if (r == 0)
            r = sd_event_wait(event, 0);
        if (r == 0) { /* nothing to do: the next wait is idle time */
            sv_watchdog_idle();
            r = sd_event_prepare(event);
            if (r == 0)
                r = sd_event_wait(event, UINT64_MAX);
        }
        if (r > 0)
            r = dispatch(event);
    }
    return r < 0 ? r : sd_event_get_exit_code(event, &r) < 0 ? 0 : r;
}

int64_t sv_loop_spent_ms(void)
{
    return guard.running ? sv_now_ms() - guard.start_ms : 0;
}

struct sv_loop_stats sv_loop_stats(void)
{
    return guard.stats;
}
