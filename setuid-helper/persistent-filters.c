/* The persistent filters on the daemon's cgroups, each for everything below it. Part of
 * container-prepare: container-executor only verifies them, by a mark on the cgroup. The connect
 * filter (connect-filter.c) is always on the root cgroup, the device filters depend on assignable
 * devices.
 *
 * If no device can be assigned the root cgroup has one: it covers every container and any process
 * that the daemon moves below it. If devices can be assigned each container has a filter of its
 * own, the cgroups of monitors and localizers have these, and the root none: all filters up to the
 * root must agree, so one there would deny assigned devices.
 *
 * The cgroups belong to the daemon, which may be hostile: it can remove and recreate them at any
 * time. But filters and mark are root's and last as long as the cgroup, and a new cgroup has
 * neither: it changes a source of the policy, which is then rebuilt, and nothing MUST start in a
 * cgroup without the mark. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "setuid-helper/prepare.h"

#define ANY_RELEASE (sizeof("selvedge_dev_") - 1)

/* Lives as long as the program. */
static const char *copy(const char *text)
{
    const char *own = strdup(text);
    if (!own)
        hlp_fail(EXE_STATUS_DEVICE_FILTER, errno, text);
    return own;
}

static const char *find(int group, size_t name_len, int found[HLP_FILTERS_MAX], unsigned *ret_n)
{
    return hlp_find_filters(group, BPF_CGROUP_DEVICE, HLP_FILTER_NAME, name_len, found, ret_n);
}

/* This and the next return the failed step, with errno, or NULL.
 *
 * Attaches once: a run that was killed in between has left the filter without the mark. */
static const char *stand(const struct hlp_policy *p, int group)
{
    int found[HLP_FILTERS_MAX];
    unsigned n;
    const char *what = find(group, BPF_OBJ_NAME_LEN, found, &n);
    if (!what && n == 0)
        what = hlp_attach_filter(p, group, NULL, 0);
    if (what)
        return what;
    while (n > 0)
        (void)close(found[--n]);
    return fsetxattr(group, HLP_FILTERED, "", 0, 0) < 0 ? HLP_FILTERED : NULL;
}

/* Detaches the filter of a cgroup that no longer needs it, as devices became assignable: it alone
 * protects devices from the processes there, so it is kept until the cgroup is empty. A launch that
 * relies on it checks the mark after its process is in the cgroup; here the mark is removed before
 * the cgroup is probed: one of the two sees the other. */
static const char *release(struct hlp_policy *p, int group, const char *path)
{
    char events[256] = "", text[HLP_PATH_MAX];
    int found[HLP_FILTERS_MAX];
    unsigned n;
    const char *what = find(group, ANY_RELEASE, found, &n);
    if (what || n == 0)
        return what;
    if (fremovexattr(group, HLP_FILTERED) < 0 && errno != ENODATA)
        return HLP_FILTERED;
    int fd = hlp_open_at(group, "cgroup.events", O_RDONLY);
    if (fd < 0 || read(fd, events, sizeof(events) - 1) < 0)
        return "cgroup.events";
    (void)close(fd);
    const bool empty = strstr(events, "populated 0");
    if (!empty) {
        (void)hlp_format(text, sizeof(text), "%s/cgroup.events", path);
        p->held = copy(text);
    }
    while (n > 0) {
        union bpf_attr detach = { .target_fd = (uint32_t)group,
                                  .attach_bpf_fd = (uint32_t)found[--n],
                                  .attach_type = BPF_CGROUP_DEVICE };
        if (empty && hlp_bpf(BPF_PROG_DETACH, &detach) < 0)
            return "BPF_PROG_DETACH";
        (void)close(found[n]);
    }
    return NULL;
}

/* Opens the daemon's cgroup at `path`, or -1: container-executor reports the cause when it needs
 * it. */
static int open_group(const struct hlp_policy *p, const char *path)
{
    struct stat st;
    struct statfs fs;
    int fd = hlp_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    if (fd < 0)
        return -1;
    if (fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC && fstat(fd, &st) == 0 &&
        st.st_uid == p->nm.uid)
        return fd;
    (void)close(fd);
    return -1;
}

static void note_failure(struct hlp_policy *p, const char *what, const char *path)
{
    char text[HLP_PATH_MAX];
    if (!what)
        return;
    (void)hlp_format(text, sizeof(text), "%s on %s: %s", what, path, strerror(errno));
    p->unfiltered = copy(text);
}

void hlp_attach_persistent_filters(struct hlp_config *cfg)
{
    static const char *const names[] = { "", "/" CG_MONITORS, "/" CG_LOCALIZERS };
    struct hlp_policy *p = &cfg->policy;
    char text[HLP_PATH_MAX];
    for (size_t i = 0; i < (p->assignable ? sizeof(names) / sizeof(names[0]) : 1); i++) {
        (void)hlp_format(text, sizeof(text), "%s%s", p->cgroup_root, names[i]);
        const char *path = copy(text);
        hlp_add_source(p, path, false);
        int group = open_group(p, path);
        if (group < 0)
            continue;
        note_failure(p, p->assignable && i == 0 ? release(p, group, path) : stand(p, group), path);
        if (i == 0)
            note_failure(p, hlp_put_connect_filter(cfg, group), path);
        (void)close(group);
    }
}
