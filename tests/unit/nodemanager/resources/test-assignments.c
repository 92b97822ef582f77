/* resources/assignments.c: GPUs are assigned once, and assigned again after a restart; what a
 * container gets and is told of them; addresses of a private network. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/gpu-discovery.h"

#include "tests/unit/nodemanager/resources/gpu-tree.h"

static char root[64];

struct fixture {
    struct nm_conf conf;
    struct nm_context ctx;
    struct nm_assignments *assignments;
    struct nm_container c[4];
};

static uint32_t addresses; /* of the private network; 0 = unknown */

uint32_t exe_addresses(const struct exe *x)
{
    (void)x;
    return addresses;
}

bool exe_assignable(const struct exe *x, const struct exe_device *d)
{
    (void)x;
    return d->minor != 8;
}

/* Cards 3, 5 and 7 by a list; `more` makes what else is there. */
static void fixture_open_with(struct fixture *f, const char *allowed, void (*more)(void))
{
    struct sv_error err = { 0 };

    addresses = 0;
    *f = (struct fixture){ .conf = { .gpus = true,
                                     .gpus_allowed = allowed,
                                     .gpu_major = TREE_MAJOR,
                                     .network = EXE_NETWORK_PRIVATE,
                                     .net_rate_kbit = 20000,
                                     .net_ceil_kbit = 1000000 } };
    f->ctx.conf = &f->conf;
    for (size_t i = 0; i < 4; i++) {
        f->c[i].ctx = &f->ctx;
        f->c[i].resource.gpus = 1;
        (void)snprintf(f->c[i].text, sizeof(f->c[i].text), "container_%zu", i);
    }
    tree_open(root);
    if (more)
        more();
    assert_int_equal(nm_assignments_new(&f->ctx, root, &f->assignments, &err), 0);
}

static void nodes(void)
{
    tree_node(root, "nvidia3", 3);
    tree_node(root, "nvidia5", 5);
    tree_node(root, "nvidia7", 7);
}

static void fixture_open(struct fixture *f)
{
    fixture_open_with(f, "0:3,1:5,2:7", nodes);
    assert_int_equal(nm_assignments_gpus(f->assignments), 3);
}

static void fixture_close(struct fixture *f)
{
    f->assignments = nm_assignments_free(f->assignments);
    tree_close(root);
}

static void test_assigned_once(void **state)
{
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];
    struct exe_launch l = { .network = EXE_NETWORK_PRIVATE },
                      none = { .network = EXE_NETWORK_NONE };

    (void)state;
    fixture_open(&f);
    f.c[0].resource.gpus = 2;
    assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
    assert_string_equal(text, "address=0 gpu=3 gpu=5");
    assert_int_equal(nm_assign(f.assignments, &f.c[1], text, &err), 0);
    assert_string_equal(text, "address=1 gpu=7");
    assert_int_equal(nm_assign(f.assignments, &f.c[2], text, &err), -EBUSY);
    assert_non_null(strstr(err.text, "0 are free of 3"));
    assert_string_equal(text, "");
    nm_assign_launch(f.assignments, &f.c[0], &l);
    assert_int_equal(l.n_devices, 2);
    assert_int_equal(l.devices[1].major, TREE_MAJOR);
    assert_int_equal(l.devices[1].minor, 5);
    assert_int_equal(l.net_index, 0);
    assert_int_equal(l.net_rate_kbit, 20000);
    assert_int_equal(l.net_ceil_kbit, 1000000);
    nm_assign_launch(f.assignments, &f.c[0], &none); /* it has asked for no network */
    assert_int_equal(none.net_rate_kbit, 0);
    nm_assign_release(f.assignments, &f.c[0]);
    assert_int_equal(nm_assign(f.assignments, &f.c[2], text, &err), 0);
    assert_string_equal(text, "address=2 gpu=3"); /* a released address is not the next one */
    f.c[3].resource.gpus = 0;
    assert_int_equal(nm_assign(f.assignments, &f.c[3], text, &err), 0);
    assert_string_equal(text, "address=3");
    nm_assign_launch(f.assignments, &f.c[3], &l);
    assert_int_equal(l.n_devices, 0);
    fixture_close(&f);
}

/* The cards that a container names are its own or none; a wrong list is refused for good. */
static void test_named(void **state)
{
    static const struct {
        const char *value;
        int64_t gpus;
        int r;
        bool may_come;
        const char *text;
    } v[] = {
        { "1", 1, 0, true, "address=0 gpu=5" },
        { "2,0", 2, 0, true, "address=1 gpu=3 gpu=7" },
        { "1", 1, -EBUSY, true, "0 of the 1 GPUs" },
        { "3", 1, -EBUSY, false, "which has 3" },
        { "127", 1, -EBUSY, false, "which has 3" },
        { "128", 1, -EINVAL, false, "0,2" },
        { "1,1", 2, -EINVAL, false, "0,2" },
        { "", 1, -EINVAL, false, "0,2" },
        { "0,", 1, -EINVAL, false, "0,2" },
        { "-1", 1, -EINVAL, false, "0,2" },
        { "0x1", 1, -EINVAL, false, "0,2" },
        { "0,1", 1, -EINVAL, false, "names 2 GPUs" },
        { "0", 0, 0, true, "address=2" },
    };
    char key[] = "SELVEDGE_CONTAINER_GPUS", value[16], text[NM_ASSIGNED_TEXT_MAX];
    Hadoop__Yarn__StringStringMapProto one = HADOOP__YARN__STRING_STRING_MAP_PROTO__INIT;
    Hadoop__Yarn__StringStringMapProto *list[] = { &one };
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    struct nm_container c[SV_ARRAY_LEN(v)] = { 0 };
    struct fixture f;

    (void)state;
    fixture_open(&f);
    one.key = key;
    one.value = value;
    clc.environment = list;
    clc.n_environment = 1;
    for (size_t i = 0; i < SV_ARRAY_LEN(v); i++) {
        struct sv_error err = { 0 };

        c[i].ctx = &f.ctx;
        c[i].clc = &clc;
        c[i].resource.gpus = v[i].gpus;
        (void)snprintf(value, sizeof(value), "%s", v[i].value);
        assert_int_equal(nm_assign(f.assignments, &c[i], text, &err), v[i].r);
        if (!strstr(v[i].r ? err.text : text, v[i].text))
            fail_msg("%s: %s%s", v[i].value, text, err.text);
        assert_int_equal(nm_assign_may_come(f.assignments, &c[i]), v[i].may_come);
        assert_int_equal(nm_assign_is_whole(f.assignments, &c[i]), v[i].r == 0);
    }
    fixture_close(&f);
}

/* A small range: the first address follows the last. */
static void test_small_range(void **state)
{
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];

    (void)state;
    fixture_open(&f);
    addresses = 3;
    for (int i = 0; i < 7; i++) {
        char expected[32];
        (void)snprintf(expected, sizeof(expected), "address=%d", i % 3);
        f.c[0].resource.gpus = 0;
        assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
        assert_string_equal(text, expected);
        nm_assign_release(f.assignments, &f.c[0]);
    }
    for (int i = 0; i < 4; i++) {
        f.c[i].resource.gpus = 0;
        assert_int_equal(nm_assign(f.assignments, &f.c[i], text, &err), i < 3 ? 0 : -EBUSY);
    }
    assert_non_null(strstr(err.text, "no address of the private network is free"));
    fixture_close(&f);
}

static void test_assigned_again(void **state)
{
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];
    static const char *const bad[] = {
        "gpu=7", "address=7",       "address=65534",       "address=-1",  "gpu=7/1", "gpu=",
        "x=1",   "gpu=3 address=7", "address=1 address=2", "gpu=3/1/0/0", "gpu=-1",  "gpu=x/1/0",
    };

    (void)state;
    fixture_open(&f);
    assert_int_equal(nm_assign_again(f.assignments, &f.c[0], "address=7 gpu=7"), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(nm_assign_again(f.assignments, &f.c[1], bad[i]), -EBADMSG);
        nm_assign_release(f.assignments, &f.c[1]);
    }
    assert_int_equal(nm_assign_again(f.assignments, &f.c[1], "gpu=9 gpu=3/1/0"),
                     0); /* GPUs that were removed from the node */
    assert_int_equal(f.c[1].share.assigned.n_gpus, 0);
    f.c[2].resource.gpus = 2;
    assert_int_equal(nm_assign(f.assignments, &f.c[2], text, &err), 0);
    assert_string_equal(text, "address=0 gpu=3 gpu=5");
    fixture_close(&f);
}

static void count(void *userdata)
{
    ++*(int *)userdata;
}

/* A release is told once; an attempt that fails has released nothing. */
static void test_release_is_told(void **state)
{
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];
    int told = 0;

    (void)state;
    fixture_open(&f);
    nm_assignments_on_release(f.assignments, count, &told);
    f.c[0].resource.gpus = 2;
    f.c[1].resource.gpus = 2;
    f.c[2].resource.gpus = 4;
    assert_false(nm_assign_is_whole(f.assignments, &f.c[0]));
    assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
    assert_true(nm_assign_is_whole(f.assignments, &f.c[0]));
    assert_int_equal(nm_assign(f.assignments, &f.c[1], text, &err), -EBUSY);
    assert_int_equal(told, 0);
    assert_false(nm_assign_is_whole(f.assignments, &f.c[1]));
    assert_true(nm_assign_may_come(f.assignments, &f.c[1]));
    assert_false(nm_assign_may_come(f.assignments, &f.c[2]));
    nm_assign_release(f.assignments, &f.c[0]);
    nm_assign_release(f.assignments, &f.c[0]);
    assert_int_equal(told, 1);
    assert_int_equal(nm_assign(f.assignments, &f.c[1], text, &err), 0);
    fixture_close(&f);
}

static const char *variable(const struct fixture *f, int c, struct sv_arena *a, const char *name)
{
    struct nm_variable *list;
    size_t n;

    assert_int_equal(nm_assign_env(f->assignments, &f->c[c], a, &list, &n), 0);
    for (size_t i = 0; i < n; i++)
        if (sv_streq(list[i].name, name))
            return list[i].value;
    return NULL;
}

static void cards(void)
{
    tree_card(root, "0000:3b:00.0", 3, TREE_UUID(3));
    tree_card(root, "0000:07:00.0", 7, TREE_UUID(7));
    tree_card(root, "0000:af:00.0", 5, TREE_UNKNOWN);
}

/* Names where all are known, else numbers in the container. */
static void test_environment(void **state)
{
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];
    struct sv_arena *a = sv_arena_new(0);

    (void)state;
    fixture_open_with(&f, "auto", cards);
    f.c[0].resource.gpus = 2;
    assert_null(variable(&f, 0, a, "CUDA_VISIBLE_DEVICES"));
    assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
    assert_string_equal(variable(&f, 0, a, "CUDA_VISIBLE_DEVICES"), TREE_UUID(7) "," TREE_UUID(3));
    assert_string_equal(variable(&f, 0, a, "NVIDIA_VISIBLE_DEVICES"),
                        TREE_UUID(7) "," TREE_UUID(3));
    assert_string_equal(variable(&f, 0, a, "SELVEDGE_GPU_INDEXES"), "0,1");
    assert_int_equal(nm_assign(f.assignments, &f.c[1], text, &err), 0);
    assert_string_equal(variable(&f, 1, a, "CUDA_VISIBLE_DEVICES"), "0");
    assert_string_equal(variable(&f, 1, a, "SELVEDGE_GPU_INDEXES"), "2");
    nm_assign_release(f.assignments, &f.c[0]);
    nm_assign_release(f.assignments, &f.c[1]);
    f.c[0].resource.gpus = 3;
    assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
    assert_string_equal(variable(&f, 0, a, "CUDA_VISIBLE_DEVICES"), "0,1,2");
    sv_arena_free(a);
    fixture_close(&f);
}

static void instances(void)
{
    tree_card(root, "0000:3b:00.0", 3, TREE_UUID(3));
    tree_access(root, 3, "gi1", 5);
    tree_access(root, 3, "gi1/ci0", 7);
    tree_access(root, 3, "gi2", 8);
    tree_access(root, 3, "gi2/ci0", 9);
}

/* Two containers have one instance each, with its card's node and those of its capabilities. */
static void test_instances(void **state)
{
    static const uint32_t wanted[] = { 3, 5, 7 };
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];
    struct exe_launch l = { 0 };
    struct sv_arena *a = sv_arena_new(0);

    (void)state;
    fixture_open_with(&f, "0:3", instances);
    assert_int_equal(nm_assignments_gpus(f.assignments), 2);
    assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
    assert_string_equal(text, "address=0 gpu=3/1/0");
    assert_string_equal(variable(&f, 0, a, "NVIDIA_VISIBLE_DEVICES"), "MIG-" TREE_UUID(3) "/1/0");
    nm_assign_launch(f.assignments, &f.c[0], &l);
    assert_int_equal(l.n_devices, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(l.devices[i].minor, wanted[i]);
    assert_int_equal(nm_assign(f.assignments, &f.c[1], text, &err), 0);
    assert_string_equal(text, "address=1 gpu=3/2/0");
    assert_int_equal(nm_assign(f.assignments, &f.c[2], text, &err), -EBUSY);
    nm_assign_release(f.assignments, &f.c[1]);
    assert_int_equal(nm_assign_again(f.assignments, &f.c[2], "gpu=3/1/0"), -EBADMSG);
    assert_int_equal(nm_assign_again(f.assignments, &f.c[2], "gpu=3/2/0"), 0);
    assert_int_equal(f.c[2].share.assigned.units, 1);
    sv_arena_free(a);
    fixture_close(&f);
}

/* A withdrawn card is not assigned, and stays with a container that has it. */
static void test_withdrawn(void **state)
{
    const struct nm_gpu_sources s = { root, "0:3,1:5,2:7", NULL, TREE_MAJOR };
    static struct nm_gpus found;
    struct fixture f;
    struct sv_error err = { 0 };
    char text[NM_ASSIGNED_TEXT_MAX];
    int told = 0;

    (void)state;
    fixture_open(&f);
    nm_assignments_on_release(f.assignments, count, &told);
    assert_int_equal(nm_assign(f.assignments, &f.c[0], text, &err), 0);
    tree_remove(root, "dev/nvidia3");
    tree_remove(root, "dev/nvidia5");
    nm_gpu_look(&s, false, &found);
    assert_true(nm_assignments_found(f.assignments, &found));
    assert_false(nm_assignments_found(f.assignments, &found));
    assert_int_equal(nm_assignments_gpus(f.assignments), 1);
    assert_true(nm_assign_is_whole(f.assignments, &f.c[0]));
    assert_int_equal(nm_assign(f.assignments, &f.c[1], text, &err), 0);
    assert_string_equal(text, "address=1 gpu=7");
    assert_int_equal(nm_assign(f.assignments, &f.c[2], text, &err), -EBUSY);
    assert_non_null(strstr(err.text, "0 are free of 1"));
    assert_int_equal(told, 0);
    tree_node(root, "nvidia5", 5);
    nm_gpu_look(&s, false, &found);
    assert_true(nm_assignments_found(f.assignments, &found));
    assert_int_equal(told, 1); /* it may be waited for */
    assert_int_equal(nm_assign(f.assignments, &f.c[2], text, &err), 0);
    assert_string_equal(text, "address=2 gpu=5");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assigned_once),  cmocka_unit_test(test_release_is_told),
        cmocka_unit_test(test_named),          cmocka_unit_test(test_small_range),
        cmocka_unit_test(test_assigned_again), cmocka_unit_test(test_environment),
        cmocka_unit_test(test_instances),      cmocka_unit_test(test_withdrawn),
    };

    return cmocka_run_group_tests_name("assignments", tests, NULL, NULL);
}
