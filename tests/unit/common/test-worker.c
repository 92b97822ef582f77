/* Jobs that the test holds back on the worker's thread: results, order, deadlines, and owners that
 * go away. */
#include "common/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool held;
static int started, inside, most_inside, finished, freed; /* under the lock */

static sd_event *event;
static struct sv_worker *worker;
static int done_calls, last_status, last_result, order[8];
static bool free_in_done, again_in_done;

struct data {
    int number, result;
    bool all_blocked;
};

static void run(void *data)
{
    struct data *d = data;
    sigset_t set;

    pthread_mutex_lock(&lock);
    started++;
    inside++;
    most_inside = SV_MAX(most_inside, inside);
    pthread_cond_broadcast(&changed);
    while (held)
        pthread_cond_wait(&changed, &lock);
    inside--;
    finished++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    d->all_blocked = sigismember(&set, SIGTERM) == 1 && sigismember(&set, SIGCHLD) == 1;
    d->result = 10 * d->number;
}

static void free_data(void *data)
{
    free(data);
    pthread_mutex_lock(&lock);
    freed++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void hold(bool on)
{
    pthread_mutex_lock(&lock);
    held = on;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(const int *what, int n)
{
    pthread_mutex_lock(&lock);
    while (*what < n)
        pthread_cond_wait(&changed, &lock);
    assert_int_equal(*what, n);
    pthread_mutex_unlock(&lock);
}

static void submit(int number, int64_t deadline_ms);

static void done(int status, void *data, void *userdata)
{
    struct data *d = data;

    assert_ptr_equal(userdata, &done_calls);
    assert_true((status == 0) == (d != NULL));
    last_status = status;
    last_result = d ? d->result : -1;
    if (d)
        assert_true(d->all_blocked);
    order[done_calls++ % 8] = d ? d->number : -1;
    if (free_in_done)
        worker = sv_worker_free(worker);
    if (again_in_done && done_calls < 3)
        submit(done_calls + 1, 0);
}

static void submit(int number, int64_t deadline_ms)
{
    struct data *d = calloc(1, sizeof(*d));
    struct sv_job job = { .data = d,
                          .userdata = &done_calls,
                          .run = run,
                          .done = done,
                          .free = free_data,
                          .deadline_ms = deadline_ms };

    assert_non_null(d);
    d->number = number;
    assert_int_equal(sv_worker_run(worker, &job), 0);
}

static void run_until(int n)
{
    while (done_calls < n)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_int_equal(done_calls, n);
}

static int setup(void **state)
{
    (void)state;
    started = inside = most_inside = finished = freed = done_calls = 0;
    held = free_in_done = again_in_done = false;
    return sd_event_new(&event) < 0 || sv_worker_new(event, "test", &worker) < 0;
}

static int teardown(void **state)
{
    (void)state;
    hold(false);
    worker = sv_worker_free(worker);
    event = sd_event_unref(event);
    return 0;
}

static void test_result(void **state)
{
    (void)state;
    submit(7, 0);
    run_until(1);
    assert_int_equal(last_status, 0);
    assert_int_equal(last_result, 70);
    wait_for(&freed, 1);
    submit(8,
           60000); /* the thread of the first may have ended, and a deadline that does not pass */
    run_until(2);
    assert_int_equal(last_result, 80);
}

static void test_order(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        submit(i, 0);
    run_until(8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(order[i], i);
    assert_int_equal(most_inside, 1);
}

/* The loop continues; a late result of the job is dropped; the next job then runs. */
static void test_deadline(void **state)
{
    (void)state;
    hold(true);
    submit(1, 1);
    wait_for(&started, 1);
    run_until(1);
    assert_int_equal(last_status, -ETIMEDOUT);
    submit(2, 1); /* behind it: never runs */
    submit(3, 0);
    run_until(2);
    assert_int_equal(last_status, -ETIMEDOUT);
    hold(false);
    run_until(3);
    assert_int_equal(last_result, 30);
    wait_for(&freed, 3);
    wait_for(&started, 2);
}

/* A result that is there when the deadline passes counts. */
static void test_result_at_deadline(void **state)
{
    (void)state;
    submit(1, 1);
    wait_for(&finished, 1);
    (void)poll(NULL, 0, 2); /* now the deadline has passed, too */
    run_until(1);
    assert_true(last_status == 0 || last_status == -ETIMEDOUT);
    wait_for(&freed, 1);
    assert_true(sd_event_run(event, 0) >= 0);
    assert_int_equal(done_calls, 1);
}

static void test_owner_gone(void **state)
{
    (void)state;
    hold(true);
    submit(1, 60000);
    submit(2, 60000); /* never runs */
    wait_for(&started, 1);
    worker = sv_worker_free(worker);
    wait_for(&freed, 1);
    hold(false);
    wait_for(&freed, 2);
    assert_int_equal(started, 1);
    assert_true(sd_event_run(event, 0) >= 0);
    assert_int_equal(done_calls, 0);
}

/* With results that nobody has taken. */
static void test_owner_gone_late(void **state)
{
    (void)state;
    submit(1, 0);
    submit(2, 0);
    wait_for(&started, 2);
    worker = sv_worker_free(worker);
    wait_for(&freed, 2);
    assert_int_equal(done_calls, 0);
}

static void test_callbacks(void **state)
{
    (void)state;
    again_in_done = true;
    submit(1, 0);
    run_until(3);
    assert_int_equal(last_result, 30);
    again_in_done = false;
    free_in_done = true;
    submit(1, 0);
    submit(2, 0);
    run_until(4);
    assert_null(worker);
    wait_for(&freed, 5);
    assert_true(sd_event_run(event, 0) >= 0);
    assert_int_equal(done_calls, 4);
}

static void test_free_at_deadline(void **state)
{
    (void)state;
    free_in_done = true;
    hold(true);
    submit(1, 1);
    run_until(1);
    assert_null(worker);
    hold(false);
    wait_for(&freed, 1);
}

static void test_polled(void **state)
{
    struct pollfd told = { .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .events = POLLIN };
    uint64_t n;

    (void)state;
    worker = sv_worker_free(worker);
    assert_int_equal(sv_worker_new_polled(told.fd, "test", &worker), 0);
    hold(true);
    submit(1, 0);
    wait_for(&started, 1);
    assert_false(sv_worker_dispatch(worker));
    assert_int_equal(poll(&told, 1, 0), 0);
    hold(false);
    assert_int_equal(poll(&told, 1, -1), 1);
    assert_int_equal(read(told.fd, &n, sizeof(n)), sizeof(n));
    assert_true(sv_worker_dispatch(worker));
    assert_int_equal(last_result, 10);
    assert_false(sv_worker_dispatch(worker));
    worker = sv_worker_free(worker);
    close(told.fd);
    assert_int_equal(sv_worker_new_polled(-1, "test", &worker), 0);
    submit(2, 0);
    while (!sv_worker_dispatch(worker))
        (void)sched_yield();
    assert_int_equal(last_result, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_result, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_at_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_owner_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_owner_gone_late, setup, teardown),
        cmocka_unit_test_setup_teardown(test_callbacks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_free_at_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_polled, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
