/* The container's cgroup. The daemon owns the delegated subtree and has created the cgroup and its
 * limits; each MUST be verified here, by descriptor, before a process is cloned into it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

int hlp_open_group(const struct hlp *h, int root, const char *name)
{
    int fd = hlp_open_at(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return hlp_check_open(fd, name, h->cfg.nm.uid, HLP_ANY, 0, EXE_STATUS_CGROUP);
}

int hlp_open_root_group(const struct hlp *h)
{
    struct statfs fs;
    const char *path = h->cfg.cgroup_root;
    /* Names from the configuration; /sys/fs/cgroup and its parents are root's by nature. */
    int root = hlp_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    root = hlp_check_open(root, path, h->cfg.nm.uid, HLP_ANY, 0, EXE_STATUS_CGROUP);
    if (fstatfs(root, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
        hlp_fail(EXE_STATUS_CGROUP, EPERM, path);
    return root;
}

/* container-prepare attaches the filter and sets the mark, which only root can. A cgroup that the
 * daemon has recreated has neither. */
static void verify_filtered(int group, const char *mark)
{
    if (fgetxattr(group, mark, NULL, 0) < 0)
        hlp_fail(EXE_STATUS_DEVICE_FILTER, EBUSY,
                 "the group has no filter any more, or not yet; start the container again");
}

/* For the monitor, which moves itself later, off the critical path. The write is checked against
 * the opener: root, with CAP_DAC_OVERRIDE. */
int hlp_open_monitors(const struct hlp *h, int root)
{
    int dir = hlp_open_group(h, root, CG_MONITORS);
    if (h->cfg.assignable)
        verify_filtered(dir, HLP_FILTERED);
    hlp_set_step_cap(HLP_CAP_DAC_OVERRIDE);
    int fd = hlp_open_at(dir, "cgroup.procs", O_WRONLY | O_NOFOLLOW);
    hlp_set_step_cap(HLP_CAP_NONE);
    (void)close(dir);
    if (fd < 0)
        hlp_fail(EXE_STATUS_CGROUP, -fd, CG_MONITORS);
    return fd;
}

/* Reads one of the cgroup's files, NUL-terminated; -ENOENT if the controller is disabled. */
static ssize_t content(int cgroup, const char *name, char *buf, size_t size)
{
    int fd = hlp_open_at(cgroup, name, O_RDONLY);
    if (fd < 0)
        return fd;
    ssize_t n = read(fd, buf, size - 1);
    int error = errno;
    (void)close(fd);
    if (n < 0)
        return -error;
    buf[n] = '\0';
    return n;
}

/* True if the limit of the request is in force. A node whose configuration allows containers
 * without limits may lack the file or the limit, but not have another one. */
static bool limited(const struct hlp *h, int cgroup, const char *name, uint64_t want)
{
    char text[64], expected[64];
    ssize_t n = content(cgroup, name, text, sizeof(text));
    if (n <= 0 || strcmp(text, "max\n") == 0 || want == 0)
        return h->cfg.unenforced_allowed;
    (void)hlp_format(expected, sizeof(expected), "%llu\n", (unsigned long long)want);
    return strcmp(text, expected) == 0;
}

void hlp_check_cgroup(const struct hlp *h, int cgroup)
{
    const uint64_t page = 4096; /* the kernel rounds down */
    char text[64];
    ssize_t n = content(cgroup, "cgroup.procs", text, sizeof(text));
    if (n != 0)
        hlp_fail(n > 0 ? EXE_STATUS_CGROUP_BUSY : EXE_STATUS_CGROUP, n < 0 ? (int)-n : EBUSY,
                 h->container);
    n = content(cgroup, "cgroup.type", text, sizeof(text));
    if (n < 0 || strcmp(text, "domain\n") != 0)
        hlp_fail(EXE_STATUS_CGROUP, EINVAL, h->container);
    if (!limited(h, cgroup, "memory.max", h->req.memory_max / page * page) ||
        !limited(h, cgroup, "pids.max", h->req.pids_max))
        hlp_fail(EXE_STATUS_CGROUP_LIMITS, EINVAL, h->container);
}

/* Call it once the process is in the cgroup: from then on container-prepare does not detach the
 * filter. */
void hlp_verify_filtered(const struct hlp *h, const struct hlp_groups *g)
{
    if (!h->cfg.assignable)
        verify_filtered(g->root, HLP_FILTERED);
    else if (h->req.op == EXE_OP_LOCALIZE)
        verify_filtered(g->own, HLP_FILTERED);
    if (h->cfg.connect_filter)
        verify_filtered(g->root, HLP_CONNECT_FILTERED);
}
