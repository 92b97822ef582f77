/* The ResourceManager of a cluster with Kerberos: who it is, and who its nodes must be. With
 * hadoop.security.authentication=simple none of the keys has a meaning, as in Hadoop. */
#ifndef SELVEDGE_RM_LITE_CONF_CONF_KERBEROS_H
#define SELVEDGE_RM_LITE_CONF_CONF_KERBEROS_H

#include "gss/daemon-conf.h"

#define RM_NAMENODE_PRINCIPAL "dfs.namenode.kerberos.principal" /* for messages elsewhere */

#define RM_WEB_PRINCIPAL "dfs.web.authentication.kerberos.principal"

/* All NULL and 0 unless `own.on`. */
struct rm_conf_kerberos {
    struct sgss_conf own; /* of this ResourceManager; its web server: conf-web.h */
    const char *nodes;    /* yarn.nodemanager.principal: NAME/_HOST@REALM or NAME/HOST@REALM */
    char *own_host;       /* owned; what _HOST means for it */
    const char *namenode, *namenode_pattern; /* as configured; NULL: not set */
    const char *web;                         /* of WebHDFS and key servers; NULL: HTTP/_HOST */
};

/* `address_host`: of yarn.resourcemanager.address; 0.0.0.0 means this machine's name. -EINVAL,
 * -ENOENT: the text names key or file, and the remedy. */
int rm_conf_kerberos_read(struct sv_conf *c, const char *address_host, struct rm_conf_kerberos *ret,
                          struct sv_error *err) _must_use_;
/* Reads the keys of hdfs-site.xml, once `c` has them. */
int rm_conf_kerberos_read_namenodes(struct sv_conf *c, struct rm_conf_kerberos *k,
                                    struct sv_error *err) _must_use_;
void rm_conf_kerberos_free(struct rm_conf_kerberos *k);
const struct sv_conf_key *rm_conf_kerberos_keys(size_t *ret_n);
/* Those of `own`. */
const struct sgss_conf_keys *rm_conf_kerberos_own_keys(void);

#endif
