/* See upload-remote-dirs.h. Hadoop's NodeManager sets the mode of a directory that exists, which
 * fails for one of another user; a superuser's would succeed, so the owner is compared too. The
 * group and the ACL matter because a directory of the submitter's that lay in one of somebody else
 * has that one's group and default ACL, and could have been moved here. */
#include "logs/upload-remote-dirs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "logs/upload-store.h"

#define NAMES_MAX 330 /* what the callers append: a file's name and ".tmp" */

struct walk {
    const struct logs_dir_ops *ops;
    void *fs;
    const struct logs_upload *u;
    bool root_acl;
    char group[LOGS_OWNER_MAX + 1]; /* of the directory above */
};

static int check_root(struct walk *w, char *note, struct sv_error *err)
{
    const char *root = w->u->text[LOGS_REMOTE];
    struct logs_dir d;
    int r = w->ops->status(w->fs, root, &d, err);

    if (r == -ENOENT)
        return sv_error_set(err, r,
                            "remote log directory %s does not exist: make it with mode 1777 "
                            "(yarn.nodemanager.remote-app-log-dir)",
                            root);
    if (r < 0)
        return r;
    if (!d.directory)
        return sv_error_set(err, -ENOTDIR, "remote log directory %s is no directory", root);
    if (d.mode != LOGS_ROOT_MODE)
        (void)snprintf(note, LOGS_UPLOAD_TEXT_MAX,
                       "remote log directory %s has mode %04o, not 1777", root, d.mode);
    w->root_acl = d.acl;
    memcpy(w->group, d.group, sizeof(w->group));
    return 0;
}

static int check_owner(const struct walk *w, const struct logs_dir *d, struct sv_error *err)
{
    const char *user = w->u->text[LOGS_USER];

    if (!d->directory)
        return sv_error_set(err, -ENOTDIR, "it is no directory");
    if (!sv_streq(d->owner, user))
        return sv_error_set(err, -EPERM,
                            "it belongs to %s, not to %s, whose logs %s could read: move it away, "
                            "the next upload makes it",
                            d->owner, user, d->owner);
    if (d->acl && !w->root_acl)
        return sv_error_set(err, -EPERM,
                            "it has an ACL, which the remote log directory has not: remove it "
                            "(hdfs dfs -setfacl -b)");
    return 0;
}

/* The group before the mode: 0770 gives it all rights. */
static int set_group(struct walk *w, const char *path, const struct logs_dir *d, bool made,
                     struct sv_error *err)
{
    const char *wanted = w->u->text[LOGS_GROUP];
    bool fits = sv_streq(d->group, w->group) && !(made && *wanted);
    int r;

    if (!fits && !(*wanted && sv_streq(d->group, wanted))) {
        wanted = *wanted ? wanted : w->group;
        r = w->ops->set_group(w->fs, path, wanted, err);
        if (r < 0)
            return sv_error_wrap(err, "its group is %s, not %s", d->group, wanted);
        (void)snprintf(w->group, sizeof(w->group), "%s", wanted);
        return 0;
    }
    memcpy(w->group, d->group, sizeof(w->group));
    return 0;
}

static int enter(struct walk *w, const char *path, struct sv_error *err)
{
    struct logs_dir d;
    int r = w->ops->status(w->fs, path, &d, err);
    bool made = r == -ENOENT;

    if (made) {
        r = w->ops->make(w->fs, path, LOGS_DIR_MODE, err);
        if (r == 0)
            r = w->ops->status(w->fs, path, &d, err); /* somebody may have been faster */
    }
    if (r == 0)
        r = check_owner(w, &d, err);
    if (r == 0)
        r = set_group(w, path, &d, made, err);
    if (r == 0 && d.mode != LOGS_DIR_MODE) /* the server's umask may have reduced it */
        r = w->ops->set_mode(w->fs, path, LOGS_DIR_MODE, err);
    return r < 0 ? sv_error_wrap(err, "directory %s", path) : 0;
}

int logs_remote_dirs(const struct logs_dir_ops *ops, void *fs, const struct logs_upload *u,
                     char *ret_dir, size_t size, char ret_note[LOGS_UPLOAD_TEXT_MAX],
                     struct sv_error *err)
{
    static const enum logs_field path[] = { LOGS_USER, LOGS_SUFFIX, LOGS_BUCKET, LOGS_APP };
    struct walk w = { .ops = ops, .fs = fs, .u = u };
    size_t n = (size_t)snprintf(ret_dir, size, "%s", u->text[LOGS_REMOTE]);
    int r = check_root(&w, ret_note, err);

    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(path); i++) {
        if (!*u->text[path[i]])
            continue;
        if (n < size)
            n += (size_t)snprintf(ret_dir + n, size - n, "/%s", u->text[path[i]]);
        if (n + NAMES_MAX > size)
            return sv_error_set(err, -ENAMETOOLONG, "remote log directory: too long a path");
        r = enter(&w, ret_dir, err);
    }
    return r;
}
