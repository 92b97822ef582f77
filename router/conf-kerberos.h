/* The Router of a federation with Kerberos: who it is, and who its members must be. With
 * hadoop.security.authentication=simple none of the keys has a meaning, as in Hadoop. */
#ifndef SELVEDGE_ROUTER_CONF_KERBEROS_H
#define SELVEDGE_ROUTER_CONF_KERBEROS_H

#include "gss/daemon-conf.h"
#include "wire/sasl/sasl.h"

#define RTR_RM_PRINCIPAL "yarn.resourcemanager.principal" /* for messages elsewhere */

/* All NULL and 0 unless `own.on`. */
struct rtr_conf_kerberos {
    struct sgss_conf own;
    const char *members;         /* NAME/_HOST@REALM or NAME/HOST@REALM, or NULL */
    const char *members_pattern; /* used alone where it is set; or NULL */
    char *own_host;              /* owned; what _HOST means for the Router */
    char account[SASL_USER_MAX]; /* of its principal */
};

/* -EINVAL, -ENOENT: the text names key or file, and the remedy. */
int rtr_conf_kerberos_read(struct sv_conf *c, struct rtr_conf_kerberos *ret, struct sv_error *err)
    _must_use_;
void rtr_conf_kerberos_free(struct rtr_conf_kerberos *k);
const struct sv_conf_key *rtr_conf_kerberos_keys(size_t *ret_n);
/* Those of `own`. */
const struct sgss_conf_keys *rtr_conf_kerberos_own_keys(void);

#endif
