/* rm-lite/fsm/rm-container-fsm.c: ends of containers, and their notifications. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "rm-lite/periodic.h"

struct running { /* an application with its master on node `n` */
    struct fix f;
    struct rm_node *n;
    struct rm_app *app;
};

static void running_setup(struct running *r, bool keep_containers)
{
    struct submission s;

    setup(&r->f);
    r->n = add_node(&r->f, 1);
    submission_init(&r->f, &s);
    s.ctx.has_keep_containers_across_application_attempts = true;
    s.ctx.keep_containers_across_application_attempts = keep_containers;
    r->app = submit_ctx(&r->f, &s);
    run_master(&r->f, r->app);
}

static bool listed(const struct rm_cid *list, struct yarn_container_id id)
{
    for (; list; list = list->next)
        if (yarn_container_id_cmp(list->id, id) == 0)
            return true;
    return false;
}

static void test_completed(void **state)
{
    struct running r;
    struct rm_container *c;
    struct yarn_container_id id;
    struct rm_done *d;

    (void)state;
    running_setup(&r, false);
    ask_containers(&r.f, r.app, 1);
    c = pull_container(r.app->current);
    id = c->id;
    assert_true(rm_set_has(r.app->ran_on, "127.0.0.1:1"));
    rm_container_post(c, RM_CON_EV_LAUNCHED);
    assert_int_equal(rm_container_wire_state(c), HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING);
    rm_container_post_exit(c, RM_CON_EV_FINISHED, 3, "bad input");
    assert_null(rm_container_find(r.f.rm, id));
    d = rm_done_find(r.f.rm, id);
    assert_non_null(d);
    assert_ptr_equal(d, r.app->current->done);
    assert_int_equal(d->exit_status, 3);
    assert_string_equal(d->diagnostics, "bad input");
    assert_string_equal(d->node, "127.0.0.1:1");
    assert_null(r.n->to_cleanup); /* it ended by itself */
    assert_null(r.n->to_remove);  /* not before the ApplicationMaster has acknowledged it */
    teardown(&r.f);
}

static void test_released_before_pull(void **state)
{
    struct running r;
    struct yarn_container_id id;

    (void)state;
    running_setup(&r, false);
    ask_containers(&r.f, r.app, 1);
    id = r.app->current->fresh->id;
    rm_container_post_exit(r.app->current->fresh, RM_CON_EV_RELEASED, YARN_EXIT_ABORTED,
                           "released");
    assert_null(rm_container_find(r.f.rm, id));
    assert_null(r.app->current->done); /* the ApplicationMaster has never seen it */
    assert_true(listed(r.n->to_cleanup, id));
    /* so its ask counts again, and the round after the event serves it */
    assert_non_null(r.app->current->fresh);
    assert_int_not_equal(yarn_container_id_cmp(r.app->current->fresh->id, id), 0);
    teardown(&r.f);
}

static void test_unused_container_expires(void **state)
{
    struct running r;
    struct rm_container *unused, *used;
    struct yarn_container_id id;

    (void)state;
    running_setup(&r, false);
    sv_clock_set_test(sv_now_ms(), sv_wall_ms());
    ask_containers(&r.f, r.app, 2);
    unused = pull_container(r.app->current);
    used = pull_container(r.app->current);
    id = unused->id;
    rm_container_post(used, RM_CON_EV_LAUNCHED);
    sv_clock_set_test(sv_now_ms() + 599999, sv_wall_ms());
    r.n->seen_ms = r.app->current->seen_ms = sv_now_ms();
    rm_periodic_run(r.f.rm);
    assert_int_equal(unused->state, RM_CON_ST_ACQUIRED);
    sv_clock_set_test(sv_now_ms() + 1, sv_wall_ms());
    rm_periodic_run(r.f.rm);
    assert_int_equal(used->state, RM_CON_ST_RUNNING);
    assert_non_null(rm_done_find(r.f.rm, id));
    assert_int_equal(rm_done_find(r.f.rm, id)->exit_status, YARN_EXIT_ABORTED);
    assert_string_equal(rm_done_find(r.f.rm, id)->diagnostics,
                        "Container expired since it was unused");
    assert_true(listed(r.n->to_cleanup, id)); /* it may just be starting */
    assert_null(r.f.rm->expiring);
    sv_clock_reset();
    teardown(&r.f);
}

/* Signals wait for the node's heartbeat: all in one answer, in order, and not without limit. */
static void test_signals(void **state)
{
    struct running r;
    struct yarn_container_id id = { 0 };
    Hadoop__Yarn__NodeHeartbeatResponseProto answer =
        HADOOP__YARN__NODE_HEARTBEAT_RESPONSE_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    (void)state;
    running_setup(&r, false);
    for (int i = 0; i < RM_NODE_SIGNALS_MAX; i++) {
        id.id = i;
        assert_int_equal(rm_node_signal_container(r.n, id, 1 + i % 3), 0);
    }
    assert_int_equal(rm_node_signal_container(r.n, id, 1), -EBUSY);
    rm_node_take_signals(r.n, a, &answer);
    assert_int_equal(answer.n_containers_to_signal, RM_NODE_SIGNALS_MAX);
    assert_int_equal(answer.containers_to_signal[4]->container_id->id, 4);
    assert_int_equal(answer.containers_to_signal[4]->command, 2);
    assert_null(r.n->to_signal);
    teardown(&r.f);
}

/* Lost before the ApplicationMaster has seen it: allocated elsewhere, not reported. */
static void test_lost_before_pull(void **state)
{
    struct running r;
    struct rm_node *other;

    (void)state;
    running_setup(&r, false);
    rm_node_post_graceful(r.n, -1); /* new containers go to the other node */
    other = add_node(&r.f, 2);
    ask_containers(&r.f, r.app, 1);
    assert_ptr_equal(r.app->current->fresh->node, other);
    rm_node_post(r.n, RM_NODE_EV_RECOMMISSION);
    rm_node_post(other, RM_NODE_EV_EXPIRE);
    settle(&r.f);
    heartbeat(&r.f, r.n);
    assert_null(r.app->current->done);
    assert_non_null(r.app->current->fresh);
    assert_ptr_equal(r.app->current->fresh->node, r.n);
    teardown(&r.f);
}

/* When the master ends, its other containers are killed, and no later attempt is notified. */
static void test_orphans_are_killed(void **state)
{
    struct running r;
    struct rm_container *c;
    struct yarn_container_id id;

    (void)state;
    running_setup(&r, false);
    ask_containers(&r.f, r.app, 1);
    c = pull_container(r.app->current);
    id = c->id;
    rm_container_post(c, RM_CON_EV_LAUNCHED);
    rm_container_post_exit(r.app->current->master, RM_CON_EV_FINISHED, 1, "");
    settle(&r.f);
    assert_int_equal(r.app->current->id.attempt, 2);
    assert_null(rm_container_find(r.f.rm, id));
    assert_null(rm_done_find(r.f.rm, id));
    assert_true(listed(r.n->to_cleanup, id));
    assert_true(listed(r.n->to_remove, id)); /* no ApplicationMaster will acknowledge it */
    teardown(&r.f);
}

static void test_kept_containers(void **state)
{
    struct running r;
    struct rm_container *c;
    struct yarn_container_id id;

    (void)state;
    running_setup(&r, true);
    ask_containers(&r.f, r.app, 1);
    c = pull_container(r.app->current);
    id = c->id;
    rm_container_post(c, RM_CON_EV_LAUNCHED);
    rm_container_post_exit(r.app->current->master, RM_CON_EV_FINISHED, 1, "");
    settle(&r.f);
    assert_int_equal(r.app->current->id.attempt, 2);
    assert_ptr_equal(rm_container_find(r.f.rm, id), c);
    assert_int_equal(c->state, RM_CON_ST_RUNNING);
    rm_container_post_exit(c, RM_CON_EV_FINISHED, 0, "");
    assert_non_null(r.app->current->done); /* the new attempt is notified */
    assert_int_equal(yarn_container_id_cmp(r.app->current->done->id, id), 0);
    teardown(&r.f);
}

static void test_recovered(void **state)
{
    struct running r;
    struct yarn_container_id id;
    struct rm_res one = { 1024, 1 };
    struct rm_container *c;

    (void)state;
    running_setup(&r, false);
    id = (struct yarn_container_id){ r.app->current->id, INT64_C(5) << RM_EPOCH_SHIFT | 9 };
    c = rm_container_new(r.app->current, r.n, id, one, 1, -1);
    rm_container_post_recover(c, HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING, YARN_EXIT_INVALID,
                              "");
    assert_int_equal(c->state, RM_CON_ST_RUNNING);
    id.id++;
    c = rm_container_new(r.app->current, r.n, id, one, 1, -1);
    rm_container_post_recover(c, HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE, 12, "over");
    assert_null(rm_container_find(r.f.rm, id));
    assert_int_equal(rm_done_find(r.f.rm, id)->exit_status, 12);
    teardown(&r.f);
}

/* Use is counted from the allocation to the end. */
static void test_seconds(void **state)
{
    struct running r;
    int64_t mb, vcore;

    (void)state;
    sv_clock_set_test(1000000, sv_wall_ms());
    running_setup(&r, false);
    sv_clock_set_test(1010000, sv_wall_ms());
    rm_app_seconds(r.app, &mb, &vcore);
    assert_int_equal(mb, 10240);
    assert_int_equal(vcore, 10);
    rm_container_post_exit(r.app->current->master, RM_CON_EV_FINISHED, 1, "");
    assert_int_equal(r.app->seconds.memory_ms, 10240000);
    assert_int_equal(r.f.rm->counters.released, 1);
    sv_clock_reset();
    teardown(&r.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_completed),
        cmocka_unit_test(test_released_before_pull),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_lost_before_pull),
        cmocka_unit_test(test_unused_container_expires),
        cmocka_unit_test(test_orphans_are_killed),
        cmocka_unit_test(test_kept_containers),
        cmocka_unit_test(test_recovered),
        cmocka_unit_test(test_seconds),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
