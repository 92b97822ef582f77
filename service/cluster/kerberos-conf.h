/* The services API in a cluster with Kerberos: who the server is, who the ResourceManager and the
 * NameNodes must be, and who it is to browsers with tickets. Without
 * hadoop.security.authentication=kerberos none of the keys has a meaning. */
#ifndef SELVEDGE_SERVICE_CLUSTER_KERBEROS_CONF_H
#define SELVEDGE_SERVICE_CLUSTER_KERBEROS_CONF_H

#include "common/conf.h"
#include "common/error.h"
#include "common/identity/auth-to-local.h"
#include "wire/ipc/ipc-client.h"

#define SVC_RM_PRINCIPAL "yarn.resourcemanager.principal"
#define SVC_NAMENODE_PRINCIPAL "dfs.namenode.kerberos.principal"

/* Texts are the configuration's, or members. Zeroed: without Kerberos. */
struct svc_kerberos_conf {
    bool on;
    char host[256];                        /* what _HOST means for this server: its host name */
    char realm[256];                       /* default_realm of krb5.conf */
    char principal[IPC_PRINCIPAL_MAX];     /* the server's own, full */
    const char *keytab;                    /* its key */
    char web_principal[IPC_PRINCIPAL_MAX]; /* "HTTP/host@REALM", or "*" */
    const char *web_keytab;
    /* As configured; NULL: not set. */
    const char *rm_principal, *rm_pattern, *namenode_principal, *namenode_pattern;
    uint32_t qop_mask;              /* hadoop.rpc.protection */
    struct sv_auth_to_local *rules; /* owned */
    const char *helper, *krb5_conf; /* absolute paths */
};

/* Reads hdfs-site.xml, too. -EINVAL: the text names key and remedy. */
int svc_kerberos_conf_read(struct sv_conf *conf, struct svc_kerberos_conf *ret,
                           struct sv_error *err) _must_use_;
void svc_kerberos_conf_free(struct svc_kerberos_conf *k);
const struct sv_conf_key *svc_kerberos_conf_keys(size_t *ret_n);

#endif
