/* See access.h. */
#include "rm-lite/security/access.h"

#include <errno.h>
#include <string.h>

#include "common/acl.h"
#include "common/str.h"
#include "common/user-groups.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/security/queue-access.h"

/* Only a refusal waits for groups: an admission needs no more of them. */
static int answer(struct rm *rm, bool admitted)
{
    bool missed = sv_groups_missed(rm->groups);

    return admitted ? 1 : missed ? -EAGAIN : 0;
}

static bool administers(struct rm *rm, const char *user)
{
    const struct sv_web_auth *auth = &rm->conf.auth;
    /* With Kerberos the default rules make root/HOST of any host root. */
    const bool is_root = sv_streq(user, "root") && !rm->conf.kerberos.own.on;

    return is_root || (*auth->daemon_user && sv_streq(user, auth->daemon_user)) ||
           (!sv_acl_allows_all(auth->admin_acl) &&
            sv_acl_admits(auth->admin_acl, user, rm->groups));
}

int rm_may_administer(struct rm *rm, const char *user)
{
    if (!rm->conf.acl_enable && sv_acl_allows_all(rm->conf.auth.admin_acl))
        return 1;
    if (!user || !*user)
        return 0;
    (void)sv_groups_missed(rm->groups); /* missed by others, ignoring */
    return answer(rm, administers(rm, user));
}

int rm_may_modify(struct rm *rm, const struct rm_app *app, const char *user)
{
    if (!rm->conf.acl_enable)
        return 1;
    if (!user || !*user)
        return 0;
    (void)sv_groups_missed(rm->groups); /* missed by others, ignoring */
    return answer(rm, sv_streq(user, app->user) ||
                          (app->modify_acl && sv_acl_admits(app->modify_acl, user, rm->groups)) ||
                          rm_queue_administers(rm, app->queue, user) || administers(rm, user));
}

int rm_access_refresh(struct rm *rm, struct sv_conf *fresh, struct sv_error *err)
{
    size_t n;
    const struct sv_conf_key *keys = sv_web_auth_keys(&n);
    const char *list = "";
    char *copy;
    int r = 0;

    for (size_t i = 0; i < n && r >= 0; i++)
        if (strcmp(keys[i].name, "yarn.admin.acl") == 0)
            r = sv_conf_text(fresh, &keys[i], &list, err);
    if (r < 0)
        return r;
    copy = strdup(list);
    if (!copy)
        return -ENOMEM;
    free(rm->admin_acl);
    rm->conf.auth.admin_acl = rm->admin_acl = copy;
    return 0;
}
