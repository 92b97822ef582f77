/* Staging: a directory of the user's, readable by the user alone, that holds a job's files while it
 * runs, so that they cannot change under it. */
#ifndef SELVEDGE_CLIENT_STAGE_H
#define SELVEDGE_CLIENT_STAGE_H

#include "client/client.h"

struct cli_stage;

/* <selvedge.client.staging-dir>/<user>/<application>; the key's default is
 * /var/tmp/selvedge-<user>. A directory on the way that somebody else could exchange is refused. */
int cli_stage_new(struct sv_conf *conf, const char *user, struct yarn_app_id app,
                  struct cli_stage **ret, struct sv_error *err) _must_use_;
/* Removes the job's directory as well. */
struct cli_stage *cli_stage_free(struct cli_stage *s);

/* Directories of other jobs of this user: of running ones, and of ones whose `selvedge run` was
 * killed. At most `max` ids; how many. */
size_t cli_stage_others(struct cli_stage *s, struct yarn_app_id *ret, size_t max);
void cli_stage_remove_other(struct cli_stage *s, struct yarn_app_id app);

/* Copies a file. `link`: its name in the containers. The texts of *ret belong to the stage. */
int cli_stage_copy(struct cli_stage *s, const char *path, const char *link,
                   enum cli_resource_type type, struct cli_resource *ret, struct sv_error *err)
    _must_use_;
int cli_stage_write(struct cli_stage *s, const char *link, const void *p, size_t n,
                    struct cli_resource *ret, struct sv_error *err) _must_use_;

#endif
