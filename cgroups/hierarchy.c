/* Finds the cgroup mounts. libcgroup knows which hierarchy owns a controller (v1, v2, hybrid);
 * called once, at the start. */
#include "cgroups/hierarchy.h"

#include <errno.h>
#include <fcntl.h>
#include <libcgroup.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "cgroups/cg.h"
#include "cgroups/file.h"
#include "common/fd.h"
#include "common/str.h"

static int unified_mount(char **ret)
{
    char line[4096];
    struct mntent entry;
    FILE *f = setmntent("/proc/self/mounts", "re");
    int r = -ENOENT;
    if (!f)
        return -errno;
    while (getmntent_r(f, &entry, line, sizeof(line)))
        if (strcmp(entry.mnt_type, "cgroup2") == 0) {
            r = sv_asprintf(ret, "%s", entry.mnt_dir);
            break;
        }
    (void)endmntent(f);
    return r;
}

int cg_own_group(char **ret, struct sv_error *err)
{
    _cleanup_free_ char *mount = NULL, *text = NULL;
    size_t len;
    int r = unified_mount(&mount);
    if (r < 0)
        return sv_error_set(err, r,
                            "no cgroup2 file system is mounted: mount one at "
                            "/sys/fs/cgroup (boot with "
                            "systemd.unified_cgroup_hierarchy=1)");
    r = sv_read_file_at(AT_FDCWD, "/proc/self/cgroup", 65536, &text, &len);
    if (r < 0)
        return sv_error_errno(err, r, "/proc/self/cgroup");
    const char *own = sv_has_prefix(text, "0::") ? text : strstr(text, "\n0::");
    if (!own)
        return sv_error_set(err, -ENOENT, "/proc/self/cgroup: this process has no cgroup v2 group");
    own = strstr(own, "0::") + 3;
    return sv_asprintf(ret, "%s%.*s", mount, (int)strcspn(own, "\n"), own);
}

/* Returns 1 and the mount point if `controller` is on a v1 hierarchy. libcgroup reports mounts of
 * both versions; the file system type distinguishes them. */
static bool is_v1(const char *controller, char *ret_mount, size_t size)
{
    struct statfs fs;
    char *mount = NULL;
    /* libcgroup caches its table; reading it again is cheap, and this is the error path. */
    bool v1 = cgroup_init() == 0 && cgroup_get_subsys_mount_point(controller, &mount) == 0 &&
              mount && statfs(mount, &fs) == 0 && fs.f_type == CGROUP_SUPER_MAGIC;
    if (v1)
        (void)snprintf(ret_mount, size, "%s", mount);
    free(mount);
    return v1;
}

/* Reads the row of /proc/cgroups: the hierarchy (0 = v2 or none) and whether it is enabled.
 * -ENOENT: this kernel does not know the controller. "io" is called blkio there. */
static int kernel_row(const char *controller, int *ret_hierarchy, int *ret_enabled)
{
    const char *name = sv_streq(controller, "io") ? "blkio" : controller;
    char line[256], found[64];
    int hierarchy, enabled, r = -ENOENT;
    FILE *f = fopen("/proc/cgroups", "re");
    if (!f)
        return -errno;
    while (r < 0 && fgets(line, sizeof(line), f))
        if (sscanf(line, "%63s %d %*d %d", found, &hierarchy, &enabled) == 3 &&
            sv_streq(found, name)) {
            *ret_hierarchy = hierarchy;
            *ret_enabled = enabled;
            r = 0;
        }
    (void)fclose(f);
    return r;
}

static bool offers(const char *dir, size_t len, const char *file, const char *controller)
{
    char path[4096], text[CG_FILE_MAX];
    unsigned bits = cg_parse_controllers(controller);
    (void)snprintf(path, sizeof(path), "%.*s/%s", (int)len, dir, file);
    return cg_file_read(AT_FDCWD, path, text) >= 0 && (cg_parse_controllers(text) & bits);
}

/* The first cgroup on the way from the mount to `root` that does not pass the controller to its
 * children. */
static bool keeper(const char *controller, const char *root, char *ret, size_t size)
{
    _cleanup_free_ char *mount = NULL;
    if (unified_mount(&mount) < 0)
        return false;
    size_t at = strlen(mount), end = strlen(root);
    if (strncmp(root, mount, at) != 0 || !offers(mount, at, "cgroup.controllers", controller))
        return false;
    while (at < end) {
        if (!offers(root, at, "cgroup.subtree_control", controller)) {
            (void)snprintf(ret, size, "%.*s", (int)at, root);
            return true;
        }
        at += 1 + strcspn(root + at + 1, "/");
    }
    return false;
}

void cg_why_missing(const char *controller, const char *root, char *buf, size_t size)
{
    char where[4096];
    int hierarchy = 0, enabled = 1;
    int known = kernel_row(controller, &hierarchy, &enabled);
    if (is_v1(controller, where, sizeof(where)))
        (void)snprintf(
            buf, size,
            "%s is mounted as cgroup v1 at %.200s: this machine is hybrid or legacy (boot "
            "with systemd.unified_cgroup_hierarchy=1)",
            controller, where);
    else if (known == -ENOENT)
        (void)snprintf(buf, size, "%s is not in this kernel (CONFIG_CGROUPS and its controllers)",
                       controller);
    else if (known == 0 && !enabled)
        (void)snprintf(buf, size,
                       "%s was turned off when this machine was booted (remove "
                       "cgroup_disable=%s from the kernel's command line)",
                       controller, controller);
    else if (known == 0 && hierarchy != 0)
        (void)snprintf(
            buf, size,
            "%s belongs to a cgroup v1 hierarchy that is mounted elsewhere, so cgroup v2 "
            "has it not (boot with systemd.unified_cgroup_hierarchy=1)",
            controller);
    else if (keeper(controller, root, where, sizeof(where)))
        (void)snprintf(
            buf, size,
            "%s is not delegated: %.300s/cgroup.subtree_control has it not (Delegate=yes in "
            "the unit, or write +%s there)",
            controller, where, controller);
    else
        (void)snprintf(
            buf, size,
            "%s cannot be turned on in %.300s: a process is in the group itself, or it has "
            "no right to (Delegate=yes in the unit)",
            controller, root);
}
