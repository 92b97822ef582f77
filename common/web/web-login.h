/* Keys of Hadoop's authentication of web clients beside those of web-auth.h: the cookie that a
 * daemon issues, and who it is to clients with tickets. For daemons with a gate (web-gate.h). */
#ifndef SELVEDGE_COMMON_WEB_WEB_LOGIN_H
#define SELVEDGE_COMMON_WEB_WEB_LOGIN_H

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"

/* Names of keys that messages elsewhere need. */
#define SV_WEB_PRINCIPAL "hadoop.http.authentication.kerberos.principal"
#define SV_WEB_KEYTAB "hadoop.http.authentication.kerberos.keytab"

struct sv_web_login {
    int64_t validity_ms; /* of a cookie */
    const char *domain;  /* of a cookie; NULL: the host alone. The configuration's */
    bool persistent;     /* a cookie outlives the browser's session */
    bool random_secret;  /* the file of the secret is not read */
    bool anonymous;      /* simple: a request without user.name passes */
    char **open_paths;   /* owned; kerberos: these need no authentication; NULL: none */
    /* hadoop.http.authentication.kerberos.*, as configured; NULL: not set. The configuration's. */
    const char *principal, *keytab;
};

/* The table of keys, for printing. */
const struct sv_conf_key *sv_web_login_keys(size_t *ret_n);
/* Free with sv_web_login_free(), also after an error. */
int sv_web_login_read(struct sv_conf *conf, struct sv_web_login *ret, struct sv_error *err)
    _must_use_;
void sv_web_login_free(struct sv_web_login *l);

#endif
