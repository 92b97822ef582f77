/* health/log-disks.c: a disk that hangs, refusals by name, and the end while jobs wait. Deadlines
 * pass when the test says so: sd_event_add_time_relative is linked through it (-Wl,--wrap). */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"

int __real_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                                      uint64_t usec, uint64_t accuracy, sd_event_time_handler_t fn,
                                      void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                                      uint64_t usec, uint64_t accuracy, sd_event_time_handler_t fn,
                                      void *userdata);

static sd_event_source *deadline; /* of the last job */

int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                                      uint64_t usec, uint64_t accuracy, sd_event_time_handler_t fn,
                                      void *userdata)
{
    bool of_disk = usec == NM_LOG_DISK_MS * 1000;
    int r = __real_sd_event_add_time_relative(e, ret, clock, of_disk ? UINT32_MAX : usec, accuracy,
                                              fn, userdata);

    if (r >= 0 && of_disk) {
        sd_event_source_unref(deadline);
        deadline = sd_event_source_ref(*ret);
    }
    return r;
}

static char top[] = "/tmp/selvedge-disks-XXXXXX", local_dir[64], log_a[64], log_b[64];
static char *local[] = { local_dir, NULL }, *log_dirs[] = { log_a, log_b, NULL };
static struct nm_conf conf = { .local_dirs = local, .log_dirs = log_dirs };
static sd_event *event;
static struct nm_dirs *dirs;
static struct nm_log_disks *disks;
static int gate[2];
static atomic_int data_alive, at_gate;
static int ended, last_status;

/* ---- Jobs ---- */

static void pass(void *data)
{
    (void)data;
}

/* Until the gate is closed. */
static void wait_at_gate(void *data)
{
    char byte;

    (void)data;
    at_gate++;
    (void)!read(gate[0], &byte, 1);
    at_gate--;
}

static void on_done(int status, void *data, void *userdata)
{
    assert_ptr_equal(userdata, &ended);
    assert_true((data == NULL) == (status != 0));
    last_status = status;
    ended++;
}

static void data_free(void *data)
{
    free(data);
    data_alive--;
}

static int run(int index, unsigned most, void (*fn)(void *data), struct sv_error *why)
{
    const struct sv_job job = {
        .data = malloc(1), .run = fn, .done = on_done, .free = data_free, .userdata = &ended
    };
    int r = nm_log_disks_run(disks, index, most, &job, why);

    if (r < 0)
        free(job.data);
    else
        data_alive++;
    return r;
}

static void run_until_ended(int n)
{
    while (ended < n)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
}

static int setup(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    memcpy(top + sizeof(top) - 7, "XXXXXX", 7);
    ended = 0;
    if (!mkdtemp(top) || sd_event_new(&event) < 0 || pipe2(gate, O_CLOEXEC) < 0)
        return -1;
    snprintf(local_dir, sizeof(local_dir), "%s/local", top);
    snprintf(log_a, sizeof(log_a), "%s/a", top);
    snprintf(log_b, sizeof(log_b), "%s/b", top);
    return nm_dirs_new(event, &conf, NULL, NULL, &dirs, &err) < 0
               ? -1
               : nm_log_disks_new(event, dirs, &disks);
}

static int teardown(void **state)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = tmp < 0 ? -1 : sv_remove_tree_at(tmp, top + strlen("/tmp/"));

    (void)state;
    sv_close(tmp);
    gate[1] = sv_close(gate[1]);
    disks = nm_log_disks_free(disks);
    while (data_alive) /* threads of jobs that were given up */
        (void)sched_yield();
    gate[0] = sv_close(gate[0]);
    deadline = sd_event_source_unref(deadline);
    dirs = nm_dirs_free(dirs);
    event = sd_event_unref(event);
    return r;
}

/* ---- Tests ---- */

/* A job that hangs is given up; its directory refuses until the thread is back, the other does
 * not. */
static void hanging_disk(void **state)
{
    struct sv_error why = { 0 };

    (void)state;
    assert_int_equal(run(0, 1, wait_at_gate, &why), 0);
    while (!at_gate)
        (void)sched_yield();
    assert_int_equal(sd_event_source_set_time_relative(deadline, 0), 0);
    run_until_ended(1);
    assert_int_equal(last_status, -ETIMEDOUT);
    assert_int_equal(data_alive, 1);
    assert_int_equal(run(0, 1, pass, &why), -EIO);
    assert_non_null(strstr(why.text, log_a));
    assert_non_null(strstr(why.text, "does not answer: its disk hangs"));
    assert_int_equal(run(1, 1, pass, &why), 0);
    run_until_ended(2);
    assert_int_equal(last_status, 0);
    gate[1] = sv_close(gate[1]);
    while (run(0, 1, pass, &why) < 0)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    run_until_ended(3);
    assert_int_equal(last_status, 0);
}

static void bounded(void **state)
{
    struct sv_error why = { 0 };

    (void)state;
    assert_int_equal(run(0, 2, wait_at_gate, &why), 0);
    assert_int_equal(run(0, 2, pass, &why), 0);
    assert_int_equal(run(0, 2, pass, &why), -EBUSY);
    assert_non_null(strstr(why.text, "2 requests wait for its disk"));
    assert_int_equal(run(0, NM_LOG_DISK_ALL, pass, &why), 0);
    assert_int_equal(run(1, 1, pass, &why), 0);
    gate[1] = sv_close(gate[1]);
    run_until_ended(4);
    assert_int_equal(run(0, 1, pass, &why), 0);
    run_until_ended(5);
}

static void bad_directory(void **state)
{
    int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sv_error why = { 0 };

    (void)state;
    assert_int_equal(sv_remove_tree_at(fd, "a"), 0);
    assert_int_equal(symlinkat("/nothing", fd, "a"), 0);
    sv_close(fd);
    nm_dirs_check(dirs);
    assert_int_equal(run(0, 1, pass, &why), -EIO);
    assert_non_null(strstr(why.text, log_a));
    assert_non_null(strstr(why.text, "is bad: cannot be used"));
    assert_int_equal(run(1, 1, pass, &why), 0);
    run_until_ended(1);
    assert_int_equal(run(2, 1, pass, &why), -EINVAL);
}

/* All jobs get an end, also those that hang; a descriptor is closed behind the jobs that read it.
 */
static void end_of_daemon(void **state)
{
    struct sv_error why = { 0 };
    int fd[2];
    char byte;

    (void)state;
    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    assert_int_equal(run(0, 2, wait_at_gate, &why), 0);
    assert_int_equal(run(0, 2, pass, &why), 0);
    nm_log_disks_close(disks, 0, fd[1]);
    disks = nm_log_disks_free(disks);
    assert_int_equal(ended, 2);
    assert_int_equal(last_status, -ECANCELED);
    gate[1] = sv_close(gate[1]);
    assert_int_equal(read(fd[0], &byte, 1), 0); /* the last writer has gone */
    sv_close(fd[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hanging_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(end_of_daemon, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
