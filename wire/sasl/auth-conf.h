/* hadoop.security.authentication: key and check for daemons and clients. A secure cluster's files
 * must stop a program without Kerberos, because it would otherwise serve or claim unauthenticated
 * names. */
#ifndef SELVEDGE_WIRE_SASL_AUTH_CONF_H
#define SELVEDGE_WIRE_SASL_AUTH_CONF_H

#include "common/conf.h"

/* Whether it is kerberos. -EINVAL and a text that names file, line and key when it is neither that
 * nor simple. */
int yarn_auth_kerberos(struct sv_conf *conf, bool *ret, struct sv_error *err) _must_use_;
/* For programs without Kerberos: -EOPNOTSUPP, with such a text, when it is kerberos; else as
 * above. */
int yarn_auth_check(struct sv_conf *conf, struct sv_error *err) _must_use_;
/* The key's row, for printing. */
const struct sv_conf_key *yarn_auth_key(void);

#endif
