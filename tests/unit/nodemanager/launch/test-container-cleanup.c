/* launch/container-cleanup.c: SIGTERM, the delay, cgroup.kill. The helper is a stub. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "executor/exe.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/container-cleanup.h"
#include "nodemanager/launch/launcher.h"
#include "wire/ipc/methods.h"

static struct {
    int signal; /* the last request */
    exe_signalled done;
    void *userdata;
    int refuses; /* -errno of the next exe_signal */
    int kills;
    bool frozen; /* the cgroup */
} helper;

int exe_signal(struct exe_container *c, int signal, exe_signalled done, void *userdata)
{
    (void)c;
    helper.signal = signal;
    helper.done = done;
    helper.userdata = userdata;
    return helper.refuses;
}

int exe_kill(struct exe_container *c)
{
    (void)c;
    helper.kills++;
    return 0;
}

struct cg_leaf *exe_container_cgroup(struct exe_container *c)
{
    return (struct cg_leaf *)c;
}

int cg_leaf_freeze(struct cg_leaf *l, bool frozen)
{
    (void)l;
    helper.frozen = frozen;
    return 0;
}

int cg_leaf_to_freeze(struct cg_leaf *l)
{
    (void)l;
    return helper.frozen;
}

static struct nm_conf conf;
static struct nm_context ctx;
static struct nm_launcher launcher;
static struct nm_container container;

static int setup(void **state)
{
    (void)state;
    memset(&helper, 0, sizeof(helper));
    conf = (struct nm_conf){ .sigkill_delay_ms = 50 };
    ctx = (struct nm_context){ .conf = &conf };
    launcher = (struct nm_launcher){ .ctx = &ctx };
    container = (struct nm_container){
        .ctx = &ctx,
        .text = "container_1_0001_01_000001",
        .launch = { .launcher = &launcher,
                    .exe = (struct exe_container *)(uintptr_t)8, /* never dereferenced */
                    .pid = 17 },
    };
    nm_container_add(&container, NULL);
    return sd_event_new(&ctx.event) < 0;
}

static int teardown(void **state)
{
    (void)state;
    nm_cleanup_free_terms(&launcher);
    HASH_CLEAR(hh, ctx.containers);
    sd_event_source_disable_unref(container.launch.kill_timer);
    ctx.event = sd_event_unref(ctx.event);
    return 0;
}

static void turn(void)
{
    assert_true(sd_event_run(ctx.event, 2000000) > 0);
}

/* The delay starts when the signal was sent, not when it was requested. */
static void term_then_kill(void **state)
{
    (void)state;
    nm_cleanup_container(&container);
    assert_int_equal(helper.signal, SIGTERM);
    assert_int_equal(sd_event_run(ctx.event, 200000), 0);
    assert_int_equal(helper.kills, 0);
    helper.done(NULL, "", helper.userdata);
    assert_null(launcher.terms);
    turn();
    assert_int_equal(helper.kills, 1);
}

static void second_request_is_ignored(void **state)
{
    (void)state;
    nm_cleanup_container(&container);
    helper.signal = 0;
    nm_cleanup_container(&container);
    assert_int_equal(helper.signal, 0);
    assert_int_equal(helper.kills, 0);
}

static void kill_at_once(void **state)
{
    (void)state;
    helper.refuses = -ENOMEM;
    nm_cleanup_container(&container);
    assert_int_equal(helper.kills, 1);
    container.launch.cleanup_started = false;
    helper.signal = 0;
    conf.sigkill_delay_ms = 0;
    nm_cleanup_container(&container);
    assert_int_equal(helper.signal, 0);
    assert_int_equal(helper.kills, 2);
}

/* The launch repeats the request when the process has started. */
static void before_the_start(void **state)
{
    (void)state;
    container.launch.pid = 0;
    nm_cleanup_container(&container);
    assert_int_equal(helper.signal, 0);
    assert_true(container.launch.cleanup_started);
}

static void after_the_exit(void **state)
{
    (void)state;
    container.launch.exit.event = NM_CONTAINER_EV_EXITED_WITH_SUCCESS;
    nm_cleanup_container(&container);
    assert_false(container.launch.cleanup_started);
    assert_int_equal(nm_cleanup_signal(&container, SIGTERM), -ESRCH);
}

/* The answer comes for a container that was removed. */
static void removed_before_the_answer(void **state)
{
    (void)state;
    nm_cleanup_container(&container);
    HASH_CLEAR(hh, ctx.containers);
    helper.done(NULL, "", helper.userdata);
    assert_null(launcher.terms);
}

/* Hadoop's line. A process without a handler gets none: the answer of container-signal. */
static void thread_dump(void **state)
{
    struct nm_app app = { .run_as = (char[]){ "ann" } };

    (void)state;
    container.diagnostics = strdup("");
    container.app = &app;
    assert_int_equal(nm_cleanup_signal(&container, SIGQUIT), 0);
    helper.done(NULL, "pid 17, 21", helper.userdata);
    assert_non_null(strstr(container.diagnostics,
                           "]Sent signal OUTPUT_THREAD_DUMP (SIGQUIT) to pid 17, 21 as user ann "
                           "for container container_1_0001_01_000001, result=success\n"));
    assert_int_equal(nm_cleanup_signal(&container, SIGUSR1), 0);
    helper.done(NULL, "", helper.userdata);
    assert_null(strstr(container.diagnostics, "USR1"));
    assert_null(launcher.terms);
    assert_int_equal(nm_cleanup_signal(&container, SIGQUIT), 0);
    HASH_CLEAR(hh, ctx.containers); /* removed before the answer */
    helper.done(NULL, "pid 17", helper.userdata);
    assert_null(launcher.terms);
    free(container.diagnostics);
}

static void signals(void **state)
{
    (void)state;
    assert_int_equal(nm_cleanup_signal(&container, SIGQUIT), 0);
    assert_int_equal(helper.signal, SIGQUIT);
    assert_int_equal(nm_cleanup_signal(&container, SIGKILL), 0);
    assert_int_equal(helper.kills, 1);
    assert_int_equal(
        nm_cleanup_signal_number(HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__OUTPUT_THREAD_DUMP),
        SIGQUIT);
    assert_int_equal(
        nm_cleanup_signal_number(HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__GRACEFUL_SHUTDOWN),
        SIGTERM);
    assert_int_equal(nm_cleanup_signal_number(0), 0);
}

/* Its init could not deliver a signal: none is sent but SIGKILL, and a cleanup thaws it first. */
static void frozen(void **state)
{
    (void)state;
    assert_int_equal(nm_cleanup_freeze(&container, true), 0);
    assert_true(nm_cleanup_is_frozen(&container));
    assert_int_equal(nm_cleanup_signal(&container, SIGQUIT), -EBUSY);
    assert_int_equal(helper.signal, 0);
    assert_int_equal(nm_cleanup_signal(&container, SIGKILL), 0);
    assert_int_equal(helper.kills, 1);
    nm_cleanup_container(&container);
    assert_int_equal(helper.signal, SIGTERM);
    assert_false(helper.frozen || container.launch.frozen);
    helper.done(NULL, "", helper.userdata);
    container.launch.pid = 0;
    assert_int_equal(nm_cleanup_freeze(&container, true), -ESRCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frozen, setup, teardown),
        cmocka_unit_test_setup_teardown(term_then_kill, setup, teardown),
        cmocka_unit_test_setup_teardown(second_request_is_ignored, setup, teardown),
        cmocka_unit_test_setup_teardown(kill_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(before_the_start, setup, teardown),
        cmocka_unit_test_setup_teardown(after_the_exit, setup, teardown),
        cmocka_unit_test_setup_teardown(removed_before_the_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(signals, setup, teardown),
        cmocka_unit_test_setup_teardown(thread_dump, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
