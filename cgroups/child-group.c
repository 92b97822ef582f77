/* See child-group.h. */
#include "cgroups/child-group.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroups/file.h"
#include "cgroups/hierarchy.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"

/* The cgroup that systemd delegates: cg_root_open() may have moved the daemon into a child of it.
 */
static int open_parent(int *ret, char **ret_path, struct sv_error *err)
{
    _cleanup_free_ char *own = NULL;
    int r = cg_own_group(&own, err);

    if (r < 0)
        return r;
    if (sv_has_suffix(own, "/supervisor"))
        own[strlen(own) - strlen("/supervisor")] = '\0';
    *ret = open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (*ret < 0)
        return sv_error_errno(err, -errno, "%s", own);
    *ret_path = SV_TAKE(own);
    return 0;
}

static int open_child(struct cg_child_group *g, const char *path, struct sv_error *err)
{
    g->dir = openat(g->parent, g->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (g->dir >= 0)
        g->procs = openat(g->dir, "cgroup.procs", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    return g->procs < 0 ? sv_error_errno(err, -errno, "%s/%s", path, g->name) : 0;
}

int cg_child_group_open(const char *name, struct cg_child_group *ret, struct sv_error *err)
{
    struct cg_child_group g = CG_NO_CHILD_GROUP;
    _cleanup_free_ char *path = NULL;
    int r = open_parent(&g.parent, &path, err);

    if (r < 0)
        return r;
    (void)snprintf(g.name, sizeof(g.name), "%s", name);
    if (mkdirat(g.parent, g.name, 0755) < 0 && errno != EEXIST)
        r = sv_error_errno(err, -errno, "%s/%s: cannot make the cgroup", path, g.name);
    else
        r = open_child(&g, path, err);
    if (r < 0) {
        cg_child_group_close(&g);
        return r;
    }
    cg_child_group_kill(&g);
    *ret = g;
    return 0;
}

void cg_child_group_discard(const char *name)
{
    struct cg_child_group g = CG_NO_CHILD_GROUP;
    _cleanup_free_ char *path = NULL;

    if (open_parent(&g.parent, &path, NULL) < 0)
        return;
    (void)snprintf(g.name, sizeof(g.name), "%s", name);
    if (open_child(&g, path, NULL) == 0)
        cg_child_group_kill(&g);
    cg_child_group_close(&g);
}

void cg_child_group_kill(const struct cg_child_group *g)
{
    if (g->dir >= 0)
        (void)!cg_file_write(g->dir, "cgroup.kill", "1"); /* fails where it was removed, ignoring */
}

static int is_populated(const char *events)
{
    uint64_t v;
    int r = cg_parse_key(events, "populated", &v);

    return r < 0 ? r : v != 0;
}

int cg_child_group_populated(const struct cg_child_group *g)
{
    char text[CG_FILE_MAX];
    int r = cg_file_read(g->dir, "cgroup.events", text);

    return r < 0 ? r : is_populated(text);
}

void cg_child_group_wait(const struct cg_child_group *g, int most_ms)
{
    _cleanup_close_ int fd = openat(g->dir, "cgroup.events", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct pollfd changed = { .fd = fd, .events = POLLPRI };
    int64_t end = sv_now_ms() + most_ms, left;
    char text[CG_FILE_MAX];

    while (fd >= 0 && cg_file_pread(fd, text) >= 0 && is_populated(text) > 0 &&
           (left = end - sv_now_ms()) > 0)
        (void)poll(&changed, 1, (int)left); /* read again in any case, ignoring */
}

void cg_child_group_close(struct cg_child_group *g)
{
    if (g->dir >= 0)
        (void)unlinkat(g->parent, g->name, AT_REMOVEDIR); /* EBUSY: the next daemon's, ignoring */
    sv_close(g->procs);
    sv_close(g->dir);
    sv_close(g->parent);
    *g = CG_NO_CHILD_GROUP;
}
