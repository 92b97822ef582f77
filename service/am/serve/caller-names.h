/* The accounts behind the names in clients' tokens, which in a cluster with Kerberos may be
 * principals. Hostile: the names, as far as the ResourceManager lets clients choose them. */
#ifndef SELVEDGE_SERVICE_AM_SERVE_CALLER_NAMES_H
#define SELVEDGE_SERVICE_AM_SERVE_CALLER_NAMES_H

#include "common/conf.h"
#include "common/error.h"
#include "wire/token/token.h"

struct svc_caller_names {
    bool on;                        /* hadoop.security.authentication=kerberos */
    struct sv_auth_to_local *rules; /* owned */
    enum yarn_hmac hmac; /* of tokens: hadoop.security.secret-manager.key-generator.algorithm */
};

/* Reads the rules, and krb5.conf for the realm; without a realm a principal is nobody's name. */
int svc_caller_names_read(struct sv_conf *conf, struct svc_caller_names *ret, struct sv_error *err)
    _must_use_;
void svc_caller_names_free(struct svc_caller_names *n);
/* -EACCES, -EINVAL: nobody has the name. */
int svc_caller_name(const struct svc_caller_names *n, const char *name, char ret[256],
                    struct sv_error *err) _must_use_;

#endif
