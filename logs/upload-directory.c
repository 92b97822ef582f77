/* See upload-store.h: back end for a directory of this machine, local or NFS, inherited from the
 * NodeManager as a descriptor. Everybody may make directories in it, and other members of the group
 * in those below, so every open is beneath it and follows no link, and a directory that exists is
 * verified to be this account's alone. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/fd.h"
#include "logs/upload-store.h"

/* Not seen: NFSv4's own ACLs, which its servers adapt to the mode. */
static bool has_acl(int fd)
{
    return fgetxattr(fd, "system.posix_acl_access", NULL, 0) > 0 ||
           fgetxattr(fd, "system.posix_acl_default", NULL, 0) > 0;
}

static int open_root(struct logs_store *s, char *note, struct sv_error *err)
{
    const char *root = s->u->text[LOGS_REMOTE];
    _cleanup_close_ int readable = -1;
    struct stat st;

    s->dir = openat(s->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (s->dir < 0 || fstat(s->dir, &st) < 0)
        return sv_error_errno(err, -errno, "remote log directory %s", root);
    readable = openat(s->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    s->root_acl = readable >= 0 && has_acl(readable);
    s->group = st.st_gid;
    if ((st.st_mode & 07777) != LOGS_ROOT_MODE)
        (void)snprintf(note, LOGS_UPLOAD_TEXT_MAX,
                       "remote log directory %s has mode %04o, not 1777", root,
                       (unsigned)st.st_mode & 07777);
    return 0;
}

/* Told before it is opened: a directory of somebody else may be closed. */
static int check_owner(const struct logs_store *s, const struct stat *st, struct sv_error *err)
{
    const char *user = s->u->text[LOGS_USER];
    const struct passwd *pw;
    char owner[64];

    if (st->st_uid == geteuid())
        return 0;
    pw = getpwuid(st->st_uid);
    if (pw)
        (void)snprintf(owner, sizeof(owner), "%.60s", pw->pw_name);
    else
        (void)snprintf(owner, sizeof(owner), "uid %u", (unsigned)st->st_uid);
    return sv_error_set(err, -EPERM,
                        "it belongs to %s, not to %s, whose logs %s could read: move it away, the "
                        "next upload makes it",
                        owner, user, owner);
}

/* Opens a directory of this account. */
static int open_own(const struct logs_store *s, const char *name, struct stat *ret_st, int *ret_fd,
                    struct sv_error *err)
{
    _cleanup_close_ int at = sv_open_beneath(s->dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
    int fd, r;

    if (at < 0)
        return sv_error_errno(err, at, "open");
    if (fstat(at, ret_st) < 0)
        return sv_error_errno(err, -errno, "stat");
    r = check_owner(s, ret_st, err);
    if (r < 0)
        return r;
    fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return sv_error_errno(err, -errno, "open");
    *ret_fd = fd;
    return 0;
}

/* The configured group for a new directory; an existing one keeps it, or its parent's. Others come
 * from a directory of somebody else, where it lay before. */
static int set_group(struct logs_store *s, int fd, const struct stat *st, bool made,
                     struct sv_error *err)
{
    const char *name = s->u->text[LOGS_GROUP];
    const struct group *g = *name ? getgrnam(name) : NULL;
    gid_t wanted = g ? g->gr_gid : getegid();

    if (made && *name && !g)
        return sv_error_errno(err, -ENOENT,
                              "group %s (yarn.nodemanager.remote-app-log-dir.groupname)", name);
    if (st->st_gid != wanted &&
        ((made && g) || (st->st_gid != s->group && st->st_gid != getegid()))) {
        if (fchown(fd, (uid_t)-1, wanted) < 0)
            return sv_error_errno(err, -errno,
                                  "group %s (yarn.nodemanager.remote-app-log-dir.groupname)",
                                  *name ? name : "of the account");
        s->group = wanted;
        return 0;
    }
    s->group = st->st_gid;
    return 0;
}

/* Opens the directory, creating it if it is missing. */
static int enter(struct logs_store *s, const char *name, struct sv_error *err)
{
    _cleanup_close_ int fd = -1;
    struct stat st = { 0 };
    bool made = mkdirat(s->dir, name, LOGS_DIR_MODE) == 0;
    int r;

    if (!made && errno != EEXIST)
        return sv_error_errno(err, -errno, "mkdir");
    r = open_own(s, name, &st, &fd, err);
    if (r < 0)
        return r;
    if (has_acl(fd) && !s->root_acl)
        return sv_error_set(err, -EPERM,
                            "it has an ACL, which the remote log directory has not: remove it "
                            "(setfacl -b)");
    r = set_group(s, fd, &st, made, err);
    if (r < 0)
        return r;
    /* Overrides the umask; clears set-group-id, which a parent may have given. */
    if ((st.st_mode & 07777) != LOGS_DIR_MODE && fchmod(fd, LOGS_DIR_MODE) < 0)
        return sv_error_errno(err, -errno, "mode");
    (void)sv_close(s->dir);
    s->dir = sv_take_fd(&fd);
    return 0;
}

static int prepare(struct logs_store *s, char *note, struct sv_error *err)
{
    static const enum logs_field path[] = { LOGS_USER, LOGS_SUFFIX, LOGS_BUCKET, LOGS_APP };
    char shown[LOGS_UPLOAD_TEXT_MAX];
    size_t n = (size_t)snprintf(shown, sizeof(shown), "%.200s", s->u->text[LOGS_REMOTE]);
    int r = open_root(s, note, err);

    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(path); i++) {
        const char *name = s->u->text[path[i]];

        if (!*name)
            continue;
        if (n < sizeof(shown))
            n += (size_t)snprintf(shown + n, sizeof(shown) - n, "/%s", name);
        r = enter(s, name, err);
        if (r < 0)
            return sv_error_wrap(err, "directory %s", shown);
    }
    return r;
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
