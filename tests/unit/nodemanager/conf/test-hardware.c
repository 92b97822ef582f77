/* conf/hardware.c: a machine of files, its cgroups, and Hadoop's formulas. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "nodemanager/conf/hardware.h"

static char dir[] = "/tmp/selvedge-hardware-XXXXXX";
static char meminfo[128], cpus[128], group[128];
static const struct nm_hardware_source source = { meminfo, cpus, group };

/* Writes `text` into a file below `dir`, with its directories. */
static void put(const char *name, const char *text)
{
    char path[256], parent[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(path, '/') - path), path);
    assert_int_equal(sv_mkdir_p(parent, 0755), 0);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Two packages of two cores with two threads each: 0-3 are the first threads, 4-7 the second. */
static int set_up(void **state)
{
    char name[64], text[64];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(meminfo, sizeof(meminfo), "%s/meminfo", dir);
    snprintf(cpus, sizeof(cpus), "%s/cpu", dir);
    snprintf(group, sizeof(group), "%s/cgroup/system.slice/nm.service", dir);
    put("meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\nHugePages_Total:       0\n"
                   "Hugepagesize:       2048 kB\n");
    put("cpu/online", "0-7\n");
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "cpu/cpu%d/topology/thread_siblings_list", i);
        snprintf(text, sizeof(text), "%d,%d\n", i % 4, i % 4 + 4);
        put(name, text);
    }
    put("cgroup/cgroup.controllers", "cpu memory\n");
    put("cgroup/cpuset.cpus.effective", "0-7\n");
    put("cgroup/system.slice/cgroup.controllers", "memory\n");
    put("cgroup/system.slice/nm.service/cgroup.controllers", "memory\n");
    return 0;
}

static struct nm_hardware read_machine(void)
{
    struct nm_hardware h;
    struct sv_error err = { 0 };

    if (nm_hardware_read(&source, &h, &err) < 0)
        fail_msg("%s", err.text);
    return h;
}

static void machine(void **state)
{
    struct nm_hardware h = read_machine();

    (void)state;
    assert_int_equal(h.memory_mb, 16384);
    assert_int_equal(h.processors, 8);
    assert_int_equal(h.cores, 4);
    assert_false(h.confined);
    put("meminfo", "SwapTotal: 9 kB\nMemTotal:       16777216 kB\nHardwareCorrupted: 1024 kB\n"
                   "HugePages_Total:       512\nHugepagesize:       2048 kB\n");
    assert_int_equal(read_machine().memory_mb, 16384 - 1024 - 1); /* reserved, or broken */
    put("meminfo", "MemTotal:       16777216 kB\n");
}

/* The slice, the service or the container around the daemon gives less than the machine has. */
static void confined(void **state)
{
    struct nm_hardware h;

    (void)state;
    put("cgroup/system.slice/memory.max", "8589934592\n");
    put("cgroup/system.slice/nm.service/memory.max", "max\n");
    h = read_machine();
    assert_int_equal(h.memory_mb, 8192);
    assert_true(h.confined);
    put("cgroup/system.slice/nm.service/memory.max", "4294967296\n");
    assert_int_equal(read_machine().memory_mb, 4096);
    put("cgroup/system.slice/nm.service/memory.max", "99999999999999\n"); /* more than there is */
    assert_int_equal(read_machine().memory_mb, 8192);
    put("cgroup/system.slice/cpuset.cpus.effective", "1,5-6\n"); /* a core, and half of another */
    h = read_machine();
    assert_int_equal(h.processors, 3);
    assert_int_equal(h.cores, 2);
    put("cgroup/system.slice/nm.service/cpuset.cpus.effective", "\n"); /* not set: the parent's */
    assert_int_equal(read_machine().processors, 3);
    put("cgroup/system.slice/nm.service/cpuset.cpus.effective", "2\n");
    assert_int_equal(read_machine().processors, 1);
    h = read_machine();
    assert_int_equal(
        nm_hardware_read(&(struct nm_hardware_source){ meminfo, cpus, NULL }, &h, NULL), 0);
    assert_false(h.confined);
}

static void odd_files(void **state)
{
    struct nm_hardware h = { .memory_mb = 77 };
    struct sv_error err = { 0 };

    (void)state;
    put("cpu/online", "0-99999\n");
    assert_int_equal(nm_hardware_read(&source, &h, &err), -ENODATA);
    assert_non_null(strstr(err.text, "online"));
    put("cpu/online", "3-1\n");
    assert_int_equal(nm_hardware_read(&source, &h, &err), -ENODATA);
    put("cpu/online", "0-1x\n");
    assert_int_equal(nm_hardware_read(&source, &h, &err), -ENODATA);
    put("cpu/online", "20-21\n"); /* a machine without topology */
    assert_int_equal(
        nm_hardware_read(&(struct nm_hardware_source){ meminfo, cpus, NULL }, &h, &err), 0);
    assert_int_equal(h.cores, 2);
    put("meminfo", "MemTotal: none\n");
    h.memory_mb = 77;
    assert_int_equal(nm_hardware_read(&source, &h, &err), -ENODATA);
    assert_int_equal(h.memory_mb, 77);
    put("meminfo", "MemTotal: 1000 kB\nHugePages_Total: 18446744073709551615\n"
                   "Hugepagesize: 2048 kB\n");
    assert_int_equal(nm_hardware_read(&source, &h, &err), -ENODATA);
    put("meminfo", "MemTotal:       16777216 kB\n");
    put("cpu/online", "0-7\n");
}

/* This machine, wherever the test runs. */
static void here(void **state)
{
    struct nm_hardware h;
    struct sv_error err = { 0 };

    (void)state;
    if (nm_hardware_detect(NULL, &h, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(h.memory_mb > 0 && h.processors >= h.cores && h.cores >= 1);
    assert_true(h.processors <= sysconf(_SC_NPROCESSORS_ONLN));
}

static void formulas(void **state)
{
    const struct nm_hardware h = { .memory_mb = 16384, .processors = 16, .cores = 8 };
    const struct nm_hardware small = { .memory_mb = 1900, .processors = 1, .cores = 1 };

    (void)state;
    assert_int_equal(nm_hardware_memory(&h, -1), 11507); /* 0.8 × (16384 − 2 × 1000) */
    assert_int_equal(nm_hardware_memory(&h, 0), 16384);
    assert_int_equal(nm_hardware_memory(&h, 4096), 12288);
    assert_true(nm_hardware_memory(&small, -1) <= 0);
    assert_true(nm_hardware_memory(&small, 2000) <= 0);
    assert_int_equal(nm_hardware_vcores(&h, false, 100, 1), 8);
    assert_int_equal(nm_hardware_vcores(&h, true, 100, 1), 16);
    assert_int_equal(nm_hardware_vcores(&h, false, 50, 1), 4);
    assert_int_equal(nm_hardware_vcores(&h, false, 100, 1.5), 12);
    assert_int_equal(nm_hardware_vcores(&h, false, 70, 1), 6); /* 5.6 */
    assert_int_equal(nm_hardware_vcores(&h, false, 30, 1.25), 3);
    assert_int_equal(nm_hardware_vcores(&small, true, 10, 1), 1); /* never none */
    assert_int_equal(nm_hardware_vcores(&h, true, 100, 1e9), INT32_MAX);
}

static int remove_files(void **state)
{
    _cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    return sv_remove_tree_at(tmp, strrchr(dir, '/') + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine), cmocka_unit_test(confined), cmocka_unit_test(odd_files),
        cmocka_unit_test(here),    cmocka_unit_test(formulas),
    };

    return cmocka_run_group_tests(tests, set_up, remove_files);
}
