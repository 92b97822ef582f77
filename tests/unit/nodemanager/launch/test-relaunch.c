/* launch/relaunch.c: the decision for another launch is recorded, and the launch comes after its
 * time, if the container is not killed meanwhile. The launcher is a stub, the store in memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/launcher.h"
#include "nodemanager/launch/relaunch.h"
#include "nodemanager/store/state-store.h"

#define TEXT "container_1_0001_01_000001"

static struct nm_conf conf = { .diagnostics_max = 200 };
static struct nm_context ctx = { .conf = &conf };
static struct nm_launcher launcher;
static struct nm_container *c;
static int launches;

static void again(struct nm_launcher *l, struct nm_container *which)
{
    assert_ptr_equal(l, &launcher);
    assert_ptr_equal(which, c);
    launches++;
}

static int setup(void **state)
{
    const struct yarn_container_token t = { .container = { { { 1, 1 }, 1 }, 1 },
                                            .resource = { 64, 1, 0 } };
    Hadoop__Yarn__StartContainerRequestProto q;
    Hadoop__Yarn__ContainerLaunchContextProto clc;
    Hadoop__Yarn__ContainerRetryContextProto retry;
    struct sv_error err;
    uint8_t packed[64];
    size_t n;

    (void)state;
    hadoop__yarn__start_container_request_proto__init(&q);
    hadoop__yarn__container_launch_context_proto__init(&clc);
    hadoop__yarn__container_retry_context_proto__init(&retry);
    q.container_launch_context = &clc;
    clc.container_retry_context = &retry;
    retry.has_retry_policy = retry.has_max_retries = true;
    retry.retry_policy = HADOOP__YARN__CONTAINER_RETRY_POLICY_PROTO__RETRY_ON_ALL_ERRORS;
    retry.max_retries = 1;
    n = hadoop__yarn__start_container_request_proto__pack(&q, packed);
    launches = 0;
    launcher = (struct nm_launcher){ .ctx = &ctx, .again = again };
    assert_int_equal(nm_store_open(ctx.event, NULL, &ctx.store, &err), 0);
    assert_int_equal(
        nm_store_container(ctx.store, TEXT, "application_1_0001", packed, n, 1, 0, 0, ""), 0);
    assert_int_equal(nm_store_container_launched(ctx.store, TEXT, 2), 0);
    assert_int_equal(nm_store_commit(ctx.store), 0);
    assert_int_equal(nm_container_new(&ctx, &t, packed, n, &c), 0);
    nm_container_drop_request(c); /* as one that runs */
    c->state = NM_CONTAINER_RUNNING;
    c->launch.launcher = &launcher;
    c->launch.pid = 17;
    c->launch.exit.ran = true;
    c->launch.ended_ms = 5;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    nm_container_free(c);
    ctx.store = nm_store_close(ctx.store);
    sv_clock_reset();
    return 0;
}

static int see(const struct nm_stored_container *s, void *userdata)
{
    assert_false(s->launched);
    assert_string_equal(s->retry, "0");
    assert_int_equal(s->ended_ms, 5);
    ++*(int *)userdata;
    return 0;
}

static int decide(int code)
{
    int event = NM_CONTAINER_EV_EXITED_WITH_FAILURE, r = nm_relaunch_decide(c, &event, code);

    assert_int_equal(event, NM_CONTAINER_EV_EXITED_WITH_FAILURE);
    return r;
}

static void decisions(void **state)
{
    int seen = 0;

    (void)state;
    assert_int_equal(decide(7), 1);
    assert_non_null(c->clc); /* the launch needs it */
    assert_int_equal(nm_store_each_container(ctx.store, see, &seen), 0);
    assert_int_equal(seen, 1);
    assert_int_equal(decide(7), 0); /* one retry */
}

static void no_decision(void **state)
{
    (void)state;
    c->launch.exit.ran = false; /* the launch has failed */
    assert_int_equal(decide(7), 0);
    c->launch.exit.ran = true;
    c->kill_requested = true;
    assert_int_equal(decide(7), 0);
    c->kill_requested = false;
    c->launch.frozen = true;
    assert_int_equal(decide(7), 0);
    c->launch.frozen = false;
    assert_int_equal(decide(0), 0);
    nm_container_drop_request(c);
    assert_int_equal(nm_store_container_remove(ctx.store, TEXT), 0);
    sv_log_set_level((enum sv_log_level)0);
    assert_int_equal(decide(7), 0); /* its request is lost: it ends */
    sv_log_set_level(SV_LOG_ERR);
}

/* A process that was ended for its re-initialization, whatever its code, and a failure with a
 * context to go back to are followed by a launch; none that a kill has reached. */
static void replacements(void **state)
{
    int event = NM_CONTAINER_EV_EXITED_WITH_SUCCESS;

    (void)state;
    nm_retry_clear(&c->retry);
    c->reinit.kind = NM_REINIT_RESTART;
    assert_int_equal(nm_relaunch_decide(c, &event, 0), 0); /* by itself */
    assert_int_equal(decide(7), 0);
    c->reinit.kills = true;
    assert_int_equal(nm_relaunch_decide(c, &event, 0), 1);
    assert_int_equal(event, NM_CONTAINER_EV_KILLED_ON_REQUEST);
    assert_int_equal(c->launch.exit.replaced, NM_REINIT_RESTART);
    c->kill_requested = true;
    assert_int_equal(nm_relaunch_decide(c, &event, 143), 0);
    c->kill_requested = c->reinit.kills = false;
    c->reinit.kind = NM_REINIT_NONE;
    assert_int_equal(decide(7), 0);
    c->reinit.can_rollback = true;
    assert_int_equal(decide(YARN_EXIT_KILLED_EXCEEDED_PMEM), 0);
    assert_int_equal(decide(7), 1);
    assert_int_equal(c->launch.exit.replaced, NM_REINIT_ROLLBACK);
}

/* A daemon that was killed between the decision and the launch finds the exit record of a launch
 * that has been counted. */
static void stale_ends(void **state)
{
    (void)state;
    c->recovered = NM_RECOVERED_REQUESTED;
    assert_false(nm_relaunch_is_stale(c, 5)); /* never launched before */
    c->launch.again = true;
    assert_true(nm_relaunch_is_stale(c, 5));
    assert_false(nm_relaunch_is_stale(c, 6)); /* of the launch that followed */
    c->recovered = NM_RECOVERED_LAUNCHED;
    assert_false(nm_relaunch_is_stale(c, 5));
    nm_relaunch_prepare(c);
    assert_true(c->launch.again && c->recovered == NM_RECOVERED_NOT && c->launch.pid == 0);
}

static void after_its_time(void **state)
{
    (void)state;
    c->state = NM_CONTAINER_RELAUNCHING;
    nm_relaunch_after(c, 0);
    assert_int_equal(launches, 0);
    assert_true(sd_event_run(ctx.event, 5000000) > 0);
    assert_int_equal(launches, 1);
    nm_relaunch_after(c, 0);
    c->state = NM_CONTAINER_KILLING;
    assert_true(sd_event_run(ctx.event, 5000000) > 0);
    assert_int_equal(launches, 1);
    c->state = NM_CONTAINER_RELAUNCHING;
    nm_relaunch_after(c, 0);
    nm_relaunch_cancel(c);
    assert_int_equal(sd_event_run(ctx.event, 0), 0);
}

/* The last cgroup is removed in the background, for a limited time. */
static void waits_for_its_group(void **state)
{
    (void)state;
    sv_clock_set_test(1000, 1000);
    c->state = NM_CONTAINER_SCHEDULED;
    assert_true(nm_relaunch_wait(c));
    sv_clock_set_test(15999, 1000);
    assert_true(nm_relaunch_wait(c));
    sv_clock_set_test(16000, 1000);
    assert_false(nm_relaunch_wait(c));
    nm_relaunch_prepare(c);
    assert_true(nm_relaunch_wait(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(decisions, setup, teardown),
        cmocka_unit_test_setup_teardown(no_decision, setup, teardown),
        cmocka_unit_test_setup_teardown(replacements, setup, teardown),
        cmocka_unit_test_setup_teardown(stale_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(after_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown(waits_for_its_group, setup, teardown),
    };
    int r;

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    if (sd_event_new(&ctx.event) < 0)
        return 1;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    sd_event_unref(ctx.event);
    return r;
}
