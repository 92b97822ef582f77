/* rm-lite/am/am-preemption.c, scheduling.c: preemption from the scheduler's decision to the message
 * of the ApplicationMaster and the container's end with -102. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "rm-lite/am/am-preemption.h"
#include "rm-lite/periodic.h"
#include "wire/exit-status.h"

#define CS "yarn.scheduler.capacity."
#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."

static const char *const keys[][2] = {
    { CS "root.queues", "default,b" },
    { CS "root.default.capacity", "25" },
    { CS "root.b.capacity", "75" },
    { CS "user-limit-factor", "-1" },
    { "yarn.resourcemanager.scheduler.monitor.enable", "true" },
    { PREEMPTION "total_preemption_per_round", "1" },
    { PREEMPTION "natural_termination_factor", "1" },
    { PREEMPTION "max_wait_before_kill", "0" },
    { NULL, NULL },
};

/* Runs the timer as if the interval was over. */
static void round_now(struct fix *f)
{
    f->rm->preempt_at_ms = 0;
    rm_periodic_run(f->rm);
    settle(f);
}

static struct rm_app *submit_to(struct fix *f, const char *queue)
{
    struct submission s;

    submission_init(f, &s);
    s.ctx.queue = (char *)(uintptr_t)queue;
    return submit_ctx(f, &s);
}

static void test_message_then_end(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__AllocateResponseProto resp = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;
    const Hadoop__Yarn__PreemptionContractProto *m;
    struct rm_app *app, *other;
    struct rm_container *c;
    int preempted = 0;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    f.rm->hold_until_ms = 0;
    add_node(&f, 1); /* 8 GiB: the queue's guarantee is 2 */
    app = submit_to(&f, "default");
    heartbeat(&f, f.rm->nodes);
    run_master(&f, app);
    ask_containers(&f, app, 7);
    for (int i = 0; i < 7; i++)
        (void)pull_container(app->current);
    round_now(&f); /* nobody else asks */
    assert_true(rm_am_preemption(a, app, &resp));
    assert_null(resp.preempt);
    other = submit_to(&f, "b");
    assert_int_equal(other->state, RM_APP_ST_ACCEPTED);
    round_now(&f);
    assert_int_equal(app->n_announced, 1); /* for the other's master, 1 GiB */
    assert_true(rm_am_preemption(a, app, &resp));
    m = resp.preempt->contract;
    assert_null(resp.preempt->strictcontract);
    assert_int_equal(m->n_container, 1);
    assert_int_equal(m->n_resource, 1);
    assert_int_equal(m->resource[0]->resource->num_containers, 1);
    assert_int_equal(m->resource[0]->resource->capability->memory, 1024);
    resp.preempt = NULL; /* once */
    assert_true(rm_am_preemption(a, app, &resp));
    assert_null(resp.preempt);
    round_now(&f);
    DL_FOREACH2(app->containers, c, p_next)
    assert_int_equal(c->exit_status, YARN_EXIT_INVALID);
    assert_int_equal(app->n_live, 7);
    for (struct rm_done *d = app->current->done; d; d = d->next)
        preempted += d->exit_status == YARN_EXIT_PREEMPTED;
    assert_int_equal(preempted, 1);
    heartbeat(&f, f.rm->nodes);
    assert_int_equal(other->current->state, RM_ATT_ST_ALLOCATED);
    teardown(&f);
}

/* A container that ends by itself is not announced any more. */
static void test_end_before_the_message(void **state)
{
    struct rm_container *c;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    f.rm->hold_until_ms = 0;
    add_node(&f, 1);
    app = submit_to(&f, "default");
    heartbeat(&f, f.rm->nodes);
    run_master(&f, app);
    ask_containers(&f, app, 7);
    for (int i = 0; i < 7; i++)
        (void)pull_container(app->current);
    (void)submit_to(&f, "b");
    round_now(&f);
    assert_int_equal(app->n_announced, 1);
    DL_FOREACH2(app->containers, c, p_next)
    if (c->announced)
        break;
    assert_non_null(c);
    rm_container_post_exit(c, RM_CON_EV_RELEASED, YARN_EXIT_ABORTED, "released");
    settle(&f);
    assert_int_equal(app->n_announced, 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_then_end),
        cmocka_unit_test(test_end_before_the_message),
    };

    return cmocka_run_group_tests_name("am-preemption", tests, NULL, NULL);
}
