/* container-delete while a job fills the directory that is deleted: it ends. The program is
 * included here; its clock and its seeks are the test's, which adds entries at every reading: no
 * job can be faster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int looks(clockid_t clock, struct timespec *t);
static off_t readings(int fd, off_t offset, int whence);
int delete_main(int argc, char **argv);

#define clock_gettime looks
#define lseek readings
#define main delete_main
#include "executor/container-delete.c"
#undef main
#undef lseek
#undef clock_gettime

enum { MANY = 5000 };

static struct {
    char path[32];
    int dir;
    bool at_looks, at_readings; /* when it is filled */
    time_t step;                /* that a look takes */
    time_t time;
    unsigned looked, read, filled;
} job;

static void fill(void)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "f%u", job.filled++);
    int fd = openat(job.dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
}

static int looks(clockid_t clock, struct timespec *t)
{
    assert_int_equal(clock, CLOCK_MONOTONIC);
    assert_true(++job.looked < MANY); /* there is no end */
    if (job.at_looks)
        fill();
    *t = (struct timespec){ .tv_sec = job.time += job.step };
    return 0;
}

static off_t readings(int fd, off_t offset, int whence)
{
    assert_true(++job.read < MANY);
    if (job.at_readings)
        fill();
    return lseek(fd, offset, whence);
}

/* As the program does it: by a name below an open directory. */
static int removed(void)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(tmp >= 0);
    int r = remove_tree(tmp, job.path + strlen("/tmp/"));
    (void)close(tmp);
    return r;
}

static int begin(void **state)
{
    (void)state;
    memset(&job, 0, sizeof(job));
    (void)snprintf(job.path, sizeof(job.path), "/tmp/test-delete-XXXXXX");
    if (!mkdtemp(job.path))
        return -1;
    job.dir = open(job.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return job.dir < 0 ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    job.at_looks = job.at_readings = false;
    job.looked = job.read = 0;
    job.step = 0;
    (void)close(job.dir);
    return removed();
}

static void test_tree_at_rest(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++)
        fill();
    assert_int_equal(removed(), 0);
    assert_int_equal(access(job.path, F_OK), -1);
}

static void test_filled_faster_than_read(void **state)
{
    (void)state;
    job.at_looks = true;
    job.step = 1;
    assert_int_equal(removed(), EBUSY);
    assert_in_range(job.time, SECONDS, SECONDS + 3);
    assert_int_equal(access(job.path, F_OK), 0);
}

static void test_filled_between_readings(void **state)
{
    (void)state;
    job.at_readings = true;
    assert_int_equal(removed(), EBUSY);
    assert_in_range(job.read, EXTRA_PASSES, EXTRA_PASSES + 4);
    assert_int_equal(access(job.path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tree_at_rest, begin, end),
        cmocka_unit_test_setup_teardown(test_filled_faster_than_read, begin, end),
        cmocka_unit_test_setup_teardown(test_filled_between_readings, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
