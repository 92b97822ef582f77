/* Candidate directories of an application's aggregated logs, from the configuration. Pure.
 *
 * For each format N of yarn.log-aggregation.file-formats, below its remote directory:
 *   {user}/bucket-{suffix}/{number % 10000}/{application}   Hadoop 3.3 and newer
 *   {user}/{suffix}/{application}                           older, such as 2.10.2
 * with the format's own suffix, or {general suffix}-{n}; the older layout also with the general
 * suffix alone. */
#ifndef SELVEDGE_CLIENT_LOGS_LOG_PLACES_H
#define SELVEDGE_CLIENT_LOGS_LOG_PLACES_H

#include "common/conf.h"
#include "fs/url.h"
#include "wire/ids.h"

#define CLI_PLACES_MAX 32

struct cli_place {
    struct fs_url root;
    char dir[1024]; /* below the root */
};

struct cli_places {
    struct cli_place *v; /* malloc'd */
    size_t n;
};

/* `user`: the application's owner. -EINVAL with the key at fault. */
int cli_places(struct sv_conf *c, const char *user, struct yarn_app_id app, struct cli_places *ret,
               struct sv_error *err) _must_use_;
void cli_places_free(struct cli_places *p);
/* Reads yarn.log-aggregation-enable. */
int cli_aggregation_enabled(struct sv_conf *c, bool *ret, struct sv_error *err) _must_use_;

#endif
