/* The configuration's keys as `selvedge config` shows them: those of our programs' tables and those
 * that the files set. The files are the operator's. */
#ifndef SELVEDGE_CLIENT_CONFIG_CONFIG_KEYS_H
#define SELVEDGE_CLIENT_CONFIG_CONFIG_KEYS_H

#include <jansson.h>

#include "common/conf.h"

struct cli_config_keys;

/* `conf` outlives it. NULL where memory is short. */
struct cli_config_keys *cli_config_keys_new(struct sv_conf *conf);
struct cli_config_keys *cli_config_keys_free(struct cli_config_keys *k);

/* {key, value, default, set, origin, type, readBy, meaning}; values of secrets are hidden. NULL: no
 * program of ours has the key in its tables, Hadoop's are not known to have it, and no file sets
 * it. */
json_t *cli_config_key(struct cli_config_keys *k, const char *name);
/* Array of these: all that a file or the command line sets; `all`: those of the tables, too. */
json_t *cli_config_list(struct cli_config_keys *k, bool all);
/* Array of {key, nearest, origin}: set, and most likely typing errors. */
json_t *cli_config_unknown(struct cli_config_keys *k);
/* The key of the tables that is most like `name`, at most `distance` letters away; or NULL. */
const char *cli_config_nearest(const struct cli_config_keys *k, const char *name, size_t distance);

#endif
