/* resources/gpu-discovery.c: the operator's list, nvidia-smi's names, and what a later look
 * changes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nodemanager/resources/gpu-discovery.h"

#include "tests/unit/nodemanager/resources/gpu-tree.h"

static struct nm_gpus known, found;
static char root[64];

static struct nm_gpu_sources sources(const char *allowed, const char *program)
{
    return (struct nm_gpu_sources){ root, allowed, program, TREE_MAJOR };
}

static int discover(const char *allowed, const char *program, char *why)
{
    const struct nm_gpu_sources s = sources(allowed, program);
    struct sv_error err = { 0 };
    int r = nm_gpu_discover(&s, &known, &err);

    (void)snprintf(why, 1024, "%s", err.text);
    return r;
}

static bool look_again(const char *allowed, bool driver)
{
    const struct nm_gpu_sources s = sources(allowed, NULL);

    nm_gpu_look(&s, driver, &found);
    return nm_gpu_merge(&known, &found);
}

/* Cards 3 and 7, of which 7 is the first on the bus. */
static void two_cards(void)
{
    tree_open(root);
    tree_card(root, "0000:3b:00.0", 3, TREE_UUID(3));
    tree_card(root, "0000:07:00.0", 7, TREE_UUID(7));
}

static void test_list(void **state)
{
    static const char *const bad[] = { "",    "0",     "0:",    ":0", "0:0,0:0",
                                       "0:x", "0:255", "0:0:0", "all" };
    char why[1024], report[2048];

    (void)state;
    two_cards();
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_int_equal(discover(bad[i], NULL, why), -EINVAL);
        assert_non_null(strstr(why, "allowed-gpu-devices"));
    }
    assert_int_equal(discover("auto", NULL, why), 0);
    assert_int_equal(known.n, 2);
    assert_int_equal(known.v[0].minor, 7);
    assert_int_equal(discover("0:3", NULL, why), 0);
    assert_int_equal(known.n, 1);
    assert_int_equal(known.v[0].minor, 3);
    assert_string_equal(known.v[0].uuid, TREE_UUID(3));
    /* Neither of two missing cards ends the daemon. */
    tree_node(root, "nvidia5", 5);
    assert_int_equal(discover("0:3,1:5,2:9", NULL, why), 0);
    assert_int_equal(known.n, 3);
    assert_int_equal(nm_gpu_offered(&known), 1);
    nm_gpu_report(&known, report, sizeof(report));
    assert_non_null(strstr(report, "GPU /dev/nvidia5 is withdrawn: the driver does not list it"));
    assert_non_null(strstr(report, ";GPU /dev/nvidia9 is withdrawn: there is no device node"));
    tree_close(root);
}

/* Cards of a list need no driver's files; its absence later is a fault. */
static void test_without_driver(void **state)
{
    char why[1024], report[512];

    (void)state;
    tree_open(root);
    assert_int_equal(discover("auto", NULL, why), 0);
    nm_gpu_report(&known, report, sizeof(report));
    assert_non_null(strstr(report, "no GPU: /proc/driver/nvidia/gpus: "));
    tree_node(root, "nvidia5", 5);
    assert_int_equal(discover("0:5", NULL, why), 0);
    assert_int_equal(nm_gpu_offered(&known), 1);
    assert_false(look_again("0:5", false));
    assert_true(look_again("0:5", true));
    assert_int_equal(nm_gpu_offered(&known), 0);
    assert_non_null(strstr(known.v[0].gone, "driver is not loaded"));
    tree_close(root);
}

/* Its order and names; a program that fails leaves what the driver tells. */
static void test_program(void **state)
{
    char path[128], why[1024];
    int fd;

    (void)state;
    two_cards();
    tree_access(root, 3, "gi2", 8);
    tree_access(root, 3, "gi2/ci0", 9);
    assert_int_equal(discover("auto", "/nonexistent/nvidia-smi", why), -ENOENT);
    tree_put(root, "smi", "#!/bin/sh\nexit 1\n");
    snprintf(path, sizeof(path), "%s/smi", root);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(discover("auto", path, why), 0);
    assert_int_equal(known.v[0].minor, 7);
    assert_string_equal(known.v[1].uuid, "MIG-" TREE_UUID(3) "/2/0");
    fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(
        dprintf(fd, "#!/bin/sh\n[ $1 = -L ] && echo 'GPU 0: x' && echo '  MIG a Device 0: (UUID: "
                    "MIG-e)' && exit\necho '<nvidia_smi_log><gpu><minor_number>3</minor_number>"
                    "<mig_devices><mig_device><index>0</index><gpu_instance_id>2</gpu_instance_id>"
                    "<compute_instance_id>0</compute_instance_id></mig_device></mig_devices></gpu>"
                    "<gpu><minor_number>7</minor_number></gpu></nvidia_smi_log>'\n") > 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(discover("auto", path, why), 0);
    assert_int_equal(known.n, 2);
    assert_int_equal(known.v[0].minor, 3);
    assert_string_equal(known.v[0].uuid, "MIG-e");
    assert_int_equal(known.v[0].mig_index, 0);
    assert_string_equal(known.v[1].uuid, TREE_UUID(7));
    /* A later look knows no such name, and takes none away. */
    assert_false(look_again("auto", true));
    assert_string_equal(known.v[0].uuid, "MIG-e");
    tree_close(root);
}

static void test_gone_and_back(void **state)
{
    const struct nm_container *owner = (const void *)root;
    char why[1024];

    (void)state;
    two_cards();
    assert_int_equal(discover("auto", NULL, why), 0);
    assert_false(look_again("auto", true));
    known.v[1].owner = owner;
    tree_remove(root, "proc/driver/nvidia/gpus/0000:07:00.0/information");
    assert_true(look_again("auto", true)); /* its directory is there: it cannot be read */
    assert_int_equal(known.n, 2);
    assert_non_null(strstr(known.v[0].gone, "0000:07:00.0/information: No such file"));
    tree_remove(root, "proc/driver/nvidia/gpus/0000:07:00.0");
    assert_true(look_again("auto", true));
    assert_int_equal(known.n, 2);
    assert_non_null(strstr(known.v[0].gone, "does not list it any more"));
    assert_int_equal(nm_gpu_offered(&known), 1);
    assert_ptr_equal(known.v[1].owner, owner);
    tree_information(root, "0000:07:00.0", 7, TREE_UUID(7), "No");
    assert_true(look_again("auto", true));
    assert_int_equal(nm_gpu_offered(&known), 2);
    /* a new one, after what had been there */
    tree_card(root, "0000:f0:00.0", 9, TREE_UUID(9));
    assert_true(look_again("auto", true));
    assert_int_equal(nm_gpu_offered(&known), 3);
    assert_int_equal(known.v[2].minor, 9);
    tree_close(root);
}

/* Instances that an operator removes are forgotten, once no container has them. */
static void test_partitioned_anew(void **state)
{
    const struct nm_container *owner = (const void *)root;
    char why[1024];

    (void)state;
    two_cards();
    assert_int_equal(discover("auto", NULL, why), 0);
    assert_int_equal(known.n, 2);
    tree_access(root, 3, "gi2", 8);
    tree_access(root, 3, "gi2/ci0", 9);
    assert_true(look_again("auto", true));
    assert_int_equal(known.n, 2);
    assert_true(known.v[1].instance);
    assert_int_equal(nm_gpu_offered(&known), 2);
    known.v[1].owner = owner;
    tree_remove(root, "proc/driver/nvidia/capabilities/gpu3/mig/gi2/ci0/access");
    tree_remove(root, "proc/driver/nvidia/capabilities/gpu3/mig/gi2/ci0");
    assert_true(look_again("auto", true));
    assert_int_equal(known.n, 3);
    assert_int_equal(nm_gpu_offered(&known), 2);
    for (size_t i = 0; i < known.n; i++)
        known.v[i].owner = NULL;
    assert_true(look_again("auto", true));
    assert_int_equal(known.n, 2);
    assert_false(known.v[1].instance);
    tree_close(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_without_driver),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_gone_and_back),
        cmocka_unit_test(test_partitioned_anew),
    };

    return cmocka_run_group_tests_name("gpu-discovery", tests, NULL, NULL);
}
