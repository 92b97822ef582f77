/* The ResourceManager's web server: HTTP or HTTPS, how its callers are known, and Hadoop's filters.
 */
#ifndef SELVEDGE_RM_LITE_CONF_CONF_WEB_H
#define SELVEDGE_RM_LITE_CONF_CONF_WEB_H

#include "common/web/http-filters.h"
#include "common/web/web-auth.h"
#include "common/web/web-login.h"
#include "rm-lite/conf/conf-kerberos.h"

struct rm_address;

struct rm_conf_web {
    bool https;                     /* alone, on the port of webapp.https.address */
    bool tickets;                   /* are taken, for kerberos.own.web_principal */
    bool tokens;                    /* delegation tokens are, and proxy users may act for others */
    char *principal;                /* owned; storage of that one */
    struct sv_http_filters filters; /* owned, as the next */
    struct sv_web_login login;
};

/* Follows rm_conf_kerberos_read(), which it completes; fills `auth`, and `address` with that of
 * HTTPS where it is served. Logs warnings. Free with rm_conf_web_free(), after `kerberos`, also
 * after an error. */
int rm_conf_web_read(struct sv_conf *c, struct rm_conf_kerberos *kerberos,
                     struct rm_address *address, struct sv_web_auth *auth, struct rm_conf_web *ret,
                     struct sv_error *err) _must_use_;
void rm_conf_web_free(struct rm_conf_web *w);
const struct sv_conf_key *rm_conf_web_keys(size_t *ret_n);

#endif
