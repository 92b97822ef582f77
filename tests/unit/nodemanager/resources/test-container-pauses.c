/* resources/container-scheduler.c: containers that are paused for others, and their return. */
#include "tests/unit/nodemanager/resources/scheduler-fixture.h"

static void pauses(_unused_ void **state)
{
    struct nm_container *g;

    conf.queue_pauses = true;
    for (int i = 0; i < 5; i++)
        add(OPPORTUNISTIC, 2);
    happened[0] = 0;
    g = add(GUARANTEED, 3);
    expect("pause 4, pause 3");
    pause_done(&containers[4]);
    expect("");
    pause_done(&containers[3]);
    expect("start 5");
    expect_figures(0, 2, 3, 6);
    add(OPPORTUNISTIC, 2); /* 6 waits behind those that have begun */
    end(g);
    expect("resume 4, resume 3");
    resume_done(&containers[4]);
    resume_done(&containers[3]);
    expect("");
    expect_figures(0, 1, 5, 10);
    end(&containers[0]);
    expect("start 6");
}

/* A launch that has not begun its process is killed; one that is re-initialized, too. */
static void pause_impossible(_unused_ void **state)
{
    conf.queue_pauses = true;
    add(OPPORTUNISTIC, 5);
    add(OPPORTUNISTIC, 5);
    containers[0].reinit.kind = 1;
    containers[1].state = NM_CONTAINER_SCHEDULED;
    add(GUARANTEED, 10);
    expect("start 0, start 1, kill 1, kill 0");
}

/* Paused again before it has been resumed. */
static void paused_while_resuming(_unused_ void **state)
{
    struct nm_container *o, *g;

    conf.queue_pauses = true;
    o = add(OPPORTUNISTIC, 10);
    g = add(GUARANTEED, 10);
    pause_done(o);
    end(g);
    expect("start 0, pause 0, start 1, resume 0");
    add(GUARANTEED, 10);
    expect("");
    resume_done(o);
    expect("pause 0");
    pause_done(o);
    expect("start 2");
}

/* An operator's freeze is not undone; it is thawed by the same. */
static void frozen_by_operator(_unused_ void **state)
{
    struct nm_container *o, *g;

    conf.queue_pauses = true;
    o = add(OPPORTUNISTIC, 10);
    pause_done(o);
    expect_figures(0, 0, 1, 10);
    g = add(GUARANTEED, 4);
    expect("start 0, start 1");
    end(g);
    expect("");
    resume_done(o);
    expect_figures(0, 0, 1, 10);
    add(GUARANTEED, 4);
    expect("pause 0");
}

/* Thawed by an operator, it has its room again, until another guaranteed one needs it. */
static void thawed_by_operator(_unused_ void **state)
{
    struct nm_container *o;

    conf.queue_pauses = true;
    o = add(OPPORTUNISTIC, 10);
    add(GUARANTEED, 4);
    pause_done(o);
    resume_done(o);
    expect("start 0, pause 0, start 1");
    expect_figures(0, 0, 1, 10);
    add(GUARANTEED, 8);
    expect("pause 0");
    pause_done(o);
    expect("");
    resume_done(o); /* while that one waits */
    expect("pause 0");
}

static void paused_one_promoted(_unused_ void **state)
{
    struct nm_container *o;

    conf.queue_pauses = true;
    o = add(OPPORTUNISTIC, 5);
    add(OPPORTUNISTIC, 5);
    add(GUARANTEED, 10);
    expect("start 0, start 1, pause 1, pause 0");
    pause_done(&containers[1]);
    pause_done(o);
    expect("start 2");
    update(o, GUARANTEED);
    expect_figures(1, 1, 0, 0);
    end(&containers[2]);
    expect("resume 0, resume 1");
}

static void promoted_while_pausing(_unused_ void **state)
{
    struct nm_container *o;

    conf.queue_pauses = true;
    o = add(OPPORTUNISTIC, 10);
    add(GUARANTEED, 10);
    expect("start 0, pause 0");
    update(o, GUARANTEED);
    pause_done(o);
    expect("start 1");
    expect_figures(1, 0, 0, 0);
    end(&containers[1]);
    expect("resume 0");
}

/* Adopted, without a record of the launch; and frozen ones: an opportunistic one waits for room, as
 * one that was promoted while it was paused, another is an operator's. */
static void adopted(_unused_ void **state)
{
    struct nm_container *a = make(OPPORTUNISTIC, 5, 1), *p = make(OPPORTUNISTIC, 5, 1);
    struct nm_container *q = make(GUARANTEED, 5, 1), *g = make(GUARANTEED, 5, 1);

    nm_scheduler_launched(scheduler, a, false);
    expect_figures(0, 0, 1, 5);
    p->launch.frozen = q->launch.frozen = g->launch.frozen = true;
    q->began_opportunistic = true;
    nm_scheduler_launched(scheduler, g, true);
    nm_scheduler_launched(scheduler, p, true);
    nm_scheduler_launched(scheduler, q, true);
    expect("kill 0");
    expect_figures(1, 1, 1, 5);
    end(a);
    expect("resume 2");
    end(g);
    expect("resume 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pauses),
        TEST(pause_impossible),
        TEST(paused_while_resuming),
        TEST(frozen_by_operator),
        TEST(thawed_by_operator),
        TEST(paused_one_promoted),
        TEST(promoted_while_pausing),
        TEST(adopted),
    };

    return run_group(tests, SV_ARRAY_LEN(tests));
}
