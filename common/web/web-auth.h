/* The configuration that decides who calls a daemon's web server: yarn.acl.enable, its
 * administrators, and how a caller is known. Read by both daemons; used by their web servers. */
#ifndef SELVEDGE_COMMON_WEB_WEB_AUTH_H
#define SELVEDGE_COMMON_WEB_WEB_AUTH_H

#include "common/conf.h"
#include "common/user-groups.h"
#include "common/web/auth-cookie.h"

struct sv_web_auth {
    bool acl_enabled;      /* without it the rest is neither checked nor used */
    const char *admin_acl; /* these three belong to the configuration */
    const char *auth_type; /* simple or kerberos */
    const char *secret_file;
    char *secret; /* owned; NULL = no cookie is accepted */
    size_t secret_len;
    char *daemon_user; /* owned; the account of this process */
    int64_t groups_cache_ms, groups_negative_ms;
};

/* The rows, for printing. */
const struct sv_conf_key *sv_web_auth_keys(size_t *ret_n);
/* Reads and checks; logs what an operator should know. */
int sv_web_auth_read(struct sv_conf *conf, struct sv_web_auth *ret, struct sv_error *err)
    _must_use_;
void sv_web_auth_free(struct sv_web_auth *c);

/* With ACLs: by yarn.admin.acl, or the daemon's own account. False while groups are not known. */
bool sv_web_is_admin(const struct sv_web_auth *c, const char *user, struct sv_groups *groups);

#endif
