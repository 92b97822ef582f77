/* Assigned devices: which are allowed (the configuration's sections), where their nodes are. The
 * request names numbers; the nodes are looked for in the host's /dev, which is root's, and proved to
 * be those numbers again when they are bound (sandbox.c). */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

/* Nodes that every user of a GPU needs, given with the first one of its major. */
static const struct {
    uint32_t major;
    const char *path;
} control[] = {
    { 195, "nvidiactl" }, { 195, "nvidia-modeset" }, { 195, "nvidia-uvm" },
    { 195, "nvidia-uvm-tools" }, { 226, "kfd" },
};

static bool is_node(int dev, const char *path, struct exe_device *ret)
{
    struct stat st;
    if (fstatat(dev, path, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISCHR(st.st_mode))
        return false;
    ret->major = major(st.st_rdev);
    ret->minor = minor(st.st_rdev);
    return true;
}

/* The node of `want` in one directory of /dev; "" in `ret->path` when there is none. */
static bool search(int dev, const char *dir, const struct exe_device *want, struct hlp_node *ret)
{
    struct entry { /* the kernel's linux_dirent64 */
        uint64_t ino;
        int64_t off;
        uint16_t reclen;
        uint8_t type;
        char name[];
    };
    _Alignas(8) char buf[4096];
    int fd = hlp_openat2(dev, dir, O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    bool found = false;
    if (fd < 0)
        return false;
    for (long n; !found && (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0;)
        for (long at = 0; !found && at < n;) {
            const struct entry *e = (const struct entry *)(buf + at);
            at += e->reclen;
            if (strlen(dir) + strlen(e->name) + 2 > sizeof(ret->path))
                continue;
            (void)hlp_format(ret->path, sizeof(ret->path), "%s/%s", dir, e->name);
            found = is_node(dev, ret->path, &ret->id) && ret->id.major == want->major &&
                    ret->id.minor == want->minor;
        }
    (void)close(fd);
    return found;
}

unsigned hlp_find_nodes(const struct hlp *h, struct hlp_node nodes[HLP_NODES_MAX])
{
    static const char *const dirs[] = { ".", "./dri", "./nvidia-caps", "./accel" };
    unsigned n = 0;
    int dev = -1;
    for (unsigned i = 0; i < h->req.n_devices; i++) {
        const struct exe_device *d = &h->req.devices[i];
        char what[64];
        bool found = false;
        (void)hlp_format(what, sizeof(what), "%u:%u", d->major, d->minor);
        if (!hlp_device_allowed(&h->cfg, d))
            hlp_fail(EXE_STATUS_DEVICE, EPERM, what);
        if (dev < 0)
            dev = hlp_openat2(AT_FDCWD, "/dev", O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
        for (size_t k = 0; !found && k < sizeof(dirs) / sizeof(dirs[0]); k++)
            found = search(dev, dirs[k], d, &nodes[n]);
        if (!found)
            hlp_fail(EXE_STATUS_DEVICE, ENODEV, what);
        n++;
    }
    for (size_t i = 0; i < sizeof(control) / sizeof(control[0]); i++) {
        bool wanted = false;
        for (unsigned k = 0; k < h->req.n_devices; k++)
            wanted = wanted || (h->req.devices[k].major == control[i].major &&
                                h->cfg.gpu.major == control[i].major);
        if (wanted && is_node(dev, control[i].path, &nodes[n].id))
            (void)hlp_format(nodes[n++].path, sizeof(nodes[0].path), "./%s", control[i].path);
    }
    return n;
}
