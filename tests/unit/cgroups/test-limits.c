/* cgroups/limits.c: every row of the table from a Resource to files; and parsers of usage files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cgroups/file.h"
#include "cgroups/internal.h"

#define MIB (1ULL << 20)

/* 8 processors, 8 vcores, 8 GiB, with the configuration's defaults. */
static const struct cg_policy normal = {
    .node_memory = 8192 * MIB,
    .node_vcores = 8,
    .node_millicpus = 8000,
    .cap_memory = true,
    .memory_enforced = true,
    .memory_low_percent = 90,
    .pids_max = 16384,
    .localizers_memory = 1024 * MIB,
    .localizers_pids = 4096,
};
static const struct cg_resource one = { .memory_bytes = 1024 * MIB, .vcores = 1 };

/* Text of the row, or NULL where the file is left alone. */
static const char *row(const struct cg_row *rows, size_t n, const char *file,
                       const struct cg_policy *p, const struct cg_resource *c)
{
    static char text[2048];
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].file, file) == 0)
            return rows[i].text(p, c, text, sizeof(text)) ? text : NULL;
    fail_msg("no row %s", file);
    return NULL;
}

static const char *of(const char *file, const struct cg_policy *p, const struct cg_resource *c)
{
    return row(cg_container_rows, cg_n_container_rows, file, p, c);
}

#define ROOT(file, p) row(cg_root_rows, CG_N_ROOT_ROWS, file, p, NULL)

static void test_defaults(void **state)
{
    static const struct {
        const char *file, *text;
    } wanted[] = {
        { "memory.max", "1073741824" },
        { "memory.oom.group", "1" },
        { "memory.swap.max", "0" },
        { "memory.high", NULL },
        { "memory.low", "966365184" },
        { "pids.max", "16384" },
        { "cpu.weight", "100" },
        { "cpu.max", NULL },
        { "io.weight", NULL },
        { "io.max", NULL },
        { "cpuset.cpus", NULL },
        { "cpuset.mems", NULL },
        { "hugetlb.%.max", "0" },
        { "hugetlb.%.rsvd.max", "0" },
        { "cgroup.max.descendants", "0" },
        { "cgroup.max.depth", "0" },
    };
    (void)state;
    assert_int_equal(sizeof(wanted) / sizeof(wanted[0]), cg_n_container_rows);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const char *text = of(wanted[i].file, &normal, &one);
        if (!wanted[i].text)
            assert_null(text);
        else
            assert_string_equal(text, wanted[i].text);
    }
}

static void test_memory(void **state)
{
    struct cg_policy p = normal;
    struct cg_resource c = one;
    (void)state;
    p.memory_high_percent = 80;
    p.swap_percent = 50;
    assert_string_equal(of("memory.high", &p, &c), "858992640"); /* whole pages */
    assert_string_equal(of("memory.swap.max", &p, &c), "536870912");
    c.opportunistic = true;
    assert_string_equal(of("memory.low", &p, &c), "0");
    p.memory_low_percent = 0;
    assert_null(of("memory.low", &p, &c));
    /* Not enforced, or elastic: the node's memory is the container's limit, never "max". */
    p.memory_enforced = false;
    assert_string_equal(of("memory.max", &p, &c), "8589934592");
    p.memory_enforced = true;
    p.elastic = true;
    assert_string_equal(of("memory.max", &p, &c), "8589934592");
    assert_null(of("memory.high", &p, &c));
    c.memory_bytes = 16384 * MIB; /* granted by a ResourceManager that knows a larger node */
    assert_string_equal(of("memory.max", &p, &c), "17179869184");
    c.set.memory_max = 100 * MIB + 1; /* an operator's, over all of them, in whole pages */
    assert_string_equal(of("memory.max", &p, &c), "104857600");
    assert_string_equal(of("memory.swap.max", &p, &c), "52428800");
    c.set.pids_max = 9;
    assert_string_equal(of("pids.max", &p, &c), "9");
}

static void test_cpu(void **state)
{
    struct cg_policy p = normal;
    struct cg_resource c = one;
    (void)state;
    c.vcores = 3;
    assert_string_equal(of("cpu.weight", &p, &c), "300");
    c.opportunistic = true;
    assert_string_equal(of("cpu.weight", &p, &c), "1");
    p.strict_cpu = true;
    assert_string_equal(of("cpu.max", &p, &c), "300000 100000");
    p.node_millicpus = 2000; /* 8 vcores on 2 processors */
    assert_string_equal(of("cpu.max", &p, &c), "75000 100000");
    c.vcores = 0;
    assert_string_equal(of("cpu.max", &p, &c), "25000 100000");
    c.vcores = 8;
    assert_string_equal(of("cpu.max", &p, &c), "max 100000"); /* all of it: no quota, as Hadoop */
    p.node_vcores = 4096;
    p.node_millicpus = 1000;
    c.vcores = 1;
    assert_string_equal(of("cpu.max", &p, &c), "1000 100000"); /* the kernel's minimum */
    c.set.cpu_weight = 7;                                      /* an operator's, over all of them */
    c.set.cpu_millis = 500;
    assert_string_equal(of("cpu.weight", &p, &c), "7");
    assert_string_equal(of("cpu.max", &p, &c), "50000 100000");
    p.strict_cpu = false;
    assert_string_equal(of("cpu.max", &p, &c), "50000 100000");
    c.set.cpu_millis = CG_CPU_UNLIMITED; /* takes back the one in the cgroup */
    assert_string_equal(of("cpu.max", &p, &c), "max 100000");
    assert_int_equal(cg_weight_of_vcores(1000), 10000);
    assert_int_equal(cg_weight_of_vcores(0), 100);
    assert_int_equal(cg_weight_of_vcores(-5), 100);
}

static void test_rest(void **state)
{
    static const struct cg_io_max nowhere[] = { { "/no/such/disk", "rbps=1" },
                                                { "/proc", "rbps=1" } };
    struct cg_policy p = normal;
    struct cg_resource c = one;
    (void)state;
    p.io_weight = 250;
    p.hugetlb_bytes = 4 * MIB;
    p.io_max = nowhere;
    p.n_io_max = 2;
    c.cpus = "0-3";
    c.mems = "1";
    assert_string_equal(of("io.weight", &p, &c), "default 250");
    assert_null(of("io.max", &p, &c)); /* a disk that went: nothing to limit */
    assert_string_equal(of("cpuset.cpus", &p, &c), "0-3");
    assert_string_equal(of("cpuset.mems", &p, &c), "1");
    assert_string_equal(of("hugetlb.%.max", &p, &c), "4194304");
}

static void test_root(void **state)
{
    struct cg_policy p = normal;
    (void)state;
    assert_string_equal(ROOT("cpu.max", &p), "max 100000");
    assert_string_equal(ROOT("memory.high", &p), "max");
    /* the containers', the localizers', and a twentieth */
    assert_string_equal(ROOT("memory.max", &p), "10093170688");
    p.cap_cpu = true;
    p.node_millicpus = 6000; /* 75 % of 8 */
    assert_string_equal(ROOT("cpu.max", &p), "600000 100000");
    p.elastic = true;
    assert_string_equal(ROOT("memory.high", &p), "8589934592");
    p.elastic = p.cap_memory = false;
    assert_string_equal(ROOT("memory.max", &p), "max");
    assert_string_equal(row(cg_localizers_rows, CG_N_LOCALIZERS_ROWS, "memory.max", &p, NULL),
                        "1073741824");
    assert_string_equal(row(cg_localizers_rows, CG_N_LOCALIZERS_ROWS, "pids.max", &p, NULL),
                        "4096");
}

static void test_demanded(void **state)
{
    struct cg_root r = { .controllers = CG_MEMORY | CG_PIDS, .policy = normal };
    uint64_t memory;
    uint32_t pids;
    (void)state;
    cg_demanded(&r, &(struct cg_resource){ .memory_bytes = 100 * MIB + 17, .vcores = 1 }, &memory,
                &pids);
    assert_int_equal(memory, 100 * MIB); /* in the kernel's format */
    assert_int_equal(pids, 16384);
    r.controllers = CG_CPU;
    cg_demanded(&r, &one, &memory, &pids);
    assert_int_equal(memory, 0);
    assert_int_equal(pids, 0);
}

static void test_live(void **state)
{
    (void)state;
    for (size_t i = 0; i < cg_n_container_rows; i++) /* an update writes these and no others */
        assert_int_equal(cg_container_rows[i].live,
                         cg_container_rows[i].controller == CG_CPU ||
                             cg_container_rows[i].controller == CG_PIDS ||
                             (cg_container_rows[i].controller == CG_MEMORY &&
                              strcmp(cg_container_rows[i].file, "memory.oom.group") != 0));
}

static void test_io_stat(void **state)
{
    static const char text[] = "254:0 rbytes=100 wbytes=7 rios=3 wios=1 dbytes=0 dios=0\n"
                               "8:0 rbytes=23 wbytes=18446744073709551615 rios=x wios=\n"
                               "7:0 \n";
    (void)state;
    assert_int_equal(cg_sum_io(text, "rbytes"), 123);
    assert_int_equal(cg_sum_io(text, "rios"), 3);
    assert_int_equal(cg_sum_io(text, "wios"), 1);
    assert_true(cg_sum_io(text, "wbytes") == UINT64_MAX); /* does not wrap */
    assert_int_equal(cg_sum_io("", "rbytes"), 0);
    assert_int_equal(cg_sum_io("xrbytes=5 rbytes5 rbytes", "rbytes"), 0);
}

static void test_pressure(void **state)
{
    struct cg_stall s;
    (void)state;
    assert_int_equal(cg_parse_pressure("some avg10=12.34 avg60=0.50 avg300=0.00 total=98765\n"
                                       "full avg10=1.05 avg60=0.00 avg300=0.00 total=4321\n",
                                       &s),
                     0);
    assert_int_equal(s.some_avg10, 1234);
    assert_int_equal(s.some_usec, 98765);
    assert_int_equal(s.full_avg10, 105);
    assert_int_equal(s.full_usec, 4321);
    assert_int_equal(cg_parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n", &s), 0);
    assert_int_equal(s.full_usec, 0);
    static const char *const bad[] = { "", "some",
                                       "full avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
                                       "some avg10=x avg60=0.00 avg300=0.00 total=1\n",
                                       "some avg10=0.00 avg60=0.00 avg300=0.00\n" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(cg_parse_pressure(bad[i], &s), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_cpu),      cmocka_unit_test(test_rest),
        cmocka_unit_test(test_root),     cmocka_unit_test(test_demanded),
        cmocka_unit_test(test_live),     cmocka_unit_test(test_io_stat),
        cmocka_unit_test(test_pressure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
