/* The directory of a service on the cluster's file system (that of its definition) and the files
 * that its containers need. Blocking: before the loop runs, then by jobs of one worker alone, which
 * then owns the configuration, too. Hostile: servers, and all files. */
#ifndef SELVEDGE_SERVICE_AM_LAUNCH_FILES_H
#define SELVEDGE_SERVICE_AM_LAUNCH_FILES_H

#include "client/lib/launch.h"
#include "common/arena.h"
#include "common/conf.h"
#include "fs/fs.h"

#define SVC_SOURCE_MAX ((size_t)4 << 20) /* bytes of a template */

struct svc_files;

/* `url` of the definition, "…/NAME.json"; `user` of simple authentication. Both outlive it. */
int svc_files_open(struct sv_conf *conf, const char *url, const char *user, struct svc_files **ret,
                   struct sv_error *err) _must_use_;
struct svc_files *svc_files_close(struct svc_files *f);
/* URL of the directory, without a slash at its end. */
const char *svc_files_url(const struct svc_files *f);
/* Name of the definition's file in it. */
const char *svc_files_definition(const struct svc_files *f);
#define SVC_PATH_MAX 600
/* Path in it of the definition of a version to upgrade to. -EINVAL: no name of a directory;
 * -ENAMETOOLONG. */
int svc_files_version(const struct svc_files *f, const char *version, char ret[SVC_PATH_MAX])
    _must_use_;

/* A file of the directory; malloc'd, NUL-terminated. -ENOENT; -EFBIG. */
int svc_files_read(struct svc_files *f, const char *path, size_t max, char **ret, size_t *ret_len,
                   struct sv_error *err) _must_use_;
/* Writes a new name and renames it. */
int svc_files_replace(struct svc_files *f, const char *name, const void *p, size_t n,
                      struct sv_error *err) _must_use_;

/* Any file, by its URL or by a path on fs.defaultFS. */
int svc_files_source(struct svc_files *f, const char *url, size_t max, char **ret, size_t *ret_len,
                     struct sv_error *err) _must_use_;
/* It as a resource of containers; texts are the arena's. Its status is asked for once. */
int svc_files_resource(struct svc_files *f, const char *url, struct sv_arena *a,
                       struct cli_resource *ret, struct sv_error *err) _must_use_;
/* As svc_files_resource(), also of a directory, and of a file of a server that tells nothing before
 * it is read (HTTP): the node takes it as it is. */
int svc_files_location(struct svc_files *f, const char *url, struct sv_arena *a,
                       struct cli_resource *ret, struct sv_error *err) _must_use_;
/* Stores bytes below "components/" of the directory, once for all containers with the same ones,
 * and describes them as a resource of type CLI_FILE. */
int svc_files_store(struct svc_files *f, const char *component, const char *name, const void *p,
                    size_t n, struct sv_arena *a, struct cli_resource *ret, struct sv_error *err)
    _must_use_;

#endif
