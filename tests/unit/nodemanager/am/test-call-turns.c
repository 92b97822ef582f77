/* am/call-turns.c: how many rows one event of the loop handles, several calls, the end of the
 * daemon, and the line about refused containers of a call. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "nodemanager/am/call-turns.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/store/state-store.h"

static sd_event *event;
static struct nm_call_turns *turns;

struct call {
    struct nm_call rows; /* first */
    size_t in_turn, most, bad_row;
    int64_t row_ms;
    int result; /* 1: under way */
};

static int on_row(struct nm_call *rows)
{
    struct call *c = (struct call *)rows;

    c->in_turn++;
    c->most = SV_MAX(c->most, c->in_turn);
    if (c->row_ms)
        sv_clock_set_test(sv_now_ms() + c->row_ms, 0);
    return c->bad_row && rows->at == c->bad_row ? -EINVAL : 0;
}

static void on_done(struct nm_call *rows, int result)
{
    ((struct call *)rows)->result = result;
}

static void begin(struct call *c, size_t n, int64_t row_ms)
{
    *c = (struct call){ .rows = { .n = n, .row = on_row, .done = on_done },
                        .row_ms = row_ms,
                        .result = 1 };
}

static void run_event(struct call *a, struct call *b)
{
    a->in_turn = b->in_turn = 0;
    assert_true(sd_event_run(event, 5 * 1000000) > 0);
}

static int set_up(void **state)
{
    (void)state;
    sv_clock_set_test(1000000, 0);
    return sd_event_new(&event) < 0 ? -1 : nm_call_turns_new(event, &turns);
}

static int tear_down(void **state)
{
    (void)state;
    turns = nm_call_turns_free(turns);
    event = sd_event_unref(event);
    sv_clock_reset();
    return 0;
}

static void short_call(void **state)
{
    struct call c;

    (void)state;
    begin(&c, NM_CALL_TURN_ROWS, 0);
    nm_call_turns_run(turns, &c.rows);
    assert_int_equal(c.result, 0);
    assert_int_equal(sd_event_run(event, 0), 0); /* nothing is left to do */
    begin(&c, 0, 0);
    nm_call_turns_run(turns, &c.rows);
    assert_int_equal(c.result, 0);
}

static void long_calls(void **state)
{
    struct call many, slow;

    (void)state;
    begin(&many, NM_CALL_ROWS_MAX, 0);
    begin(&slow, 10, 3); /* each row takes longer than a turn */
    nm_call_turns_run(turns, &many.rows);
    nm_call_turns_run(turns, &slow.rows);
    assert_int_equal(many.rows.at, NM_CALL_TURN_ROWS);
    assert_int_equal(slow.rows.at, 1);
    while (slow.result == 1)
        run_event(&many, &slow);
    assert_int_equal(many.result, 1); /* they alternate */
    assert_in_range(many.rows.at, 8 * NM_CALL_TURN_ROWS, 12 * NM_CALL_TURN_ROWS);
    while (many.result == 1)
        run_event(&many, &slow);
    assert_int_equal(many.result, 0);
    assert_int_equal(many.most, NM_CALL_TURN_ROWS);
    assert_int_equal(slow.most, 1);
}

static void ends_early(void **state)
{
    struct call bad, pending;

    (void)state;
    begin(&bad, 1000, 0);
    bad.bad_row = 700;
    begin(&pending, 1000, 0);
    nm_call_turns_run(turns, &bad.rows);
    while (bad.result == 1)
        run_event(&bad, &pending);
    assert_int_equal(bad.result, -EINVAL);
    nm_call_turns_run(turns, &pending.rows);
    turns = nm_call_turns_free(turns);
    assert_int_equal(pending.result, -ESHUTDOWN);
}

/* Records of rows: the call is done after the commits of all of its turns. */
static void recorded(void **state)
{
    struct nm_store *store = NULL;
    struct sv_error err = { 0 };
    struct call c, other;

    (void)state;
    assert_int_equal(nm_store_open(event, NULL, &store, &err), 0);
    begin(&c, 3 * NM_CALL_TURN_ROWS, 0);
    begin(&other, 0, 0);
    c.rows.store = store;
    nm_call_turns_run(turns, &c.rows);
    while (c.rows.at < c.rows.n)
        run_event(&c, &other);
    while (c.result == 1)
        run_event(&c, &other);
    assert_int_equal(c.result, 0);
    assert_false(c.rows.lost);
    begin(&c, 3 * NM_CALL_TURN_ROWS, 0);
    c.rows.store = store;
    nm_call_turns_run(turns, &c.rows);
    turns = nm_call_turns_free(turns);
    assert_int_equal(c.result, 1);
    store = nm_store_close(store); /* commits */
    assert_int_equal(c.result, -ESHUTDOWN);
}

/* Lines of the log about a call. */
static const char *logged(const struct nm_audit_refused *r)
{
    static char text[4096];
    int pipes[2], saved = dup(STDERR_FILENO);
    ssize_t n;

    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    nm_audit_refused("ann", NULL, "Stop Container Request", "ContainerManagerImpl", "Unknown!", r);
    dup2(saved, STDERR_FILENO);
    close(pipes[1]);
    close(saved);
    n = read(pipes[0], text, sizeof(text) - 1);
    close(pipes[0]);
    text[SV_MAX(n, 0)] = 0;
    return text;
}

static void one_line_a_call(void **state)
{
    struct nm_audit_refused r = { 0 };
    const char *text;

    (void)state;
    assert_string_equal(logged(&r), "");
    nm_audit_refuse(&r, (struct yarn_container_id){ { { 1, 2 }, 1 }, 1 });
    assert_non_null(strstr(logged(&r),
                           "\tRESULT=FAILURE\tDESCRIPTION=Unknown!\tAPPID=application_1_"
                           "0002\tCONTAINERID=container_1_0002_01_000001\n"));
    for (int i = 2; i <= NM_CALL_ROWS_MAX; i++)
        nm_audit_refuse(&r, (struct yarn_container_id){ { { 1, 2 }, 1 }, i });
    text = logged(&r);
    assert_non_null(strstr(text, "DESCRIPTION=Unknown! First: container_1_0002_01_000001, "
                                 "container_1_0002_01_000002, container_1_0002_01_000003, "
                                 "container_1_0002_01_000004; 10000 in this call\tAPPID="));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(short_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_early, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recorded, set_up, tear_down),
        cmocka_unit_test(one_line_a_call),
    };

    return cmocka_run_group_tests_name("call-turns", tests, NULL, NULL);
}
