/* The container's cgroup. The daemon owns its delegated subtree and has made the group and its
 * limits; here it is proved to be what it should be, by descriptor, and gets the device filter. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

static int open_group(const struct hlp *h, int root, const char *name)
{
    struct stat st;
    int fd = hlp_open_at(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0)
        hlp_fail(EXE_STATUS_CGROUP, -fd, name);
    if (fstat(fd, &st) < 0 || st.st_uid != h->nm.uid)
        hlp_fail(EXE_STATUS_CGROUP, EPERM, name);
    return fd;
}

void hlp_open_groups(const struct hlp *h, const char *name, struct hlp_groups *ret)
{
    struct stat st;
    struct statfs fs;
    const char *path = h->cfg.cgroup_root;
    /* Names from the configuration; /sys/fs/cgroup and its parents are root's by nature. */
    int root = hlp_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    if (root < 0)
        hlp_fail(EXE_STATUS_CGROUP, -root, path);
    if (fstatfs(root, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC || fstat(root, &st) < 0 ||
        st.st_uid != h->nm.uid)
        hlp_fail(EXE_STATUS_CGROUP, EPERM, path);
    ret->root = root;
    ret->own = open_group(h, root, name);
}

/* The monitor moves itself into its group, when nobody waits for it. What counts for the write then
 * is who has opened the file: root, with CAP_DAC_OVERRIDE. */
int hlp_open_monitors(const struct hlp *h, int root)
{
    int dir = open_group(h, root, CG_MONITORS);
    hlp_caps_serving(HLP_CAP_DAC_OVERRIDE);
    int fd = hlp_open_at(dir, "cgroup.procs", O_WRONLY | O_NOFOLLOW);
    hlp_caps_serving(HLP_CAP_NONE);
    (void)close(dir);
    if (fd < 0)
        hlp_fail(EXE_STATUS_CGROUP, -fd, CG_MONITORS);
    return fd;
}

/* Content of one of the group's files, NUL-terminated; -ENOENT where the controller is not on. */
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

/* Is the limit in force the one that the daemon says it has set? A node whose configuration allows
 * containers without limits may lack the file or the limit, not have another one. */
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

#define FILTER_NAME "selvedge_dev_1" /* of the root group's; a new number for new standard devices */

static int bpf(int command, union bpf_attr *attr)
{
    return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* The policy's parts, put together (compile.c makes them). */
static void attach_filter(const struct hlp_policy *p, int cgroup, const struct hlp_node *nodes,
                          unsigned n_nodes)
{
    struct bpf_insn code[HLP_DEVICE_CODE_MAX + 4 * HLP_NODES_MAX + 2];
    unsigned n = p->n_device_code;
    memcpy(code, p->device_code, n * sizeof(code[0]));
    for (unsigned i = 0; i < n_nodes; i++, n += 4)
        memcpy(code + n, nodes[i].allow, sizeof(nodes[i].allow));
    memcpy(code + n, p->deny, sizeof(p->deny));
    union bpf_attr load = { .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
                            .insns = (uint64_t)(uintptr_t)code, .insn_cnt = n + 2,
                            .license = (uint64_t)(uintptr_t)"Apache-2.0",
                            .prog_name = FILTER_NAME };
    int prog = bpf(BPF_PROG_LOAD, &load);
    if (prog < 0)
        hlp_fail(EXE_STATUS_DEVICE_FILTER, errno, "BPF_PROG_LOAD");
    /* Every filter of a group and of those above it has to agree: the unit's DevicePolicy= too. */
    union bpf_attr attach = { .target_fd = (uint32_t)cgroup, .attach_bpf_fd = (uint32_t)prog,
                              .attach_type = BPF_CGROUP_DEVICE, .attach_flags = BPF_F_ALLOW_MULTI };
    if (bpf(BPF_PROG_ATTACH, &attach) < 0)
        hlp_fail(EXE_STATUS_DEVICE_FILTER, errno, "BPF_PROG_ATTACH");
    (void)close(prog);
}

/* Our filter on the root group, as a descriptor, or -1. */
static int find_filter(int root)
{
    uint32_t ids[16] = { 0 };
    union bpf_attr query = { .query = { .target_fd = (uint32_t)root, .prog_cnt = 16,
                                        .attach_type = BPF_CGROUP_DEVICE,
                                        .prog_ids = (uint64_t)(uintptr_t)ids } };
    hlp_caps_serving(HLP_CAP_NET_ADMIN); /* what the kernels of Debian 12 and others ask for here */
    int got = bpf(BPF_PROG_QUERY, &query), error = errno;
    hlp_caps_serving(HLP_CAP_NONE);
    errno = error;
    if (got < 0)
        hlp_fail(EXE_STATUS_DEVICE_FILTER, errno, "BPF_PROG_QUERY");
    for (unsigned i = 0; i < query.query.prog_cnt && i < 16; i++) {
        struct bpf_prog_info info = { 0 };
        union bpf_attr by_id = { .prog_id = ids[i] };
        int fd = bpf(BPF_PROG_GET_FD_BY_ID, &by_id);
        union bpf_attr about = { .info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(info),
                                           .info = (uint64_t)(uintptr_t)&info } };
        if (fd < 0 && errno == ENOENT) /* detached meanwhile */
            continue;
        if (fd < 0 || bpf(BPF_OBJ_GET_INFO_BY_FD, &about) < 0)
            hlp_fail(EXE_STATUS_DEVICE_FILTER, errno, "filters of the root group");
        if (strncmp(info.name, FILTER_NAME, sizeof(info.name)) == 0)
            return fd;
        (void)close(fd);
    }
    return -1;
}

/* Root has allowed devices since the root group got its filter, which would deny them: it goes as soon
 * as nothing lives by it, and until then no device can be assigned. */
static void detach_filter(int root, int prog, bool needed)
{
    char events[256];
    union bpf_attr detach = { .target_fd = (uint32_t)root, .attach_bpf_fd = (uint32_t)prog,
                              .attach_type = BPF_CGROUP_DEVICE };
    if (content(root, "cgroup.events", events, sizeof(events)) <= 0 ||
        !strstr(events, "populated 0")) {
        if (!needed)
            return;
        hlp_fail(EXE_STATUS_DEVICE_FILTER, EBUSY,
                 "containers from before devices were allowed still run; assign none until they end");
    }
    if (bpf(BPF_PROG_DETACH, &detach) < 0)
        hlp_fail(EXE_STATUS_DEVICE_FILTER, errno, "BPF_PROG_DETACH");
}

/* On a node where no device can be assigned one filter on the root group is everybody's, also that
 * of a process that the daemon moves below it by itself; it stays, so a launch only looks for it.
 * Where devices can be assigned every container has its own. */
void hlp_device_filter(const struct hlp *h, const struct hlp_groups *g,
                       const struct hlp_node *nodes, unsigned n_nodes)
{
    int found = find_filter(g->root);
    if (found >= 0 && h->cfg.assignable)
        detach_filter(g->root, found, n_nodes > 0);
    if (h->cfg.assignable)
        attach_filter(&h->cfg, g->own, nodes, n_nodes);
    else if (found < 0)
        attach_filter(&h->cfg, g->root, NULL, 0);
    if (found >= 0)
        (void)close(found);
}
