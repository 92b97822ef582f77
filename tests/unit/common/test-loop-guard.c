/* common/loop-guard.c: slow handlers are counted and named, by a clock that the handlers set. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/loop-watchdog.h"

static int64_t clock_ms = 1000;
static char got[16384];

static void pass(int64_t ms)
{
    clock_ms += ms;
    sv_clock_set_test(clock_ms, 1767323045678);
}

static int on_plain(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    pass(*(int *)userdata);
    return 0;
}

static int on_parts(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)userdata;
    pass(10);
    sv_loop_enter("Protocol", "shortCall");
    pass(20);
    sv_loop_enter("Protocol", "longCall");
    pass(300);
    sv_loop_enter("Protocol", "lastCall");
    pass(5);
    return 0;
}

static int64_t spent[2];

static int on_spent(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    spent[0] = sv_loop_spent_ms();
    pass(*(int *)userdata);
    spent[1] = sv_loop_spent_ms();
    return 0;
}

static int on_nameless(sd_event_source *s, void *userdata)
{
    (void)s;
    (void)userdata;
    pass(150);
    return 0;
}

static int on_last(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)userdata;
    return sd_event_exit(sd_event_source_get_event(s), 7);
}

/* Runs the handler once in a loop of its own; captures the log in `got`. */
static void run(sd_event_handler_t handler, int ms)
{
    sd_event *event = NULL;
    sd_event_source *first = NULL, *last = NULL;
    int p[2], saved = dup(STDERR_FILENO);
    ssize_t n;

    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_int_equal(sd_event_new(&event), 0);
    assert_int_equal(sd_event_add_defer(event, &first, handler, &ms), 0);
    assert_int_equal(sd_event_add_defer(event, &last, on_last, NULL), 0);
    assert_int_equal(sd_event_source_set_priority(last, SD_EVENT_PRIORITY_IDLE), 0);
    assert_true(dup2(p[1], STDERR_FILENO) >= 0);
    assert_int_equal(sv_loop_run(event), 7);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    (void)sv_close(p[1]);
    n = read(p[0], got, sizeof(got) - 1);
    assert_true(n >= 0);
    got[n] = '\0';
    (void)sv_close(p[0]);
    (void)sv_close(saved);
    sd_event_source_unref(first);
    sd_event_source_unref(last);
    sd_event_unref(event);
}

static void expect(const char *words)
{
    if (!strstr(got, words))
        fail_msg("\"%s\" does not say \"%s\"", got, words);
}

/* Nothing is logged up to the threshold; above it the handler is named and counted. */
static void threshold(void **state)
{
    (void)state;
    pass(0);
    run(on_plain, SV_LOOP_SLOW_MS);
    assert_string_equal(got, "");
    assert_int_equal(sv_loop_stats().slow, 0);
    run(on_plain, SV_LOOP_SLOW_MS + 1);
    expect("tests/unit/common/test-loop-guard.c on_plain took 101 ms");
    assert_int_equal(sv_loop_stats().slow, 1);
    assert_int_equal(sv_loop_stats().longest_ms, 101);
}

/* One line in ten seconds; the next one has the number of omitted ones. */
static void few_lines(void **state)
{
    (void)state;
    pass(SV_LOOP_LOG_MS);
    run(on_plain, 200);
    expect("took 200 ms");
    for (int i = 0; i < 5; i++) {
        run(on_plain, 200);
        assert_string_equal(got, "");
    }
    pass(SV_LOOP_LOG_MS);
    run(on_plain, 200);
    expect("(5 more since the last such line)");
    assert_int_equal(sv_loop_stats().slow, 8);
}

static void parts(void **state)
{
    (void)state;
    pass(SV_LOOP_LOG_MS);
    run(on_parts, 0);
    expect("on_parts took 335 ms");
    expect("of them 300 ms since Protocol longCall began");
    assert_int_equal(sv_loop_stats().longest_ms, 335);
}

static void without_a_name(void **state)
{
    (void)state;
    pass(SV_LOOP_LOG_MS);
    run(on_nameless, 0);
    expect("sd-event handler without a name took 150 ms");
}

/* Computes for three milliseconds of processor time. */
static int on_busy(sd_event_source *s, void *userdata)
{
    struct timespec t;
    int64_t end = 0, us;

    SV_LOOP_HANDLER();
    (void)s;
    (void)userdata;
    do {
        assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
        us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
        end = end ? end : us + 3000;
    } while (us < end);
    return 0;
}

/* The variable of tests: each handler above it is logged, also one that is not slow. */
static void processor_time(void **state)
{
    (void)state;
    assert_int_equal(setenv(SV_LOOP_CPU_VARIABLE, "2", 1), 0);
    sv_loop_watch();
    run(on_busy, 0);
    expect("tests/unit/common/test-loop-guard.c on_busy computed for ");
    run(on_last, 0);
    assert_string_equal(got, "");
}

static int watched_pipe = -1;

/* A handler that runs until the watchdog has written; poll() is interrupted by its signal. */
static int on_stuck(sd_event_source *s, void *userdata)
{
    struct pollfd p = { .fd = watched_pipe, .events = POLLIN };

    SV_LOOP_HANDLER();
    (void)s;
    (void)userdata;
    sv_loop_enter("Protocol", "stuckCall");
    while (poll(&p, 1, -1) < 0)
        assert_int_equal(errno, EINTR);
    return 0;
}

/* The handler, its part and the stack are written while the handler still runs. */
static void watchdog(void **state)
{
    int p[2], saved = dup(STDERR_FILENO);
    sd_event *event = NULL;
    sd_event_source *first = NULL, *last = NULL;
    ssize_t n;

    (void)state;
    assert_int_equal(sv_watchdog_start(10), 0);
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    watched_pipe = p[0];
    assert_int_equal(sd_event_new(&event), 0);
    assert_int_equal(sd_event_add_defer(event, &first, on_stuck, NULL), 0);
    assert_int_equal(sd_event_add_defer(event, &last, on_last, NULL), 0);
    assert_int_equal(sd_event_source_set_priority(last, SD_EVENT_PRIORITY_IDLE), 0);
    assert_true(dup2(p[1], STDERR_FILENO) >= 0);
    assert_int_equal(sv_loop_run(event), 7);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    (void)sv_close(p[1]);
    n = read(p[0], got, sizeof(got) - 1);
    assert_true(n > 0);
    got[n] = '\0';
    expect("<4>event loop: tests/unit/common/test-loop-guard.c on_stuck has been running for ");
    expect(" ms, now in Protocol stuckCall; every other request waits; its stack:\n");
    expect("test-loop-guard(+0x"); /* a frame of this program */
    (void)sv_close(p[0]);
    (void)sv_close(saved);
    sd_event_source_unref(first);
    sd_event_source_unref(last);
    sd_event_unref(event);
}

/* The handler that runs is meant; none runs outside of the loop. */
static void spent_time(void **state)
{
    (void)state;
    assert_int_equal(sv_loop_spent_ms(), 0);
    run(on_spent, 7);
    assert_int_equal(spent[0], 0);
    assert_int_equal(spent[1], 7);
    pass(100);
    assert_int_equal(sv_loop_spent_ms(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold),      cmocka_unit_test(few_lines),
        cmocka_unit_test(parts),          cmocka_unit_test(without_a_name),
        cmocka_unit_test(processor_time), cmocka_unit_test(watchdog),
        cmocka_unit_test(spent_time),
    };

    sv_log_init("test");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
