/* resources/virtual-memory.c on processes that this program makes up: who is killed, with which
 * words, and one reading at a time. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cgroups/cg.h"
#include "common/log.h"
#include "executor/exe.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/process-sizes.h"
#include "nodemanager/resources/virtual-memory.h"

#define MIB (1ULL << 20)

static char killed_why[2048];
static struct nm_conf conf = { .vmem_check = true, .vmem_ratio = 2 };
static struct nm_context ctx = { .conf = &conf };
static struct nm_container container;
static struct nm_vmem *vmem;
static int kills, killed_code, readings;
/* The sizes that the thread finds, and the tick before which a process is no new one. */
static struct nm_process_sizes found;
static uint64_t asked_before;

struct cg_leaf *__wrap_exe_container_cgroup(struct exe_container *c);
struct cg_leaf *__wrap_exe_container_cgroup(struct exe_container *c)
{
    return (struct cg_leaf *)c;
}

int __wrap_cg_leaf_dir(const struct cg_leaf *l);
int __wrap_cg_leaf_dir(const struct cg_leaf *l)
{
    int fd = open("/", O_PATH | O_CLOEXEC);

    (void)l;
    readings++;
    return fd < 0 ? -errno : fd;
}

int __wrap_nm_process_sizes(const char *proc, int group, uint64_t before,
                            struct nm_process_sizes *ret);
int __wrap_nm_process_sizes(const char *proc, int group, uint64_t before,
                            struct nm_process_sizes *ret)
{
    (void)group;
    if (strcmp(proc, "/proc") != 0)
        return -ENOENT;
    asked_before = before;
    *ret = found;
    ret->aged = before ? found.bytes : 0;
    return 0;
}

void __wrap_nm_container_kill(struct nm_container *c, int exit_code, const char *why);
void __wrap_nm_container_kill(struct nm_container *c, int exit_code, const char *why)
{
    assert_ptr_equal(c, &container);
    c->kill_requested = true;
    kills++;
    killed_code = exit_code;
    snprintf(killed_why, sizeof(killed_why), "%s", why);
}

static int setup(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    if (sd_event_new(&ctx.event) < 0)
        return -1;
    sv_log_set_level(SV_LOG_ERR);
    container =
        (struct nm_container){ .ctx = &ctx,
                               .state = NM_CONTAINER_RUNNING,
                               .resource.memory_mb = 100,
                               .usage.last.memory_current = 50 * MIB,
                               .launch = { .exe = (struct exe_container *)&container, .pid = 77 } };
    snprintf(container.text, sizeof(container.text), "container_1_0001_01_000001");
    HASH_ADD_STR(ctx.containers, text, &container);
    found = (struct nm_process_sizes){
        .n = 3, .bytes = 400 * MIB, .largest = 79, .of_largest = { "java", 0, 300 * MIB }
    };
    kills = readings = 0;
    return nm_vmem_new(&ctx, &vmem, &err) < 0 || !vmem ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    vmem = nm_vmem_free(vmem);
    HASH_CLEAR(hh, ctx.containers);
    ctx.event = sd_event_unref(ctx.event);
    return 0;
}

static void read_once(void)
{
    nm_vmem_check(vmem, &container);
    assert_true(container.usage.vmem_reading);
    while (container.usage.vmem_reading)
        assert_true(sd_event_run(ctx.event, UINT64_MAX) >= 0);
}

static void killed(void **state)
{
    (void)state;
    found.bytes = 401 * MIB; /* more than twice 200 */
    read_once();
    assert_int_equal(kills, 1);
    assert_int_equal(killed_code, -103);
    assert_string_equal(
        killed_why,
        "Container [pid=77,containerID=container_1_0001_01_000001] is running 210763776B beyond "
        "the 'VIRTUAL' memory limit. Current usage: 50 MB of 100 MB physical memory used; 401 MB "
        "of 200 MB virtual memory used. Killing container.\nThe largest of its 3 processes is 79 "
        "(java) with 300 MB of virtual memory. Killed by the NodeManager "
        "(yarn.nodemanager.vmem-check-enabled, yarn.nodemanager.vmem-pmem-ratio).\n");
    assert_int_equal(container.usage.vmem_bytes, 401 * MIB);
    read_once();
    assert_int_equal(kills, 1); /* it is being killed */
}

/* The first reading above the limit, but not above twice that, does not count: what it has found
 * may be a process between fork and exec. */
static void first_reading(void **state)
{
    (void)state;
    read_once();
    assert_int_equal(asked_before, 0);
    assert_int_equal(kills, 0);
    read_once();
    assert_true(asked_before > 0);
    assert_int_equal(kills, 1);
}

static void within(void **state)
{
    (void)state;
    found.bytes = 200 * MIB;
    read_once();
    read_once();
    assert_int_equal(kills, 0);
    container.share.set.memory_max = 99 * MIB; /* an operator's limit */
    read_once();
    assert_int_equal(kills, 1);
}

static void spared(void **state)
{
    struct nm_vmem *none = vmem;
    struct sv_error err = { 0 };

    (void)state;
    container.share.set.memory_max = UINT64_MAX; /* twice that is more than there is */
    found.bytes = UINT64_MAX;
    read_once();
    read_once();
    container.share.set.memory_max = 0;
    container.state = NM_CONTAINER_KILLING;
    read_once();
    container.state = NM_CONTAINER_RUNNING;
    container.launch.exe = NULL;
    nm_vmem_check(vmem, &container);
    assert_false(container.usage.vmem_reading);
    conf.vmem_check = false;
    assert_int_equal(nm_vmem_new(&ctx, &none, &err), 0);
    conf.vmem_check = true;
    assert_null(none);
    nm_vmem_check(NULL, &container);
    assert_int_equal(kills, 0);
}

/* A container whose reading has not ended is not read again, and may go meanwhile. */
static void one_at_a_time(void **state)
{
    (void)state;
    nm_vmem_check(vmem, &container);
    nm_vmem_check(vmem, &container);
    assert_int_equal(readings, 1);
    HASH_CLEAR(hh, ctx.containers);
    assert_true(sd_event_run(ctx.event, UINT64_MAX) >= 0);
    assert_int_equal(kills, 0);
    assert_true(container.usage.vmem_reading); /* nobody's any more */
    nm_vmem_check(vmem, &container);
    container.usage.vmem_reading = false;
    nm_vmem_check(vmem, &container); /* ends with the daemon */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed, setup, teardown),
        cmocka_unit_test_setup_teardown(first_reading, setup, teardown),
        cmocka_unit_test_setup_teardown(within, setup, teardown),
        cmocka_unit_test_setup_teardown(spared, setup, teardown),
        cmocka_unit_test_setup_teardown(one_at_a_time, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
