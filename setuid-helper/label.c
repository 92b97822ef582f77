/* SELinux labels (selvedge.sandbox.selinux) of processes, of the files that they create and of the
 * programs that they execute. The types are those of selinux/selvedge.te; only category numbers
 * come from the request. Every label MUST be written before the job runs, and read back.
 *
 * A label is written to a file of /proc. Before the drop this MUST be a new procfs that no other
 * process has; after the drop it is that of the namespace, verified, and a mount below it MUST NOT
 * be crossed (CVE-2025-52881). */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "setuid-helper/mounts.h"

enum level {
    PUBLIC,
    USER,
    APP,
    RANGE
}; /* s0; the user's pair; both pairs; from one to the other */

static const struct {
    const char *file, *role, *type;
    enum level level;
} labels[] = {
    [HLP_LABEL_MONITOR] = { "current", "system_r", "selvedge_monitor_t", PUBLIC },
    [HLP_LABEL_CHILD] = { "current", "system_r", "selvedge_launch_t", APP },
    [HLP_LABEL_CONTAINER] = { "exec", "system_r", "selvedge_container_t", APP },
    [HLP_LABEL_LOCALIZER] = { "exec", "system_r", "selvedge_localizer_t", RANGE },
    [HLP_LABEL_APP_FILES] = { "fscreate", "object_r", "selvedge_container_file_t", APP },
    [HLP_LABEL_APP_CACHE] = { "fscreate", "object_r", "selvedge_container_ro_file_t", APP },
    [HLP_LABEL_USER_CACHE] = { "fscreate", "object_r", "selvedge_container_ro_file_t", USER },
    [HLP_LABEL_PLAIN] = { "fscreate", "object_r", "selvedge_local_t", PUBLIC },
    [HLP_LABEL_RECORD] = { "fscreate", "object_r", "selvedge_private_t", PUBLIC },
};

static void compose(const struct hlp *h, enum hlp_label which, char *buf, size_t size)
{
    const uint16_t *c = h->req.categories;
    const bool public = h->req.op == EXE_OP_LOCALIZE && h->req.what == EXE_VISIBILITY_PUBLIC;
    size_t n = hlp_format(buf, size, "system_u:%s:%s:s0", labels[which].role, labels[which].type);
    if (labels[which].level == PUBLIC || public)
        return;
    if (c[EXE_CATEGORIES - 1] == 0) /* the request has none: a decoded one has all or none */
        hlp_fail(EXE_STATUS_LABEL, EINVAL, "the request has no categories");
    if (labels[which].level != APP)
        n += hlp_format(buf + n, size - n, ":c%u,c%u", c[0], c[1]);
    if (labels[which].level == RANGE)
        n += hlp_format(buf + n, size - n, "-s0");
    if (labels[which].level != USER)
        (void)hlp_format(buf + n, size - n, ":c%u,c%u,c%u,c%u", c[0], c[1], c[2], c[3]);
}

/* Root's configuration may forbid launches while SELinux is permissive. */
static void check_enforcing(void)
{
    char on = '0';
    struct statfs fs;
    int fd = hlp_openat2(AT_FDCWD, "/sys/fs/selinux/enforce", O_RDONLY, RESOLVE_NO_SYMLINKS);
    if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != SELINUX_MAGIC || read(fd, &on, 1) != 1 ||
        on != '1')
        hlp_fail(EXE_STATUS_LABEL, EPERM, "SELinux is not enforcing");
    (void)close(fd);
}

void hlp_write_proc(int proc, const char *path, const char *text, enum exe_status status)
{
    struct stat st;
    struct statfs fs;
    char back[256] = "";
    const size_t n = strlen(text);
    if (proc < 0 || fstatfs(proc, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC ||
        fstat(proc, &st) < 0 || st.st_ino != 1)
        hlp_fail(status, EINVAL, "/proc");
    int fd =
        hlp_openat2(proc, path, O_RDWR, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
    if (fd < 0 || write(fd, text, n) != (ssize_t)n ||
        pread(fd, back, sizeof(back) - 1, 0) < (ssize_t)n || memcmp(back, text, n) != 0)
        hlp_fail(status, fd < 0 ? -fd : errno, text);
    (void)close(fd);
}

void hlp_label(const struct hlp *h, enum hlp_label which)
{
    char text[256], path[64];
    const bool given = which == HLP_LABEL_CONTAINER && h->cfg.label[0]; /* by root, in full */
    if (!h->cfg.selinux && !given)
        return;
    const bool root = geteuid() == 0; /* a label after the drop follows one before it */
    if (root && h->cfg.selinux >> HLP_SELINUX_ENFORCING & 1)
        check_enforcing();
    if (given)
        (void)hlp_format(text, sizeof(text), "%s", h->cfg.label);
    else
        compose(h, which, text, sizeof(text));
    (void)hlp_format(path, sizeof(path), "thread-self/attr/%s", labels[which].file);
    int proc = root ? hlp_new_mount("proc", NULL, 0)
                    : hlp_openat2(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    hlp_write_proc(proc, path, text, EXE_STATUS_LABEL);
    (void)close(proc);
}
