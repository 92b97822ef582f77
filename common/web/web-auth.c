/* See web-auth.h. The secret's file is root's or the daemon's: trusted, but its mode may be
 * wrong. */
#include "common/web/web-auth.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/acl.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/own-user.h"
#include "common/static-groups.h"
#include "common/str.h"
#include "common/web/web-login.h"

#define SECRET_MAX 4096
#define RANDOM_SECRET 32 /* bytes: as many as the signature has */
#define SECRET_KEY "hadoop.http.authentication.signature.secret.file"
#define DAYS_MAX ((int64_t)365 * 24 * 3600 * 1000)

enum { K_ACL, K_ADMIN_ACL, K_AUTH, K_SECRET, K_CACHE, K_NEGATIVE, K_OVERRIDES, K_MAX };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_ACL] = { "yarn.acl.enable", SV_CONF_BOOL, "false", .help = "Show and change an application only for its owner, for users and groups of its VIEW_APP and MODIFY_APP lists, and for administrators." },
    [K_ADMIN_ACL] = { "yarn.admin.acl", SV_CONF_STRING, "*", .help = "Administrators: user1,user2 group1,group2. With yarn.acl.enable they see every application, and in selvedge-rm change it; its administration (8033) is theirs alone with and without. * = everybody, who with yarn.acl.enable sees everything and gets no other right. The daemon's own account always is one." },
    [K_AUTH] = { "hadoop.http.authentication.type", SV_CONF_STRING, "simple", .help = "How a client of the web server says who it is: simple = ?user.name=NAME, which anybody can write, or a signed cookie; kerberos = a ticket (SPNEGO, where the cluster is secure), or the signed cookie of this daemon or of another one with the same secret." },
    [K_SECRET] = { SECRET_KEY, SV_CONF_STRING, NULL, .help = "File with the secret that signs the cookie hadoop.auth, the same on all daemons and readable by them alone; unset = a random one of the daemon's own." },
    [K_CACHE] = { "hadoop.security.groups.cache.secs", SV_CONF_DURATION, "300", 1, DAYS_MAX, 1000, .help = "Seconds for which a user's groups are remembered." },
    [K_NEGATIVE] = { "hadoop.security.groups.negative-cache.secs", SV_CONF_DURATION, "30", 1, DAYS_MAX, 1000, .help = "The same for a user without groups, or one that the name service does not know." },
    [K_OVERRIDES] = { "hadoop.user.group.static.mapping.overrides", SV_CONF_STRING, "dr.who=;", .help = "Users whose groups are these, not the name service's: USER=GROUP,GROUP;USER=; the first group is the primary one." },
};
/* clang-format on */

/* All bytes are the key, a trailing newline included, as in Hadoop. */
static int read_secret(struct sv_web_auth *c, struct sv_error *err)
{
    struct stat st;
    int r;

    if (stat(c->secret_file, &st) < 0)
        return sv_error_errno(err, -errno, SECRET_KEY ": %s", c->secret_file);
    if (st.st_mode & S_IRWXO)
        return sv_error_set(err, -EPERM,
                            SECRET_KEY ": %s is open to every account of this machine, so that any "
                                       "job could sign a cookie; take these permissions away "
                                       "(chmod o= FILE)",
                            c->secret_file);
    r = sv_read_file_at(AT_FDCWD, c->secret_file, SECRET_MAX, &c->secret, &c->secret_len);
    if (r < 0)
        return sv_error_errno(err, r, SECRET_KEY ": %s", c->secret_file);
    if (c->secret_len == 0)
        return sv_error_set(err, -EINVAL, SECRET_KEY ": %s is empty", c->secret_file);
    return 0;
}

static bool is_kerberos(const struct sv_web_auth *c)
{
    return sv_streq(c->auth_type, "kerberos");
}

static bool is_simple(const struct sv_web_auth *c)
{
    return sv_streq(c->auth_type, "simple");
}

static int check_type(const struct sv_web_auth *c, struct sv_error *err)
{
    if (!is_kerberos(c) && !is_simple(c))
        return sv_error_set(err, -EOPNOTSUPP,
                            "hadoop.http.authentication.type=%s: this version knows simple and "
                            "kerberos",
                            c->auth_type);
    return 0;
}

static void warn(const struct sv_web_auth *c)
{
    if (sv_acl_allows_all(c->admin_acl))
        sv_log_warning("yarn.admin.acl=*: everybody is an administrator, so that yarn.acl.enable "
                       "hides nothing; name the administrators");
    if (is_simple(c))
        sv_log_warning("hadoop.http.authentication.type=simple: over HTTP clients choose their "
                       "user name without proof; yarn.acl.enable prevents mistakes, not abuse");
}

static bool has_file(const struct sv_web_auth *c)
{
    return c->secret_file && *c->secret_file;
}

static int make_secret(struct sv_web_auth *c, struct sv_error *err)
{
    c->secret = malloc(RANDOM_SECRET);
    if (!c->secret)
        return sv_error_errno(err, -ENOMEM, "configuration");
    c->secret_len = RANDOM_SECRET;
    c->own_secret = true;
    if (getrandom(c->secret, RANDOM_SECRET, 0) != RANDOM_SECRET)
        return sv_error_errno(err, -EIO, "a random secret");
    return 0;
}

/* Where everybody may see everything, a file that cannot be read is only told, as in Hadoop. */
static int complete(struct sv_web_auth *c, const struct sv_web_login *login, struct sv_error *err)
{
    int r = check_type(c, err);

    if (r >= 0 && has_file(c) && !login->random_secret) {
        r = read_secret(c, err);
        if (r < 0 && !c->acl_enabled && is_simple(c)) {
            sv_log_warning("%s; a random secret signs cookies", err ? err->text : SECRET_KEY);
            free(c->secret);
            c->secret = NULL;
            r = 0;
        }
    }
    if (r >= 0 && !c->secret)
        r = make_secret(c, err);
    if (r >= 0 && c->acl_enabled)
        warn(c);
    return r;
}

static int set_daemon_user(struct sv_web_auth *c, struct sv_error *err)
{
    const char *own = sv_own_user();

    c->daemon_user = strdup(own ? own : "");
    return c->daemon_user ? 0 : sv_error_errno(err, -ENOMEM, "configuration");
}

const struct sv_conf_key *sv_web_auth_keys(size_t *ret_n)
{
    *ret_n = K_MAX;
    return keys;
}

const struct sv_conf_key *sv_web_auth_group_keys(size_t *ret_n)
{
    *ret_n = K_MAX - K_CACHE;
    return keys + K_CACHE;
}

static int read_overrides(struct sv_conf *conf, struct sv_web_auth *c, struct sv_error *err)
{
    struct sv_static_groups *parsed = NULL;
    int r = sv_conf_string(conf, &keys[K_OVERRIDES], &c->groups_overrides, err);

    if (r >= 0)
        r = sv_static_groups_parse(c->groups_overrides, &parsed, err);
    sv_static_groups_free(parsed);
    return r;
}

int sv_web_auth_read_groups(struct sv_conf *conf, struct sv_web_auth *ret, struct sv_error *err)
{
    int r = sv_conf_duration_ms(conf, &keys[K_CACHE], &ret->groups_cache_ms, err);

    if (r >= 0)
        r = sv_conf_duration_ms(conf, &keys[K_NEGATIVE], &ret->groups_negative_ms, err);
    return r >= 0 ? read_overrides(conf, ret, err) : r;
}

int sv_web_auth_read(struct sv_conf *conf, const struct sv_web_login *login,
                     struct sv_web_auth *ret, struct sv_error *err)
{
    struct sv_web_auth c = { 0 };
    int r = sv_conf_bool(conf, &keys[K_ACL], &c.acl_enabled, err);

    if (r >= 0)
        r = sv_conf_text(conf, &keys[K_ADMIN_ACL], &c.admin_acl, err);
    if (r >= 0)
        r = sv_conf_string(conf, &keys[K_AUTH], &c.auth_type, err);
    if (r >= 0)
        r = sv_conf_string(conf, &keys[K_SECRET], &c.secret_file, err);
    if (r >= 0)
        r = sv_web_auth_read_groups(conf, &c, err);
    if (r >= 0)
        r = set_daemon_user(&c, err);
    if (r >= 0)
        r = complete(&c, login, err);
    if (r < 0) {
        sv_web_auth_free(&c);
        return r;
    }
    *ret = c;
    return 0;
}

int sv_web_auth_check_cookies(const struct sv_web_auth *c, struct sv_error *err)
{
    if (!is_kerberos(c) || !c->own_secret)
        return 0;
    return sv_error_set(err, -EINVAL,
                        "hadoop.http.authentication.type=kerberos, and "
                        "hadoop.security.authentication is simple: this daemon has no tickets, and "
                        "accepts only cookies that another daemon has signed; set " SECRET_KEY);
}

void sv_web_auth_free(struct sv_web_auth *c)
{
    if (c->secret)
        explicit_bzero(c->secret, c->secret_len);
    free(c->secret);
    free(c->daemon_user);
    c->secret = c->daemon_user = NULL;
}

bool sv_web_is_admin(const struct sv_web_auth *c, const char *user, struct sv_groups *groups)
{
    return sv_streq(user, c->daemon_user) || sv_acl_admits(c->admin_acl, user, groups);
}
