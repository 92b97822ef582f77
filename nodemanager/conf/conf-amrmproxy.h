/* Keys of the AMRMProxy, but those of its interceptors and of the federation's store. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_AMRMPROXY_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_AMRMPROXY_H

#include "common/conf.h"

struct nm_conf_amrmproxy {
    bool enabled; /* the rest counts */
    const char *host;
    uint16_t port;
    int64_t roll_ms, delay_ms; /* of the local tokens' master key */
    bool federation;           /* yarn.federation.enabled */
    const char *cluster_id;    /* with it: yarn.resourcemanager.cluster-id */
};

/* -EINVAL, -EOPNOTSUPP: a value that is refused; the reason names file, line and key. */
int nm_conf_amrmproxy_read(struct sv_conf *c, struct nm_conf_amrmproxy *ret, struct sv_error *err)
    _must_use_;
const struct sv_conf_key *nm_conf_amrmproxy_keys(size_t *ret_n);

#endif
