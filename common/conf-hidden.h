/* Keys whose values are redacted in printed configurations: those that match
 * hadoop.security.sensitive-config-keys. For /conf of the daemons and `selvedge config`. */
#ifndef SELVEDGE_COMMON_CONF_HIDDEN_H
#define SELVEDGE_COMMON_CONF_HIDDEN_H

#include "common/conf.h"

#define SV_CONF_HIDDEN_VALUE "<redacted>"

struct sv_conf_hidden;

/* Returns NULL when out of memory: every key is hidden then. */
struct sv_conf_hidden *sv_conf_hidden_new(struct sv_conf *c);
struct sv_conf_hidden *sv_conf_hidden_free(struct sv_conf_hidden *h);
bool sv_conf_is_hidden(const struct sv_conf_hidden *h, const char *name);

#endif
