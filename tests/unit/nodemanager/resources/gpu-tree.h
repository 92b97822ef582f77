/* A made-up machine with NVIDIA's driver, below a directory: its files in /proc and /sys, and nodes
 * that are links to harmless devices, whose major number is 1: a card of minor 3 is /dev/null. */
#ifndef SELVEDGE_TESTS_GPU_TREE_H
#define SELVEDGE_TESTS_GPU_TREE_H

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"

#define TREE_MAJOR 1

static inline void tree_open(char root[64])
{
    snprintf(root, 64, "/tmp/selvedge-test-gpu-XXXXXX");
    assert_non_null(mkdtemp(root));
}

static inline void tree_close(const char *root)
{
    int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(sv_remove_tree_at(tmp, strrchr(root, '/') + 1), 0);
    assert_int_equal(close(tmp), 0);
}

/* Writes a file, with its directories. */
static inline void tree_put(const char *root, const char *path, const char *text)
{
    char whole[PATH_MAX], dir[PATH_MAX];
    int fd;

    snprintf(whole, sizeof(whole), "%s/%s", root, path);
    snprintf(dir, sizeof(dir), "%s", whole);
    *strrchr(dir, '/') = '\0';
    assert_int_equal(sv_mkdir_p(dir, 0755), 0);
    fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(sv_write_all(fd, text, strlen(text)), 0);
    assert_int_equal(close(fd), 0);
}

static inline void tree_remove(const char *root, const char *path)
{
    char whole[PATH_MAX];

    snprintf(whole, sizeof(whole), "%s/%s", root, path);
    assert_int_equal(remove(whole), 0);
}

/* /dev/<name> with the number 1:<minor> of a device that every machine has. */
static inline void tree_node(const char *root, const char *name, unsigned minor)
{
    static const char *const real[] = {
        [3] = "null", [5] = "zero", [7] = "full", [8] = "random", [9] = "urandom"
    };
    char whole[PATH_MAX], to[32], dir[PATH_MAX];

    snprintf(whole, sizeof(whole), "%s/dev/%s", root, name);
    snprintf(dir, sizeof(dir), "%s", whole);
    *strrchr(dir, '/') = '\0';
    assert_int_equal(sv_mkdir_p(dir, 0755), 0);
    snprintf(to, sizeof(to), "/dev/%s", real[minor]);
    assert_int_equal(symlink(to, whole), 0);
}

/* of a card that nothing has used yet; in parts, as there are trigraphs in it */
#define TREE_UNKNOWN                                                                               \
    "GPU-????????"                                                                                 \
    "-????"                                                                                        \
    "-????"                                                                                        \
    "-????"                                                                                        \
    "-????????????"
#define TREE_UUID(n) "GPU-0000000" #n "-1111-2222-3333-444444444444"

static inline void tree_information(const char *root, const char *bus, unsigned minor,
                                    const char *uuid, const char *excluded)
{
    char path[128], text[512];

    snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", bus);
    snprintf(text, sizeof(text),
             "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 155\nGPU UUID: \t %s\n"
             "Video BIOS: \t 92.00.19.00.01\nBus Type: \t PCIe\nDMA Size: \t 47 bits\n"
             "DMA Mask: \t 0x7fffffffffff\nBus Location: \t %s\nDevice Minor: \t %u\n"
             "GPU Firmware: \t N/A\nGPU Excluded:\t %s\n",
             uuid, bus, minor, excluded);
    tree_put(root, path, text);
}

static inline void tree_card(const char *root, const char *bus, unsigned minor, const char *uuid)
{
    char name[32];

    tree_information(root, bus, minor, uuid, "No");
    snprintf(name, sizeof(name), "nvidia%u", minor);
    tree_node(root, name, minor);
}

/* A capability's access file, and its node. */
static inline void tree_access(const char *root, unsigned card, const char *dir, unsigned minor)
{
    char path[160], text[128];

    snprintf(path, sizeof(path), "proc/driver/nvidia/capabilities/gpu%u/mig/%s/access", card, dir);
    snprintf(text, sizeof(text), "DeviceFileMinor: %u\nDeviceFileMode: 292\nDeviceFileModify: 1\n",
             minor);
    tree_put(root, path, text);
    snprintf(path, sizeof(path), "nvidia-caps/nvidia-cap%u", minor);
    tree_node(root, path, minor);
}

#endif
