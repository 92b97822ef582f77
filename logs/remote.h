/* Reading the remote log directory, where NodeManagers have uploaded logs: HDFS, or a directory of
 * this machine. Synchronous, for a process that does nothing else, such as `selvedge logs`. Files
 * and names are hostile: they belong to the users whose jobs wrote them. A back end is a small
 * struct of functions. */
#ifndef SELVEDGE_LOGS_REMOTE_H
#define SELVEDGE_LOGS_REMOTE_H

#include "common/conf.h"
#include "localizer/url.h"
#include "logs/bcfile.h"

#define LOGS_REMOTE_FILES_MAX 100000 /* of one application: one a node, and rolled ones */

struct logs_remote;
struct logs_remote_file;

/* Where a configured directory is: `remote` is a url, or a path on `default_fs`. -EINVAL. */
int logs_remote_parse(const char *default_fs, const char *remote, struct loc_url *ret,
                      struct sv_error *err) _must_use_;
/* `user`: of HDFS's simple authentication. -EOPNOTSUPP: another scheme. */
int logs_remote_open(struct sv_conf *c, const struct loc_url *url, const char *user,
                     struct logs_remote **ret, struct sv_error *err) _must_use_;
struct logs_remote *logs_remote_free(struct logs_remote *r);
static inline void logs_remote_freep(struct logs_remote **r)
{
    *r = logs_remote_free(*r);
}
/* Names of the regular files in a directory below the root, sorted, NULL-terminated; without those
 * that are being written (".tmp"). -ENOENT: there is no such directory. */
int logs_remote_list(struct logs_remote *r, const char *dir, char ***ret, struct sv_error *err)
    _must_use_;
/* A file below the root, open for reading; not longer than `r` lives. */
int logs_remote_file(struct logs_remote *r, const char *path, struct logs_remote_file **ret,
                     struct sv_error *err) _must_use_;
const struct logs_source *logs_remote_source(const struct logs_remote_file *f);
/* When it was written last: not before the logs in it. */
int64_t logs_remote_modified_ms(const struct logs_remote_file *f);
/* Why its source failed last, or "". */
const char *logs_remote_problem(const struct logs_remote_file *f);
struct logs_remote_file *logs_remote_file_free(struct logs_remote_file *f);
static inline void logs_remote_file_freep(struct logs_remote_file **f)
{
    *f = logs_remote_file_free(*f);
}

#endif
