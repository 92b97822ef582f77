/* The one place that asks where cgroups are mounted. libcgroup answers which hierarchy owns a
 * controller (it knows v1, v2 and hybrid set-ups); asked once, when the daemon starts. */
#include "cgroups/hierarchy.h"

#include <errno.h>
#include <fcntl.h>
#include <libcgroup.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

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
        return sv_error_set(err, r, "no cgroup2 file system is mounted: mount one at "
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

void cg_why_missing(const char *controller, const char *root, char *buf, size_t size)
{
    char *mount = NULL;
    /* libcgroup keeps its table; looking again is cheap and this is the unhappy path. */
    bool found = cgroup_init() == 0 && cgroup_get_subsys_mount_point(controller, &mount) == 0;
    if (found && mount && !sv_has_prefix(root, mount))
        (void)snprintf(buf, size,
                       "%s is mounted as cgroup v1 at %s (boot with "
                       "systemd.unified_cgroup_hierarchy=1)",
                       controller, mount);
    else
        (void)snprintf(buf, size,
                       "%s is not delegated to %s (Delegate=%s in the unit, or turn it on in the "
                       "parent's cgroup.subtree_control)",
                       controller, root, controller);
    free(mount);
}
