/* See web-access.h. */
#include "nodemanager/web/web-access.h"

#include <errno.h>
#include <string.h>

#include "common/acl.h"
#include "common/clock.h"
#include "common/str.h"
#include "nodemanager/conf-web.h"
#include "nodemanager/core/application.h"

/* Printable, and nothing that means something in a list or a log line. */
static bool is_user_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@$");

    return n > 0 && n < SV_AUTH_USER_MAX && !s[n];
}

/* The cookie first, as Hadoop; one that does not hold is as none. */
static void name_of(const struct nm_conf_web *conf, const struct sv_http_request *req,
                    char ret_user[SV_AUTH_USER_MAX])
{
    const char *cookies = sv_http_header(req, "Cookie"), *name = sv_http_query(req, "user.name");

    *ret_user = 0;
    if (conf->secret && cookies &&
        sv_auth_cookie_verify(cookies, conf->secret, conf->secret_len, conf->auth_type,
                              sv_wall_ms(), ret_user) >= 0)
        return;
    if (name && strlen(name) < SV_AUTH_USER_MAX && sv_streq(conf->auth_type, "simple"))
        memcpy(ret_user, name, strlen(name) + 1);
}

int nm_web_identify(const struct nm_conf_web *conf, const struct sv_http_request *req,
                    struct nm_web_caller *ret)
{
    struct nm_web_caller who = { .sees_all = !conf->acl_enabled };

    if (conf->acl_enabled) {
        name_of(conf, req, who.user);
        if (!is_user_name(who.user))
            return -EACCES;
        who.sees_all = sv_streq(who.user, conf->daemon_user) ||
                       (conf->admin_acl && sv_acl_allows(conf->admin_acl, who.user));
    }
    *ret = who;
    return 0;
}

bool nm_web_may_view(const struct nm_web_caller *who, const struct nm_app *app)
{
    if (who->sees_all)
        return true;
    return app && (sv_streq(who->user, app->user) ||
                   (app->view_acl && sv_acl_allows(app->view_acl, who->user)));
}
