/* Configuration of authentication and authorization on a daemon's web server: yarn.acl.enable, its
 * administrators, and how callers are identified. Used by both daemons. */
#ifndef SELVEDGE_COMMON_WEB_WEB_AUTH_H
#define SELVEDGE_COMMON_WEB_WEB_AUTH_H

#include "common/conf.h"
#include "common/user-groups.h"
#include "common/web/auth-cookie.h"

struct sv_web_login;

struct sv_web_auth {
    bool acl_enabled;
    const char *admin_acl; /* these three point into the configuration */
    const char *auth_type; /* simple or kerberos */
    const char *secret_file;
    char *secret; /* owned; NULL before it is read: no cookie is accepted */
    size_t secret_len;
    bool own_secret;   /* random: no other daemon knows it */
    bool proven_only;  /* a name that a request only claims is none; set by a daemon */
    char *daemon_user; /* owned; the account of this process */
    int64_t groups_cache_ms, groups_negative_ms;
    const char *groups_overrides; /* the configuration's; checked */
};

/* The table of keys, for printing. */
const struct sv_conf_key *sv_web_auth_keys(size_t *ret_n);
/* Those of users' groups alone, for a daemon without a web server; the fields of `ret` about groups
 * are filled. */
const struct sv_conf_key *sv_web_auth_group_keys(size_t *ret_n);
int sv_web_auth_read_groups(struct sv_conf *conf, struct sv_web_auth *ret, struct sv_error *err)
    _must_use_;
/* Reads and checks the keys; logs warnings for the operator. There is always a secret then:
 * requests pass a gate (web-gate.h). */
int sv_web_auth_read(struct sv_conf *conf, const struct sv_web_login *login,
                     struct sv_web_auth *ret, struct sv_error *err) _must_use_;
/* For a daemon that takes no tickets: with type kerberos, -EINVAL unless another daemon signs
 * cookies. */
int sv_web_auth_check_cookies(const struct sv_web_auth *c, struct sv_error *err) _must_use_;
void sv_web_auth_free(struct sv_web_auth *c);

/* Requires ACLs. True if yarn.admin.acl admits the user, or for the daemon's own account. False
 * while groups are pending. */
bool sv_web_is_admin(const struct sv_web_auth *c, const char *user, struct sv_groups *groups);

#endif
