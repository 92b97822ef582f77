/* Who makes a request to a daemon's web server. Called by both daemons' servers; apart from
 * web-auth.h, so that a program that reads the configuration has no web server in it. Hostile: the
 * request's name and cookie. */
#ifndef SELVEDGE_COMMON_WEB_WEB_USER_H
#define SELVEDGE_COMMON_WEB_WEB_USER_H

#include "common/web/http.h"
#include "common/web/web-auth.h"

/* The user of a request; empty when it names none that this server knows. */
void sv_web_user(const struct sv_web_auth *c, const struct sv_http_request *req,
                 char ret_user[SV_AUTH_USER_MAX]);

#endif
