/* See upload-store.h: back end for a directory of this machine, local or NFS, inherited from the
 * NodeManager as a descriptor. Other members of the group may write below it, so every open is
 * beneath it and follows no link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "logs/upload-store.h"

static int open_root(struct logs_store *s, char *note, struct sv_error *err)
{
    const char *root = s->u->text[LOGS_REMOTE];
    struct stat st;

    s->dir = openat(s->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (s->dir < 0 || fstat(s->dir, &st) < 0)
        return sv_error_errno(err, -errno, "remote log directory %s", root);
    if ((st.st_mode & 07777) != LOGS_ROOT_MODE)
        (void)snprintf(note, LOGS_UPLOAD_TEXT_MAX,
                       "remote log directory %s has mode %04o, not 1777", root,
                       (unsigned)st.st_mode & 07777);
    return 0;
}

static int set_group(int fd, const char *group)
{
    const struct group *g = getgrnam(group);

    if (!g)
        return -ENOENT;
    return fchown(fd, (uid_t)-1, g->gr_gid) < 0 ? -errno : 0;
}

/* Opens the directory, creating it if it is missing. */
static int enter(struct logs_store *s, const char *name, struct sv_error *err)
{
    _cleanup_close_ int fd = -1;
    bool made = mkdirat(s->dir, name, LOGS_DIR_MODE) == 0;

    if (!made && errno != EEXIST)
        return sv_error_errno(err, -errno, "directory %s", name);
    fd = sv_open_beneath(s->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return sv_error_errno(err, fd, "directory %s", name);
    if (made && *s->u->text[LOGS_GROUP]) {
        int r = set_group(fd, s->u->text[LOGS_GROUP]);

        if (r < 0)
            return sv_error_errno(err, r,
                                  "group %s (yarn.nodemanager.remote-app-log-dir.groupname)",
                                  s->u->text[LOGS_GROUP]);
    }
    if (made && fchmod(fd, LOGS_DIR_MODE) < 0) /* override the umask; chmod clears set-group-id */
        return sv_error_errno(err, -errno, "directory %s: mode", name);
    (void)sv_close(s->dir);
    s->dir = sv_take_fd(&fd);
    return 0;
}

static int prepare(struct logs_store *s, char *note, struct sv_error *err)
{
    static const enum logs_field path[] = { LOGS_USER, LOGS_SUFFIX, LOGS_BUCKET, LOGS_APP };
    int r = open_root(s, note, err);

    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(path); i++)
        r = *s->u->text[path[i]] ? enter(s, s->u->text[path[i]], err) : 0;
    return r < 0 ? sv_error_wrap(err, "%s", s->u->text[LOGS_REMOTE]) : 0;
}

static void tmp_name(const struct logs_store *s, char ret[300])
{
    (void)snprintf(ret, 300, "%.290s.tmp", s->u->text[LOGS_FILE]);
}

static int begin(struct logs_store *s, struct sv_error *err)
{
    char name[300];

    tmp_name(s, name);
    s->file = sv_close(s->file);
    (void)unlinkat(s->dir, name, 0); /* left by an interrupted upload, ignoring */
    s->file =
        sv_open_beneath(s->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, LOGS_FILE_MODE);
    if (s->file < 0)
        return sv_error_errno(err, s->file, "%s", name);
    if (fchmod(s->file, LOGS_FILE_MODE) < 0)
        return sv_error_errno(err, -errno, "%s: mode", name);
    return 0;
}

static int write_some(void *userdata, const void *p, size_t n)
{
    struct logs_store *s = userdata;
    int r = sv_write_all(s->file, p, n);

    return r < 0 ? sv_error_errno(s->err, r, "write") : 0;
}

static int publish(struct logs_store *s, struct sv_error *err)
{
    char name[300];

    tmp_name(s, name);
    if (fsync(s->file) < 0)
        return sv_error_errno(err, -errno, "%s: fsync", name);
    if (renameat(s->dir, name, s->dir, s->name) < 0)
        return sv_error_errno(err, -errno, "%s: rename", name);
    if (fsync(s->dir) < 0)
        return sv_error_errno(err, -errno, "%s: fsync of its directory", name);
    return 0;
}

static void discard(struct logs_store *s)
{
    char name[300];

    tmp_name(s, name);
    (void)unlinkat(s->dir, name, 0); /* the next upload replaces it, ignoring */
}

static int exists(struct logs_store *s, const char *name, struct sv_error *err)
{
    struct stat st;

    if (fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return 1;
    return errno == ENOENT ? 0 : sv_error_errno(err, -errno, "%s", name);
}

static int list(struct logs_store *s, struct logs_names *names, struct sv_error *err)
{
    int fd = sv_open_beneath(s->dir, ".", O_RDONLY | O_DIRECTORY, 0), r = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;

    if (!d) {
        (void)sv_close(fd);
        return sv_error_errno(err, fd < 0 ? fd : -ENOMEM, "remote log directory");
    }
    while (r == 0 && (e = readdir(d)))
        r = logs_names_add(names, e->d_name);
    (void)closedir(d); /* was only read, ignoring */
    return r < 0 ? sv_error_errno(err, r, "remote log directory") : 0;
}

static int remove_file(struct logs_store *s, const char *name, struct sv_error *err)
{
    return unlinkat(s->dir, name, 0) == 0 || errno == ENOENT
               ? 0
               : sv_error_errno(err, -errno, "%s", name);
}

static void close_all(struct logs_store *s)
{
    s->file = sv_close(s->file);
    s->dir = sv_close(s->dir);
}

static bool retry(int error)
{
    return error == -EIO || error == -ESTALE || error == -ENOSPC || error == -EDQUOT;
}

const struct logs_store_ops logs_store_directory = {
    .prepare = prepare,
    .begin = begin,
    .write = write_some,
    .publish = publish,
    .discard = discard,
    .exists = exists,
    .list = list,
    .remove = remove_file,
    .close = close_all,
    .retry = retry,
};
