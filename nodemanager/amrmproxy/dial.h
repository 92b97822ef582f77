/* Connections of the AMRMProxy to ResourceManagers: to this NodeManager's own, and to any member of
 * a federation. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_DIAL_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_DIAL_H

#include "nodemanager/amrmproxy/pipeline.h"
#include "wire/ipc/proxy.h"

struct nm_amrm_dial {
    /* YARN_RM_SCHEDULER: ApplicationMasterProtocol, by `token`. YARN_RM_CLIENTS:
     * ApplicationClientProtocol in the name of `user`: claimed, or with Kerberos by this
     * NodeManager's ticket as the user's proxy. */
    enum yarn_rm_service service;
    /* "host:port" of a member, of which each call is tried once: the caller retries, perhaps
     * elsewhere. NULL: this NodeManager's own ResourceManagers, retried and failed over as the keys
     * say; YARN_RM_SCHEDULER only. */
    const char *address;
    const char *user;               /* copied */
    const struct yarn_token *token; /* copied; NULL for YARN_RM_CLIENTS */
    int64_t connect_ms, call_ms;    /* 0 = as the keys say */
};

/* Connects with the first call (ipc_proxy_call()); freed by ipc_proxy_free(). -EINVAL: an address
 * that is none. */
int nm_amrm_dial(const struct nm_amrm_env *env, const struct nm_amrm_dial *d,
                 struct ipc_proxy **ret, struct sv_error *err) _must_use_;
/* The own text of a ResourceManager's exception, without "host:port: METHOD: " of the IPC client:
 * masters read it. Points into `err`. */
const char *nm_amrm_exception_text(const struct sv_error *err);

#endif
