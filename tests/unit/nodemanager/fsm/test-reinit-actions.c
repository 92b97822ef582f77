/* fsm/: containers that are launched again, paused or re-initialized. */
#include "tests/unit/nodemanager/fsm/fsm-fixture.h"

/* A failure that the store records as followed by another launch. */
static void retried(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RUNNING;
    c->retry.policy = HADOOP__YARN__CONTAINER_RETRY_POLICY_PROTO__RETRY_ON_ALL_ERRORS;
    c->launch.exit.again = true;
    handle(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, 7, "why");
    assert_int_equal(c->state, NM_CONTAINER_RELAUNCHING);
    assert_int_equal(c->exit_code, 7); /* as Hadoop: of the last attempt */
    assert_non_null(strstr(c->diagnostics, "]Diagnostic message from attempt : \n["));
    assert_true(seen.again == 1 && !c->launch.exit.again);
    assert_int_equal(seen.released + seen.deleted + seen.exits_released + seen.done, 0);
    handle(c, NM_CONTAINER_EV_LAUNCHED, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_RUNNING);
    handle(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, 8, "why");
    assert_int_equal(c->state, NM_CONTAINER_EXITED_WITH_FAILURE);
    assert_true(seen.released == 1 && seen.exits_released == 1);
    drop(a, c);
}

/* A stop before the next launch: no process, it ends at once. */
static void killed_before_relaunch(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RELAUNCHING;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_RESOURCES_CLEANEDUP);
    assert_true(seen.released == 1 && seen.exits_released == 1 && seen.cleanups == 0);
    drop(a, c);
}

/* A container that an operator freezes is PAUSED, and RUNNING once it is thawed; a cgroup that
 * cannot be frozen changes nothing. */
static void paused(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RUNNING;
    seen.freeze = -EIO;
    sv_log_set_level((enum sv_log_level)0);
    handle(c, NM_CONTAINER_EV_PAUSE, 0, "by joe");
    sv_log_set_level(SV_LOG_ERR);
    assert_true(c->state == NM_CONTAINER_RUNNING && seen.posted_container == 0);
    seen.freeze = 0;
    handle(c, NM_CONTAINER_EV_PAUSE, 0, "by joe");
    assert_int_equal(c->state, NM_CONTAINER_PAUSING);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_PAUSED);
    handle(c, NM_CONTAINER_EV_PAUSED, 0, NULL);
    assert_true(c->state == NM_CONTAINER_PAUSED && c->launch.frozen);
    assert_non_null(strstr(c->diagnostics, "]by joe\n"));
    handle(c, NM_CONTAINER_EV_RESUME, 0, "by joe");
    assert_int_equal(c->state, NM_CONTAINER_RESUMING);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_RESUMED);
    handle(c, NM_CONTAINER_EV_RESUMED, 0, NULL);
    assert_true(c->state == NM_CONTAINER_RUNNING && !c->launch.frozen);
    c->state = NM_CONTAINER_SCHEDULED; /* as the last daemon left it */
    handle(c, NM_CONTAINER_EV_RECOVER_PAUSED, 0, NULL);
    assert_true(c->state == NM_CONTAINER_PAUSED && !c->clc);
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_true(c->state == NM_CONTAINER_KILLING && seen.cleanups == 1);
    assert_true(seen.schedule_paused == 1 && seen.schedule_resumed == 1);
    assert_true(seen.schedule_launched == 1 && seen.schedule_ending == 1);
    drop(a, c);
}

/* A container that the scheduler pauses or resumes, where the cgroup refuses: it is ended, so that
 * neither the one that waits for its room nor itself waits for ever. */
static void unpausable(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    sv_log_set_level((enum sv_log_level)0);
    seen.freeze = -EIO;
    c->state = NM_CONTAINER_RUNNING;
    c->schedule.pausing = true;
    handle(c, NM_CONTAINER_EV_PAUSE, 0, "for another");
    assert_true(c->state == NM_CONTAINER_RUNNING && c->kill_code == YARN_EXIT_PREEMPTED);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_KILL);
    c->schedule.pausing = c->kill_requested = false;
    c->kill_code = YARN_EXIT_INVALID;
    c->state = NM_CONTAINER_PAUSED;
    c->schedule.resuming = true;
    handle(c, NM_CONTAINER_EV_RESUME, 0, "room");
    assert_true(c->state == NM_CONTAINER_PAUSED && c->kill_code == YARN_EXIT_PREEMPTED);
    sv_log_set_level(SV_LOG_ERR);
    drop(a, c);
}

static struct nm_container *reinitializing(struct nm_app *a, int kind)
{
    struct nm_container *c = new_container(a);

    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RUNNING;
    c->reinit.kind = kind;
    return c;
}

static void exit_recorded(struct nm_container *c, int kind)
{
    c->launch.exit.again = true; /* as relaunch.c */
    c->launch.exit.replaced = kind;
}

static void launched_again(struct nm_container *c)
{
    handle(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_TERMINATED, "exit 143");
    assert_int_equal(c->state, NM_CONTAINER_SCHEDULED);
    assert_true(seen.launched == 1 && !c->reinit.kills && !c->launch.exit.again && c->clc);
    handle(c, NM_CONTAINER_EV_LAUNCHED, 0, NULL);
    assert_true(c->state == NM_CONTAINER_RUNNING && c->reinit.kind == NM_REINIT_NONE && !c->clc);
}

/* The commit of the record, and the end of the process by it. */
static void end_recorded(struct nm_container *c, int kind)
{
    assert_int_equal(c->state, NM_CONTAINER_REINITIALIZING_AWAITING_KILL);
    assert_true(seen.cleanups == 0 && !c->reinit.kills);
    seen.waiter(seen.waiter_data, 0);
    seen.waiter = NULL;
    assert_true(seen.cleanups == 1 && c->reinit.kills);
    exit_recorded(c, kind);
    launched_again(c);
}

/* Files first, then the record, then the end of the old process. */
static void upgraded(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = reinitializing(a, NM_REINIT_UPGRADE);

    (void)state;
    handle(c, NM_CONTAINER_EV_REINITIALIZE, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_REINITIALIZING);
    assert_non_null(c->reinit.clc);
    assert_non_null(strstr(c->diagnostics, "]Container will be Re-initialized.\n"));
    handle(c, NM_CONTAINER_EV_RESOURCE_LOCALIZED, 4, NULL); /* another part */
    assert_true(c->state == NM_CONTAINER_REINITIALIZING && seen.links == 1);
    handle(c, NM_CONTAINER_EV_RESOURCE_LOCALIZED, 77, NULL);
    end_recorded(c, NM_REINIT_UPGRADE);
    assert_true(seen.replaced == 1 && seen.replaced_by == NM_RESOURCES_NEXT && seen.kept);
    assert_true(c->reinit.can_rollback && !c->reinit.clc);
    drop(a, c);
}

static void restarted(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = reinitializing(a, NM_REINIT_RESTART);

    (void)state;
    c->reinit.can_rollback = true;
    handle(c, NM_CONTAINER_EV_REINITIALIZE, 0, NULL);
    end_recorded(c, NM_REINIT_RESTART);
    assert_true(seen.replaced == 0 && c->reinit.can_rollback);
    drop(a, c);
}

static void rolled_back(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = reinitializing(a, NM_REINIT_ROLLBACK);

    (void)state;
    c->reinit.can_rollback = true;
    handle(c, NM_CONTAINER_EV_ROLLBACK_REINIT, 0, NULL);
    end_recorded(c, NM_REINIT_ROLLBACK);
    assert_true(seen.replaced_by == NM_RESOURCES_PREVIOUS && !seen.kept);
    assert_false(c->reinit.can_rollback);
    drop(a, c);
}

/* A process of a new context that fails is replaced by one of the last context. */
static void rolled_back_by_failure(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = reinitializing(a, NM_REINIT_NONE);

    (void)state;
    c->reinit.can_rollback = true;
    c->launch.exit.again = true;
    c->launch.exit.replaced = NM_REINIT_ROLLBACK;
    handle(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, 9, "why");
    assert_int_equal(c->state, NM_CONTAINER_SCHEDULED);
    assert_non_null(strstr(c->diagnostics, "]Container Re-init Auto Rolled-Back.\n"));
    assert_true(seen.launched == 1 && seen.replaced_by == NM_RESOURCES_PREVIOUS);
    assert_int_equal(seen.released + seen.deleted, 0);
    drop(a, c);
}

static void reinit_refused(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = reinitializing(a, NM_REINIT_UPGRADE);

    (void)state;
    sv_log_set_level((enum sv_log_level)0);
    c->reinit.can_rollback = true;
    handle(c, NM_CONTAINER_EV_REINITIALIZE, 0, NULL);
    handle(c, NM_CONTAINER_EV_RESOURCE_FAILED, 5, "of another part");
    assert_int_equal(c->state, NM_CONTAINER_REINITIALIZING);
    handle(c, NM_CONTAINER_EV_RESOURCE_FAILED, 77, "it is gone");
    assert_int_equal(c->state, NM_CONTAINER_RUNNING);
    assert_non_null(strstr(c->diagnostics, "]Container aborting re-initialization.. it is gone\n"));
    assert_true(seen.aborted == 1 && seen.forgotten == 1 && c->reinit.kind == NM_REINIT_NONE);
    assert_true(c->reinit.can_rollback && !c->reinit.clc && seen.cleanups == 0);
    sv_log_set_level(SV_LOG_ERR);
    drop(a, c);
}

/* An adopted container goes on with what the last daemon has begun. */
static void reinit_recovered(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = reinitializing(a, NM_REINIT_UPGRADE);

    (void)state;
    c->state = NM_CONTAINER_NEW;
    c->recovering = true;
    c->recovered = NM_RECOVERED_LAUNCHED;
    handle(c, NM_CONTAINER_EV_INIT, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_LOCALIZING);
    assert_int_equal(nm_resources_of(c, NM_RESOURCES_NEXT)->part, 77);
    handle(c, NM_CONTAINER_EV_RESOURCE_LOCALIZED, 1, NULL);
    c->recovering = false;
    handle(c, NM_CONTAINER_EV_LAUNCHED, 0, NULL);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_REINITIALIZE);
    nm_resources_of(c, NM_RESOURCES_NEXT)->ready = true; /* no event told of it */
    seen.launched = 0;
    c->recovered = NM_RECOVERED_NOT; /* as nm_relaunch_prepare() */
    handle(c, NM_CONTAINER_EV_REINITIALIZE, 0, NULL);
    end_recorded(c, NM_REINIT_UPGRADE);
    c->launch.exe = NULL;
    drop(a, c);
}

/* The last daemon has ended the process, and its exit is on record, with the next launch context in
 * place, before the re-initialization goes on. */
static void reinit_recovered_late(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = reinitializing(a, NM_REINIT_UPGRADE);

    (void)state;
    c->reinit.kills = true;
    exit_recorded(c, NM_REINIT_UPGRADE);
    handle(c, NM_CONTAINER_EV_REINITIALIZE, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_REINITIALIZING_AWAITING_KILL);
    assert_true(!c->reinit.clc && !seen.waiter && seen.cleanups == 0 && seen.aborted == 0);
    launched_again(c);
    drop(a, c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retried),
        cmocka_unit_test(killed_before_relaunch),
        cmocka_unit_test(paused),
        cmocka_unit_test(unpausable),
        cmocka_unit_test(upgraded),
        cmocka_unit_test(restarted),
        cmocka_unit_test(rolled_back),
        cmocka_unit_test(rolled_back_by_failure),
        cmocka_unit_test(reinit_refused),
        cmocka_unit_test(reinit_recovered),
        cmocka_unit_test(reinit_recovered_late),
    };

    return run_group(tests, SV_ARRAY_LEN(tests));
}
