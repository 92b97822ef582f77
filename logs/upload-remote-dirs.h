/* Directories below a remote root that is reached by paths (HDFS, WebHDFS): made if missing, and
 * verified to be the submitter's alone, since anybody may make a directory of any name in a root of
 * mode 1777. Hostile: everybody who may write in the root, and the answers. */
#ifndef SELVEDGE_LOGS_UPLOAD_REMOTE_DIRS_H
#define SELVEDGE_LOGS_UPLOAD_REMOTE_DIRS_H

#include "logs/upload-request.h"

#define LOGS_OWNER_MAX 255

struct logs_dir {
    bool directory;
    bool acl; /* it has an ACL, of its own or for what is made in it */
    uint32_t mode;
    char owner[LOGS_OWNER_MAX + 1], group[LOGS_OWNER_MAX + 1];
};

/* A file system; all return 0, or -errno with a text. */
struct logs_dir_ops {
    int (*status)(void *fs, const char *path, struct logs_dir *ret, struct sv_error *err);
    int (*make)(void *fs, const char *path, uint32_t mode, struct sv_error *err);
    int (*set_mode)(void *fs, const char *path, uint32_t mode, struct sv_error *err);
    int (*set_group)(void *fs, const char *path, const char *group, struct sv_error *err);
};

/* Checks the root, then enters {user}/{suffix}/{bucket}/{app} below it, except empty parts: each is
 * the submitter's (-EPERM otherwise), of mode 0770, of the group of its parent or the configured
 * one, and without an ACL unless the root has one. ret_dir: the path of the last. ret_note: as
 * logs_store_ops.prepare. */
int logs_remote_dirs(const struct logs_dir_ops *ops, void *fs, const struct logs_upload *u,
                     char *ret_dir, size_t size, char ret_note[LOGS_UPLOAD_TEXT_MAX],
                     struct sv_error *err) _must_use_;

#endif
