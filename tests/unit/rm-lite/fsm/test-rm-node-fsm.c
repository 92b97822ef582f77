/* rm-lite/fsm/rm-node-fsm.c: transitions of a node, and their effect on its containers. */
#include "rm-lite/core/node-updates.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/periodic.h"
#include "rm-lite/requests/reports.h"
#include "tests/unit/rm-lite/rm-fixture.h"

static void test_unhealthy_node(void **state)
{
    struct fix f;
    struct rm_node *n;
    struct rm_app *app;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    rm_node_post_health(n, RM_NODE_EV_STATUS_UPDATE, false);
    settle(&f);
    assert_int_equal(n->state, RM_NODE_ST_UNHEALTHY);
    assert_false(n->in_sched);
    assert_null(n->containers);
    assert_non_null(n->to_cleanup); /* it still heartbeats: the master must end there */
    /* an attempt lost with its node does not count */
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    assert_int_equal(app->current->id.attempt, 2);
    assert_int_equal(app->current->state, RM_ATT_ST_SCHEDULED);
    rm_node_post_health(n, RM_NODE_EV_STATUS_UPDATE, false);
    assert_int_equal(n->state, RM_NODE_ST_UNHEALTHY);
    rm_node_post_health(n, RM_NODE_EV_STATUS_UPDATE, true);
    assert_int_equal(n->state, RM_NODE_ST_RUNNING);
    heartbeat(&f, n);
    assert_int_equal(app->current->state, RM_ATT_ST_ALLOCATED);
    assert_ptr_equal(app->current->master->node, n);
    teardown(&f);
}

static void test_node_registers_unhealthy(void **state)
{
    struct yarn_node_id id = { .host = "127.0.0.9", .port = 1 };
    struct fix f;
    struct rm_node *n;

    (void)state;
    setup(&f);
    n = rm_node_new(f.rm, &id);
    n->total = (struct rm_res){ 8192, 8 };
    rm_node_post_health(n, RM_NODE_EV_STARTED, false);
    assert_int_equal(n->state, RM_NODE_ST_UNHEALTHY);
    assert_false(n->in_sched);
    assert_int_equal(rm_sched_cluster(f.rm->sched).mem, 0);
    rm_node_post_health(n, RM_NODE_EV_STATUS_UPDATE, true);
    assert_int_equal(rm_sched_cluster(f.rm->sched).mem, 8192);
    teardown(&f);
}

static void test_decommission_when_idle(void **state)
{
    struct fix f;
    struct rm_node *a, *b;
    struct rm_app *app;

    (void)state;
    setup(&f);
    a = add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    b = add_node(&f, 2);
    rm_node_post_graceful(a, -1);
    assert_int_equal(a->state, RM_NODE_ST_DECOMMISSIONING);
    assert_int_equal(a->decommission_deadline_ms, 0);
    ask_containers(&f, app, 2); /* none on a node that leaves */
    assert_null(a->containers->n_next);
    assert_non_null(b->containers);
    rm_node_post_health(a, RM_NODE_EV_STATUS_UPDATE, true);
    assert_int_equal(a->state, RM_NODE_ST_DECOMMISSIONING); /* the master still runs there */
    rm_attempt_post_unregistered(app->current, F(SUCCEEDED), NULL);
    settle(&f);
    rm_container_post_exit(app->current->master, RM_CON_EV_FINISHED, 0, "");
    settle(&f);
    assert_int_equal(app->state, RM_APP_ST_FINISHED);
    rm_node_post_health(a, RM_NODE_EV_STATUS_UPDATE, true);
    assert_int_equal(a->state, RM_NODE_ST_DECOMMISSIONED);
    assert_ptr_equal(rm_node_find_inactive(f.rm, "127.0.0.1:1"), a);
    assert_null(rm_node_find_key(f.rm, "127.0.0.1:1"));
    teardown(&f);
}

static void test_decommission_after_timeout(void **state)
{
    struct fix f;
    struct rm_node *n;
    struct rm_app *app;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    sv_clock_set_test(sv_now_ms(), sv_wall_ms());
    rm_node_post_graceful(n, 5000);
    sv_clock_set_test(sv_now_ms() + 4999, sv_wall_ms());
    rm_node_post_health(n, RM_NODE_EV_STATUS_UPDATE, true);
    assert_int_equal(n->state, RM_NODE_ST_DECOMMISSIONING);
    sv_clock_set_test(sv_now_ms() + 1, sv_wall_ms());
    rm_node_post_health(n, RM_NODE_EV_STATUS_UPDATE, true);
    settle(&f);
    assert_int_equal(n->state, RM_NODE_ST_DECOMMISSIONED);
    assert_null(n->containers);
    assert_int_equal(app->current->state, RM_ATT_ST_SCHEDULED);
    sv_clock_reset();
    teardown(&f);
}

/* Number of the changes that the master is told next; *ret_last: the host of the last one. */
static size_t told(struct rm_attempt *att, size_t max, char *ret_last)
{
    struct rm_node *nodes[RM_NODE_UPDATES_MAX];
    size_t n = rm_node_updates(att, nodes, max);

    for (size_t i = 1; i < n; i++)
        assert_true(nodes[i]->update_number > nodes[i - 1]->update_number);
    if (n == 0)
        return 0;
    rm_node_updates_told(att, nodes[n - 1]);
    (void)snprintf(ret_last, 300, "%s", nodes[n - 1]->id.host);
    return n;
}

/* The ApplicationMasters of running applications get changes of nodes with their next allocate. */
static void test_changes_reach_masters(void **state)
{
    char last[300];
    struct fix f;
    struct rm_node *b;
    struct rm_app *app, *other;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    assert_int_equal(told(app->current, 9, last), 0); /* nothing from before it registered */
    b = add_node(&f, 2);
    other = submit(&f, false, 1);
    run_master(&f, other);
    assert_int_equal(told(app->current, 9, last), 1);
    assert_string_equal(last, "127.0.0.2");
    assert_int_equal(told(app->current, 9, last), 0);
    assert_int_equal(told(other->current, 9, last), 0);
    add_node(&f, 3);
    rm_node_post(b, RM_NODE_EV_EXPIRE);
    assert_int_equal(told(app->current, 9, last), 2);
    assert_string_equal(last, "127.0.0.2");
    assert_int_equal(told(other->current, 1, last), 1); /* the rest comes with the next one */
    assert_string_equal(last, "127.0.0.3");
    b = add_node(&f, 2); /* it is back: another object, told once */
    rm_node_post(b, RM_NODE_EV_EXPIRE);
    assert_int_equal(told(other->current, 9, last), 1);
    assert_int_equal(told(app->current, 9, last), 1);
    teardown(&f);
}

/* Nodes that are all lost at once end in turns, with their containers. */
static void test_many_lost_nodes(void **state)
{
    enum { N = 1000 };
    struct fix f;
    int runs = 0, before = N;

    (void)state;
    setup(&f);
    sv_clock_set_test(sv_now_ms(), sv_wall_ms());
    for (int i = 0; i < N; i++) {
        struct yarn_node_id id = { .port = i + 1 };
        struct rm_node *n;

        (void)snprintf(id.host, sizeof(id.host), "127.0.0.1");
        n = rm_node_new(f.rm, &id);
        n->total = (struct rm_res){ 8192, 8 };
        rm_node_post_health(n, RM_NODE_EV_STARTED, true);
    }
    sv_clock_set_test(sv_now_ms() + f.rm->conf.nm_expiry_ms, sv_wall_ms());
    for (bool more = true; more; runs++) {
        int left;

        more = rm_periodic_run(f.rm);
        left = f.rm->node_counts[RM_NODE_ST_RUNNING];
        assert_in_range(before - left, 1, 256);
        before = left;
    }
    assert_int_equal(before, 0);
    assert_int_equal(f.rm->node_counts[RM_NODE_ST_LOST], N);
    assert_int_equal(runs, N / RM_EXPIRE_TURN + 1);
    sv_clock_reset();
    teardown(&f);
}

static void test_resize(void **state)
{
    struct fix f;
    struct rm_node *n;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    n->total = (struct rm_res){ 4096, 2 };
    rm_node_post(n, RM_NODE_EV_RESOURCE_UPDATE);
    assert_int_equal(rm_sched_cluster(f.rm->sched).mem, 4096);
    assert_int_equal(rm_sched_cluster(f.rm->sched).vcores, 2);
    rm_node_post(n, RM_NODE_EV_SHUTDOWN);
    assert_int_equal(n->state, RM_NODE_ST_SHUTDOWN);
    assert_int_equal(rm_sched_cluster(f.rm->sched).mem, 0);
    teardown(&f);
}

/* A node that is lost again and again has one entry among the inactive ones. */
static void test_lost_twice(void **state)
{
    struct fix f;
    struct rm_node *n;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    rm_node_post(n, RM_NODE_EV_EXPIRE);
    assert_int_equal(n->state, RM_NODE_ST_LOST);
    rm_node_post(n, RM_NODE_EV_EXPIRE); /* a late event changes nothing */
    assert_int_equal(n->state, RM_NODE_ST_LOST);
    n = add_node(&f, 1);
    rm_node_post(n, RM_NODE_EV_REBOOTING);
    assert_int_equal(HASH_COUNT(f.rm->inactive_nodes), 1);
    assert_null(f.rm->dead_nodes);
    assert_int_equal(rm_node_find_inactive(f.rm, "127.0.0.1:1")->state, RM_NODE_ST_REBOOTED);
    teardown(&f);
}

static void check_counts(const struct rm *rm)
{
    struct rm_node *tables[] = { rm->nodes, rm->inactive_nodes };
    int32_t counts[RM_NODE_STATES] = { 0 };

    for (size_t t = 0; t < SV_ARRAY_LEN(tables); t++)
        for (const struct rm_node *n = tables[t]; n; n = n->hh.next)
            counts[n->state]++;
    for (int i = 0; i < RM_NODE_STATES; i++)
        assert_int_equal(rm_count_nodes(rm, i), counts[i]);
}

/* Answers of `allocate` have the number of nodes: it must cost no walk over them. */
static void test_counts(void **state)
{
    struct rm_node *a, *b;
    struct fix f;

    (void)state;
    setup(&f);
    a = add_node(&f, 1);
    b = add_node(&f, 2);
    (void)add_node(&f, 3);
    assert_int_equal(rm_active_nodes(f.rm), 3);
    check_counts(f.rm);
    rm_node_post_health(a, RM_NODE_EV_STATUS_UPDATE, false);
    rm_node_post_graceful(b, -1);
    check_counts(f.rm);
    rm_node_post(a, RM_NODE_EV_EXPIRE);
    check_counts(f.rm);
    assert_int_equal(rm_count_nodes(f.rm, RM_NODE_ST_LOST), 1);
    a = add_node(&f, 1);
    rm_node_post(a, RM_NODE_EV_REBOOTING); /* takes the lost one's place */
    check_counts(f.rm);
    assert_int_equal(rm_count_nodes(f.rm, RM_NODE_ST_LOST), 0);
    settle(&f);
    check_counts(f.rm);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unhealthy_node),
        cmocka_unit_test(test_node_registers_unhealthy),
        cmocka_unit_test(test_decommission_when_idle),
        cmocka_unit_test(test_decommission_after_timeout),
        cmocka_unit_test(test_changes_reach_masters),
        cmocka_unit_test(test_many_lost_nodes),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_lost_twice),
        cmocka_unit_test(test_counts),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
