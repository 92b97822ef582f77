/* fsm/: walks every declared edge of the container and application state machines, and every
 * refused event. */
#include "tests/unit/nodemanager/fsm/fsm-fixture.h"

/* ---- walks ----------------------------------------------------------------------------------*/

#define VARIANTS 1024

/* Different conditions, so that actions with a choice make every choice. */
static void vary(struct nm_container *c, int variant)
{
    memset(&seen, 0, sizeof(seen));
    seen.freeze = variant & 1 ? -ESRCH : 0;
    seen.localize = variant & 1 ? 1 : variant & 2 ? -EINVAL : 0;
    if (variant & 4)
        c->recovered = NM_RECOVERED_COMPLETED;
    if (variant & 8)
        c->launch.exe = (struct exe_container *)(uintptr_t)8; /* never dereferenced */
    c->recovering = variant & 16;
    c->launch.exit.again = variant & 32;
    c->launch.exit.replaced = variant & 64 ? NM_REINIT_ROLLBACK : NM_REINIT_NONE;
    c->reinit.kind = variant >> 7 & 3 ? 1 + (variant >> 7 & 3) : NM_REINIT_NONE;
    seen.no_request = (variant >> 7) == 3;
    if (variant & 512) {
        struct nm_localizing *z;

        assert_int_equal(nm_resources_add(c, 3, NM_RESOURCES_NEXT, NULL, 0, &z), 0);
    }
    if (c->recovering && !(variant & 7))
        c->recovered = NM_RECOVERED_LAUNCHED;
}

static void walk_container(void **state)
{
    const struct sv_fsm *fsm = nm_container_fsm();
    bool reached[NM_CONTAINER_N_STATES][NM_CONTAINER_N_EVENTS][NM_CONTAINER_N_STATES] = { 0 };

    (void)state;
    for (int s = 1; s < fsm->n_states; s++) {
        for (int e = 1; e < fsm->n_events; e++) {
            const struct sv_fsm_cell *cell = &fsm->cells[s * fsm->n_events + e];

            for (int v = 0; v < VARIANTS; v++) {
                struct nm_app *a = new_app();
                struct nm_container *c = new_container(a);

                vary(c, v);
                c->state = s;
                handle(c, e, 3, "why");
                if (!cell->next)
                    assert_int_equal(c->state, s);
                else
                    reached[s][e][c->state] = true;
                c->launch.exe = NULL;
                drop(a, c);
            }
            if (!cell->next)
                continue;
            assert_true(reached[s][e][cell->next]);
            for (size_t i = 0; i < SV_ARRAY_LEN(cell->alt); i++)
                assert_true(!cell->alt[i] || reached[s][e][cell->alt[i]]);
            for (int n = 1; n < fsm->n_states; n++)
                assert_true(!reached[s][e][n] || n == cell->next || n == cell->alt[0] ||
                            n == cell->alt[1] || n == cell->alt[2]);
        }
    }
}

static void walk_app(void **state)
{
    const struct sv_fsm *fsm = nm_app_fsm();
    bool reached[NM_APP_N_STATES][NM_APP_N_EVENTS][NM_APP_N_STATES] = { 0 };

    (void)state;
    for (int s = 1; s < fsm->n_states; s++) {
        for (int e = 1; e < fsm->n_events; e++) {
            const struct sv_fsm_cell *cell = &fsm->cells[s * fsm->n_events + e];

            for (int v = 0; v < 8; v++) {
                struct nm_app *a = new_app();
                struct nm_container *c = v & 1 ? new_container(a) : NULL;
                bool named = c && v & 4; /* by the event, of an application without directories */

                memset(&seen, 0, sizeof(seen));
                if (c && v & 2)
                    c->state = NM_CONTAINER_DONE;
                a->state = s;
                a->init_error = named ? strdup("none") : NULL;
                if (named)
                    c->recorded = true;
                handle_app(a, e, named ? c->text : v & 2 ? "why" : NULL);
                if (!cell->next)
                    assert_int_equal(a->state, s);
                else
                    reached[s][e][a->state] = true;
                drop(a, c);
            }
            if (!cell->next)
                continue;
            assert_true(reached[s][e][cell->next]);
            assert_true(!cell->alt[0] || reached[s][e][cell->alt[0]]);
        }
    }
}

/* ---- paths ----------------------------------------------------------------------------------*/

/* The last daemon died between the record of its exit and the deletion of its work directory: its
 * end is recorded by this one. */
static void completed_before_the_restart(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->recovered = NM_RECOVERED_COMPLETED;
    c->exit_code = 7;
    handle(c, NM_CONTAINER_EV_INIT, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_DONE);
    assert_int_equal(c->exit_code, 7);
    assert_int_equal(seen.deleted, 1);
    assert_true(seen.done == 1 && strcmp(seen.done_exit, "7") == 0);
    drop(a, c);
}

static void killed_by_master(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RUNNING;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.cleanups, 1);
    handle(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_TERMINATED, "exit 143");
    assert_int_equal(c->exit_code, YARN_EXIT_KILLED_BY_APPMASTER);
    assert_int_equal(seen.deleted, 1);
    handle(c, NM_CONTAINER_EV_RESOURCES_CLEANEDUP, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_DONE);
    assert_string_equal(seen.done_exit, "-105");
    assert_non_null(strstr(c->diagnostics, "]by master\n["));
    drop(a, c);
}

/* A kill between a failed launch and the record of the failure: it ends once, by the event of the
 * failure. */
static void killed_while_failure_is_recorded(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_SCHEDULED;
    c->launch.exit.event = NM_CONTAINER_EV_EXITED_WITH_FAILURE;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.posted_container, 0);
    c->launch.exit.event = 0;
    handle(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, 24, "no launch");
    assert_int_equal(c->state, NM_CONTAINER_EXITED_WITH_FAILURE);
    assert_int_equal(seen.released, 1);
    assert_int_equal(seen.deleted, 1);
    handle(c, NM_CONTAINER_EV_RESOURCES_CLEANEDUP, 0, NULL);
    assert_int_equal(seen.done, 1);
    drop(a, c);
}

/* A stop in the same loop iteration as the start. */
static void killed_before_application_init(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->recorded = false;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_DONE);
    assert_int_equal(seen.posted_app, NM_APP_EV_CONTAINER_FINISHED);
    assert_int_equal(seen.share_released, 1);
    assert_int_equal(
        nm_app_fsm()->cells[NM_APP_NEW * NM_APP_N_EVENTS + NM_APP_EV_CONTAINER_FINISHED].next,
        NM_APP_NEW);
    handle_app(a, NM_APP_EV_CONTAINER_FINISHED, c->text);
    assert_int_equal(a->state, NM_APP_NEW);
    drop(a, c);
}

static void killed_externally(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    c->state = NM_CONTAINER_RUNNING;
    handle(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_FORCE_KILLED, "exit 137");
    assert_int_equal(c->state, NM_CONTAINER_EXITED_WITH_FAILURE);
    assert_int_equal(c->exit_code, YARN_EXIT_FORCE_KILLED);
    assert_non_null(strstr(c->diagnostics, "]Killed by external signal\n"));
    drop(a, c);
}

static void waits_for_record(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->recorded = false;
    a->state = NM_APP_INITING;
    handle_app(a, NM_APP_EV_APPLICATION_INITED, NULL);
    assert_int_equal(seen.posted_container, 0);
    c->recorded = true;
    handle_app(a, NM_APP_EV_INIT_CONTAINER, c->text);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_INIT);
    seen.posted_container = 0; /* handled in a later turn, behind the same event again */
    handle_app(a, NM_APP_EV_INIT_CONTAINER, c->text);
    assert_int_equal(seen.posted_container, 0);
    drop(a, c);
}

/* The directories are not deleted while the helper still creates them. */
static void not_cleaned_during_init(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    c->state = NM_CONTAINER_DONE;
    a->state = NM_APP_INITING;
    a->initing = true;
    handle_app(a, NM_APP_EV_FINISH_APPLICATION, "killed");
    assert_int_equal(a->state, NM_APP_FINISHING_CONTAINERS_WAIT);
    handle_app(a, NM_APP_EV_CONTAINER_FINISHED, c->text);
    assert_int_equal(a->state, NM_APP_FINISHING_CONTAINERS_WAIT);
    a->initing = false;
    handle_app(a, NM_APP_EV_APPLICATION_INITED, NULL);
    assert_int_equal(a->state, NM_APP_RESOURCES_CLEANINGUP);
    drop(a, c);
}

/* Creates a recovered container whose resources the cache has lost. */
static struct nm_container *recovered_container(struct nm_app *a, int recovered)
{
    struct nm_container *c = new_container(a);

    memset(&seen, 0, sizeof(seen));
    c->recovering = true;
    c->recovered = recovered;
    return c;
}

static void recovered_without_resources(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = recovered_container(a, NM_RECOVERED_LAUNCHED);

    (void)state;
    seen.localize = -EINVAL;
    handle(c, NM_CONTAINER_EV_INIT, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_LOCALIZING);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_RESOURCE_FAILED);
    handle(c, NM_CONTAINER_EV_RESOURCE_FAILED, 0, "gone");
    assert_int_equal(c->state, NM_CONTAINER_SCHEDULED);
    assert_int_equal(seen.launched, 1);
    assert_int_equal(seen.released + seen.deleted + seen.done, 0);
    c->launch.exe = NULL;
    drop(a, c);
}

static void requested_without_resources(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = recovered_container(a, NM_RECOVERED_REQUESTED);

    (void)state;
    c->state = NM_CONTAINER_LOCALIZING;
    handle(c, NM_CONTAINER_EV_RESOURCE_FAILED, 0, "gone");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.launched, 1);
    assert_int_equal(seen.cleanups, 1);
    assert_int_equal(seen.deleted + seen.done, 0);
    c->launch.exe = NULL;
    drop(a, c);
}

static void recovered_killed_while_localizing(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = recovered_container(a, NM_RECOVERED_LAUNCHED);

    (void)state;
    c->state = NM_CONTAINER_LOCALIZING;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.launched, 1);
    assert_int_equal(seen.cleanups, 1);
    assert_int_equal(seen.released + seen.deleted + seen.done, 0);
    c->launch.exe = NULL;
    drop(a, c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk_container),
        cmocka_unit_test(walk_app),
        cmocka_unit_test(completed_before_the_restart),
        cmocka_unit_test(killed_by_master),
        cmocka_unit_test(killed_externally),
        cmocka_unit_test(killed_while_failure_is_recorded),
        cmocka_unit_test(killed_before_application_init),
        cmocka_unit_test(waits_for_record),
        cmocka_unit_test(recovered_without_resources),
        cmocka_unit_test(requested_without_resources),
        cmocka_unit_test(recovered_killed_while_localizing),
        cmocka_unit_test(not_cleaned_during_init),
    };

    return run_group(tests, SV_ARRAY_LEN(tests));
}
