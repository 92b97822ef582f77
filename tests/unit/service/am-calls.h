/* Calls of client/lib by masters of both kinds, for their tests: each is noted, and succeeds unless
 * the test says otherwise. */
#ifndef SELVEDGE_TESTS_UNIT_SERVICE_AM_CALLS_H
#define SELVEDGE_TESTS_UNIT_SERVICE_AM_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "client/lib/client.h"

static struct {
    char log[8192];   /* "ask(db=1) launch(db-0) start(1) …" */
    int start_result; /* of cli_am_start() */
} am_calls;

static inline void am_note(const char *fmt, ...) _printf_(1, 2);
static inline void am_note(const char *fmt, ...)
{
    size_t n = strlen(am_calls.log);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(am_calls.log + n, sizeof(am_calls.log) - n, fmt, ap);
    va_end(ap);
}

/* Runs the loop until nothing is due. */
static inline void am_turn(sd_event *event)
{
    for (int i = 0; i < 1000; i++) {
        int r = sd_event_run(event, 0);

        assert_true(r >= 0);
        if (r == 0)
            return;
    }
    fail_msg("the loop does not come to rest");
}

static inline struct yarn_container_id am_container(int64_t number)
{
    return (struct yarn_container_id){ { { 1, 1 }, 1 }, number };
}

int __wrap_cli_am_release(struct cli_am *am, struct yarn_container_id id);
int __wrap_cli_am_release(struct cli_am *am, struct yarn_container_id id)
{
    (void)am;
    am_note("release(%lld) ", (long long)id.id);
    return 0;
}

int __wrap_cli_am_start(struct cli_am *am, struct yarn_container_id id,
                        const struct cli_launch *launch);
int __wrap_cli_am_start(struct cli_am *am, struct yarn_container_id id,
                        const struct cli_launch *launch)
{
    (void)am;
    assert_non_null(launch);
    am_note("start(%lld) ", (long long)id.id);
    return am_calls.start_result;
}

int __wrap_cli_am_stop(struct cli_am *am, struct yarn_container_id id);
int __wrap_cli_am_stop(struct cli_am *am, struct yarn_container_id id)
{
    (void)am;
    am_note("stop(%lld) ", (long long)id.id);
    return 0;
}

int __wrap_cli_am_blacklist(struct cli_am *am, const char *host, bool on);
int __wrap_cli_am_blacklist(struct cli_am *am, const char *host, bool on)
{
    (void)am;
    am_note("blacklist(%s %s) ", host, on ? "on" : "off");
    return 0;
}

int __wrap_cli_am_finish(struct cli_am *am, enum cli_final final, const char *diagnostics);
int __wrap_cli_am_finish(struct cli_am *am, enum cli_final final, const char *diagnostics)
{
    (void)am;
    am_note("finish(%s: %s) ", final == CLI_FINAL_SUCCEEDED ? "SUCCEEDED" : "FAILED", diagnostics);
    return 0;
}

struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am);
struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am)
{
    (void)am;
    return (struct yarn_attempt_id){ { 1, 1 }, 1 };
}

#endif
