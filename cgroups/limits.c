/* Maps a YARN Resource and the node's policy to the files of a cgroup: one table of rows, each a
 * file and its value.
 *
 * Sources: Hadoop's CGroupsV2CpuResourceHandlerImpl (cpu.weight, cpu.max) and
 * CGroupsV2MemoryResourceHandlerImpl (memory.low); the kernel's cgroup-v2.rst for ranges. */
#include "cgroups/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cgroups/file.h"
#include "common/fd.h"
#include "common/str.h"

#define CPU_PERIOD_USEC 100000 /* the kernel's own default */
#define CPU_QUOTA_MIN_USEC 1000
#define WEIGHT_MAX 10000
#define PAGE 4096
#define RESERVE_MIN (64ULL << 20)

#define POLICY const struct cg_policy *p
#define RESOURCE const struct cg_resource *c

uint32_t cg_weight_of_vcores(int32_t vcores)
{
    return vcores < 1 ? 100 : vcores > 100 ? WEIGHT_MAX : (uint32_t)vcores * 100;
}

/* memory.max of the root above node_memory: localizers, monitors, and memory that the kernel
 * charges late. */
static uint64_t reserve(const struct cg_policy *p)
{
    return p->localizers_memory + SV_MAX(RESERVE_MIN, p->node_memory / 20);
}

static bool number(char *buf, size_t size, uint64_t v)
{
    (void)snprintf(buf, size, "%" PRIu64, v);
    return true;
}

static uint64_t share(uint64_t bytes, uint32_t percent)
{
    return (uint64_t)((unsigned __int128)bytes * percent / 100 / PAGE) * PAGE;
}

static bool quota(char *buf, size_t size, uint64_t millicpus)
{
    uint64_t usec = millicpus * (CPU_PERIOD_USEC / 1000);
    (void)snprintf(buf, size, "%" PRIu64 " %d", SV_MAX(usec, (uint64_t)CPU_QUOTA_MIN_USEC),
                   CPU_PERIOD_USEC);
    return true;
}

/* ---- a container ----------------------------------------------------------------------------*/

static uint64_t hard_memory(POLICY, RESOURCE)
{
    uint64_t bytes = c->set.memory_max                   ? c->set.memory_max
                     : p->elastic || !p->memory_enforced ? SV_MAX(p->node_memory, c->memory_bytes)
                                                         : c->memory_bytes;
    return bytes / PAGE * PAGE;
}

static bool memory_max(POLICY, RESOURCE, char *buf, size_t size)
{
    return number(buf, size, hard_memory(p, c));
}

/* The base of the percentages. */
static uint64_t own_memory(RESOURCE)
{
    return c->set.memory_max ? c->set.memory_max : c->memory_bytes;
}

static bool memory_high(POLICY, RESOURCE, char *buf, size_t size)
{
    return p->memory_high_percent && !p->elastic &&
           number(buf, size, share(own_memory(c), p->memory_high_percent));
}

/* Protects the requested memory of a container when the root runs out of memory. */
static bool memory_low(POLICY, RESOURCE, char *buf, size_t size)
{
    return (p->elastic || p->cap_memory) && p->memory_low_percent &&
           number(buf, size, c->opportunistic ? 0 : share(c->memory_bytes, p->memory_low_percent));
}

static bool swap_max(POLICY, RESOURCE, char *buf, size_t size)
{
    return number(buf, size, share(own_memory(c), p->swap_percent));
}

static bool one(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)p, (void)c;
    return number(buf, size, 1);
}

static bool none(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)p, (void)c;
    return number(buf, size, 0);
}

static bool pids_max(POLICY, RESOURCE, char *buf, size_t size)
{
    return number(buf, size, c->set.pids_max ? c->set.pids_max : p->pids_max);
}

static bool cpu_weight(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)p;
    return number(buf, size,
                  c->set.cpu_weight  ? c->set.cpu_weight
                  : c->opportunistic ? 1
                                     : cg_weight_of_vcores(c->vcores));
}

/* As Hadoop: a container with all vcores of the node has no quota of its own. Resets an existing
 * quota if the mode or the Resource requires it. */
static bool cpu_max(POLICY, RESOURCE, char *buf, size_t size)
{
    if (!p->strict_cpu && !c->set.cpu_millis)
        return false;
    if (c->set.cpu_millis && c->set.cpu_millis != CG_CPU_UNLIMITED)
        return quota(buf, size, c->set.cpu_millis);
    if (c->set.cpu_millis || c->vcores >= p->node_vcores || p->node_vcores < 1) {
        (void)snprintf(buf, size, "max %d", CPU_PERIOD_USEC);
        return true;
    }
    return quota(buf, size,
                 (uint64_t)SV_MAX(c->vcores, 1) * p->node_millicpus / (uint64_t)p->node_vcores);
}

static bool io_weight(POLICY, RESOURCE, char *buf, size_t size)
{
    if (!p->io_weight)
        return false;
    (void)snprintf(buf, size, "default %u", c->opportunistic ? 1 : p->io_weight);
    return true;
}

int cg_disk_of(const char *path, unsigned *ret_major, unsigned *ret_minor)
{
    struct stat st;
    char name[64], text[64];
    unsigned major_number, minor_number;
    if (stat(path, &st) < 0)
        return -errno;
    dev_t dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
    *ret_major = major(dev);
    *ret_minor = minor(dev);
    if (*ret_major == 0) /* tmpfs, overlay, network: there is no disk */
        return -ENODEV;
    /* The kernel throttles disks, not partitions. */
    (void)snprintf(name, sizeof(name), "/sys/dev/block/%u:%u/partition", *ret_major, *ret_minor);
    if (access(name, F_OK) < 0)
        return 0;
    (void)snprintf(name, sizeof(name), "/sys/dev/block/%u:%u/../dev", *ret_major, *ret_minor);
    _cleanup_free_ char *all = NULL;
    int r = sv_read_file_at(AT_FDCWD, name, sizeof(text) - 1, &all, NULL);
    if (r < 0 || sscanf(all, "%u:%u", &major_number, &minor_number) != 2)
        return r < 0 ? r : -ENODEV;
    *ret_major = major_number;
    *ret_minor = minor_number;
    return 0;
}

/* A line per device. A device that is absent now needs no limit. */
static bool io_max(POLICY, RESOURCE, char *buf, size_t size)
{
    size_t at = 0;
    unsigned major_number, minor_number;
    (void)c;
    for (size_t i = 0; i < p->n_io_max; i++)
        if (cg_disk_of(p->io_max[i].path, &major_number, &minor_number) == 0 && at < size)
            at += (size_t)snprintf(buf + at, size - at, "%s%u:%u %s", at ? "\n" : "", major_number,
                                   minor_number, p->io_max[i].limits);
    return at > 0 && at < size;
}

static bool cpus(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)p;
    return c->cpus && snprintf(buf, size, "%s", c->cpus) < (int)size;
}

static bool mems(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)p;
    return c->mems && snprintf(buf, size, "%s", c->mems) < (int)size;
}

static bool hugetlb_max(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)c;
    return number(buf, size, p->hugetlb_bytes);
}

/* clang-format off */
const struct cg_row cg_container_rows[] = {
    /* FILE                     CONTROLLER  OPTIONAL LIVE   TEXT */
    { "memory.max",             CG_MEMORY,  false,   true,  memory_max },
    { "memory.oom.group",       CG_MEMORY,  false,   false, one },
    { "memory.swap.max",        CG_MEMORY,  true,    true,  swap_max }, /* absent: no swap at all */
    { "memory.high",            CG_MEMORY,  false,   true,  memory_high },
    { "memory.low",             CG_MEMORY,  false,   true,  memory_low },
    { "pids.max",               CG_PIDS,    false,   true,  pids_max },
    { "cpu.weight",             CG_CPU,     false,   true,  cpu_weight },
    { "cpu.max",                CG_CPU,     false,   true,  cpu_max },
    { "io.weight",              CG_IO,      false,   false, io_weight },
    { "io.max",                 CG_IO,      false,   false, io_max },
    { "cpuset.cpus",            CG_CPUSET,  false,   false, cpus },
    { "cpuset.mems",            CG_CPUSET,  false,   false, mems },
    { "hugetlb.%.max",          CG_HUGETLB, false,   false, hugetlb_max },
    { "hugetlb.%.rsvd.max",     CG_HUGETLB, true,    false, hugetlb_max },
    { "cgroup.max.descendants", 0,          false,   false, none },
    { "cgroup.max.depth",       0,          false,   false, none },
};
/* clang-format on */
const size_t cg_n_container_rows = SV_ARRAY_LEN(cg_container_rows);

void cg_demanded(const struct cg_root *r, const struct cg_resource *c, uint64_t *ret_memory_max,
                 uint32_t *ret_pids_max)
{
    *ret_memory_max = r->controllers & CG_MEMORY ? hard_memory(&r->policy, c) : 0;
    *ret_pids_max = r->controllers & CG_PIDS
                        ? c->set.pids_max ? (uint32_t)c->set.pids_max : r->policy.pids_max
                        : 0;
}

/* ---- the root and the localizers
 * ----------------------------------------------------------------*/

static bool root_cpu_max(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)c;
    if (p->cap_cpu)
        return quota(buf, size, p->node_millicpus);
    (void)snprintf(buf, size, "max %d", CPU_PERIOD_USEC); /* an earlier process may have set one */
    return true;
}

static bool root_memory_max(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)c;
    if (p->cap_memory || p->elastic)
        return number(buf, size, (p->node_memory + reserve(p)) / PAGE * PAGE);
    (void)snprintf(buf, size, "max");
    return true;
}

static bool root_memory_high(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)c;
    if (p->elastic)
        return number(buf, size, p->node_memory / PAGE * PAGE);
    (void)snprintf(buf, size, "max");
    return true;
}

static bool localizers_memory(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)c;
    return p->localizers_memory && number(buf, size, p->localizers_memory / PAGE * PAGE);
}

static bool localizers_pids(POLICY, RESOURCE, char *buf, size_t size)
{
    (void)c;
    return p->localizers_pids && number(buf, size, p->localizers_pids);
}

/* clang-format off */
const struct cg_row cg_root_rows[CG_N_ROOT_ROWS] = {
    { "cpu.max",     CG_CPU,    false, false, root_cpu_max },
    { "memory.high", CG_MEMORY, false, false, root_memory_high },
    { "memory.max",  CG_MEMORY, false, false, root_memory_max },
};
const struct cg_row cg_localizers_rows[CG_N_LOCALIZERS_ROWS] = {
    { "memory.max",      CG_MEMORY, false, false, localizers_memory },
    { "memory.swap.max", CG_MEMORY, true,  false, none },
    { "pids.max",        CG_PIDS,   false, false, localizers_pids },
};
/* clang-format on */

/* ---- writing --------------------------------------------------------------------------------*/

static int write_lines(int fd, const char *object, const char *file, char *text,
                       struct sv_error *err)
{
    for (char *line; (line = strsep(&text, "\n"));) {
        int r = cg_file_write(fd, file, line);
        /* A disk removed since it was looked up needs no limit. */
        if (r == -ENODEV && strcmp(file, "io.max") == 0)
            continue;
        if (r < 0)
            return sv_error_errno(err, r, "%s: cannot set %s to %s", object, file, line);
    }
    return 0;
}

static int write_row(int fd, const char *object, const struct cg_row *row, const char *file,
                     const char *text, struct sv_error *err)
{
    char copy[CG_ROW_TEXT_MAX];
    (void)snprintf(copy, sizeof(copy), "%s", text);
    int r = write_lines(fd, object, file, copy, err);
    return r == -ENOENT && row->optional ? 0 : r;
}

int cg_apply(const struct cg_root *r, int fd, const char *object, const struct cg_row *rows,
             size_t n, const struct cg_resource *c, enum cg_apply which, struct sv_error *err)
{
    char text[CG_ROW_TEXT_MAX], file[64];
    int e = 0;
    for (size_t i = 0; i < n && e == 0; i++) {
        const struct cg_row *row = &rows[i];
        const char *percent = strchr(row->file, '%');
        if ((row->controller && !(row->controller & r->controllers)) ||
            (which == CG_APPLY_LIVE && !row->live) || !row->text(&r->policy, c, text, sizeof(text)))
            continue;
        if (!percent) {
            e = write_row(fd, object, row, row->file, text, err);
            continue;
        }
        for (char **size = r->huge_sizes; size && *size && e == 0; size++) {
            (void)snprintf(file, sizeof(file), "%.*s%s%s", (int)(percent - row->file), row->file,
                           *size, percent + 1);
            e = write_row(fd, object, row, file, text, err);
        }
    }
    return e;
}
