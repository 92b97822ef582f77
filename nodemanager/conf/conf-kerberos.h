/* The NodeManager of a cluster with Kerberos: its keys, and what is read of krb5.conf. With
 * hadoop.security.authentication=simple none of them has a meaning, as in Hadoop. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_KERBEROS_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_KERBEROS_H

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"
#include "common/identity/auth-to-local.h"

/* Names of keys that messages elsewhere need. */
#define NM_RM_PRINCIPAL "yarn.resourcemanager.principal"
#define NM_NAMENODE_PRINCIPAL "dfs.namenode.kerberos.principal"

/* All NULL and 0 unless `on`. Texts are those of the configuration or owned by this. */
struct nm_conf_kerberos {
    bool on;               /* hadoop.security.authentication=kerberos */
    const char *principal; /* of this node, full, _HOST replaced */
    const char *keytab;    /* of `principal`; not opened by the daemon */
    const char *own_host;  /* what _HOST means for this node */
    /* Services, as configured: _HOST is replaced by each connection. A pattern that is not set is
     * NULL, as a NameNode's principal that is not. */
    const char *rm_principal, *rm_pattern;
    const char *namenode_principal, *namenode_pattern;
    /* SPNEGO, full, _HOST replaced, or "*"; NULL: not set. Once all is read, those in effect, where
     * the web server takes tickets (conf-web.c). */
    const char *web_principal, *web_keytab;
    uint32_t qop_mask;              /* hadoop.rpc.protection; wire/sasl/qop.h */
    struct sv_auth_to_local *rules; /* owned */
    const char *krb5_conf;          /* absolute path */
    const char *realm;              /* its default_realm */
    const char *helper;             /* selvedge-gss, an absolute path */
    const char *socket;             /* of selvedge-gss.socket; NULL: the daemon starts the helper */
    char *owned[4];                 /* private: texts that are not the configuration's */
};

/* Reads the keys. `own_host`: the node's configured name, kept by the caller. -EINVAL, -ENOENT: the
 * text names key or file, and the remedy. */
int nm_conf_kerberos_read(struct sv_conf *c, const char *own_host, struct nm_conf_kerberos *ret,
                          struct sv_error *err) _must_use_;
void nm_conf_kerberos_free(struct nm_conf_kerberos *k);
const struct sv_conf_key *nm_conf_kerberos_keys(size_t *ret_n);

#endif
