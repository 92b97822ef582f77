/* Callers of the web server and their access to applications: with yarn.acl.enable for the owner,
 * the users and groups of its VIEW_APP list and administrators. Hostile: the request's name and
 * cookie, and the list, which comes from the submitter. */
#ifndef SELVEDGE_NODEMANAGER_WEB_WEB_ACCESS_H
#define SELVEDGE_NODEMANAGER_WEB_WEB_ACCESS_H

#include "common/web/http.h"
#include "common/web/web-auth.h"

struct nm_app;
struct nm_conf_web;

struct nm_web_caller {
    bool sees_all; /* ACLs are off, or an administrator */
    char user[SV_AUTH_USER_MAX];
    struct sv_groups *groups;
};

/* -EACCES: not authenticated. The results of these two are valid only if sv_groups_missed(groups)
 * is false afterwards. */
int nm_web_identify(const struct nm_conf_web *conf, struct sv_groups *groups,
                    const struct sv_http_request *req, struct nm_web_caller *ret) _must_use_;
/* `app` NULL: one that the node has forgotten, only for callers who see everything. */
bool nm_web_may_view(const struct nm_web_caller *who, const struct nm_app *app);

#endif
