/* What a container uses, from the kernel's counters. Files stay open: the daemon asks every container
 * every few seconds. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cgroups/file.h"
#include "cgroups/internal.h"

static const char *const files[CG_N_COUNTERS] = {
    [CG_CPU_STAT] = "cpu.stat",           [CG_MEMORY_CURRENT] = "memory.current",
    [CG_MEMORY_PEAK] = "memory.peak",     [CG_MEMORY_EVENTS] = "memory.events",
    [CG_PIDS_CURRENT] = "pids.current",   [CG_PIDS_PEAK] = "pids.peak",
};

/* 0 with the text; -ENOENT where the controller (or, on older kernels, the file) is not there. */
static int counter(struct cg_leaf *l, enum cg_counter which, char *buf)
{
    if (l->counters[which] == -1) {
        int fd = openat(l->fd, files[which], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno != ENOENT)
            return -errno;
        l->counters[which] = fd < 0 ? -2 : fd;
    }
    if (l->counters[which] == -2)
        return -ENOENT;
    int r = cg_file_pread(l->counters[which], buf);
    return r < 0 ? r : 0;
}

static int single(struct cg_leaf *l, enum cg_counter which, uint64_t *ret)
{
    char text[CG_FILE_MAX];
    int r = counter(l, which, text);
    if (r == -ENOENT)
        return 0;
    return r < 0 ? r : cg_parse_value(text, ret);
}

static void keyed(const char *text, const char *key, uint64_t *ret)
{
    uint64_t v;
    if (cg_parse_key(text, key, &v) == 0)
        *ret += v;
}

int cg_leaf_usage(struct cg_leaf *l, struct cg_usage *ret)
{
    char text[CG_FILE_MAX];
    struct cg_usage u = { 0 };
    int r = counter(l, CG_CPU_STAT, text);
    if (r < 0)
        return r;
    keyed(text, "usage_usec", &u.cpu_usec);
    keyed(text, "user_usec", &u.user_usec);
    keyed(text, "system_usec", &u.system_usec);
    keyed(text, "throttled_usec", &u.throttled_usec);
    r = counter(l, CG_MEMORY_EVENTS, text);
    if (r == 0)
        keyed(text, "oom_kill", &u.oom_kills);
    else if (r != -ENOENT)
        return r;
    if ((r = single(l, CG_MEMORY_CURRENT, &u.memory_current)) < 0 ||
        (r = single(l, CG_MEMORY_PEAK, &u.memory_peak)) < 0 ||
        (r = single(l, CG_PIDS_CURRENT, &u.pids_current)) < 0 ||
        (r = single(l, CG_PIDS_PEAK, &u.pids_peak)) < 0)
        return r;
    *ret = u;
    return 0;
}
