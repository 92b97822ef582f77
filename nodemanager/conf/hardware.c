/* See hardware.h. Hadoop: NodeManagerHardwareUtils, SysInfoLinux. */
#include "nodemanager/conf/hardware.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroups/hierarchy.h"
#include "common/fd.h"
#include "common/str.h"

#define CPUS_MAX 8192 /* CONFIG_NR_CPUS of the largest kernels */
#define FILE_MAX 65536

struct cpus {
    bool has[CPUS_MAX];
    int32_t n;
};

/* "0-3,8" of the kernel. False: it is another text, or names none. */
static bool parse_cpus(const char *text, struct cpus *ret)
{
    *ret = (struct cpus){ .n = 0 };
    for (const char *p = text; *p && *p != '\n';) {
        char *end;
        unsigned long first = strtoul(p, &end, 10), last = first;

        if (end == p)
            return false;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last >= CPUS_MAX || first > last || !strchr(",\n", *end))
            return false;
        for (unsigned long i = first; i <= last; i++) {
            ret->n += !ret->has[i];
            ret->has[i] = true;
        }
        p = *end == ',' ? end + 1 : end;
    }
    return ret->n > 0;
}

static char *read_file(const char *dir, const char *name)
{
    char path[PATH_MAX], *text = NULL;
    int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

    if (n < 0 || (size_t)n >= sizeof(path) ||
        sv_read_file_at(AT_FDCWD, path, FILE_MAX, &text, NULL) < 0)
        return NULL;
    return text;
}

/* A core counts by the first of its threads that is in the set. */
static int32_t count_cores(const char *dir, const struct cpus *set)
{
    int32_t n = 0;

    for (int i = 0; i < CPUS_MAX; i++) {
        _cleanup_free_ char *text = NULL;
        struct cpus threads;
        char name[64];
        int first = 0;

        if (!set->has[i])
            continue;
        snprintf(name, sizeof(name), "cpu%d/topology/thread_siblings_list", i);
        text = read_file(dir, name);
        if (text && parse_cpus(text, &threads) && threads.has[i])
            while (!threads.has[first] || !set->has[first])
                first++;
        else
            first = i; /* a machine without topology */
        n += first == i;
    }
    return n;
}

/* The smallest memory.max of the group and its ancestors, the nearest cpuset. */
static void confine(const char *group, struct nm_hardware *h, struct cpus *set)
{
    _cleanup_free_ char *path = strdup(group);
    bool have_cpus = false;

    while (path && *path) {
        _cleanup_free_ char *cgroup = read_file(path, "cgroup.controllers");
        _cleanup_free_ char *memory = read_file(path, "memory.max");
        _cleanup_free_ char *cpus = have_cpus ? NULL : read_file(path, "cpuset.cpus.effective");
        char *slash = strrchr(path, '/');
        struct cpus allowed;
        uint64_t bytes;

        if (!cgroup || !slash)
            break; /* above the mount */
        if (memory)
            memory[strcspn(memory, "\n")] = '\0';
        if (memory && sv_parse_u64(memory, 0, UINT64_MAX, &bytes) == 0 &&
            bytes >> 20 < (uint64_t)h->memory_mb) {
            h->memory_mb = (int64_t)(bytes >> 20);
            h->confined = true;
        }
        if (cpus && parse_cpus(cpus, &allowed)) {
            have_cpus = true;
            h->confined = h->confined || allowed.n < set->n;
            *set = allowed;
        }
        *slash = '\0';
    }
}

/* The number behind `key` at the start of a line; 0 without one. */
static uint64_t meminfo(const char *text, const char *key)
{
    const char *line = text;
    unsigned long long v = 0;

    while (line && !sv_has_prefix(line, key)) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line && sscanf(line + strlen(key), " %llu", &v) == 1 ? v : 0;
}

/* KiB that processes can have: neither reserved huge pages nor broken ones. */
static uint64_t usable_kib(const char *text)
{
    uint64_t all = meminfo(text, "MemTotal:"), broken = meminfo(text, "HardwareCorrupted:"), huge;

    if (__builtin_mul_overflow(meminfo(text, "HugePages_Total:"), meminfo(text, "Hugepagesize:"),
                               &huge) ||
        __builtin_add_overflow(huge, broken, &huge) || huge >= all)
        return 0;
    return all - huge;
}

int nm_hardware_read(const struct nm_hardware_source *s, struct nm_hardware *ret,
                     struct sv_error *err)
{
    _cleanup_free_ char *memory = NULL, *online = read_file(s->cpus, "online");
    _cleanup_free_ struct cpus *set = calloc(1, sizeof(*set));
    struct nm_hardware h = { 0 };
    uint64_t kib;

    if (!set)
        return sv_error_errno(err, -ENOMEM, "hardware");
    if (sv_read_file_at(AT_FDCWD, s->meminfo, FILE_MAX, &memory, NULL) < 0 ||
        !(kib = usable_kib(memory)))
        return sv_error_set(err, -ENODATA, "%s tells of no memory", s->meminfo);
    if (!online || !parse_cpus(online, set))
        return sv_error_set(err, -ENODATA, "%s/online is no list of processors", s->cpus);
    h.memory_mb = (int64_t)(kib >> 10);
    if (s->group)
        confine(s->group, &h, set);
    h.processors = set->n;
    h.cores = count_cores(s->cpus, set);
    *ret = h;
    return 0;
}

/* The cgroup around that of the containers, or NULL: no cgroup v2, hence no limit. */
static char *group_around(const char *root)
{
    char *group = NULL;

    if (root && *root) {
        const char *slash = strrchr(root, '/');

        return slash ? strndup(root, (size_t)(slash - root)) : NULL;
    }
    if (cg_own_group(&group, NULL) < 0)
        return NULL;
    if (sv_has_suffix(group, "/supervisor")) /* where the daemon moves itself */
        group[strlen(group) - strlen("/supervisor")] = '\0';
    return group;
}

int nm_hardware_detect(const char *root, struct nm_hardware *ret, struct sv_error *err)
{
    _cleanup_free_ char *group = group_around(root);

    return nm_hardware_read(
        &(struct nm_hardware_source){ "/proc/meminfo", "/sys/devices/system/cpu", group }, ret,
        err);
}

int64_t nm_hardware_memory(const struct nm_hardware *h, int64_t reserved_mb)
{
    if (reserved_mb >= 0)
        return h->memory_mb - reserved_mb;
    /* Single precision, as in Hadoop: the same machine has the same number. */
    return (int64_t)(0.8f * (float)(h->memory_mb - 2 * (int64_t)NM_HARDWARE_HEAP_MB));
}

int32_t nm_hardware_vcores(const struct nm_hardware *h, bool count_logical, int64_t percent,
                           double multiplier)
{
    float n = (float)(percent * (count_logical ? h->processors : h->cores)) / 100.0f;
    double vcores = (double)(n * (float)multiplier) + 0.5;

    return vcores >= (double)INT32_MAX ? INT32_MAX : SV_MAX((int32_t)vcores, 1);
}
