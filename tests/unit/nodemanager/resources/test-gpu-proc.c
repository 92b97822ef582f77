/* resources/gpu-proc.c: cards and MIG instances by the driver's files and nodes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nodemanager/resources/gpu-discovery.h"
#include "nodemanager/resources/gpu-proc.h"

#include "tests/unit/nodemanager/resources/gpu-tree.h"

static int information(const char *text, struct nm_gpu_card *c)
{
    struct sv_error err = { 0 };
    int r = nm_gpu_parse_information(text, strlen(text), c, &err);

    assert_true(r == 0 || strstr(err.text, "information: "));
    return r;
}

static void test_information(void **state)
{
    static const char *const bad[] = {
        "",
        "\n\n",
        "no colon\nDevice Minor: 1\n",
        "Device Minor: \n",
        "Device Minor: -1\n",
        "Device Minor: 254\n",
        "Device Minor: 1 2\n",
        "Device Minor: 1\nDevice Minor: 1\n",
        "Device Minor: 1\nBus Location: ../../etc\n",
        "Device Minor: 1\nModel: a\tb\n",
        "Device Minor: 1\nModel: \x1b[1m\n",
    };
    struct nm_gpu_card c;
    char longer[600];

    (void)state;
    assert_int_equal(information("Model: \t\t NVIDIA T4 \nGPU UUID: \t " TREE_UUID(
                                     1) "\nBus Location: \t 0000:3b:00.0\nDevice Minor: \t 7",
                                 &c),
                     0);
    assert_string_equal(c.model, "NVIDIA T4");
    assert_string_equal(c.uuid, TREE_UUID(1));
    assert_string_equal(c.bus, "0000:3b:00.0");
    assert_int_equal(c.minor, 7);
    assert_false(c.excluded);
    /* of a card that nothing has used yet; of an older driver */
    assert_int_equal(information("GPU UUID: " TREE_UNKNOWN "\n"
                                 "Device Minor: 0\nBlacklisted: Yes\n",
                                 &c),
                     0);
    assert_string_equal(c.uuid, "");
    assert_true(c.excluded);
    /* names become values of the environment */
    assert_int_equal(information("GPU UUID: GPU-$(id)\nDevice Minor: 0\n", &c), 0);
    assert_string_equal(c.uuid, "");
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        if (information(bad[i], &c) != -EBADMSG)
            fail_msg("accepted: %s", bad[i]);
    memset(longer, 'x', sizeof(longer));
    memcpy(longer, "Model:", 6);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(information(longer, &c), -EBADMSG);
}

static void test_access(void **state)
{
    static const char *const bad[] = { "",
                                       "DeviceFileMode: 292\n",
                                       "DeviceFileMinor: x\n",
                                       "DeviceFileMinor: -3\n",
                                       "DeviceFileMinor: 1048576\n",
                                       "DeviceFileMinor: 3\nDeviceFileMinor: 4\n",
                                       "DeviceFileMinor 3\n" };
    static const char good[] = "DeviceFileMinor: 21\nDeviceFileMode: 292\n";
    struct sv_error err = { 0 };
    uint32_t minor = 0;

    (void)state;
    assert_int_equal(nm_gpu_parse_access(good, strlen(good), &minor, &err), 0);
    assert_int_equal(minor, 21);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(nm_gpu_parse_access(bad[i], strlen(bad[i]), &minor, &err), -EBADMSG);
}

static const struct nm_gpu *by_minor(const struct nm_gpus *g, uint32_t minor)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->v[i].minor == minor)
            return &g->v[i];
    fail_msg("no card %u", minor);
    return NULL;
}

/* Indices by PCI address, whatever the minors; reasons of cards that cannot be used. */
static void test_cards(void **state)
{
    static struct nm_gpus g;
    char root[64], text[256];

    (void)state;
    tree_open(root);
    nm_gpu_scan(root, TREE_MAJOR, &g);
    assert_int_equal(g.n, 0);
    assert_non_null(strstr(g.why, "driver is not loaded"));

    tree_card(root, "0000:3b:00.0", 7, TREE_UUID(7));
    tree_card(root, "0000:07:00.0", 3, TREE_UUID(3));
    tree_card(root, "0000:af:00.0", 5, TREE_UNKNOWN);
    tree_information(root, "0000:b0:00.0", 8, TREE_UUID(8), "No"); /* without a node */
    tree_information(root, "0000:01:00.0", 1, TREE_UUID(1), "Yes");
    tree_information(root, "0000:b1:00.0", 2, TREE_UUID(2), "No");
    tree_node(root, "nvidia2", 9); /* of another number */
    tree_put(root, "proc/driver/nvidia/gpus/0000:b2:00.0/information", "what?\n");
    tree_put(root, "proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 2023\n"
             "GCC version: 12.2.0\n");
    tree_put(root, "sys/bus/pci/devices/0000:af:00.0/config", "\xff\xff\xff\xff");
    tree_put(root, "sys/bus/pci/devices/0000:07:00.0/config", "\xde\x10\xff\xff");
    nm_gpu_scan(root, TREE_MAJOR, &g);
    assert_string_equal(g.why, "");
    assert_string_equal(g.driver, "535.129.03");
    assert_int_equal(g.n, 6);
    assert_int_equal(nm_gpu_offered(&g), 2);
    assert_int_equal(by_minor(&g, 3)->index, 0);
    assert_int_equal(by_minor(&g, 7)->index, 1);
    assert_string_equal(by_minor(&g, 3)->uuid, TREE_UUID(3));
    assert_string_equal(by_minor(&g, 5)->uuid, "");
    assert_non_null(strstr(by_minor(&g, 5)->gone, "PCI bus"));
    assert_non_null(strstr(by_minor(&g, 8)->gone, "no device node /dev/nvidia8"));
    assert_non_null(strstr(by_minor(&g, 2)->gone, "/dev/nvidia2 is device 1:9, not 1:2"));
    assert_non_null(
        strstr(by_minor(&g, NM_GPU_NO_MINOR)->gone, "0000:b2:00.0: information: a line"));
    nm_gpu_text(by_minor(&g, 3), text, sizeof(text));
    assert_string_equal(text, "GPU /dev/nvidia3 at 0000:07:00.0, NVIDIA A100-SXM4-40GB");
    tree_close(root);
}

static void test_instances(void **state)
{
    static struct nm_gpus g;
    char root[64];

    (void)state;
    tree_open(root);
    tree_card(root, "0000:07:00.0", 3, TREE_UUID(3));
    tree_card(root, "0000:3b:00.0", 5, TREE_UUID(5));
    tree_access(root, 3, "gi2", 7);
    tree_access(root, 3, "gi2/ci0", 8);
    tree_access(root, 3, "gi1", 9);
    tree_put(root, "proc/driver/nvidia/capabilities/gpu3/mig/gi1/ci0/access",
             "DeviceFileMinor: 11\n"); /* its node is not there */
    tree_put(root, "proc/driver/nvidia/capabilities/gpu3/mig/gi77/ci0/access", "");
    tree_put(root, "proc/driver/nvidia/capabilities/gpu5/mig/other", "");
    nm_gpu_scan(root, TREE_MAJOR, &g);
    assert_int_equal(g.n, 3);
    assert_true(g.v[0].instance && g.v[1].instance && !g.v[2].instance);
    assert_int_equal(g.v[0].gi, 1);
    assert_non_null(strstr(g.v[0].gone, "nvidia-cap11"));
    assert_int_equal(g.v[1].gi, 2);
    assert_string_equal(g.v[1].gone, "");
    assert_string_equal(g.v[1].uuid, "MIG-" TREE_UUID(3) "/2/0");
    assert_int_equal(g.v[1].access[0].major, TREE_MAJOR);
    assert_int_equal(g.v[1].access[0].minor, 7);
    assert_int_equal(g.v[1].access[1].minor, 8);
    assert_int_equal(g.v[2].minor, 5);
    assert_int_equal(g.v[2].index, 1);
    tree_close(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_information),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_instances),
    };

    return cmocka_run_group_tests_name("gpu-proc", tests, NULL, NULL);
}
