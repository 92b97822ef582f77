/* hadoop.security.authentication: key and check for daemons and clients. Kerberos is not
 * implemented: a secure cluster's files must stop a program, because it would otherwise serve or
 * claim unauthenticated names. */
#ifndef SELVEDGE_WIRE_SASL_AUTH_CONF_H
#define SELVEDGE_WIRE_SASL_AUTH_CONF_H

#include "common/conf.h"

/* -EOPNOTSUPP and a text that names file, line and key when it is not "simple". */
int yarn_auth_check(struct sv_conf *conf, struct sv_error *err) _must_use_;
/* The key's row, for printing. */
const struct sv_conf_key *yarn_auth_key(void);

#endif
