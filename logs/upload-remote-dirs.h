/* Directories below the remote root: made if missing, and verified to be the submitter's alone,
 * since anybody may make a directory of any name in a root of mode 1777, and members of its group
 * in those below. Hostile: everybody who may write there, and the answers. */
#ifndef SELVEDGE_LOGS_UPLOAD_REMOTE_DIRS_H
#define SELVEDGE_LOGS_UPLOAD_REMOTE_DIRS_H

#include "fs/fs.h"
#include "logs/upload-request.h"

/* Enters {user}/{suffix}/{bucket}/{app} below the root that `fs` was opened at, without empty
 * parts: each the caller's, of mode 0770, of the group of the directory above, the account's own or
 * the configured one, and without an ACL unless the root has one. *ret_note: a problem that the
 * operator should fix, or "". */
int logs_remote_dirs(struct fs *fs, const struct logs_upload *u,
                     char ret_note[LOGS_UPLOAD_TEXT_MAX], struct sv_error *err) _must_use_;

#endif
