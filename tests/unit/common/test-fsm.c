/* Tests common/fsm.c: legal and illegal events, declared and undeclared choices, the printed
 * graph. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base.h"
#include "common/fsm.h"

enum { NEW = 1, RUNNING, DONE, N_STATES };
enum { START = 1, END, N_EVENTS };

static int end_result, end_calls;

static int on_end(void *object, int event, void *arg)
{
    assert_ptr_equal(object, &end_calls);
    assert_int_equal(event, END);
    assert_string_equal(arg, "arg");
    end_calls++;
    return end_result;
}

static const char *const state_names[N_STATES] = { NULL, "NEW", "RUNNING", "DONE" };
static const char *const event_names[N_EVENTS] = { NULL, "START", "END" };
static const struct sv_fsm_cell cells[N_STATES][N_EVENTS] = {
    [NEW] = { [START] = { NULL, RUNNING } },
    [RUNNING] = { [END] = { on_end, DONE, { RUNNING } } },
};
static const struct sv_fsm fsm = { "test", N_STATES, N_EVENTS, state_names, event_names, cells[0] };

static void test_run(void **state)
{
    int s = NEW;

    (void)state;
    assert_int_equal(sv_fsm_run(&fsm, &s, END, NULL, NULL), -EPROTO);
    assert_int_equal(sv_fsm_run(&fsm, &s, 0, NULL, NULL), -EPROTO);
    assert_int_equal(sv_fsm_run(&fsm, &s, N_EVENTS, NULL, NULL), -EPROTO);
    assert_int_equal(sv_fsm_run(&fsm, &s, -1, NULL, NULL), -EPROTO);
    assert_int_equal(s, NEW);
    assert_int_equal(sv_fsm_run(&fsm, &s, START, NULL, NULL), 0);
    assert_int_equal(s, RUNNING);
    end_result = RUNNING;
    assert_int_equal(sv_fsm_run(&fsm, &s, END, &end_calls, (void *)(uintptr_t) "arg"), 0);
    assert_int_equal(s, RUNNING);
    end_result = NEW; /* not declared */
    assert_int_equal(sv_fsm_run(&fsm, &s, END, &end_calls, (void *)(uintptr_t) "arg"), -EBADE);
    end_result = 0;
    assert_int_equal(sv_fsm_run(&fsm, &s, END, &end_calls, (void *)(uintptr_t) "arg"), -EBADE);
    assert_int_equal(s, RUNNING);
    end_result = DONE;
    assert_int_equal(sv_fsm_run(&fsm, &s, END, &end_calls, (void *)(uintptr_t) "arg"), 0);
    assert_int_equal(s, DONE);
    assert_int_equal(end_calls, 4);
}

static void test_dot(void **state)
{
    _cleanup_free_ char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    sv_fsm_print_dot(&fsm, f);
    assert_int_equal(fclose(f), 0);
    assert_non_null(strstr(text, "digraph test {"));
    assert_non_null(strstr(text, "NEW -> RUNNING [label=\"START\"];"));
    assert_non_null(strstr(text, "RUNNING -> DONE [label=\"END\"];"));
    assert_non_null(strstr(text, "RUNNING -> RUNNING [label=\"END\" style=dashed];"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_dot),
    };
    return cmocka_run_group_tests_name("fsm", tests, NULL, NULL);
}
