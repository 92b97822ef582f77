/* The directories of one container or localizer, below the configured local and log directories. A
 * configured directory MUST be opened with the daemon's file-system ids, everything below it with
 * the user's; root's rights MUST NOT be used. The directories visible to the process become
 * detached mounts. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "setuid-helper/mounts.h"

#define LOGS(h) ((h)->req.what == EXE_VISIBILITY_LOGS)
/* The container's directories MUST NOT exist, but for another launch of it: then they are the job's
 * own, which it may have replaced. */
#define NEW(h) (!((h)->req.what & EXE_LAUNCH_AGAIN))

/* Clones `dir`, which is closed, as a detached mount; none for the host profile. */
static void add(const struct hlp *h, struct hlp_dirs *t, int dir, bool read_only, const char *base,
                const char *rest)
{
    struct hlp_dir *to = &t->v[t->n];
    if (h->req.profile != EXE_PROFILE_HOST) {
        *to = (struct hlp_dir){ hlp_copy(dir, "", AT_EMPTY_PATH), base, t->kind, "" };
        hlp_set_attributes(to->fd, 0, HLP_BASELINE | (read_only ? HLP_RO : 0), 0, rest);
        (void)hlp_format(to->rest, sizeof(to->rest), "%s", rest);
        t->n++;
    }
    (void)close(dir);
}

/* One local dir: the caches read-only, the application's directory writable. */
static void local_dir(const struct hlp *h, struct hlp_dirs *t, unsigned i, int dir)
{
    char path[HLP_PATH_MAX];
    struct stat st;
    const char *base = h->cfg.local_dirs.v[i];
    int public = hlp_open_at(dir, "filecache", O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (public >= 0 &&
        (fstat(public, &st) < 0 || (st.st_uid != h->cfg.public.uid && st.st_uid != h->cfg.nm.uid)))
        hlp_fail(EXE_STATUS_LOCAL_DIR, EPERM, "filecache");
    if (public >= 0)
        add(h, t, public, true, base, "filecache");
    else if (public != -ENOENT)
        hlp_fail(EXE_STATUS_LOCAL_DIR, -public, "filecache");
    (void)hlp_format(path, sizeof(path), "usercache/%s/filecache", h->req.submitter);
    add(h, t, hlp_open_user_dir(dir, path, h->user.uid, EXE_STATUS_USER_DIR), true, base, path);
    (void)hlp_format(path, sizeof(path), "usercache/%s/appcache/%s", h->req.submitter, h->app);
    int app = hlp_open_user_dir(dir, path, h->user.uid, EXE_STATUS_APP_DIR);
    if (i == h->req.work_dir) {
        int work = hlp_make_dir(app, h->container, 0750, NEW(h), EXE_STATUS_CONTAINER_DIR);
        t->tmp = hlp_make_dir(work, "tmp", 0750, NEW(h), EXE_STATUS_CONTAINER_DIR);
        (void)close(work);
    }
    add(h, t, app, false, base, path);
    (void)close(dir);
}

/* A localizer's cache, or log-uploader's logs, also passed as a descriptor. */
static void cache(const struct hlp *h, struct hlp_child *c, struct hlp_dirs *t, int dir,
                  const char *base, const char *rest, int number)
{
    add(h, t, hlp_open_user_dir(dir, rest, h->user.uid, EXE_STATUS_USER_DIR), LOGS(h), base, rest);
    c->caches[number - EXE_LOCALIZER_CACHE_FD(0)] = dup(t->v[t->n - 1].fd);
}

static void log_dir(const struct hlp *h, struct hlp_child *c, struct hlp_dirs *t, unsigned i,
                    int dir)
{
    char path[HLP_PATH_MAX];
    if (h->req.op == EXE_OP_LOCALIZE)
        return cache(h, c, t, dir, h->cfg.log_dirs.v[i], h->app, EXE_LOCALIZER_CACHE_FD((int)i));
    int app = hlp_open_user_dir(dir, h->app, h->user.uid, EXE_STATUS_LOG_DIR);
    (void)hlp_format(path, sizeof(path), "%s/%s", h->app, h->container);
    add(h, t, hlp_make_dir(app, h->container, 0750, NEW(h), EXE_STATUS_CONTAINER_DIR), false,
        h->cfg.log_dirs.v[i], path);
    (void)close(app);
    (void)close(dir);
}

static void caches(const struct hlp *h, struct hlp_child *c, struct hlp_dirs *t, unsigned i,
                   int dir)
{
    char rest[HLP_PATH_MAX];
    const char *base = h->cfg.local_dirs.v[i];
    if (h->req.what == EXE_VISIBILITY_PUBLIC)
        cache(h, c, t, dir, base, "filecache", EXE_LOCALIZER_CACHE_FD((int)i));
    if (h->req.what & EXE_VISIBILITY_PRIVATE) {
        (void)hlp_format(rest, sizeof(rest), "usercache/%s/filecache", h->req.submitter);
        cache(h, c, t, dir, base, rest, EXE_LOCALIZER_CACHE_FD((int)i));
    }
    if (h->req.what & EXE_VISIBILITY_APPLICATION) {
        (void)hlp_format(rest, sizeof(rest), "usercache/%s/appcache/%s/filecache", h->req.submitter,
                         h->app);
        cache(h, c, t, dir, base, rest, EXE_LOCALIZER_APP_FD((int)i));
    }
    (void)close(dir);
}

void hlp_open_dirs(const struct hlp *h, struct hlp_child *c, struct hlp_dirs *t)
{
    int locals[EXE_DIRS_MAX], logs[EXE_DIRS_MAX];
    hlp_fs_as(h->cfg.nm.uid, h->cfg.nm_gid);
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++)
        if (h->req.local_mask >> i & 1)
            locals[i] = hlp_open_root(h, h->cfg.local_dirs.v[i], EXE_STATUS_LOCAL_DIR);
    for (unsigned i = 0; i < h->cfg.log_dirs.n; i++)
        if (h->req.log_mask >> i & 1)
            logs[i] = hlp_open_root(h, h->cfg.log_dirs.v[i], EXE_STATUS_LOG_DIR);
    hlp_fs_as(h->user.uid, h->user.gid);
    t->kind = "local";
    for (unsigned i = 0; i < h->cfg.local_dirs.n; i++)
        if (h->req.local_mask >> i & 1) {
            if (h->req.op == EXE_OP_LOCALIZE)
                caches(h, c, t, i, locals[i]);
            else
                local_dir(h, t, i, locals[i]);
        }
    t->kind = "log";
    for (unsigned i = 0; i < h->cfg.log_dirs.n; i++)
        if (h->req.log_mask >> i & 1)
            log_dir(h, c, t, i, logs[i]);
    if (h->req.op == EXE_OP_LAUNCH) { /* last: a local directory may lie below /tmp */
        if (h->req.profile == EXE_PROFILE_HADOOP)
            add(h, t, dup(t->tmp), false, "/var/tmp", "");
        add(h, t, t->tmp, false, "/tmp", "");
    }
    hlp_fs_as(0, 0);
}
