/* services/deletion-service.c: deletions that run in parallel. The helper, the store and the disks
 * are stubs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/store/state-store.h"

#define CALLS 16
#define CONTAINERS 42

/* Requests to the helper without an answer. */
static struct {
    struct exe_delete_what what;
    int64_t more[EXE_MORE_MAX];
    exe_done done;
    void *userdata;
} calls[CALLS];
static size_t n_calls;
static int on_record; /* in the store */

int exe_delete(struct exe *x, const struct exe_delete_what *d, exe_done done, void *userdata)
{
    (void)x;
    assert_true(n_calls < CALLS);
    assert_true(d->n_more <= EXE_MORE_MAX);
    calls[n_calls].what = *d;
    memcpy(calls[n_calls].more, d->more, d->n_more * sizeof(*d->more));
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
static struct nm_container containers[CONTAINERS];

static int set_up(void **state)
{
    (void)state;
    n_calls = 0;
    on_record = 0;
    ctx = (struct nm_context){ .conf = &conf };
    assert_return_code(sd_event_new(&ctx.event), 0);
    assert_int_equal(nm_deletion_new(&ctx, &deletion, NULL), 0);
    app = (struct nm_app){
        .ctx = &ctx, .id = { 1700000000000, 7 }, .user = (char *)"joe", .run_as = (char *)"joe"
    };
    for (int i = 0; i < CONTAINERS; i++)
        containers[i] = (struct nm_container){
            .ctx = &ctx, .app = &app, .id = { { app.id, 1 }, i + 1 }, .launch.pid = 1
        };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sv_clock_reset();
    deletion = nm_deletion_free(deletion);
    ctx.event = sd_event_unref(ctx.event);
    return 0;
}

static void turn(void)
{
    while (sd_event_run(ctx.event, 0) > 0)
        ;
}

/* Containers' directories wait for each other. */
static void wait_for(size_t n)
{
    while (n_calls < n)
        assert_true(sd_event_run(ctx.event, 10000000) > 0);
    turn();
}

static void answer_by(size_t i, const struct exe_failure *f)
{
    exe_done done = calls[i].done;
    void *userdata = calls[i].userdata;
    memmove(&calls[i], &calls[i + 1], (--n_calls - i) * sizeof(calls[0]));
    done(f, userdata);
    turn();
}

static void answer(size_t i)
{
    answer_by(i, NULL);
}

/* The directory of an application is deleted after those of its containers. */
static void test_application_after_containers(void **state)
{
    (void)state;
    nm_deletion_container(deletion, &containers[0]);
    wait_for(1);
    nm_deletion_container(deletion, &containers[1]);
    wait_for(2); /* in parallel */
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
    wait_for(2);
    assert_int_equal(calls[1].what.what, EXE_DELETE_CONTAINER);
    answer(0);
    answer(0);
    assert_int_equal(n_calls, 0);
    assert_int_equal(on_record, 0);
    assert_false(nm_deletion_busy(deletion));
}

/* Containers of one attempt that end together go by one request, another attempt's by another. */
static void test_containers_together(void **state)
{
    struct nm_container other = containers[0];
    (void)state;
    other.id.attempt.attempt = 2;
    for (int i = CONTAINERS; i-- > 0;)
        nm_deletion_container(deletion, &containers[i]);
    nm_deletion_container(deletion, &other);
    nm_deletion_container(deletion, &containers[3]); /* twice */
    assert_int_equal(on_record, CONTAINERS + 2);
    assert_int_equal(n_calls, 0);
    wait_for(3);
    assert_int_equal(n_calls, 3);
    /* The first 33 tasks, in order of their ids. */
    assert_int_equal(calls[0].what.container.id, CONTAINERS - EXE_MORE_MAX);
    assert_int_equal(calls[0].what.n_more, EXE_MORE_MAX);
    for (int i = 0; i < EXE_MORE_MAX; i++)
        assert_int_equal(calls[0].more[i], CONTAINERS - EXE_MORE_MAX + 1 + i);
    assert_int_equal(calls[1].what.container.id, 1);
    assert_int_equal(calls[1].what.n_more, CONTAINERS - EXE_MORE_MAX - 2);
    assert_int_equal(calls[2].what.container.attempt.attempt, 2);
    assert_int_equal(calls[2].what.n_more, 0);
    answer(0);
    assert_int_equal(on_record, CONTAINERS + 2 - 1 - EXE_MORE_MAX);
    answer(0);
    wait_for(2); /* the one that was asked for twice */
    assert_int_equal(calls[1].what.container.id, 4);
    answer(0);
    answer(0);
    assert_int_equal(on_record, 0);
}

/* All of a request that has failed stay on record, and do not go together again. */
static void test_failed_together(void **state)
{
    (void)state;
    nm_deletion_container(deletion, &containers[0]);
    nm_deletion_container(deletion, &containers[1]);
    wait_for(1);
    assert_int_equal(calls[0].what.n_more, 1);
    answer_by(0, &(struct exe_failure){ .error = EBUSY, .text = "left over" });
    assert_int_equal(on_record, 2);
    sv_clock_set_test(sv_now_ms(), sv_wall_ms() + 60000);
    nm_deletion_app_logs(deletion, app.id, "joe"); /* starts what is due */
    turn();
    assert_int_equal(n_calls, 3);
    assert_int_equal(calls[0].what.n_more, 0);
    assert_int_equal(calls[1].what.n_more, 0);
    while (n_calls > 0)
        answer(0);
    assert_int_equal(on_record, 0);
}

/* The clock goes on, and another deletion makes the service look. */
static void let_pass(int64_t ms)
{
    sv_clock_set_test(sv_now_ms(), sv_wall_ms() + ms);
    nm_deletion_app_logs(deletion, app.id, "joe");
    turn();
    answer(n_calls - 1);
}

/* One that has failed three times stays on record, is counted, and tried later. */
static void test_failure_is_kept(void **state)
{
    const struct exe_failure f = { .error = EIO, .text = "the disk does not answer" };

    (void)state;
    nm_deletion_container(deletion, &containers[0]);
    wait_for(1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(n_calls, 1);
        assert_int_equal(ctx.stuck_deletions, 0);
        answer_by(0, &f);
        let_pass(10000);
    }
    assert_int_equal(n_calls, 0);
    assert_int_equal(ctx.stuck_deletions, 1);
    assert_int_equal(on_record, 1);
    let_pass(600000);
    assert_int_equal(n_calls, 1);
    answer(0);
    assert_int_equal(ctx.stuck_deletions, 0);
    assert_int_equal(on_record, 0);
}

/* A waiting deletion delays no others, and names with a common prefix do not overlap. */
static void test_independent_deletions_run(void **state)
{
    struct nm_app other = {
        .ctx = &ctx, .id = { 1700000000000, 70 }, .user = (char *)"joe", .run_as = (char *)"joe"
    };
    struct nm_app other_user = {
        .ctx = &ctx, .id = { 1700000000000, 7 }, .user = (char *)"joey", .run_as = (char *)"joe"
    };
    (void)state;
    nm_deletion_container(deletion, &containers[0]);
    wait_for(1);
    nm_deletion_app(deletion, &app);
    nm_deletion_app(deletion, &other);
    nm_deletion_app(deletion, &other_user);
    turn();
    assert_int_equal(n_calls, 3);
    assert_int_equal(calls[1].what.app.id, 70);
    assert_string_equal(calls[2].what.user, "joe"); /* one account for both submitters */
    assert_string_equal(calls[2].what.submitter, "joey");
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
                                       .user = "nobody",
                                       .submitter = "joe",
                                       .local_mask = 1 };
    struct exe_delete_what apps = { .what = EXE_DELETE_RESOURCE,
                                    .visibility = EXE_VISIBILITY_APPLICATION,
                                    .resource_id = 4,
                                    .user = "nobody",
                                    .submitter = "joe",
                                    .app = app.id,
                                    .local_mask = 1 };
    (void)state;
    nm_deletion_resource(deletion, &public);
    nm_deletion_resource(deletion, &private);
    nm_deletion_resource(deletion, &apps);
    turn();
    assert_int_equal(n_calls, 3);
    nm_deletion_app(deletion, &app);
    nm_deletion_user(deletion, "nobody", "joe");
    nm_deletion_user(deletion, "nobody", "joe"); /* of another disk: the same */
    nm_deletion_user(deletion, NULL, NULL);
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

/* The caches of the last run: nothing starts before they are gone or three attempts have failed,
 * and applications that have started meanwhile keep their files. */
static void test_clearing(void **state)
{
    const struct exe_failure f = { .error = ENOTEMPTY, .text = "Directory not empty" };
    char id[YARN_ID_TEXT_MAX];

    (void)state;
    nm_deletion_app(deletion, &app);
    turn();
    assert_false(nm_deletion_clears(deletion));
    answer(0);
    nm_deletion_user(deletion, "joe", "joe");
    turn();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(n_calls, 1);
        assert_true(nm_deletion_clears(deletion));
        answer_by(0, &f);
        let_pass(10000);
    }
    assert_false(nm_deletion_clears(deletion));
    nm_deletion_user(deletion, NULL, NULL);
    yarn_app_id_text(app.id, id);
    HASH_ADD_KEYPTR(hh, ctx.apps, id, strlen(id), &app);
    for (int i = 0; i < 3; i++)
        let_pass(600000);
    assert_int_equal(n_calls, 0);
    HASH_DEL(ctx.apps, &app);
    let_pass(600000);
    assert_int_equal(n_calls, 2);
    while (n_calls > 0)
        answer(0);
    assert_int_equal(on_record, 0);
}

/* delete.debug-delay-sec keeps an ended application's directory and its logs, -1 for ever. */
static void test_debug_delay(void **state)
{
    const struct yarn_app_id other = { app.id.cluster_ts, app.id.id + 1 };

    (void)state;
    conf.delete_debug_delay_ms = 600000;
    nm_deletion_app(deletion, &app);
    nm_deletion_app_logs(deletion, app.id, "joe");
    turn();
    assert_int_equal(n_calls, 0);
    assert_int_equal(on_record, 2);
    assert_true(nm_deletion_has_app_logs(deletion, app.id));
    assert_false(nm_deletion_has_app_logs(deletion, other));
    sv_clock_set_test(sv_now_ms(), sv_wall_ms() + 600000);
    conf.delete_debug_delay_ms = -1;
    nm_deletion_app_logs(deletion, other, "joe");
    assert_false(nm_deletion_has_app_logs(deletion, other));
    assert_int_equal(on_record, 2);
    conf.delete_debug_delay_ms = 0;
    nm_deletion_app_logs(deletion, other, "joe"); /* starts what is due */
    turn();
    assert_int_equal(n_calls, 3);
    while (n_calls > 0)
        answer(0);
    assert_false(nm_deletion_has_app_logs(deletion, app.id));
    assert_int_equal(on_record, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_application_after_containers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_containers_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failed_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_independent_deletions_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_caches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_clearing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_debug_delay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failure_is_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
