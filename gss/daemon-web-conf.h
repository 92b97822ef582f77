/* Principal and keytab of a daemon's web server: its own spnego keys, else those of all daemons,
 * hadoop.http.authentication.kerberos.*. */
#ifndef SELVEDGE_GSS_DAEMON_WEB_CONF_H
#define SELVEDGE_GSS_DAEMON_WEB_CONF_H

#include "common/web/web-login.h"
#include "gss/daemon-conf.h"

/* Completes `own`, of sgss_conf_read(), for a web server that takes tickets. *ret_owned is a text
 * that `own` points into, or NULL; free() it after `own`. -EINVAL: a principal or a keytab is
 * missing, or cannot be one; the text has the remedy. */
int sgss_conf_read_web(struct sgss_conf *own, const struct sgss_conf_keys *keys,
                       const struct sv_web_login *login, char **ret_owned, struct sv_error *err)
    _must_use_;

#endif
