/* Finds out who calls a web server, as Hadoop's AuthenticationFilter does, before a handler sees
 * the request: by the cookie hadoop.auth; else, where a daemon has them, by a delegation token;
 * else with type simple by ?user.name=; else with type kerberos by a ticket (SPNEGO), in one
 * message. Who came by name or ticket gets the cookie, and may say for whom it acts (web-rights.h).
 * Where type simple meets `proven_only`, everybody passes and is nobody. Hostile: names, cookies
 * and tickets of everybody who reaches the port. */
#ifndef SELVEDGE_COMMON_WEB_WEB_GATE_H
#define SELVEDGE_COMMON_WEB_WEB_GATE_H

#include "common/identity/auth-to-local.h"
#include "common/web/http.h"
#include "common/web/web-acceptor.h"
#include "common/web/web-auth.h"
#include "common/web/web-login.h"
#include "common/web/web-rights.h"

#define SV_WEB_GATE_WAITING_MAX                                                                    \
    64 /* tickets that are being judged; one more is answered with 503 */

struct sv_web_gate_config { /* all kept */
    const struct sv_web_auth *auth;
    const struct sv_web_login *login;
    struct sv_web_acceptor *acceptor;   /* NULL: nobody judges tickets */
    struct sv_auth_to_local *rules;     /* of tickets' principals; not NULL with an acceptor */
    bool https;                         /* cookies are for it alone */
    const struct sv_web_rights *rights; /* NULL: no tokens, and nobody acts for others */
};

struct sv_web_gate {
    struct sv_http_gate http; /* for sv_http_new_on() */
    struct sv_web_gate_config cfg;
    unsigned waiting;
};

/* Must outlive the server, and the acceptor both. */
void sv_web_gate_init(struct sv_web_gate *g, const struct sv_web_gate_config *cfg);

#endif
