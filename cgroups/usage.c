/* Usage counters of one container and of all. Files read every few seconds are kept open; the
 * others are opened for each reading. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cgroups/file.h"
#include "cgroups/internal.h"

static const char *const files[CG_N_COUNTERS] = {
    [CG_CPU_STAT] = "cpu.stat",         [CG_MEMORY_CURRENT] = "memory.current",
    [CG_MEMORY_PEAK] = "memory.peak",   [CG_MEMORY_EVENTS] = "memory.events",
    [CG_PIDS_CURRENT] = "pids.current", [CG_PIDS_PEAK] = "pids.peak",
};

struct group {
    int fd;
    int *counters;
    unsigned controllers; /* its possible controllers: files of others are not opened */
};

/* 0 with the text; -ENOENT if the controller (or, on older kernels, the file) does not exist. */
static int counter(struct group g, enum cg_counter which, char *buf)
{
    if (g.counters[which] == -1) {
        int fd = openat(g.fd, files[which], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno != ENOENT)
            return -errno;
        g.counters[which] = fd < 0 ? -2 : fd;
    }
    if (g.counters[which] == -2)
        return -ENOENT;
    int r = cg_file_pread(g.counters[which], buf);
    return r < 0 ? r : 0;
}

static int single(struct group g, unsigned controller, enum cg_counter which, uint64_t *ret)
{
    char text[CG_FILE_MAX];
    if (!(g.controllers & controller))
        return 0;
    int r = counter(g, which, text);
    if (r == -ENOENT)
        return 0;
    return r < 0 ? r : cg_parse_value(text, ret);
}

static void keyed(const char *text, const char *key, uint64_t *ret)
{
    uint64_t v;
    if (cg_parse_key(text, key, &v) == 0)
        *ret = v;
}

static void stall(struct group g, const char *file, struct cg_stall *ret)
{
    char text[CG_FILE_MAX];
    if (cg_file_read(g.fd, file, text) > 0)
        (void)!cg_parse_pressure(text, ret); /* a kernel without PSI, or with PSI disabled */
}

static int counters(struct group g, struct cg_usage *ret)
{
    char text[CG_FILE_MAX];
    struct cg_usage u = { 0 };
    int r = counter(g, CG_CPU_STAT, text);
    if (r < 0)
        return r;
    keyed(text, "usage_usec", &u.cpu_usec);
    keyed(text, "user_usec", &u.user_usec);
    keyed(text, "system_usec", &u.system_usec);
    keyed(text, "throttled_usec", &u.throttled_usec);
    keyed(text, "nr_throttled", &u.n_throttled);
    r = g.controllers & CG_MEMORY ? counter(g, CG_MEMORY_EVENTS, text) : -ENOENT;
    if (r == 0) {
        keyed(text, "oom_kill", &u.oom_kills);
        keyed(text, "oom", &u.oom);
        keyed(text, "max", &u.max);
    } else if (r != -ENOENT) {
        return r;
    }
    if ((r = single(g, CG_MEMORY, CG_MEMORY_CURRENT, &u.memory_current)) < 0 ||
        (r = single(g, CG_MEMORY, CG_MEMORY_PEAK, &u.memory_peak)) < 0 ||
        (r = single(g, CG_PIDS, CG_PIDS_CURRENT, &u.pids_current)) < 0 ||
        (r = single(g, CG_PIDS, CG_PIDS_PEAK, &u.pids_peak)) < 0)
        return r;
    if (g.controllers & CG_PIDS && cg_file_read(g.fd, "pids.events", text) > 0)
        keyed(text, "max", &u.pids_refused);
    if (g.controllers & CG_IO && cg_file_read(g.fd, "io.stat", text) > 0) {
        u.io_read_bytes = cg_sum_io(text, "rbytes");
        u.io_write_bytes = cg_sum_io(text, "wbytes");
        u.io_reads = cg_sum_io(text, "rios");
        u.io_writes = cg_sum_io(text, "wios");
    }
    *ret = u;
    return 0;
}

static int usage(struct group g, struct cg_usage *ret)
{
    int r = counters(g, ret);
    if (r < 0)
        return r;
    stall(g, "cpu.pressure", &ret->cpu_stall);
    stall(g, "memory.pressure", &ret->memory_stall);
    stall(g, "io.pressure", &ret->io_stall);
    return 0;
}

int cg_leaf_usage(struct cg_leaf *l, struct cg_usage *ret)
{
    return usage((struct group){ l->fd, l->counters, l->root->controllers }, ret);
}

int cg_leaf_totals(struct cg_leaf *l, struct cg_usage *ret)
{
    return counters((struct group){ l->fd, l->counters, l->root->controllers }, ret);
}

int cg_root_usage(struct cg_root *r, struct cg_usage *ret)
{
    return usage((struct group){ r->fd, r->counters, ~0U },
                 ret); /* its own pressure is accounted to its parent */
}

static int memory_in_use(struct group g, uint64_t *ret)
{
    char text[CG_FILE_MAX];
    uint64_t current = 0, file = 0, shmem = 0, slab = 0;
    int e = single(g, CG_MEMORY, CG_MEMORY_CURRENT, &current);
    if (e >= 0)
        e = cg_file_read(g.fd, "memory.stat", text);
    if (e < 0)
        return e;
    keyed(text, "file", &file);
    keyed(text, "shmem", &shmem); /* part of file, and cannot be written back without swap */
    keyed(text, "slab_reclaimable", &slab);
    uint64_t back = (file > shmem ? file - shmem : 0) + slab;
    *ret = current > back ? current - back : 0;
    return 0;
}

int cg_root_memory_in_use(struct cg_root *r, uint64_t *ret)
{
    return memory_in_use((struct group){ r->fd, r->counters, ~0U }, ret);
}

int cg_leaf_memory_in_use(struct cg_leaf *l, uint64_t *ret)
{
    return memory_in_use((struct group){ l->fd, l->counters, l->root->controllers }, ret);
}
