/* Staging: a directory of the user's, readable by the user alone, that holds a job's files while it
 * runs, so that they cannot change under it. */
#ifndef SELVEDGE_CLIENT_RUN_STAGE_H
#define SELVEDGE_CLIENT_RUN_STAGE_H

#include "client/lib/client.h"

struct cli_stage;

/* <selvedge.client.staging-dir>/<user>/<application>; the key's default is
 * /var/tmp/selvedge-<user>. A path with a directory that another user could replace is rejected. */
int cli_stage_new(struct sv_conf *conf, const char *user, struct yarn_app_id app,
                  struct cli_stage **ret, struct sv_error *err) _must_use_;
/* The job goes on without this process: its directory stays until a later run sweeps it. */
void cli_stage_keep(struct cli_stage *s);
/* Writes all of it to the disk: a job whose submitter does not stay is there after a power cut, and
 * so must be its files. */
int cli_stage_sync(struct cli_stage *s, struct sv_error *err) _must_use_;
/* Removes the job's directory as well, unless it is kept. */
struct cli_stage *cli_stage_free(struct cli_stage *s);

/* Directories of this user's other jobs: running ones, and ones whose `selvedge run` was killed.
 * Writes at most `max` ids; returns their number. */
size_t cli_stage_others(struct cli_stage *s, struct yarn_app_id *ret, size_t max);
void cli_stage_remove_other(struct cli_stage *s, struct yarn_app_id app);

/* Copies a file. `link`: its name in the containers. The texts of *ret belong to the stage. */
int cli_stage_copy(struct cli_stage *s, const char *path, const char *link,
                   enum cli_resource_type type, struct cli_resource *ret, struct sv_error *err)
    _must_use_;
/* The same for a directory, as a tar archive. */
int cli_stage_pack(struct cli_stage *s, const char *path, const char *link,
                   enum cli_resource_type type, struct cli_resource *ret, struct sv_error *err)
    _must_use_;
int cli_stage_write(struct cli_stage *s, const char *link, const void *p, size_t n,
                    struct cli_resource *ret, struct sv_error *err) _must_use_;

/* The key of the staging directory. */
const struct sv_conf_key *cli_stage_key(void);

#endif
