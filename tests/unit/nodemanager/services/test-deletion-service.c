/* services/deletion-service.c: deletions that run in parallel. The helper, the store and the disks
 * are stubs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/store/state-store.h"

#define CALLS 16

/* Requests to the helper without an answer. */
static struct {
    struct exe_delete_what what;
    exe_done done;
    void *userdata;
} calls[CALLS];
static size_t n_calls;
static int on_record; /* in the store */

int exe_delete(struct exe *x, const struct exe_delete_what *d, exe_done done, void *userdata)
{
    (void)x;
    assert_true(n_calls < CALLS);
    calls[n_calls].what = *d;
    calls[n_calls].done = done;
    calls[n_calls++].userdata = userdata;
    return 0;
}

int nm_store_deletion(struct nm_store *s, int64_t id, int64_t at_ms, const char *task)
{
    (void)s, (void)id, (void)at_ms, (void)task;
    on_record++;
    return 0;
}

int nm_store_deletion_remove(struct nm_store *s, int64_t id)
{
    (void)s, (void)id;
    on_record--;
    return 0;
}

int nm_store_each_deletion(struct nm_store *s, int (*fn)(int64_t, int64_t, const char *, void *),
                           void *userdata)
{
    (void)s, (void)fn, (void)userdata;
    return 0;
}

uint32_t nm_dirs_local_mask(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}

uint32_t nm_dirs_log_mask(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}

int nm_dirs_n_local(const struct nm_dirs *d)
{
    (void)d;
    return 0;
}

int nm_dirs_n_log(const struct nm_dirs *d)
{
    (void)d;
    return 0;
}

const char *nm_dirs_local(const struct nm_dirs *d, int index)
{
    (void)d, (void)index;
    return "/nowhere";
}

const char *nm_dirs_log(const struct nm_dirs *d, int index)
{
    (void)d, (void)index;
    return "/nowhere";
}

static struct nm_conf conf;
static struct nm_context ctx;
static struct nm_deletion *deletion;
static struct nm_app app;
static struct nm_container containers[3];

static int set_up(void **state)
{
    (void)state;
    n_calls = 0;
    on_record = 0;
    ctx = (struct nm_context){ .conf = &conf };
    assert_return_code(sd_event_new(&ctx.event), 0);
    assert_int_equal(nm_deletion_new(&ctx, &deletion, NULL), 0);
    app = (struct nm_app){ .ctx = &ctx, .id = { 1700000000000, 7 }, .run_as = (char *)"joe" };
    for (int i = 0; i < 3; i++)
        containers[i] = (struct nm_container){
            .ctx = &ctx, .app = &app, .id = { { app.id, 1 }, i + 1 }, .launch.pid = 1
        };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    deletion = nm_deletion_free(deletion);
    ctx.event = sd_event_unref(ctx.event);
    return 0;
}

static void turn(void)
{
    while (sd_event_run(ctx.event, 0) > 0)
        ;
}

static void answer_with(size_t i, const struct exe_failure *f)
{
    exe_done done = calls[i].done;
    void *userdata = calls[i].userdata;
    memmove(&calls[i], &calls[i + 1], (--n_calls - i) * sizeof(calls[0]));
    done(f, userdata);
    turn();
}

static void answer(size_t i)
{
    answer_with(i, NULL);
}

static int64_t wall_ms = 1700000000000; /* of the service */

int64_t __wrap_sv_wall_ms(void);
int64_t __wrap_sv_wall_ms(void)
{
    return wall_ms;
}

/* One that has failed three times stays on record, is counted, and tried later. */
static void test_failure_is_kept(void **state)
{
    const struct exe_failure f = { .text = "the disk does not answer" };

    (void)state;
    nm_deletion_container(deletion, &containers[0]);
    turn();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(n_calls, 1);
        assert_int_equal(ctx.stuck_deletions, 0);
        answer_with(0, &f);
        wall_ms += 10000;
        nm_deletion_container(deletion, &containers[1]); /* makes the service look */
        turn();
        while (n_calls > 1)
            answer(n_calls - 1);
        if (i == 2) /* and only that one */
            while (n_calls > 0)
                answer(0);
    }
    assert_int_equal(ctx.stuck_deletions, 1);
    assert_int_equal(on_record, 1);
    wall_ms += 600000;
    nm_deletion_container(deletion, &containers[1]);
    turn();
    while (n_calls > 0)
        answer(0);
    assert_int_equal(ctx.stuck_deletions, 0);
    assert_int_equal(on_record, 0);
}

/* The directory of an application is deleted after those of its containers. */
static void test_application_after_containers(void **state)
{
    (void)state;
    nm_deletion_container(deletion, &containers[0]);
    nm_deletion_container(deletion, &containers[1]);
    turn();
    assert_int_equal(n_calls, 2); /* in parallel */
    nm_deletion_app(deletion, &app);
    nm_deletion_app_logs(deletion, app.id, "joe"); /* another tree */
    turn();
    assert_int_equal(n_calls, 3);
    assert_int_equal(calls[2].what.what, EXE_DELETE_APP_LOGS);
    answer(0);
    assert_int_equal(n_calls, 2); /* one is left */
    answer(0);
    assert_int_equal(n_calls, 2);
    assert_int_equal(calls[1].what.what, EXE_DELETE_APP);
    /* A container of it waits for the application. */
    nm_deletion_container(deletion, &containers[2]);
    turn();
    assert_int_equal(n_calls, 2);
    answer(1);
    assert_int_equal(n_calls, 2);
    assert_int_equal(calls[1].what.what, EXE_DELETE_CONTAINER);
    answer(0);
    answer(0);
    assert_int_equal(n_calls, 0);
    assert_int_equal(on_record, 0);
    assert_false(nm_deletion_busy(deletion));
}

/* A waiting deletion delays no others, and names with a common prefix do not overlap. */
static void test_independent_deletions_run(void **state)
{
    struct nm_app other = { .ctx = &ctx, .id = { 1700000000000, 70 }, .run_as = (char *)"joe" };
    struct nm_app other_user = { .ctx = &ctx,
                                 .id = { 1700000000000, 7 },
                                 .run_as = (char *)"joey" };
    (void)state;
    nm_deletion_container(deletion, &containers[0]);
    nm_deletion_app(deletion, &app);
    nm_deletion_app(deletion, &other);
    nm_deletion_app(deletion, &other_user);
    turn();
    assert_int_equal(n_calls, 3);
    assert_int_equal(calls[1].what.app.id, 70);
    assert_string_equal(calls[2].what.user, "joey");
    while (n_calls > 0)
        answer(0);
    assert_int_equal(on_record, 0);
}

/* A cache and its entries. */
static void test_caches(void **state)
{
    struct exe_delete_what public = { .what = EXE_DELETE_RESOURCE,
                                      .visibility = EXE_VISIBILITY_PUBLIC,
                                      .resource_id = 4,
                                      .local_mask = 1 };
    struct exe_delete_what private = { .what = EXE_DELETE_RESOURCE,
                                       .visibility = EXE_VISIBILITY_PRIVATE,
                                       .resource_id = 4,
                                       .user = "joe",
                                       .local_mask = 1 };
    struct exe_delete_what apps = { .what = EXE_DELETE_RESOURCE,
                                    .visibility = EXE_VISIBILITY_APPLICATION,
                                    .resource_id = 4,
                                    .user = "joe",
                                    .app = app.id,
                                    .local_mask = 1 };
    (void)state;
    nm_deletion_resource(deletion, &public);
    nm_deletion_resource(deletion, &private);
    nm_deletion_resource(deletion, &apps);
    turn();
    assert_int_equal(n_calls, 3);
    nm_deletion_app(deletion, &app);
    nm_deletion_user(deletion, "joe");
    nm_deletion_user(deletion, NULL);
    turn();
    assert_int_equal(n_calls, 3);
    answer(0);
    assert_int_equal(n_calls, 3);
    assert_int_equal(calls[2].what.what, EXE_DELETE_PUBLIC);
    answer(1); /* the application's resource */
    assert_int_equal(n_calls, 3);
    assert_int_equal(calls[2].what.what, EXE_DELETE_APP);
    answer(0); /* the private one */
    answer(1); /* the application */
    assert_int_equal(n_calls, 2);
    assert_int_equal(calls[1].what.what, EXE_DELETE_USER);
    while (n_calls > 0)
        answer(0);
    assert_int_equal(on_record, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_application_after_containers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_independent_deletions_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_caches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failure_is_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
