/* See acl.h. */
#include "service/launcher/acl.h"

#include <string.h>

#include "common/own-user.h"
#include "common/str.h"
#include "service/framework/reader.h"

const char *svc_lr_caller(const struct svc_lr_call *c)
{
    if (c->caller)
        return c->caller;
    return c->user && *c->user ? c->user : "default";
}

static bool is_listed(const json_t *users, const char *user)
{
    size_t n = json_array_size(users);

    for (size_t i = 0; i < n; i++)
        if (sv_streq(json_string_value(json_object_get(json_array_get(users, i), "name")), user))
            return true;
    return false;
}

bool svc_lr_is_admin(const struct svc_lr *l, const char *user)
{
    if (sv_streq(user, sv_own_user()))
        return true;
    for (char **a = l->settings->admins; a && *a; a++)
        if (strcmp(*a, user) == 0)
            return true;
    return is_listed(json_object_get(l->acl, "normalAdminUsers"), user);
}

unsigned svc_lr_may_administer(const struct svc_lr *l, const struct svc_lr_call *c,
                               const char **ret_why)
{
    *ret_why = "only an administrator may change this";
    return (l->settings->acl || c->caller) && !svc_lr_is_admin(l, svc_lr_caller(c)) ? 403 : 0;
}

/* By the part of the name before ~. */
static unsigned check_namespace(const struct svc_lr *l, const char *user, const char *name,
                                const char **ret_why)
{
    char namespace[SVC_FW_NAME_MAX + 1];
    size_t n = svc_fw_namespace(name);
    const json_t *acl;

    if (n == 0) {
        *ret_why = "the framework's name has no namespace: NAMESPACE~NAME";
        return l->settings->acl_without_namespace ? 0 : 400;
    }
    memcpy(namespace, name, n);
    namespace[n] = '\0';
    acl = json_object_get(json_object_get(l->acl, "namespaceAcls"), namespace);
    *ret_why = "the caller is no user of the framework's namespace";
    return svc_lr_is_admin(l, user) || strcmp(user, namespace) == 0 ||
                   is_listed(json_object_get(acl, "users"), user)
               ? 0
               : 403;
}

unsigned svc_lr_may_change(const struct svc_lr *l, const struct svc_lr_call *c, const char *name,
                           const char *asked, const char *owner, const char **ret_why)
{
    const char *user = svc_lr_caller(c);

    /* It becomes the descriptor's user, and a descriptor is checked when it is read again. */
    *ret_why = "the caller's name " SVC_FW_NO_NAME;
    if (c->caller && asked && !svc_fw_name_valid(user))
        return 403;
    *ret_why = "the framework's user must be the caller";
    if (l->settings->acl && asked && strcmp(asked, user) != 0)
        return 400;
    if (svc_lr_is_admin(l, user))
        return l->settings->acl ? check_namespace(l, user, name, ret_why) : 0;
    /* A proven name is not given away: nobody runs something as another. */
    if (c->caller && asked && strcmp(asked, user) != 0)
        return 403;
    if (l->settings->acl)
        return check_namespace(l, user, name, ret_why);
    *ret_why = "the framework is another user's";
    return c->caller && owner && strcmp(owner, user) != 0 ? 403 : 0;
}
