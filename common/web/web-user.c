/* See web-user.h. */
#include "common/web/web-user.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"

bool sv_web_is_user_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@$");

    return n > 0 && n < SV_AUTH_USER_MAX && !s[n];
}

/* The cookie takes precedence, as in Hadoop; an invalid one is treated as absent. */
void sv_web_user(const struct sv_web_auth *c, const struct sv_http_request *req,
                 char ret_user[SV_AUTH_USER_MAX])
{
    const char *cookies = sv_http_header(req, "Cookie"), *name = sv_http_query(req, "user.name");

    *ret_user = 0;
    if (req->caller && req->caller->known) {
        (void)snprintf(ret_user, SV_AUTH_USER_MAX, "%s",
                       req->caller->user ? req->caller->user : "");
        return;
    }
    if (!c->secret || !cookies ||
        sv_auth_cookie_verify(cookies, c->secret, c->secret_len, c->auth_type, sv_wall_ms(),
                              ret_user) < 0) {
        *ret_user = 0;
        if (name && strlen(name) < SV_AUTH_USER_MAX && sv_streq(c->auth_type, "simple") &&
            !c->proven_only)
            memcpy(ret_user, name, strlen(name) + 1);
    }
    if (!sv_web_is_user_name(ret_user))
        *ret_user = 0;
}
