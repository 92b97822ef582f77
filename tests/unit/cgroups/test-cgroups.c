/* cgroups/file.c: texts of the kernel; usage.c on a directory with such files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cgroups/cg.h"
#include "cgroups/file.h"
#include "cgroups/internal.h"
#include "common/fd.h"

static void test_value(void **state)
{
    uint64_t v;
    (void)state;
    assert_int_equal(cg_parse_value("123\n", &v), 0);
    assert_int_equal(v, 123);
    assert_int_equal(cg_parse_value("max\n", &v), 0);
    assert_true(v == UINT64_MAX);
    assert_int_equal(cg_parse_value("18446744073709551615\n", &v), 0);
    static const char *const bad[] = { "",
                                       "\n",
                                       "-1\n",
                                       "1x\n",
                                       "maxi\n",
                                       " 1\n",
                                       "1\n2\n",
                                       "18446744073709551616\n",
                                       "99999999999999999999999999\n" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(cg_parse_value(bad[i], &v) < 0);
}

static void test_key(void **state)
{
    static const char text[] = "usage_usec 10\nuser_usec 7\nsystem_usec x\nlast 5";
    uint64_t v;
    (void)state;
    assert_int_equal(cg_parse_key(text, "usage_usec", &v), 0);
    assert_int_equal(v, 10);
    assert_int_equal(cg_parse_key(text, "last", &v), 0);
    assert_int_equal(v, 5);
    assert_int_equal(cg_parse_key(text, "usage", &v), -ENOENT);
    assert_int_equal(cg_parse_key(text, "system_usec", &v), -EBADMSG);
    assert_int_equal(cg_parse_key("", "a", &v), -ENOENT);
}

static void test_controllers(void **state)
{
    char text[CG_FILE_MAX];
    (void)state;
    assert_int_equal(cg_parse_controllers("cpuset cpu io memory hugetlb pids rdma\n"),
                     CG_CPU | CG_MEMORY | CG_PIDS | CG_IO | CG_CPUSET | CG_HUGETLB);
    assert_int_equal(cg_parse_controllers("\n"), 0);
    assert_int_equal(cg_parse_controllers("cpux memor"), 0); /* whole words only */
    cg_format_controllers(CG_CPU | CG_PIDS, "+", text);
    assert_string_equal(text, "+cpu +pids");
    cg_format_controllers(0, "+", text);
    assert_string_equal(text, "");
}

static void test_weight(void **state)
{
    (void)state;
    assert_int_equal(cg_weight_of_vcores(1), 100);
    assert_int_equal(cg_weight_of_vcores(4), 400);
    assert_int_equal(cg_weight_of_vcores(1000), 10000);
    assert_int_equal(cg_weight_of_vcores(0), 100);
    assert_int_equal(cg_weight_of_vcores(-5), 100);
}

/* ---- usage ---- */

static const char *const group[][2] = {
    { "cpu.stat", "usage_usec 11\nuser_usec 12\nsystem_usec 13\nnr_periods 14\n"
                  "nr_throttled 15\nthrottled_usec 16\n" },
    { "memory.current", "21\n" },
    { "memory.peak", "22\n" },
    { "memory.events", "low 0\nhigh 0\nmax 23\noom 24\noom_kill 25\n" },
    { "pids.current", "31\n" },
    { "pids.peak", "32\n" },
    { "pids.events", "max 33\n" },
    { "io.stat", "8:0 rbytes=41 wbytes=42 rios=43 wios=44\n8:16 rbytes=100 wbytes=200 rios=300 "
                 "wios=400\n" },
    { "cpu.pressure", "some avg10=1.25 avg60=0.00 avg300=0.00 total=51\n"
                      "full avg10=0.50 avg60=0.00 avg300=0.00 total=52\n" },
    { "memory.pressure", "some avg10=2.00 avg60=0.00 avg300=0.00 total=53\n"
                         "full avg10=0.75 avg60=0.00 avg300=0.00 total=54\n" },
    { "io.pressure", "some avg10=99.99 avg60=0.00 avg300=0.00 total=55\n"
                     "full avg10=3.00 avg60=0.00 avg300=0.00 total=56\n" },
};

/* Reads the usage of a container whose cgroup is a directory with the files above. */
static void usage_of(unsigned controllers, struct cg_usage *ret)
{
    char directory[] = "/tmp/test-cgroups.XXXXXX";
    struct cg_root root = { .controllers = controllers };
    struct cg_leaf leaf = { .root = &root };

    assert_non_null(mkdtemp(directory));
    leaf.fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < SV_ARRAY_LEN(group); i++) {
        _cleanup_close_ int fd = openat(leaf.fd, group[i][0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        assert_int_equal(write(fd, group[i][1], strlen(group[i][1])), strlen(group[i][1]));
    }
    for (size_t i = 0; i < CG_N_COUNTERS; i++)
        leaf.counters[i] = -1;
    assert_int_equal(cg_leaf_usage(&leaf, ret), 0);
    for (size_t i = 0; i < CG_N_COUNTERS; i++)
        if (leaf.counters[i] >= 0)
            close(leaf.counters[i]);
    for (size_t i = 0; i < SV_ARRAY_LEN(group); i++)
        assert_int_equal(unlinkat(leaf.fd, group[i][0], 0), 0);
    close(leaf.fd);
    assert_int_equal(rmdir(directory), 0);
}

static void assert_stall(const struct cg_stall *s, uint32_t some, uint32_t full, uint64_t usec)
{
    assert_int_equal(s->some_avg10, some);
    assert_int_equal(s->full_avg10, full);
    assert_int_equal(s->some_usec, usec);
    assert_int_equal(s->full_usec, usec + 1);
}

static void test_usage(void **state)
{
    struct cg_usage u;

    (void)state;
    usage_of(CG_CPU | CG_MEMORY | CG_PIDS | CG_IO, &u);
    assert_int_equal(u.cpu_usec, 11);
    assert_int_equal(u.user_usec, 12);
    assert_int_equal(u.system_usec, 13);
    assert_int_equal(u.n_throttled, 15);
    assert_int_equal(u.throttled_usec, 16);
    assert_int_equal(u.memory_current, 21);
    assert_int_equal(u.memory_peak, 22);
    assert_int_equal(u.max, 23);
    assert_int_equal(u.oom, 24);
    assert_int_equal(u.oom_kills, 25);
    assert_int_equal(u.pids_current, 31);
    assert_int_equal(u.pids_peak, 32);
    assert_int_equal(u.pids_refused, 33);
    assert_int_equal(u.io_read_bytes, 141);
    assert_int_equal(u.io_write_bytes, 242);
    assert_int_equal(u.io_reads, 343);
    assert_int_equal(u.io_writes, 444);
    assert_stall(&u.cpu_stall, 125, 50, 51);
    assert_stall(&u.memory_stall, 200, 75, 53);
    assert_stall(&u.io_stall, 9999, 300, 55);

    usage_of(CG_CPU, &u); /* files of other controllers are an ancestor's matter */
    assert_int_equal(u.cpu_usec, 11);
    assert_int_equal(u.memory_current + u.oom_kills + u.pids_current + u.io_read_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_value), cmocka_unit_test(test_key),
                                        cmocka_unit_test(test_controllers),
                                        cmocka_unit_test(test_weight),
                                        cmocka_unit_test(test_usage) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
