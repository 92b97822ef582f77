/* The engine's state tables: every state and event has a name, every state is reached, ends are
 * ends. With --print-graph NAME it prints a table for docs/design/service-engine.md, which
 * tests/tools/print-states compares. test-engine-random walks every edge. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "service/engine/states.h"

static const struct sv_fsm *machine(size_t i)
{
    return i == 0 ? svc_service_fsm() : i == 1 ? svc_component_fsm() : svc_instance_fsm();
}

static const struct sv_fsm_cell *cell_of(const struct sv_fsm *fsm, int state, int event)
{
    return &fsm->cells[state * fsm->n_events + event];
}

static void reach(const struct sv_fsm *fsm, int state, bool *reached)
{
    if (!state || reached[state])
        return;
    reached[state] = true;
    for (int ev = 1; ev < fsm->n_events; ev++) {
        const struct sv_fsm_cell *c = cell_of(fsm, state, ev);

        reach(fsm, c->next, reached);
        for (size_t a = 0; a < SV_ARRAY_LEN(c->alt); a++)
            reach(fsm, c->alt[a], reached);
    }
}

static void test_names_and_reach(void **state)
{
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        const struct sv_fsm *fsm = machine(m);
        bool reached[32] = { 0 };

        reach(fsm, 1, reached);
        for (int s = 1; s < fsm->n_states; s++) {
            assert_non_null(fsm->state_names[s]);
            assert_true(reached[s]);
        }
        for (int ev = 1; ev < fsm->n_events; ev++)
            assert_non_null(fsm->event_names[ev]);
    }
}

static bool is_end(const struct sv_fsm *fsm, int state)
{
    for (int ev = 1; ev < fsm->n_events; ev++)
        if (cell_of(fsm, state, ev)->next)
            return false;
    return true;
}

static void test_ends(void **state)
{
    (void)state;
    for (int s = 1; s < SVC_N_STATES; s++)
        assert_int_equal(is_end(svc_service_fsm(), s), s >= SVC_STOPPED);
    for (int s = 1; s < SVC_INSTANCE_N_STATES; s++)
        assert_int_equal(is_end(svc_instance_fsm(), s), s >= SVC_INSTANCE_SUCCEEDED);
}

static void test_texts(void **state)
{
    (void)state;
    assert_string_equal(svc_service_state_text(SVC_UPGRADING_AUTO_FINALIZE),
                        "UPGRADING_AUTO_FINALIZE");
    for (int s = 1; s < SVC_COMPONENT_N_STATES; s++) {
        struct svc_component_view v = { .state = (enum svc_component_state)s };

        assert_true(*svc_component_state_text(&v));
    }
    for (int s = 1; s < SVC_INSTANCE_N_STATES; s++) {
        struct svc_instance_view v = { .state = (enum svc_instance_state)s };

        assert_int_equal(*svc_instance_state_text(&v) != '\0', s > SVC_INSTANCE_LAUNCHING);
    }
}

static int print_graph(const char *name)
{
    for (size_t m = 0; m < 3; m++)
        if (!strcmp(machine(m)->name, name)) {
            sv_fsm_print_dot(machine(m), stdout);
            return 0;
        }
    return 1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_reach),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_texts),
    };

    if (argc == 3 && !strcmp(argv[1], "--print-graph"))
        return print_graph(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
