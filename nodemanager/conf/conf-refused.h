/* Settings that promise a protection or a service which this version lacks, so that silence would
 * be unsafe: a daemon with one of them does not start. Called by conf.c. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_REFUSED_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_REFUSED_H

#include "common/conf.h"

int nm_conf_check_refused(struct sv_conf *c, struct sv_error *err) _must_use_;
/* The keys that it reads. */
const struct sv_conf_key *nm_conf_refused_keys(size_t *ret_n);

#endif
