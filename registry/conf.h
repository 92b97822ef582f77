/* The keys of Hadoop's registry (hadoop.registry.*). */
#ifndef SELVEDGE_REGISTRY_CONF_H
#define SELVEDGE_REGISTRY_CONF_H

#include "common/conf.h"

struct reg_conf {
    const char *quorum;  /* hadoop.registry.zk.quorum; NULL: no ZooKeeper. The configuration's */
    const char *root;    /* hadoop.registry.zk.root; as above */
    uint32_t session_ms; /* hadoop.registry.zk.session.timeout.ms */
    int64_t retry_min_ms, retry_max_ms; /* …retry.interval.ms, …retry.ceiling.ms */
};

/* -EINVAL; -EOPNOTSUPP: a quorum with hadoop.registry.secure. err names key, value and rule. */
int reg_conf_read(struct sv_conf *conf, struct reg_conf *ret, struct sv_error *err) _must_use_;

#endif
