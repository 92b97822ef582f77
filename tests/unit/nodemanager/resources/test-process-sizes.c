/* resources/process-sizes.c on texts of /proc/PID/stat, whose second field a job writes, and on a
 * directory in the place of /proc. */
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
#include "nodemanager/resources/process-sizes.h"

/* Fields 3 to 21, as a kernel writes them, and some behind the two that count. */
#define BEFORE " S 1 41 41 0 -1 4194560 162 18446744073709551615 0 0 10 2 -1 5 20 0 1 0 "
#define BEHIND " 214 18446744073709551615 1 1 0 0 0 0 0 0 65536 1 0 0 17 1 0 0 0 0 0\n"

static void parsed(void **state)
{
    static const struct {
        const char *text, *name;
    } rows[] = {
        { "41 (sleep)" BEFORE "5000 8192" BEHIND, "sleep" },
        { "41 (a) S 1 (b c)" BEFORE "5000 8192" BEHIND, "a) S 1 (b c" },
        { "41 ())" BEFORE "5000 8192" BEHIND, ")" },
        { "41 ()" BEFORE "5000 8192" BEHIND, "" },
        { "41 (\n\033[2J\xff)" BEFORE "5000 8192" BEHIND, "\\x0a\\x1b[2J\\xff" },
    };
    struct nm_process p;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        assert_int_equal(nm_process_parse(rows[i].text, &p), 0);
        assert_string_equal(p.name, rows[i].name);
        assert_int_equal(p.start, 5000);
        assert_int_equal(p.bytes, 8192);
    }
}

static void malformed(void **state)
{
    static const char *const texts[] = {
        "",
        "41",
        "41 (sleep",
        "41 )sleep(" BEFORE "5000 8192" BEHIND,
        "41 (sleep)" BEFORE,
        "41 (sleep)" BEFORE "5000",
        "41 (sleep)" BEFORE "5000 x" BEHIND,
    };
    struct nm_process p;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(texts); i++)
        assert_int_equal(nm_process_parse(texts[i], &p), -EBADMSG);
}

/* ---- A directory in the place of /proc ---- */

static char top[] = "/tmp/selvedge-proc-XXXXXX";
static int dir = -1;

static int setup(void **state)
{
    (void)state;
    memcpy(top + sizeof(top) - 7, "XXXXXX", 7);
    if (!mkdtemp(top))
        return -1;
    dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = tmp < 0 ? -1 : sv_remove_tree_at(tmp, top + strlen("/tmp/"));

    (void)state;
    sv_close(tmp);
    dir = sv_close(dir);
    return r;
}

static void write_file(const char *path, const char *text)
{
    int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    sv_close(fd);
}

static void process(int pid, uint64_t start, uint64_t bytes)
{
    char path[32], text[512];

    snprintf(path, sizeof(path), "%d", pid);
    assert_int_equal(mkdirat(dir, path, 0755), 0);
    snprintf(path, sizeof(path), "%d/stat", pid);
    snprintf(text, sizeof(text), "%d (job %d)" BEFORE "%llu %llu" BEHIND, pid, pid,
             (unsigned long long)start, (unsigned long long)bytes);
    write_file(path, text);
}

/* One that has ended, and one that this pid namespace does not have, do not count. */
static void summed(void **state)
{
    struct nm_process_sizes s;

    (void)state;
    process(11, 100, 1000);
    process(12, 200, 5000);
    process(14, 300, 300);
    process(15, 50, 77777); /* of another cgroup */
    write_file("cgroup.procs", "11\n12\n13\n0\n14\n");
    assert_int_equal(nm_process_sizes(top, dir, 200, &s), 0);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.bytes, 6300);
    assert_int_equal(s.aged, 1000);
    assert_int_equal(s.largest, 12);
    assert_string_equal(s.of_largest.name, "job 12");
    assert_int_equal(nm_process_sizes(top, dir, 0, &s), 0);
    assert_int_equal(s.aged, 0);
    assert_int_equal(nm_process_sizes(top, dir, 1000, &s), 0);
    assert_int_equal(s.aged, 6300);
    write_file("cgroup.procs", "");
    assert_int_equal(nm_process_sizes(top, dir, 0, &s), 0);
    assert_int_equal(s.n, 0);
    assert_int_equal(s.largest, 0);
}

static void no_overflow(void **state)
{
    struct nm_process_sizes s;

    (void)state;
    process(11, 1, UINT64_MAX);
    process(12, 1, 10);
    write_file("cgroup.procs", "11\n12\n");
    assert_int_equal(nm_process_sizes(top, dir, 2, &s), 0);
    assert_true(s.bytes == UINT64_MAX && s.aged == UINT64_MAX);
}

static void failures(void **state)
{
    struct nm_process_sizes s = { .n = 99 };

    (void)state;
    assert_int_equal(nm_process_sizes(top, dir, 0, &s), -ENOENT); /* no cgroup.procs */
    write_file("cgroup.procs", "11\n");
    assert_int_equal(nm_process_sizes("/nothing", dir, 0, &s), -ENOENT);
    write_file("cgroup.procs", "eleven\n");
    assert_int_equal(nm_process_sizes(top, dir, 0, &s), -EBADMSG);
    process(11, 1, 1);
    write_file("11/stat", "");
    write_file("cgroup.procs", "11\n");
    assert_int_equal(nm_process_sizes(top, dir, 0, &s), -EBADMSG);
    assert_int_equal(s.n, 99);
}

static void rule(void **state)
{
    static const struct {
        uint64_t bytes, aged, limit;
        bool over;
    } rows[] = {
        { 100, 100, 100, false },
        { 101, 0, 100, false }, /* new processes have the benefit of the doubt */
        { 200, 100, 100, false },
        { 201, 0, 100, true },
        { 101, 101, 100, true },
        { 1, 0, 0, true },
        { UINT64_MAX, 0, UINT64_MAX / 2 + 1, false }, /* twice that is more than there is */
        { UINT64_MAX, 0, 100, true },
        { UINT64_MAX, UINT64_MAX, UINT64_MAX, false },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct nm_process_sizes s = { .bytes = rows[i].bytes, .aged = rows[i].aged };

        if (nm_process_sizes_over(&s, rows[i].limit) != rows[i].over)
            fail_msg("row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parsed),
        cmocka_unit_test(malformed),
        cmocka_unit_test_setup_teardown(summed, setup, teardown),
        cmocka_unit_test_setup_teardown(no_overflow, setup, teardown),
        cmocka_unit_test_setup_teardown(failures, setup, teardown),
        cmocka_unit_test(rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
