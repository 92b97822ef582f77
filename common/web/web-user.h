/* Identifies the user of a request to a daemon's web server. Separate from web-auth.h, so that a
 * program that only reads the configuration does not link the web server. Hostile: the request's
 * name and cookie. */
#ifndef SELVEDGE_COMMON_WEB_WEB_USER_H
#define SELVEDGE_COMMON_WEB_WEB_USER_H

#include "common/web/http.h"
#include "common/web/web-auth.h"

/* Printable, and without separators of lists and log lines. */
bool sv_web_is_user_name(const char *s);
/* Returns the user of a request; empty if it names none that this server knows. Behind a gate
 * (web-gate.h), which has decided that, it is the gate's. */
void sv_web_user(const struct sv_web_auth *c, const struct sv_http_request *req,
                 char ret_user[SV_AUTH_USER_MAX]);

#endif
