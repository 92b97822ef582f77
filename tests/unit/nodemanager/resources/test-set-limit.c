/* resources/set-limit.c on a store in memory: bounds, the record, the cgroup's value, a restart, a
 * cgroup that refuses. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cgroups/cg.h"
#include "executor/exe.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/resources/set-limit.h"
#include "nodemanager/store/state-store.h"

#define MIB (1024ULL * 1024)

static struct nm_context ctx;
static struct nm_container container;
static struct cg_policy policy = { .node_memory = 8192 * MIB,
                                   .node_millicpus = 4000,
                                   .pids_max = 64 };
static unsigned controllers = CG_MEMORY | CG_CPU | CG_PIDS;
static struct cg_override applied; /* the last that the cgroup was given */
static int writes, refusals;       /* so many writes fail */
static uint64_t used;

const struct cg_policy *__wrap_cg_root_policy(const struct cg_root *r);
const struct cg_policy *__wrap_cg_root_policy(const struct cg_root *r)
{
    (void)r;
    return &policy;
}

unsigned __wrap_cg_root_controllers(const struct cg_root *r);
unsigned __wrap_cg_root_controllers(const struct cg_root *r)
{
    (void)r;
    return controllers;
}

int __wrap_cg_leaf_set_limits(struct cg_leaf *l, const struct cg_resource *c, struct sv_error *err);
int __wrap_cg_leaf_set_limits(struct cg_leaf *l, const struct cg_resource *c, struct sv_error *err)
{
    (void)l;
    writes++;
    if (refusals-- > 0)
        return sv_error_set(err, -EIO, "no such disk");
    applied = c->set;
    return 0;
}

int __wrap_cg_leaf_usage(struct cg_leaf *l, struct cg_usage *ret);
int __wrap_cg_leaf_usage(struct cg_leaf *l, struct cg_usage *ret)
{
    (void)l;
    *ret = (struct cg_usage){ .memory_current = used };
    return 0;
}

struct cg_leaf *__wrap_exe_container_cgroup(struct exe_container *c);
struct cg_leaf *__wrap_exe_container_cgroup(struct exe_container *c)
{
    return (struct cg_leaf *)c;
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(sd_event_new(&ctx.event), 0);
    assert_int_equal(nm_store_open(ctx.event, NULL, &ctx.store, NULL), 0);
    container = (struct nm_container){ .ctx = &ctx,
                                       .state = NM_CONTAINER_RUNNING,
                                       .launch.exe = (struct exe_container *)&container };
    snprintf(container.text, sizeof(container.text), "container_1_0001_01_000001");
    HASH_ADD_STR(ctx.containers, text, &container);
    writes = refusals = 0;
    used = 0;
    controllers = CG_MEMORY | CG_CPU | CG_PIDS;
    policy.strict_cpu = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    HASH_CLEAR(hh, ctx.containers);
    ctx.store = nm_store_close(ctx.store);
    ctx.event = sd_event_unref(ctx.event);
    return 0;
}

static int set(const char *name, uint64_t value)
{
    return nm_limit_set(&container, name, value, NULL);
}

static void refused(const char *name, uint64_t value, int code, const char *words)
{
    struct sv_error err = { 0 };

    assert_int_equal(nm_limit_set(&container, name, value, &err), code);
    if (!strstr(err.text, words))
        fail_msg("%s: expected \"%s\"", err.text, words);
    assert_int_equal(writes, 0);
}

static void bounds(void **state)
{
    static const struct {
        const char *name;
        uint64_t min, max;
    } rows[] = {
        { "memory", 4 * MIB, 8192 * MIB },
        { "cpu-weight", 1, 10000 },
        { "cpu-quota", 10, 4000 },
        { "pids", 1, 64 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        char words[64];

        writes = 0;
        snprintf(words, sizeof(words), "%s %llu: expected ", rows[i].name,
                 (unsigned long long)rows[i].max + 1);
        refused(rows[i].name, rows[i].max + 1, -EINVAL, words);
        refused(rows[i].name, UINT64_MAX, -EINVAL, "expected");
        if (rows[i].min > 1)
            refused(rows[i].name, rows[i].min - 1, -EINVAL, "expected");
        assert_int_equal(set(rows[i].name, rows[i].min), 0);
        assert_int_equal(set(rows[i].name, rows[i].max), 0);
    }
    writes = 0;
    refused("memory.max", 1, -EINVAL, "\"memory.max\" is no limit");
    refused("", 1, -EINVAL, "is no limit");
}

static void cannot(void **state)
{
    (void)state;
    used = 100 * MIB;
    refused("memory", 99 * MIB, -EINVAL, "uses 104857600 bytes");
    controllers = CG_CPU;
    refused("memory", 200 * MIB, -EOPNOTSUPP, "cannot limit memory");
    refused("pids", 2, -EOPNOTSUPP, "cannot limit pids");
    container.state = NM_CONTAINER_KILLING;
    refused("cpu-weight", 2, -ESRCH, "does not run: it is KILLING");
    container.state = NM_CONTAINER_RUNNING;
    container.launch.exe = NULL;
    refused("cpu-weight", 2, -ESRCH, "does not run");
}

static void restart(void **state)
{
    (void)state;
    assert_int_equal(set("memory", 64 * MIB), 0);
    assert_int_equal(set("cpu-weight", 7), 0);
    assert_int_equal(set("cpu-quota", 500), 0);
    assert_int_equal(set("pids", 9), 0);
    container.share.set = (struct cg_override){ 0 };
    assert_int_equal(nm_limit_recover(&ctx), 0);
    assert_int_equal(container.share.set.memory_max, 64 * MIB);
    assert_int_equal(container.share.set.cpu_weight, 7);
    assert_int_equal(container.share.set.cpu_millis, 500);
    assert_int_equal(container.share.set.pids_max, 9);
    assert_memory_equal(&applied, &container.share.set, sizeof(applied));
    nm_limit_forget(&container);
    container.share.set = (struct cg_override){ 0 };
    assert_int_equal(nm_limit_recover(&ctx), 0);
    assert_int_equal(container.share.set.memory_max, 0);
}

static int count(const char *name, const char *value, void *userdata)
{
    (void)name;
    (void)value;
    ++*(int *)userdata;
    return 0;
}

static void taken_back(void **state)
{
    int rows = 0;

    (void)state;
    policy.strict_cpu = true;
    assert_int_equal(set("cpu-quota", 500), 0);
    assert_int_equal(set("cpu-quota", 0), 0); /* the policy's own */
    assert_int_equal(applied.cpu_millis, 0);
    assert_int_equal(nm_store_each_setting(ctx.store, count, &rows), 0);
    assert_int_equal(rows, 0);
    policy.strict_cpu = false;
    assert_int_equal(set("cpu-quota", 0), 0); /* there is none: the one in the cgroup goes */
    assert_true(applied.cpu_millis == CG_CPU_UNLIMITED);
}

static void cgroup_refuses(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(set("pids", 9), 0);
    refusals = 1;
    assert_int_equal(nm_limit_set(&container, "pids", 5, &err), -EIO);
    assert_int_equal(container.share.set.pids_max, 9);
    assert_int_equal(applied.pids_max, 9);
    container.share.set.pids_max = 0;
    assert_int_equal(nm_limit_recover(&ctx), 0);
    assert_int_equal(container.share.set.pids_max, 9);
}

/* Its own wish is recorded, too, and an operator's limit comes before it. */
static void wanted(void **state)
{
    struct cg_resource limits;
    int rows = 0;

    (void)state;
    assert_int_equal(nm_limit_want(&container, 0), 0);
    assert_int_equal(nm_store_each_setting(ctx.store, count, &rows), 0);
    assert_int_equal(rows, 0);
    assert_int_equal(nm_limit_want(&container, 20), 0);
    nm_limits_of(&container, &limits);
    assert_int_equal(limits.set.pids_max, 20);
    assert_int_equal(set("pids", 9), 0);
    nm_limits_of(&container, &limits);
    assert_int_equal(limits.set.pids_max, 9);
    assert_int_equal(set("pids", 0), 0);
    assert_int_equal(applied.pids_max, 20);
    container.share.wanted_pids = 0;
    assert_int_equal(nm_limit_recover(&ctx), 0);
    assert_int_equal(container.share.wanted_pids, 20);
    assert_int_equal(nm_limit_want(&container, 0), 0); /* of another version */
    assert_int_equal(nm_store_each_setting(ctx.store, count, &rows), 0);
    assert_int_equal(rows, 0);
}

static void damaged_record(void **state)
{
    (void)state;
    assert_int_equal(nm_store_setting(ctx.store, "limits container_1_0001_01_000001", "1 2 3"), 0);
    assert_int_equal(nm_store_setting(ctx.store, "limits container_9", "1 2 3 4"), 0);
    assert_int_equal(nm_limit_recover(&ctx), 0);
    assert_int_equal(container.share.set.memory_max, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cannot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(taken_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cgroup_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wanted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_record, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
