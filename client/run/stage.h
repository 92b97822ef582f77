/* Staging: a directory of the user's, readable by the user alone, that holds copies of a job's
 * files while it runs, so that they cannot change. */
#ifndef SELVEDGE_CLIENT_RUN_STAGE_H
#define SELVEDGE_CLIENT_RUN_STAGE_H

#include "client/lib/client.h"

struct cli_stage;
struct fs_identity;

/* Creates <selvedge.client.staging-dir>/<user>/<application>, a path of this machine or a url of
 * HDFS, WebHDFS or viewfs:; the key's default is /var/tmp/selvedge-<user>. `who` is the user, with
 * what proves it; outlives the stage. Rejects a path with a directory that another user could
 * replace. */
int cli_stage_new(struct sv_conf *conf, const struct fs_identity *who, struct yarn_app_id app,
                  struct cli_stage **ret, struct sv_error *err) _must_use_;
/* The staging directory of the key, with its file system; "/var/tmp" by default. */
int cli_stage_place(struct sv_conf *conf, const char **ret, struct sv_error *err) _must_use_;
/* Keeps the directory when this process ends before the job; a later run removes it. */
void cli_stage_keep(struct cli_stage *s);
/* Syncs all files to disk: a detached job survives a power failure, so its files must as well. */
int cli_stage_sync(struct cli_stage *s, struct sv_error *err) _must_use_;
/* Also removes the job's directory, unless it is kept. */
struct cli_stage *cli_stage_free(struct cli_stage *s);
static inline void cli_stage_freep(struct cli_stage **s)
{
    *s = cli_stage_free(*s);
}

/* Lists directories of this user's other jobs: running ones, and leftovers of a killed `selvedge
 * run`. Writes at most `max` ids; returns their number. */
size_t cli_stage_others(struct cli_stage *s, struct yarn_app_id *ret, size_t max);
void cli_stage_remove_other(struct cli_stage *s, struct yarn_app_id app);

/* Copies a file. `link`: its name in the containers. The stage owns the texts of *ret. */
int cli_stage_copy(struct cli_stage *s, const char *path, const char *link,
                   enum cli_resource_type type, struct cli_resource *ret, struct sv_error *err)
    _must_use_;
/* Like cli_stage_copy(), for a directory, as a tar archive. */
int cli_stage_pack(struct cli_stage *s, const char *path, const char *link,
                   enum cli_resource_type type, struct cli_resource *ret, struct sv_error *err)
    _must_use_;
int cli_stage_write(struct cli_stage *s, const char *link, const void *p, size_t n,
                    struct cli_resource *ret, struct sv_error *err) _must_use_;

/* The key of the staging directory. */
const struct sv_conf_key *cli_stage_key(void);

#endif
