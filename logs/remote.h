/* Reads the remote log directory, to which NodeManagers upload logs: HDFS, WebHDFS, or a directory
 * of this machine. Synchronous, for single-purpose processes such as `selvedge logs`. Hostile:
 * files and names, which belong to the users whose jobs wrote them. */
#ifndef SELVEDGE_LOGS_REMOTE_H
#define SELVEDGE_LOGS_REMOTE_H

#include "common/conf.h"
#include "fs/fs.h"
#include "logs/bcfile.h"

struct logs_remote;
struct logs_remote_file;

/* `who` reads; copied. -EOPNOTSUPP: another scheme. */
int logs_remote_open(struct sv_conf *c, const struct fs_url *url, const struct fs_identity *who,
                     struct logs_remote **ret, struct sv_error *err) _must_use_;
struct logs_remote *logs_remote_free(struct logs_remote *r);
static inline void logs_remote_freep(struct logs_remote **r)
{
    *r = logs_remote_free(*r);
}
/* Lists the regular files of a directory below the root, sorted, NULL-terminated, without files
 * under construction (".tmp"). -ENOENT: no such directory. */
int logs_remote_list(struct logs_remote *r, const char *dir, char ***ret, struct sv_error *err)
    _must_use_;
/* Opens a file below the root for reading; `r` must outlive it. */
int logs_remote_file(struct logs_remote *r, const char *path, struct logs_remote_file **ret,
                     struct sv_error *err) _must_use_;
const struct logs_source *logs_remote_source(const struct logs_remote_file *f);
/* Last modification of the file: none of its logs is newer. */
int64_t logs_remote_modified_ms(const struct logs_remote_file *f);
/* The reason for the source's last failure, or "". */
const char *logs_remote_problem(const struct logs_remote_file *f);
struct logs_remote_file *logs_remote_file_free(struct logs_remote_file *f);
static inline void logs_remote_file_freep(struct logs_remote_file **f)
{
    *f = logs_remote_file_free(*f);
}

#endif
