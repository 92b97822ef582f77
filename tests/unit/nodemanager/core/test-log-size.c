/* core/log-size.c on what a hostile job makes of its log directory. readdir and the opening of
 * directories are linked through this program (-Wl,--wrap). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "nodemanager/core/log-size.h"

#define CONTAINER "container_1700000000000_0001_01_000001"

static char top[] = "/tmp/selvedge-logsize-XXXXXX";
static struct yarn_container_id id;
static int dir = -1;
static bool endless; /* each directory has its first entry again and again */

struct dirent *__real_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d)
{
    struct dirent *e;

    if (endless)
        rewinddir(d);
    do
        e = __real_readdir(d);
    while (endless && e && e->d_name[0] == '.');
    return e;
}

int __real_sv_open_beneath(int dirfd, const char *path, int flags, mode_t mode);
int __wrap_sv_open_beneath(int dirfd, const char *path, int flags, mode_t mode);
int __wrap_sv_open_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
    return strcmp(path, "closed") == 0 ? -EACCES : __real_sv_open_beneath(dirfd, path, flags, mode);
}

static int setup(void **state)
{
    char path[256];

    (void)state;
    memcpy(top + sizeof(top) - 7, "XXXXXX", 7);
    if (!mkdtemp(top) || yarn_container_id_parse(CONTAINER, &id) < 0)
        return -1;
    snprintf(path, sizeof(path), "%s/application_1700000000000_0001/" CONTAINER, top);
    if (sv_mkdir_p(path, 0755) < 0)
        return -1;
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = tmp < 0 ? -1 : sv_remove_tree_at(tmp, top + strlen("/tmp/"));

    (void)state;
    endless = false;
    sv_close(tmp);
    dir = sv_close(dir);
    return r;
}

static void file_in(int at, const char *path, off_t bytes)
{
    int fd = openat(at, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, bytes), 0);
    sv_close(fd);
}

static void file(const char *path, off_t bytes)
{
    file_in(dir, path, bytes);
}

static void directory(const char *path)
{
    assert_int_equal(mkdirat(dir, path, 0755), 0);
}

/* The sum, in turns of `ms`. */
static struct nm_log_sum measure(int64_t ms, unsigned *ret_turns)
{
    struct nm_log_size *s = nm_log_size_new(top, id);
    struct nm_log_sum sum;

    assert_non_null(s);
    *ret_turns = 1;
    while (!nm_log_size_turn(s, ms))
        ++*ret_turns;
    sum = *nm_log_size_sum(s);
    (void)nm_log_size_free(s);
    return sum;
}

static void lengths(void **state)
{
    struct nm_log_sum sum;
    unsigned turns;

    (void)state;
    file("stdout", 1000);
    directory("a");
    file("a/b", 200);
    directory("a/c");
    file("a/c/d", 30);
    file("z", 4);
    sum = measure(60000, &turns);
    assert_int_equal(sum.bytes, 1234);
    assert_false(sum.too_many || sum.unread);
    assert_int_equal(turns, 1);
    sum = measure(0, &turns);
    assert_int_equal(sum.bytes, 1234);
    assert_in_range(turns, 6, 100); /* an entry each */
}

static void not_followed(void **state)
{
    _cleanup_close_ int far = -1;
    struct nm_log_sum sum;
    unsigned turns;
    char path[80];

    (void)state;
    snprintf(path, sizeof(path), "%s/far", top);
    assert_int_equal(mkdir(path, 0755), 0);
    far = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    file_in(far, "file", 1 << 20);
    file("stdout", 7);
    assert_int_equal(symlinkat(path, dir, "link"), 0);
    assert_int_equal(symlinkat("../../far", dir, "beside"), 0);
    assert_int_equal(symlinkat("../../far/file", dir, "of-a-file"), 0);
    assert_int_equal(symlinkat(".", dir, "self"), 0);
    assert_int_equal(symlinkat("nothing", dir, "dangling"), 0);
    assert_int_equal(mkfifoat(dir, "pipe", 0644), 0);
    sum = measure(60000, &turns);
    assert_int_equal(sum.bytes, 7);
    assert_false(sum.too_many || sum.unread);
}

/* A container without a directory there, or with a link in its place, has no logs. */
static void no_directory(void **state)
{
    struct nm_log_sum sum;
    unsigned turns;
    char path[256];

    (void)state;
    snprintf(path, sizeof(path), "%s/application_1700000000000_0001/" CONTAINER, top);
    assert_int_equal(rmdir(path), 0);
    sum = measure(60000, &turns);
    assert_true(sum.bytes == 0 && !sum.unread);
    assert_int_equal(symlink("/", path), 0);
    sum = measure(60000, &turns);
    assert_true(sum.bytes == 0 && !sum.unread);
    assert_int_equal(unlink(path), 0);
}

static void closed_directory(void **state)
{
    struct nm_log_sum sum;
    unsigned turns;

    (void)state;
    directory("closed");
    file("closed/stdout", 1000);
    file("stdout", 1);
    sum = measure(60000, &turns);
    assert_true(sum.unread && !sum.too_many);
    assert_int_equal(sum.bytes, 1);
}

static void deep(void **state)
{
    char path[64] = "d";
    struct nm_log_sum sum;
    unsigned turns;

    (void)state;
    for (int depth = 1; depth <= NM_LOG_SIZE_DEPTH; depth++) {
        directory(path);
        snprintf(path + strlen(path), sizeof(path) - strlen(path), "/d");
        sum = measure(60000, &turns);
        assert_int_equal(sum.too_many, depth == NM_LOG_SIZE_DEPTH);
    }
}

/* Entries without end have one. */
static void bounded(void **state)
{
    struct nm_log_sum sum;
    unsigned turns;

    (void)state;
    endless = true;
    file("stdout", 1);
    sum = measure(60000, &turns);
    assert_true(sum.too_many);
    assert_int_equal(sum.bytes, NM_LOG_SIZE_ENTRIES);
}

static void given_up(void **state)
{
    struct nm_log_size *s = nm_log_size_new(top, id);

    (void)state;
    directory("a");
    file("a/b", 1);
    file("stdout", 1);
    assert_false(nm_log_size_turn(s, 0));
    assert_null(nm_log_size_free(s));
    assert_null(nm_log_size_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lengths, setup, teardown),
        cmocka_unit_test_setup_teardown(not_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(no_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(closed_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(deep, setup, teardown),
        cmocka_unit_test_setup_teardown(bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(given_up, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
