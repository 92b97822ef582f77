/* The keys of yarn-site.xml about the split of requests:
 * yarn.nodemanager.least-load-policy-selector.*. The files are the operator's. */
#ifndef SELVEDGE_FEDERATION_AMRM_SPLIT_CONF_H
#define SELVEDGE_FEDERATION_AMRM_SPLIT_CONF_H

#include "common/conf.h"
#include "federation/amrm/asks.h"

/* Its list is freed by fed_split_conf_clear(). */
int fed_split_conf_load(struct sv_conf *c, struct fed_split_conf *ret, struct sv_error *err)
    _must_use_;
void fed_split_conf_clear(struct fed_split_conf *conf);
/* All keys that are read, for --print-config. */
const struct sv_conf_key *fed_split_conf_keys(size_t *ret_n);

#endif
