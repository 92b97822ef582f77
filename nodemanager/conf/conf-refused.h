/* Settings that promise a protection or a service which this version lacks, so that ignoring them
 * would be unsafe: a daemon with one of them does not start. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_REFUSED_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_REFUSED_H

#include "common/conf.h"

int nm_conf_check_refused(struct sv_conf *c, struct sv_error *err) _must_use_;
/* The i-th of the checks, from 0; *ret_more: there is another one. */
int nm_conf_check_refused_at(struct sv_conf *c, size_t i, bool *ret_more, struct sv_error *err)
    _must_use_;
/* The keys that the check reads. */
const struct sv_conf_key *nm_conf_refused_keys(size_t *ret_n);

#endif
