/* The ResourceManager's state machines inside a whole manager: every declared edge is walked, and
 * the lives of applications end as Hadoop's, with its diagnostics. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <errno.h>

#include "rm-lite/core/secrets.h"
#include "rm-lite/periodic.h"

/* ------------------------------------------------------------ whole applications */

static void test_success(void **state)
{
    struct fix f;
    struct rm_node *n;
    struct rm_app *app;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 2);
    run_master(&f, app);
    rm_attempt_post_unregistered(app->current, F(SUCCEEDED), "all done");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FINISHING);
    assert_int_equal(rm_app_wire_state(app), W(FINISHED));
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 0, "");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FINISHED);
    assert_int_equal(rm_app_wire_final(app), F(SUCCEEDED));
    assert_string_equal(app->diagnostics, "all done");
    assert_null(f.rm->containers);
    assert_null(n->containers);
    assert_int_equal(f.rm->counters.allocated, f.rm->counters.released);
    teardown(&f);
}

static void test_master_crashes(void **state)
{
    struct fix f;
    struct rm_app *app;
    char want[1024];

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 2);
    run_master(&f, app);
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 1, "[it broke]\n");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED); /* a second attempt */
    assert_int_equal(app->current->id.attempt, 2);
    assert_int_equal(app->current->state, RM_ATT_ST_ALLOCATED);
    rm_container_post(app->current->master, RM_CON_EV_LAUNCHED);
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 1, "[it broke]\n");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    (void)snprintf(
        want, sizeof(want),
        "Application %s failed 2 times due to AM Container for %s exited with  "
        "exitCode: 1\nFailing this attempt.Diagnostics: [it broke]\nFor more detailed "
        "output, check the application tracking page: http://127.0.0.1:%u/cluster/app/%s "
        "Then click on links to logs of each attempt.\n. Failing the application.",
        app->id_str, app->current->id_str, f.rm->web_port, app->id_str);
    assert_string_equal(app->diagnostics, want);
    teardown(&f);
}

static void test_not_counted_exits(void **state)
{
    static const int32_t free_ones[] = { YARN_EXIT_ABORTED, YARN_EXIT_PREEMPTED,
                                         YARN_EXIT_DISKS_FAILED,
                                         YARN_EXIT_KILLED_BY_RESOURCEMANAGER };
    struct fix f;
    struct rm_app *app;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 1);
    for (size_t i = 0; i < SV_ARRAY_LEN(free_ones); i++) {
        rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, free_ones[i], "");
        settle(&f);
        assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
        assert_int_equal(app->current->id.attempt, (int)i + 2);
    }
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 137, "");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    teardown(&f);
}

static void test_kill(void **state)
{
    struct fix f;
    struct rm_app *app;
    struct rm_node *n;

    (void)state;
    setup(&f);
    app = submit(&f, false, 2); /* no node: waits for its master */
    assert_int_equal(app->current->state, RM_ATT_ST_SCHEDULED);
    kill_app(&f, app);
    assert_int_equal(app->state, RM_APP_ST_KILLED);
    assert_string_equal(app->diagnostics, "Application was killed by user ann");
    n = add_node(&f, 1);
    app = submit(&f, false, 2);
    run_master(&f, app);
    kill_app(&f, app);
    assert_int_equal(app->state, RM_APP_ST_KILLED);
    assert_int_equal(rm_app_wire_final(app), F(KILLED));
    assert_non_null(n->to_cleanup); /* the master's container must go */
    assert_null(f.rm->containers);
    teardown(&f);
}

static void test_rejected(void **state)
{
    struct fix f;
    struct rm_app *app;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 2);
    kill_app(&f, app);
    assert_int_equal(app->state, RM_APP_ST_KILLED);
    free(app->queue);
    app->queue = rm_strdup("nowhere");
    app->state = RM_APP_ST_NEW_SAVING;
    rm_app_post(app, RM_APP_EV_NEW_SAVED, NULL);
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    assert_non_null(strstr(app->diagnostics, "submitted by user ann to unknown queue: nowhere"));
    teardown(&f);
}

static void test_unmanaged(void **state)
{
    struct fix f;
    struct rm_app *app;

    (void)state;
    setup(&f);
    app = submit(&f, true, 1);
    assert_int_equal(app->current->state, RM_ATT_ST_LAUNCHED);
    rm_attempt_post(app->current, RM_ATT_EV_REGISTERED, NULL);
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_RUNNING);
    rm_attempt_post_unregistered(app->current, F(SUCCEEDED), NULL);
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FINISHED);
    teardown(&f);
}

static void test_node_lost(void **state)
{
    struct fix f;
    struct rm_app *app;
    struct rm_node *n;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    add_node(&f, 2);
    rm_node_post(n, RM_NODE_EV_EXPIRE);
    settle(&f);
    assert_int_equal(app->current->id.attempt,
                     2); /* an attempt lost with its node does not count */
    assert_string_equal(app->current->master->node_id.host, "127.0.0.2");
    assert_int_equal(HASH_COUNT(f.rm->inactive_nodes), 1);
    teardown(&f);
}

static void test_expiry(void **state)
{
    struct fix f;
    struct rm_app *app;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    sv_clock_set_test(sv_now_ms() + 899000, sv_wall_ms());
    f.rm->nodes->seen_ms = sv_now_ms();
    rm_periodic_run(f.rm);
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_RUNNING);
    sv_clock_set_test(sv_now_ms() + 2000, sv_wall_ms());
    rm_periodic_run(f.rm);
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FAILED);
    assert_non_null(strstr(app->diagnostics, "timed out"));
    sv_clock_reset();
    teardown(&f);
}

/* --------------------------------------------------------------------- recovery */

static void test_restart(void **state)
{
    struct fix f;
    struct rm_app *done, *live;
    struct yarn_app_id done_id, live_id;
    struct yarn_master_key key;
    int64_t first;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    done = submit(&f, false, 1);
    rm_container_post_exit(done->current->master, RM_CON_EV_FINISHED, 9, "gone");
    settle(&f);
    live = submit(&f, false, 2);
    run_master(&f, live);
    done_id = done->id;
    live_id = live->id;
    first = f.rm->started_ms;
    key = *rm_secrets_signing(f.rm->secrets, RM_SECRET_AMRM);
    assert_int_equal(f.rm->epoch, 0);
    stop(&f);

    start(&f);
    settle(&f);
    assert_int_equal(f.rm->epoch, 1);
    assert_true(f.rm->started_ms >= first);
    done = rm_app_find(f.rm, done_id);
    assert_non_null(done);
    assert_int_equal(rm_app_wire_state(done), W(FAILED));
    assert_non_null(strstr(done->diagnostics, "exitCode: 9"));
    live = rm_app_find(f.rm, live_id);
    assert_non_null(live);
    assert_int_equal(live->state, RM_APP_ST_ACCEPTED);
    assert_int_equal(live->current->state, RM_ATT_ST_LAUNCHED); /* waits for its master */
    assert_true(live->current->token_live && live->current->has_master);
    assert_int_equal(key.key_id, rm_secrets_signing(f.rm->secrets, RM_SECRET_AMRM)->key_id);
    rm_attempt_post(live->current, RM_ATT_EV_REGISTERED, NULL);
    settle(&f);
    assert_int_equal(live->state, RM_APP_ST_RUNNING);
    teardown(&f);
}

static void test_evicts_oldest(void **state)
{
    struct fix f;
    struct yarn_app_id first = { 0 };

    (void)state;
    setup(&f);
    f.rm->conf.max_completed_apps = 3;
    for (int i = 0; i < 5; i++) {
        struct rm_app *app = submit(&f, false, 1);

        if (i == 0)
            first = app->id;
        kill_app(&f, app);
    }
    rm_periodic_run(f.rm);
    assert_int_equal(HASH_COUNT(f.rm->apps), 3);
    assert_null(rm_app_find(f.rm, first));
    stop(&f);
    start(&f);
    settle(&f);
    assert_int_equal(HASH_COUNT(f.rm->apps), 3);
    teardown(&f);
}

/* A member of a federation has applications with ids of other clusters, which may sort before its
 * own: those that were submitted first go first, after a restart too. */
static void test_evicts_oldest_of_two_clusters(void **state)
{
    struct fix f;
    struct yarn_app_id own, foreign;
    struct rm_app *app;

    (void)state;
    setup(&f);
    f.rm->conf.max_completed_apps = 1;
    app = submit(&f, false, 1);
    own = app->id;
    kill_app(&f, app);
    f.rm->started_ms -= 3600000;
    while (sv_wall_ms() <= app->submit_ms)
        ; /* a millisecond at most */
    foreign = submit(&f, false, 1)->id;
    stop(&f);
    start(&f);
    settle(&f);
    f.rm->conf.max_completed_apps = 1;
    app = rm_app_find(f.rm, foreign);
    assert_non_null(app);
    kill_app(&f, app);
    rm_periodic_run(f.rm);
    assert_null(rm_app_find(f.rm, own));
    assert_non_null(rm_app_find(f.rm, foreign));
    teardown(&f);
}

/* ------------------------------------------------------------------- every edge */

static bool declared(const struct sv_fsm_cell *c, int next)
{
    if (c->next == next)
        return true;
    for (size_t i = 0; i < SV_ARRAY_LEN(c->alt); i++)
        if (c->alt[i] && c->alt[i] == next)
            return true;
    return false;
}

/* A fresh object of each kind in its normal surroundings. */
static void *make(struct fix *f, const struct sv_fsm *fsm, int **ret_state)
{
    static int host = 10;
    struct rm_node *n = add_node(f, host);
    struct rm_app *app = submit(f, false, 2);
    struct rm_container *c;

    host = host == 250 ? 10 : host + 1;
    if (fsm == &rm_app_fsm) {
        *ret_state = &app->state;
        return app;
    }
    if (fsm == &rm_attempt_fsm) {
        *ret_state = &app->current->state;
        return app->current;
    }
    if (fsm == &rm_node_fsm) {
        *ret_state = &n->state;
        return n;
    }
    c = app->current->master;
    assert_non_null(c);
    *ret_state = &c->state;
    return c;
}

union payload {
    struct rm_attempt_allocated allocated;
    struct rm_attempt_unregistered unregistered;
    struct rm_attempt_master_exit master_exit;
    struct rm_container_exit container;
    struct rm_container_size size;
    struct rm_node_health health;
    struct rm_node_grace grace;
};

/* The payload that the header of the state machine declares for the event. */
static void fill_payload(union payload *p, const struct sv_fsm *fsm, int event, void *object)
{
    memset(p, 0, sizeof(*p));
    if (fsm == &rm_attempt_fsm && event == RM_ATT_EV_CONTAINER_ALLOCATED)
        p->allocated.container = ((struct rm_attempt *)object)->master;
    if (fsm == &rm_node_fsm && event == RM_NODE_EV_GRACEFUL)
        p->grace.timeout_ms = 1000;
}

static size_t walk(struct fix *f, const struct sv_fsm *fsm)
{
    size_t edges = 0;

    for (int s = 1; s < fsm->n_states; s++)
        for (int e = 1; e < fsm->n_events; e++) {
            const struct sv_fsm_cell *cell = &fsm->cells[s * fsm->n_events + e];
            struct sv_event ev = { .type = e, .text = "text" };
            union payload payload;
            int *state, r;
            struct sv_dispatcher *open;
            void *object;

            if (cell->next == SV_FSM_REFUSED)
                continue;
            object = make(f, fsm, &state);
            *state = s;
            if (fsm == &rm_app_fsm)
                ((struct rm_app *)object)->target = RM_APP_ST_FAILED;
            if (fsm == &rm_attempt_fsm)
                ((struct rm_attempt *)object)->target = RM_ATT_ST_FAILED;
            fill_payload(&payload, fsm, e, object);
            ev.payload = &payload;
            open = sv_dispatcher_begin(f->rm->dispatcher); /* events of the edge stay queued */
            assert_ptr_equal(open, f->rm->dispatcher);
            r = sv_fsm_run(fsm, state, e, object, &ev);
            if (r < 0)
                fail_msg("%s: %s on %s: %s", fsm->name, fsm->state_names[s], fsm->event_names[e],
                         strerror(-r));
            if (!declared(cell, *state))
                fail_msg("%s: %s on %s went to %s", fsm->name, fsm->state_names[s],
                         fsm->event_names[e], fsm->state_names[*state]);
            edges++;
            stop(f); /* drops the events that the edge posted: a new manager */
            start(f);
        }
    return edges;
}

static void test_every_edge(void **state)
{
    static const char *const no_store[][2] = { { "yarn.resourcemanager.recovery.enabled", "false" },
                                               { NULL, NULL } }; /* hundreds of starts */
    static const struct sv_fsm *const all[] = { &rm_app_fsm, &rm_attempt_fsm, &rm_container_fsm,
                                                &rm_node_fsm };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++) {
        struct fix f;
        size_t n;

        setup_with(&f, no_store);
        n = walk(&f, all[i]);
        print_message("%s: %zu edges\n", all[i]->name, n);
        assert_true(n > 20);
        teardown(&f);
    }
}

/* Every state can be reached from NEW by declared edges. */
static void test_reachable(void **state)
{
    static const struct sv_fsm *const all[] = { &rm_app_fsm, &rm_attempt_fsm, &rm_container_fsm,
                                                &rm_node_fsm };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++) {
        const struct sv_fsm *m = all[i];
        bool seen[32] = { [1] = true }, more = true;

        while (more) {
            more = false;
            for (int s = 1; s < m->n_states; s++)
                for (int e = 1; seen[s] && e < m->n_events; e++)
                    for (int t = 1; t < m->n_states; t++)
                        if (!seen[t] && declared(&m->cells[s * m->n_events + e], t))
                            more = seen[t] = true;
        }
        for (int s = 1; s < m->n_states; s++)
            if (!seen[s])
                fail_msg("%s: %s cannot be reached", m->name, m->state_names[s]);
    }
}

/* A round that has much to give goes on in later turns of the loop, between other callers. */
static void test_long_round(void **state)
{
    struct rm_ask ask = { .priority = 1,
                          .allocation_id = -1,
                          .name = RM_ANY,
                          .capability = { 1024, 1 },
                          .count = 600,
                          .relax = true };
    struct rm_sched_event ev = { .type = RM_SCHED_ASK, .ask = { .asks = &ask, .n_asks = 1 } };
    struct fix f;
    struct rm_app *app;
    int64_t before, last;
    int turns = 0;

    (void)state;
    setup(&f);
    for (int i = 1; i <= 80; i++)
        add_node(&f, i);
    app = submit(&f, false, 1);
    run_master(&f, app);
    ev.ask.app = app->id;
    last = before = f.rm->counters.allocated;
    assert_int_equal(rm_schedule(f.rm, &ev, NULL), 0);
    rm_request_pass(f.rm);
    {
        SV_DISPATCH_BATCH(f.rm->dispatcher);
    }
    while (f.rm->counters.allocated < before + 600) {
        int64_t got = f.rm->counters.allocated - last;

        assert_true(got <= RM_TURN_DECISIONS);
        turns += got > 0;
        last = f.rm->counters.allocated;
        assert_true(sd_event_run(f.event, 10000000) > 0);
    }
    assert_true(turns >= 2);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_success),        cmocka_unit_test(test_long_round),
        cmocka_unit_test(test_master_crashes), cmocka_unit_test(test_not_counted_exits),
        cmocka_unit_test(test_kill),           cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_unmanaged),      cmocka_unit_test(test_node_lost),
        cmocka_unit_test(test_expiry),         cmocka_unit_test(test_restart),
        cmocka_unit_test(test_evicts_oldest),  cmocka_unit_test(test_evicts_oldest_of_two_clusters),
        cmocka_unit_test(test_every_edge),     cmocka_unit_test(test_reachable),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
