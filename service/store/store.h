/* Definitions of services where Hadoop keeps them, on file:, hdfs:, webhdfs: or swebhdfs:, as the
 * caller:
 *
 *     BASE/services/NAME/NAME.json              the definition
 *     BASE/services/NAME/upgrade/VERSION/NAME.json
 *     BASE/services/NAME/lib/FILE               files of the master
 *
 * BASE is yarn.service.base.path, where the operator has created "services" for all (mode 1777),
 * or ".yarn" in the caller's home directory. A file is written under another name, then renamed. A
 * service's directory that is not the caller's own is as absent, or as taken; on file: the process
 * must be the caller's account.
 *
 * Blocking, with the time limits of fs/: for a process of its own. Hostile: names, versions and
 * texts of a caller, what the directories hold. Not thread-safe. */
#ifndef SELVEDGE_SERVICE_STORE_STORE_H
#define SELVEDGE_SERVICE_STORE_STORE_H

#include "common/conf.h"
#include "fs/url.h"

struct svc_store;

#define SVC_STORE_ENTRIES_MAX 10000 /* of the directory of all services */

/* `conf` and `user` must outlive it. `credentials`: a descriptor ("HDTS…") with the caller's
 * tokens, which outlives it; -1: none. -EPERM: the definitions are files of this machine, and the
 * process is not the caller's account. */
int svc_store_open(struct sv_conf *conf, const char *user, int credentials, struct svc_store **ret,
                   struct sv_error *err) _must_use_;
struct svc_store *svc_store_close(struct svc_store *s);
static inline void svc_store_closep(struct svc_store **s)
{
    *s = svc_store_close(*s);
}
/* The file system of the caller's definitions. */
int svc_store_place(struct sv_conf *conf, const char *user, struct fs_url *ret,
                    struct sv_error *err) _must_use_;
/* On a file system of this machine: the process should become the caller's account first. */
int svc_store_is_local(struct sv_conf *conf, bool *ret, struct sv_error *err) _must_use_;

/* `version`: of an upgrade, or NULL. *ret is malloc'd, ends with NUL. -ENOENT; -EFBIG. */
int svc_store_read(struct svc_store *s, const char *service, const char *version, char **ret,
                   struct sv_error *err) _must_use_;
/* -EEXIST: there is one, maybe another user's. That of an upgrade is replaced: one that no master
 * took, because it ended meanwhile, must not keep the service from that version for ever. */
int svc_store_create(struct svc_store *s, const char *service, const char *version,
                     const char *text, struct sv_error *err) _must_use_;
/* -ENOENT: there is none. */
int svc_store_replace(struct svc_store *s, const char *service, const char *text,
                      struct sv_error *err) _must_use_;
/* 1: removed; 0: there was none. */
int svc_store_remove(struct svc_store *s, const char *service, struct sv_error *err) _must_use_;
/* Number of the caller's services; below `most` it may count other users' too, and is never more
 * than `most`. */
int svc_store_count(struct svc_store *s, int most, struct sv_error *err) _must_use_;

struct svc_store_file { /* as a node fetches it */
    char url[FS_URL_MAX + 1];
    int64_t size, mtime_ms;
};
/* Writes a file of the master to lib/: the text, or with NULL the file `from` of this machine,
 * unless a copy of its size and age is there. */
int svc_store_put(struct svc_store *s, const char *service, const char *name, const char *text,
                  const char *from, struct svc_store_file *ret, struct sv_error *err) _must_use_;
/* Size and time of any file, read as the user. */
int svc_store_stat(struct sv_conf *conf, const char *user, int credentials, const char *url,
                   struct svc_store_file *ret, struct sv_error *err) _must_use_;
/* The url of the definition. */
int svc_store_url(struct svc_store *s, const char *service, char ret[FS_URL_MAX + 1],
                  struct sv_error *err) _must_use_;

#endif
