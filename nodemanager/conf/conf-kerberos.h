/* The NodeManager of a cluster with Kerberos: who it is, and who the services must be that it
 * calls. With hadoop.security.authentication=simple none of the keys has a meaning, as in
 * Hadoop. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_KERBEROS_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_KERBEROS_H

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"
#include "gss/daemon-conf.h"

/* Names of keys that messages elsewhere need. */
#define NM_RM_PRINCIPAL "yarn.resourcemanager.principal"
#define NM_NAMENODE_PRINCIPAL "dfs.namenode.kerberos.principal"

/* All NULL and 0 unless `own.on`. Texts are those of the configuration or owned by this. */
struct nm_conf_kerberos {
    /* This node's. Once all is read, web_principal and web_keytab are those in effect, where the
     * web server takes tickets (conf-web.c). */
    struct sgss_conf own;
    /* Services, as configured: _HOST is replaced by each connection. A pattern that is not set is
     * NULL, as a NameNode's principal that is not. */
    const char *rm_principal, *rm_pattern;
    const char *namenode_principal, *namenode_pattern;
};

/* Reads the keys. `own_host`: the node's configured name, kept by the caller. -EINVAL, -ENOENT: the
 * text names key or file, and the remedy. */
int nm_conf_kerberos_read(struct sv_conf *c, const char *own_host, struct nm_conf_kerberos *ret,
                          struct sv_error *err) _must_use_;
void nm_conf_kerberos_free(struct nm_conf_kerberos *k);
const struct sv_conf_key *nm_conf_kerberos_keys(size_t *ret_n);
/* Those of `own`. */
const struct sgss_conf_keys *nm_conf_kerberos_own_keys(void);

#endif
