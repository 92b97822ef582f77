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

#define GROUP_KEY " (yarn.nodemanager.remote-app-log-dir.groupname)"

struct walk {
    struct fs *fs;
    const struct logs_upload *u;
    bool root_acl;
    char group[FS_OWNER_MAX + 1]; /* of the directory above */
};

static int check_root(struct walk *w, char *note, struct sv_error *err)
{
    const char *root = w->u->text[LOGS_REMOTE];
    struct fs_status st;
    struct fs_owner owner;
    int r = fs_status(w->fs, "", &st, &owner, err);

    if (r == -ENOENT)
        return sv_error_set(err, r,
                            "remote log directory %s does not exist: make it with mode 1777 "
                            "(yarn.nodemanager.remote-app-log-dir)",
                            root);
    if (r < 0)
        return r;
    if (st.kind != FS_DIRECTORY)
        return sv_error_set(err, -ENOTDIR, "remote log directory %s is no directory", root);
    if (st.mode != LOGS_ROOT_MODE)
        (void)snprintf(note, LOGS_UPLOAD_TEXT_MAX,
                       "remote log directory %s has mode %04o, not 1777", root, st.mode);
    w->root_acl = owner.acl;
    memcpy(w->group, owner.group, sizeof(w->group));
    return 0;
}

static int check_owner(const struct walk *w, const struct fs_owner *owner, struct sv_error *err)
{
    bool local = !*w->u->text[LOGS_SERVERS] && !*w->u->text[LOGS_WEB];

    if (!owner->own)
        return sv_error_set(err, -EPERM,
                            "it belongs to %s, not to %s, whose logs %s could read: move it away, "
                            "the next upload makes it",
                            owner->user, w->u->text[LOGS_USER], owner->user);
    if (owner->acl && !w->root_acl)
        return sv_error_set(err, -EPERM,
                            "it has an ACL, which the remote log directory has not: remove it "
                            "(%ssetfacl -b)",
                            local ? "" : "hdfs dfs -");
    return 0;
}

/* The configured group for a new directory; an existing one keeps it, its parent's or the
 * account's. The group before the mode: 0770 gives it all rights. */
static int set_group(struct walk *w, const struct fs_owner *owner, bool made, struct sv_error *err)
{
    const char *own = fs_own_group(w->fs), *configured = w->u->text[LOGS_GROUP],
               *wanted = *configured ? configured
                         : *own      ? own
                                     : w->group;
    bool fits = sv_streq(owner->group, w->group) || sv_streq(owner->group, own);
    int r;

    if (sv_streq(owner->group, wanted) || (fits && !(made && *configured))) {
        memcpy(w->group, owner->group, sizeof(w->group));
        return 0;
    }
    r = fs_set_group(w->fs, "", wanted, err);
    if (r < 0)
        return sv_error_wrap(err, "its group is %s, not %s%s", owner->group, wanted,
                             *configured ? GROUP_KEY : "");
    (void)snprintf(w->group, sizeof(w->group), "%s", wanted);
    return 0;
}

static int enter(struct walk *w, const char *name, struct sv_error *err)
{
    struct fs_status st;
    struct fs_owner owner;
    int r = fs_enter(w->fs, name, &st, &owner, err);
    bool made = r == -ENOENT;

    if (made) {
        r = fs_mkdir(w->fs, name, LOGS_DIR_MODE, err);
        if (r == 0)
            r = fs_enter(w->fs, name, &st, &owner, err); /* somebody may have been faster */
    }
    if (r == 0)
        r = check_owner(w, &owner, err);
    if (r == 0)
        r = set_group(w, &owner, made, err);
    /* The umask may have reduced it; a parent may have given set-group-id. */
    return r == 0 && st.mode != LOGS_DIR_MODE ? fs_set_mode(w->fs, "", LOGS_DIR_MODE, err) : r;
}

int logs_remote_dirs(struct fs *fs, const struct logs_upload *u,
                     char ret_note[LOGS_UPLOAD_TEXT_MAX], struct sv_error *err)
{
    static const enum logs_field path[] = { LOGS_USER, LOGS_SUFFIX, LOGS_BUCKET, LOGS_APP };
    char shown[LOGS_UPLOAD_TEXT_MAX];
    struct walk w = { .fs = fs, .u = u };
    size_t n = (size_t)snprintf(shown, sizeof(shown), "%.200s", u->text[LOGS_REMOTE]);
    int r = check_root(&w, ret_note, err);

    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(path); i++) {
        const char *name = u->text[path[i]];

        if (!*name)
            continue;
        if (n < sizeof(shown))
            n += (size_t)snprintf(shown + n, sizeof(shown) - n, "/%s", name);
        r = enter(&w, name, err);
        if (r < 0)
            return sv_error_wrap(err, "directory %s", shown);
    }
    return r;
}
