/* rm-lite/core/ended-containers.h: records kept of ended containers, and their limits. */
#include "rm-lite/core/ended-containers.h"

#include "tests/unit/rm-lite/rm-fixture.h"

static struct rm_app *running(struct fix *f)
{
    struct rm_app *app = submit(f, false, 1);

    for (struct rm_node *n = f->rm->nodes; n; n = n->hh.next)
        heartbeat(f, n);
    run_master(f, app);
    return app;
}

static void end_container(struct fix *f, struct rm_app *app, const char *diagnostics)
{
    struct rm_container *c;

    ask_containers(f, app, 1);
    c = pull_container(app->current);
    rm_container_post_exit(c, RM_CON_EV_FINISHED, 0, diagnostics);
    settle(f);
}

static void test_after_the_end(void **state)
{
    struct fix f;
    struct rm_app *app;
    char big[4096];

    (void)state;
    setup(&f);
    (void)add_node(&f, 1);
    app = running(&f);
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = 0;
    end_container(&f, app, big);
    assert_int_equal(app->n_ended, 1);
    assert_null(rm_ended_first(app->current)); /* its attempt runs */
    assert_int_equal(strlen(app->ended->diagnostics), RM_ENDED_DIAGNOSTICS_MAX);
    kill_app(&f, app);
    assert_int_equal(app->state, RM_APP_ST_KILLED);
    assert_int_equal(rm_ended_count(app->current), 2); /* with its master */
    assert_ptr_equal(rm_ended_find(app->current, app->ended->id), app->ended);
    assert_string_equal(app->ended->node_http, "127.0.0.1:8042");
    f.rm->conf.max_completed_apps = 0;
    rm_app_evict(f.rm);
    assert_int_equal(f.rm->n_ended, 0);
    assert_null(f.rm->ended);
    teardown(&f);
}

static void test_bounds(void **state)
{
    struct fix f;
    struct rm_app *app;
    struct yarn_container_id first;

    (void)state;
    setup(&f);
    (void)add_node(&f, 1);
    app = running(&f);
    end_container(&f, app, NULL);
    first = app->ended->id;
    for (int i = 0; i < RM_ENDED_PER_APP; i++)
        end_container(&f, app, NULL);
    assert_int_equal(app->n_ended, RM_ENDED_PER_APP);
    assert_int_equal(f.rm->n_ended, RM_ENDED_PER_APP);
    assert_true(yarn_container_id_cmp(app->ended->id, first) != 0);
    teardown(&f);
}

/* The last lines of a failed one are kept too. */
static void test_failure(void **state)
{
    struct rm_container *c;
    struct rm_app *app;
    char big[8192];
    struct fix f;

    (void)state;
    setup(&f);
    (void)add_node(&f, 1);
    app = running(&f);
    memset(big, 'x', sizeof(big) - 1);
    big[0] = '<';
    (void)snprintf(big + sizeof(big) - 6, 6, "\nend\n");
    ask_containers(&f, app, 1);
    c = pull_container(app->current);
    rm_container_note_alive(c, false);
    assert_true(c->started_ms > 0 && c->running_ms == 0);
    rm_container_note_alive(c, true);
    assert_true(c->running_ms >= c->started_ms);
    rm_container_note_use(c, "1048576 2097152 1500");
    rm_container_note_use(c, "hostile");
    assert_int_equal(c->use.bytes, 1048576);
    assert_true(c->use.cores > 1.49f && c->use.cores < 1.51f);
    rm_container_post_exit(c, RM_CON_EV_FINISHED, 1, big);
    settle(&f);
    assert_int_equal(f.rm->counters.ended[SV_END_EXIT_CODE], 1);
    assert_true(strlen(app->ended->diagnostics) <= RM_ENDED_FAILURE_MAX + 8);
    assert_int_equal(app->ended->diagnostics[0], '<');
    assert_non_null(strstr(app->ended->diagnostics, "\n…\nxxx"));
    assert_non_null(strstr(app->ended->diagnostics, "xxx\nend\n"));
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_after_the_end),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_failure),
    };

    return cmocka_run_group_tests_name("ended-containers", tests, NULL, NULL);
}
