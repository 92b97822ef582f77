/* resources/container-scheduler.c: which containers start, wait and are killed. */
#include "tests/unit/nodemanager/resources/scheduler-fixture.h"

static void first_come(_unused_ void **state)
{
    struct nm_container *a;

    a = add(OPPORTUNISTIC, 6);
    add(OPPORTUNISTIC, 5); /* 1 */
    add(OPPORTUNISTIC, 1); /* 2 does not overtake it */
    expect("start 0");
    expect_figures(0, 2, 1, 6);
    end(a);
    expect("start 1, start 2");
    expect_figures(0, 0, 2, 6);
}

static void queue_full(_unused_ void **state)
{
    struct nm_container *a;

    a = add(OPPORTUNISTIC, 10);
    for (int i = 0; i < 4; i++)
        add(OPPORTUNISTIC, 10);
    expect("start 0, refuse 4");
    end(a); /* one starts: there is room for one more */
    add(OPPORTUNISTIC, 10);
    add(OPPORTUNISTIC, 10);
    expect("start 1, refuse 6");
    expect_figures(0, 3, 1, 10);
}

/* One pass over many that have arrived: what can start is not counted as queued. */
static void arrivals_in_one_turn(_unused_ void **state)
{
    ctx.stopping = true; /* nothing is decided */
    for (int i = 0; i < 15; i++)
        add(OPPORTUNISTIC, 1);
    ctx.stopping = false;
    nm_scheduler_run(scheduler);
    expect("start 0, start 1, start 2, start 3, start 4, start 5, start 6, start 7, start 8, "
           "start 9, refuse 13, refuse 14");
}

static void without_queue(_unused_ void **state)
{
    conf.queue_max = 0;
    again();
    add(GUARANTEED, 8);
    add(GUARANTEED, 8); /* by the ResourceManager's word alone */
    add(OPPORTUNISTIC, 1);
    expect("start 0, start 1, refuse 2");
    expect_figures(0, 0, 0, 0);
}

static void by_resources(_unused_ void **state)
{
    conf.queue_policy = NM_QUEUE_BY_RESOURCES;
    again();
    add(OPPORTUNISTIC, 6);
    add(OPPORTUNISTIC, 4);
    add(OPPORTUNISTIC, 1);
    expect("start 0, start 1, refuse 2");
    add(GUARANTEED, 4);
    expect("kill 1");
    end(&containers[1]);
    expect("start 3");
}

/* The youngest ones, as many as are needed, and none a second time. */
static void guaranteed_kills(_unused_ void **state)
{
    struct nm_container *g;

    for (int i = 0; i < 5; i++)
        add(OPPORTUNISTIC, 2);
    happened[0] = 0;
    g = add(GUARANTEED, 3);
    expect("kill 4, kill 3");
    expect_figures(1, 0, 5, 10); /* they run until they have ended */
    add(GUARANTEED, 1);          /* 6: the same two make room for it */
    expect("");
    end(&containers[4]);
    expect("");            /* 2 of 3 are free */
    add(OPPORTUNISTIC, 1); /* 7 does not overtake a guaranteed one */
    end(&containers[3]);
    expect("start 5, start 6");
    expect_figures(0, 1, 3, 6);
    end(g);
    expect("start 7");
}

/* By the dimension that is short. */
static void guaranteed_needs_vcores(_unused_ void **state)
{
    nm_scheduler_add(scheduler, make(OPPORTUNISTIC, 1, 50), false);
    nm_scheduler_add(scheduler, make(OPPORTUNISTIC, 1, 50), false);
    nm_scheduler_add(scheduler, make(GUARANTEED, 1, 20), false);
    expect("start 0, start 1, kill 1");
}

/* The resources of a container that a master or the ResourceManager kills are enough. */
static void guaranteed_takes_the_leaving(_unused_ void **state)
{
    struct nm_container *g;

    g = add(GUARANTEED, 6);
    add(OPPORTUNISTIC, 4);
    nm_scheduler_ending(scheduler, g);
    add(GUARANTEED, 6);
    expect("start 0, start 1");
    nm_scheduler_leave(scheduler, g);
    expect("start 2");
}

/* On its way to be killed, not yet told. */
static void guaranteed_skips_the_killed(_unused_ void **state)
{
    add(OPPORTUNISTIC, 5);
    add(OPPORTUNISTIC, 5);
    containers[1].kill_requested = true;
    add(GUARANTEED, 5);
    expect("start 0, start 1");
    end(&containers[1]);
    expect("start 2");
}

/* A queued one that is killed does not start any more. */
static void killed_in_queue(_unused_ void **state)
{
    add(OPPORTUNISTIC, 10);
    add(OPPORTUNISTIC, 10);
    add(OPPORTUNISTIC, 10);
    containers[1].kill_requested = true;
    end(&containers[0]);
    expect("start 0, start 2");
    end(&containers[1]);
    expect_figures(0, 0, 1, 10);
}

static void larger_than_the_node(_unused_ void **state)
{
    struct nm_container *a;

    a = add(GUARANTEED, 1);
    add(GUARANTEED, 11);
    expect("start 0");
    end(a);
    expect("start 1");
}

static void shed(_unused_ void **state)
{
    for (int i = 0; i < 4; i++)
        add(OPPORTUNISTIC, 10);
    happened[0] = 0;
    nm_scheduler_shed(scheduler, -1);
    nm_scheduler_shed(scheduler, 3);
    expect("");
    nm_scheduler_shed(scheduler, 1);
    expect("shed 3, shed 2");
    add(OPPORTUNISTIC, 10); /* 4: the limit is of that moment */
    expect_figures(0, 2, 1, 10);
    nm_scheduler_shed(scheduler, 0);
    expect("shed 4, shed 1");
}

static void promoted(_unused_ void **state)
{
    struct nm_container *q;

    add(OPPORTUNISTIC, 5);
    add(OPPORTUNISTIC, 5);
    add(OPPORTUNISTIC, 5);
    q = add(OPPORTUNISTIC, 5);
    happened[0] = 0;
    update(q, GUARANTEED); /* before an older one */
    expect("kill 1");
    end(&containers[1]);
    expect("start 3");
    update(&containers[0], GUARANTEED);
    expect_figures(0, 1, 0, 0);
    add(GUARANTEED, 5);
    expect(""); /* nothing is left to be killed */
    end(&containers[0]);
    expect("start 4");
}

/* Its age is that of its start, not of its demotion. */
static void demoted(_unused_ void **state)
{
    struct nm_container *a, *b;

    a = add(GUARANTEED, 2);
    b = add(GUARANTEED, 2);
    add(OPPORTUNISTIC, 2);
    add(OPPORTUNISTIC, 2);
    add(GUARANTEED, 2); /* 4 */
    happened[0] = 0;
    update(b, OPPORTUNISTIC);
    update(a, OPPORTUNISTIC);
    expect_figures(0, 0, 4, 8);
    add(GUARANTEED, 6);
    expect("kill 3, kill 2, kill 1");
    update(&containers[5], OPPORTUNISTIC); /* it waits no more as a guaranteed one */
    expect_figures(0, 1, 4, 8);
}

static void resized(_unused_ void **state)
{
    struct nm_container *o;

    o = add(OPPORTUNISTIC, 4);
    add(OPPORTUNISTIC, 7);
    expect("start 0");
    o->resource.memory_mb = 3;
    nm_scheduler_updated(scheduler, o);
    expect("start 1");
    expect_figures(0, 0, 2, 10);
    add(OPPORTUNISTIC, 5);
    ctx.total.memory_mb = 15;
    nm_scheduler_run(scheduler);
    expect("start 2");
}

/* After a restart: those that run are counted first, the others wait in the queue again and are not
 * refused, whatever its bound is now. */
static void recovered(_unused_ void **state)
{
    struct nm_container *old, *young;

    young = make(OPPORTUNISTIC, 5, 1);
    old = make(OPPORTUNISTIC, 5, 1);
    old->recovered = young->recovered = NM_RECOVERED_LAUNCHED;
    old->launch_ms = 1000;
    young->launch_ms = 2000;
    nm_scheduler_restore(scheduler, young);
    nm_scheduler_restore(scheduler, old);
    for (int i = 2; i < 7; i++)
        nm_scheduler_restore(scheduler, make(OPPORTUNISTIC, 5, 1));
    for (int i = 6; i >= 2; i -= 2)
        nm_scheduler_add(scheduler, &containers[i], true);
    for (int i = 3; i < 7; i += 2)
        nm_scheduler_add(scheduler, &containers[i], true);
    expect("");
    expect_figures(0, 5, 2, 10);
    add(OPPORTUNISTIC, 5);
    expect("refuse 7");
    nm_scheduler_launched(scheduler, old, false);
    nm_scheduler_launched(scheduler, young, false);
    add(GUARANTEED, 5);
    expect("kill 0");
    end(young);
    expect("start 8");
    end(old);
    expect("start 2");
    for (int i = 2; i < 6; i++)
        end(&containers[i]);
    expect("start 3, start 4, start 5, start 6");
}

/* One guaranteed container that needs the resources of a thousand. */
static void thousand(_unused_ void **state)
{
    conf.queue_max = 1000;
    ctx.total = (struct yarn_resource){ 50, 2000 };
    again();
    for (int i = 0; i < 1050; i++)
        add(OPPORTUNISTIC, 1);
    expect_figures(0, 1000, 50, 50);
    happened[0] = 0;
    add(GUARANTEED, 2);
    expect("kill 49, kill 48");
    end(&containers[49]);
    end(&containers[48]);
    expect("start 1050");
    expect_figures(0, 1000, 48, 48);
}

/* A turn that is over goes on in the next one. */
static void in_turns(_unused_ void **state)
{
    ctx.stopping = true;
    for (int i = 0; i < 3; i++)
        add(OPPORTUNISTIC, 1);
    ctx.stopping = false;
    assert_true(sd_event_new(&ctx.event) >= 0);
    steps_left = 3; /* 0 is admitted, starts, 1 is admitted */
    nm_scheduler_run(scheduler);
    expect("start 0");
    steps_left = INT_MAX;
    assert_true(sd_event_run(ctx.event, 0) > 0);
    expect("start 1, start 2");
    assert_int_equal(sd_event_run(ctx.event, 0), 0);
    again();
    ctx.event = sd_event_unref(ctx.event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(first_come),
        TEST(queue_full),
        TEST(arrivals_in_one_turn),
        TEST(without_queue),
        TEST(by_resources),
        TEST(guaranteed_kills),
        TEST(guaranteed_needs_vcores),
        TEST(guaranteed_takes_the_leaving),
        TEST(guaranteed_skips_the_killed),
        TEST(killed_in_queue),
        TEST(larger_than_the_node),
        TEST(shed),
        TEST(promoted),
        TEST(demoted),
        TEST(resized),
        TEST(recovered),
        TEST(thousand),
        TEST(in_turns),
    };

    return run_group(tests, SV_ARRAY_LEN(tests));
}
