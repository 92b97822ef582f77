/* Configuration keys as shown by `selvedge config`: those in the tables of Selvedge's programs and
 * those set in the files. The files are the operator's. */
#ifndef SELVEDGE_CLIENT_CONFIG_CONFIG_KEYS_H
#define SELVEDGE_CLIENT_CONFIG_CONFIG_KEYS_H

#include <jansson.h>

#include "common/conf.h"

struct cli_config_keys;

/* `conf` must outlive it. NULL when out of memory. */
struct cli_config_keys *cli_config_keys_new(struct sv_conf *conf);
struct cli_config_keys *cli_config_keys_free(struct cli_config_keys *k);

/* Returns {key, value, default, set, origin, type, readBy, meaning}; values of secrets are hidden.
 * NULL: the key is in none of Selvedge's tables, not known as Hadoop's, and not set in any file. */
json_t *cli_config_key(struct cli_config_keys *k, const char *name);
/* Returns an array of these: everything set by a file or the command line; `all`: also the keys of
 * the tables. */
json_t *cli_config_list(struct cli_config_keys *k, bool all);
/* Returns an array of {key, nearest, origin}: keys that are set, but probably typos. */
json_t *cli_config_unknown(struct cli_config_keys *k);
/* Returns the key of the tables most similar to `name`, at most `distance` letters away; or
 * NULL. */
const char *cli_config_nearest(const struct cli_config_keys *k, const char *name, size_t distance);

#endif
