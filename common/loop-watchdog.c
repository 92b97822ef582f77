/* See loop-watchdog.h. The signal handler uses async-signal-safe calls alone: clock_gettime,
 * timer_settime, write, and glibc's backtrace, whose library is loaded in advance. */
#include "common/loop-watchdog.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WATCHDOG_SIGNAL (SIGRTMIN + 4)
#define FRAMES_MAX 32
#define HIDDEN_FRAMES 2 /* the signal handler and the kernel's return from it */

/* Written by the loop's thread and read by its signal handler, on the same thread, so only the
 * compiler's order matters. */
static struct {
    bool started;
    volatile bool armed;
    int64_t limit_ms;
    timer_t timer;
    const struct sv_watched *volatile watched; /* NULL: no handler runs */
    volatile int64_t began_ms, due_ms;         /* of `watched`: its start, its next report */
} dog;

/* Real time, not the clock that tests set. */
static int64_t now_ms(void)
{
    struct timespec t = { 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock, ignoring */
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void arm(int64_t ms)
{
    struct itimerspec t = { .it_value = { ms / 1000, (long)(ms % 1000) * 1000000 } };

    dog.armed = ms > 0;
    (void)timer_settime(dog.timer, 0, &t, NULL); /* a valid timer and time, ignoring */
}

/* Appends text to a line of `size` bytes, cut at its end. */
static size_t add(char *line, size_t size, size_t n, const char *text)
{
    size_t len = strlen(text), space = size - n;

    len = len < space ? len : space;
    memcpy(line + n, text, len);
    return n + len;
}

static size_t add_number(char *line, size_t size, size_t n, int64_t number)
{
    char digits[24];
    size_t i = sizeof(digits) - 1;

    digits[i] = '\0';
    do
        digits[--i] = (char)('0' + number % 10);
    while ((number /= 10) > 0 && i > 0);
    return add(line, size, n, digits + i);
}

static void report(const struct sv_watched *w, int64_t ran_ms)
{
    char line[512];
    void *frames[FRAMES_MAX];
    size_t n = 0;
    int depth;

    n = add(line, sizeof(line), n, "<4>event loop: ");
    n = add(line, sizeof(line), n, w->where);
    n = add(line, sizeof(line), n, " ");
    n = add(line, sizeof(line), n, w->what);
    n = add(line, sizeof(line), n, " has been running for ");
    n = add_number(line, sizeof(line), n, ran_ms);
    n = add(line, sizeof(line), n, " ms, now in ");
    n = add(line, sizeof(line), n, w->part_where);
    n = add(line, sizeof(line), n, " ");
    n = add(line, sizeof(line), n, w->part_what);
    n = add(line, sizeof(line), n, "; every other request waits; its stack:\n");
    if (write(STDERR_FILENO, line, n) < 0)
        return;
    depth = backtrace(frames, FRAMES_MAX);
    if (depth > HIDDEN_FRAMES)
        backtrace_symbols_fd(frames + HIDDEN_FRAMES, depth - HIDDEN_FRAMES, STDERR_FILENO);
}

static void on_signal(int signal)
{
    const struct sv_watched *w = dog.watched;
    int saved = errno;
    int64_t now = now_ms();

    (void)signal;
    if (w && now >= dog.due_ms) {
        report(w, now - dog.began_ms);
        dog.due_ms = now + SV_WATCHDOG_AGAIN_MS;
    }
    arm(w ? dog.due_ms - now : dog.limit_ms);
    errno = saved;
}

int sv_watchdog_start(int64_t limit_ms)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WATCHDOG_SIGNAL };
    void *frame;

    dog.limit_ms = limit_ms;
    if (dog.started)
        return 0;
    (void)backtrace(&frame, 1); /* loads the unwinder's library, which allocates, ignoring */
    event._sigev_un._tid = gettid();
    if (sigaction(WATCHDOG_SIGNAL, &action, NULL) < 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &dog.timer) < 0)
        return -errno;
    dog.started = true;
    return 0;
}

void sv_watchdog_enter(const struct sv_watched *watched)
{
    if (!dog.started)
        return;
    dog.began_ms = now_ms();
    dog.due_ms = dog.began_ms + dog.limit_ms;
    atomic_signal_fence(memory_order_seq_cst);
    dog.watched = watched;
    if (!dog.armed)
        arm(dog.limit_ms);
}

void sv_watchdog_leave(void)
{
    dog.watched = NULL;
    atomic_signal_fence(memory_order_seq_cst);
}

void sv_watchdog_idle(void)
{
    if (dog.armed)
        arm(0);
}
