/* Containers that an application keeps over its attempts, as the next master learns of them when it
 * registers. */
#include "tests/unit/rm-lite/peer-calls.h"

#include "wire/exit-status.h"
#include "wire/token/token.h"

static void master_fails(struct fix *f, struct rm_app *app)
{
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 1, "");
    settle(f);
    heartbeat(f, f->rm->nodes);
    assert_int_equal(app->current->id.attempt, 2);
    assert_int_equal(app->current->state, RM_ATT_ST_ALLOCATED);
    rm_attempt_post(app->current, RM_ATT_EV_LAUNCHED, NULL);
    rm_container_post(app->current->master, RM_CON_EV_LAUNCHED);
    settle(f);
}

/* The first attempt has a running container, one that its master received and did not start, and
 * one that it was not sent. */
static struct rm_app *first_attempt(struct fix *f, bool keep, struct yarn_container_id ret[2])
{
    struct submission s;
    struct rm_app *app;

    f->rm->hold_until_ms = 0;
    add_node(f, 1);
    submission_init(f, &s);
    s.ctx.has_keep_containers_across_application_attempts = true;
    s.ctx.keep_containers_across_application_attempts = keep;
    app = submit_ctx(f, &s);
    run_master(f, app);
    ask_containers(f, app, 3);
    for (int i = 0; i < 2; i++) {
        struct rm_container *c = pull_container(app->current);

        if (i == 0)
            rm_container_post(c, RM_CON_EV_LAUNCHED);
        ret[i] = c->id;
    }
    assert_non_null(app->current->fresh);
    return app;
}

static bool has(const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                struct yarn_container_id id)
{
    struct yarn_container_id one;

    for (size_t i = 0; i < m->n_containers_from_previous_attempts; i++)
        if (yarn_container_id_from(m->containers_from_previous_attempts[i]->id, &one) == 0 &&
            yarn_container_id_cmp(one, id) == 0)
            return true;
    return false;
}

static void expect_end(const Hadoop__Yarn__AllocateResponseProto *m, size_t i,
                       struct yarn_container_id id, int32_t exit_status)
{
    struct yarn_container_id found;

    assert_int_equal(
        yarn_container_id_from(m->completed_container_statuses[i]->container_id, &found), 0);
    assert_int_equal(yarn_container_id_cmp(found, id), 0);
    assert_int_equal(m->completed_container_statuses[i]->exit_status, exit_status);
}

static void test_next_master(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m;
    const Hadoop__Yarn__AllocateResponseProto *more;
    struct yarn_container_id id[2];
    struct yarn_nm_token t;
    struct sv_error err = { 0 };
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    app = first_attempt(&f, true, id);
    master_fails(&f, app);
    assert_null(app->attempts->host); /* where the first master was */
    assert_int_equal(app->attempts->rpc_port, -1);
    m = master_register(&f, a, app->current);
    assert_int_equal(m->n_containers_from_previous_attempts, 1);
    assert_true(has(m, id[0])); /* the one that runs */
    assert_non_null(m->containers_from_previous_attempts[0]->container_token);
    assert_int_equal(m->n_nm_tokens_from_previous_attempts, 1);
    assert_string_equal(m->nm_tokens_from_previous_attempts[0]->nodeid->host, "127.0.0.1");
    assert_int_equal(yarn_nm_token_decode(
                         m->nm_tokens_from_previous_attempts[0]->token->identifier.data,
                         m->nm_tokens_from_previous_attempts[0]->token->identifier.len, &t, &err),
                     0);
    assert_int_equal(t.attempt.attempt, 2);
    more = master_allocate(&f, a, app->current,
                           yarn_resource_to(a, (struct yarn_resource){ 1024, 1 }), 1);
    assert_int_equal(more->n_allocated_containers, 1);
    assert_int_equal(more->n_nm_tokens, 0);                    /* it has that node's */
    assert_int_equal(more->n_completed_container_statuses, 1); /* unstarted containers have ended */
    expect_end(more, 0, id[1], YARN_EXIT_ABORTED);
    assert_null(rm_container_find(f.rm, id[1]));
    teardown(&f);
}

/* One completion was sent with an answer that the first master did not acknowledge, another was
 * never sent: the next master gets both. */
static void test_ends_are_not_lost(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__AllocateResponseProto *m;
    struct yarn_container_id id[2];
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    app = first_attempt(&f, true, id);
    rm_container_post(rm_container_find(f.rm, id[1]), RM_CON_EV_LAUNCHED);
    rm_container_post_exit(rm_container_find(f.rm, id[0]), RM_CON_EV_FINISHED, 7, "");
    settle(&f);
    m = master_allocate(&f, a, app->current, NULL, 0);
    assert_int_equal(m->n_completed_container_statuses, 1);
    expect_end(m, 0, id[0], 7);
    rm_container_post_exit(rm_container_find(f.rm, id[1]), RM_CON_EV_FINISHED, 9, "");
    settle(&f);
    master_fails(&f, app);
    assert_int_equal(master_register(&f, a, app->current)->n_containers_from_previous_attempts, 0);
    m = master_allocate(&f, a, app->current, NULL, 0);
    assert_int_equal(m->n_completed_container_statuses, 3);
    expect_end(m, 0, id[0], 7);
    expect_end(m, 1, id[1], 9);
    assert_int_equal(m->completed_container_statuses[2]->exit_status, YARN_EXIT_ABORTED);
    m = master_allocate(&f, a, app->current, NULL, 0);
    assert_int_equal(m->n_completed_container_statuses, 0);
    teardown(&f);
}

static void test_nothing_is_kept(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m;
    struct yarn_container_id id[2];
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    app = first_attempt(&f, false, id);
    master_fails(&f, app);
    m = master_register(&f, a, app->current);
    assert_int_equal(m->n_containers_from_previous_attempts, 0);
    assert_int_equal(m->n_nm_tokens_from_previous_attempts, 0);
    for (int i = 0; i < 2; i++)
        assert_null(rm_container_find(f.rm, id[i]));
    teardown(&f);
}

/* An AMRMProxy that was restarted registers its unmanaged master again: it learns of the containers
 * that the master has, not of one that it was not sent. */
static void test_unmanaged_master_registers_again(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m;
    struct yarn_container_id id[2];
    struct submission s;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    f.rm->hold_until_ms = 0;
    add_node(&f, 1);
    submission_init(&f, &s);
    s.ctx.unmanaged_am = true;
    s.ctx.has_keep_containers_across_application_attempts = true;
    s.ctx.keep_containers_across_application_attempts = true;
    app = submit_ctx(&f, &s);
    assert_int_equal(master_register(&f, a, app->current)->n_containers_from_previous_attempts, 0);
    settle(&f);
    ask_containers(&f, app, 3);
    for (int i = 0; i < 2; i++)
        id[i] = pull_container(app->current)->id;
    rm_container_post(rm_container_find(f.rm, id[0]), RM_CON_EV_LAUNCHED);
    settle(&f);
    m = master_register(&f, a, app->current);
    assert_int_equal(m->n_containers_from_previous_attempts, 2);
    assert_true(has(m, id[0]) && has(m, id[1]));
    assert_int_equal(m->n_nm_tokens_from_previous_attempts, 1);
    assert_int_equal(master_allocate(&f, a, app->current, NULL, 0)->n_allocated_containers, 1);
    teardown(&f);
}

/* It was killed with an answer that had an end: the end is told again, before a later one. */
static void test_unmanaged_master_lost_an_answer(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__AllocateResponseProto *m;
    struct yarn_container_id id[2];
    struct submission s;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    f.rm->hold_until_ms = 0;
    add_node(&f, 1);
    submission_init(&f, &s);
    s.ctx.unmanaged_am = true;
    s.ctx.has_keep_containers_across_application_attempts = true;
    s.ctx.keep_containers_across_application_attempts = true;
    app = submit_ctx(&f, &s);
    (void)master_register(&f, a, app->current);
    settle(&f);
    ask_containers(&f, app, 2);
    for (int i = 0; i < 2; i++) {
        id[i] = pull_container(app->current)->id;
        rm_container_post(rm_container_find(f.rm, id[i]), RM_CON_EV_LAUNCHED);
    }
    rm_container_post_exit(rm_container_find(f.rm, id[0]), RM_CON_EV_FINISHED, 7, "");
    settle(&f);
    m = master_allocate(&f, a, app->current, NULL, 0);
    assert_int_equal(m->n_completed_container_statuses, 1);
    rm_container_post_exit(rm_container_find(f.rm, id[1]), RM_CON_EV_FINISHED, 9, "");
    settle(&f);
    (void)master_register(&f, a, app->current);
    m = master_allocate(&f, a, app->current, NULL, 0);
    assert_int_equal(m->n_completed_container_statuses, 2);
    expect_end(m, 0, id[0], 7);
    expect_end(m, 1, id[1], 9);
    m = master_allocate(&f, a, app->current, NULL, 0);
    assert_int_equal(m->n_completed_container_statuses, 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_master),
        cmocka_unit_test(test_ends_are_not_lost),
        cmocka_unit_test(test_nothing_is_kept),
        cmocka_unit_test(test_unmanaged_master_registers_again),
        cmocka_unit_test(test_unmanaged_master_lost_an_answer),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests_name("kept-containers", tests, NULL, NULL);
}
