/* The keys of yarn-site.xml about the AMRMProxy's masters in other sub-clusters:
 * yarn.federation.amrmproxy.*. The files are the operator's. */
#ifndef SELVEDGE_FEDERATION_AMRM_PROXY_CONF_H
#define SELVEDGE_FEDERATION_AMRM_PROXY_CONF_H

#include "common/conf.h"
#include "federation/amrm/uam.h"

struct fed_proxy_conf {
    int64_t wait_ms;        /* …hb.maximum.wait.ms: for an answer of the home */
    int64_t timeout_ms;     /* …subcluster.timeout.ms: then a sub-cluster is silent */
    bool wait_for_launches; /* yarn.nodemanager.amrmproxy.wait.uam-register.done */
    struct fed_uam_settings uam;
};

int fed_proxy_conf_load(struct sv_conf *c, struct fed_proxy_conf *ret, struct sv_error *err)
    _must_use_;
/* All keys that are read, for --print-config. */
const struct sv_conf_key *fed_proxy_conf_keys(size_t *ret_n);

#endif
