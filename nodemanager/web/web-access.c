/* See web-access.h. */
#include "nodemanager/web/web-access.h"

#include <errno.h>

#include "common/str.h"
#include "common/web/web-user.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/application.h"

int nm_web_identify(const struct nm_conf_web *conf, struct sv_groups *groups,
                    const struct sv_http_request *req, struct nm_web_caller *ret)
{
    const struct sv_web_auth *auth = &conf->auth;
    struct nm_web_caller who = { .sees_all = !auth->acl_enabled, .groups = groups };

    if (auth->acl_enabled) {
        sv_web_user(auth, req, who.user);
        if (!*who.user)
            return -EACCES;
        who.sees_all = sv_web_is_admin(auth, who.user, groups);
    }
    *ret = who;
    return 0;
}

bool nm_web_may_view(const struct nm_web_caller *who, const struct nm_app *app)
{
    if (who->sees_all)
        return true;
    return app && (sv_streq(who->user, app->user) ||
                   (app->view_acl && sv_acl_admits(app->view_acl, who->user, who->groups)));
}
