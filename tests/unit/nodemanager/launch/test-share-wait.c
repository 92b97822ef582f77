/* launch/share-wait.c: a launch waits for GPUs that a container which is being killed still has.
 * Launcher and store are stubs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/launcher.h"
#include "nodemanager/launch/share-wait.h"
#include "nodemanager/store/state-store.h"

static struct nm_context ctx;
static struct nm_launcher launcher;
static struct nm_container containers[2];
static const struct nm_container *tried[4];
static size_t n_tried;
static nm_store_fn waiter;
static void *waiter_data;

int __wrap_nm_store_after_commit(struct nm_store *s, nm_store_fn fn, void *userdata);

int __wrap_nm_store_after_commit(struct nm_store *s, nm_store_fn fn, void *userdata)
{
    (void)s;
    waiter = fn;
    waiter_data = userdata;
    return 0;
}

/* As a launch that finds all GPUs in use. */
static void again(struct nm_launcher *l, struct nm_container *c)
{
    (void)l;
    assert_in_range(n_tried, 0, SV_ARRAY_LEN(tried) - 1);
    tried[n_tried++] = c;
    if (!nm_share_wait(c))
        c->launch.exit.event = 1; /* it has failed */
}

static int setup(void **state)
{
    (void)state;
    sv_clock_set_test(1000, 1000);
    n_tried = 0;
    ctx = (struct nm_context){ 0 };
    launcher = (struct nm_launcher){ .ctx = &ctx, .again = again };
    if (sd_event_new(&ctx.event) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        containers[i] = (struct nm_container){ .ctx = &ctx,
                                               .state = NM_CONTAINER_SCHEDULED,
                                               .launch = { .launcher = &launcher } };
        (void)snprintf(containers[i].text, sizeof(containers[i].text), "container_%d", i);
        nm_container_add(&containers[i], NULL);
        assert_true(nm_share_wait(&containers[i]));
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    nm_share_stop(&launcher);
    HASH_CLEAR(hh, ctx.containers);
    ctx.event = sd_event_unref(ctx.event);
    sv_clock_reset();
    return 0;
}

static void turn(void)
{
    assert_true(sd_event_run(ctx.event, 2000000) > 0);
}

/* Each release tries all that wait, in the order of their requests, once. */
static void test_release(void **state)
{
    (void)state;
    assert_int_equal(sd_event_run(ctx.event, 0), 0);
    nm_share_released(&launcher);
    nm_share_released(&launcher);
    turn();
    assert_int_equal(n_tried, 2);
    assert_ptr_equal(tried[0], &containers[0]);
    assert_ptr_equal(tried[1], &containers[1]);
    assert_int_equal(sd_event_run(ctx.event, 0), 0);
}

/* A container that was killed meanwhile, or is launched, is not launched again. */
static void test_killed(void **state)
{
    (void)state;
    containers[0].state = NM_CONTAINER_KILLING;
    containers[1].launch.exe = (struct exe_container *)(uintptr_t)8; /* never dereferenced */
    nm_share_released(&launcher);
    turn();
    assert_int_equal(n_tried, 0);
}

/* After the time of Hadoop's the launch fails. */
static void test_time_is_over(void **state)
{
    (void)state;
    sv_clock_set_test(1000 + NM_SHARE_WAIT_MS - 1, 1000);
    nm_share_released(&launcher);
    turn();
    assert_int_equal(n_tried, 2);
    assert_int_equal(containers[0].launch.exit.event, 0);
    sv_clock_set_test(1000 + NM_SHARE_WAIT_MS, 1000);
    turn();
    assert_int_equal(n_tried, 4);
    assert_int_equal(containers[0].launch.exit.event, 1);
    assert_int_equal(containers[1].launch.exit.event, 1);
}

/* The launch follows the commit, unless the container was killed before it. */
static void test_recorded(void **state)
{
    (void)state;
    assert_int_equal(nm_share_recorded(&containers[0]), 0);
    nm_share_released(&launcher);
    turn();
    assert_int_equal(n_tried, 1); /* the other one */
    waiter(waiter_data, 0);
    assert_int_equal(n_tried, 2);
    assert_ptr_equal(tried[1], &containers[0]);
    assert_int_equal(nm_share_recorded(&containers[0]), 0);
    containers[0].state = NM_CONTAINER_KILLING;
    waiter(waiter_data, 0);
    assert_int_equal(nm_share_recorded(&containers[0]), 0);
    HASH_DEL(ctx.containers, &containers[0]);
    waiter(waiter_data, 0);
    assert_int_equal(n_tried, 2);
}

#define TEST(x) cmocka_unit_test_setup_teardown(x, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_release),
        TEST(test_killed),
        TEST(test_time_is_over),
        TEST(test_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
