/* See ldap-conf.h. */
#include "common/ldap/ldap-conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/ldap/ldap-filter.h"
#include "common/str.h"

#define MAPPING_KEY "hadoop.security.group.mapping"
#define L MAPPING_KEY ".ldap."
#define DEFAULT_FACTORY "com.sun.jndi.ldap.LdapCtxFactory" /* of core-default.xml */

enum {
    K_URL,
    K_SSL,
    K_CA,
    K_BIND_USER,
    K_PASSWORD_FILE,
    K_BASE,
    K_USER_BASE,
    K_GROUP_BASE,
    K_USER_FILTER,
    K_GROUP_FILTER,
    K_MEMBER_OF,
    K_MEMBER,
    K_GROUP_NAME,
    K_LEVELS,
    K_POSIX_UID,
    K_POSIX_GID,
    K_SEARCH_MS,
    K_CONNECT_MS,
    K_READ_MS,
    K_ATTEMPTS,
    K_ATTEMPTS_AT_ONE,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_URL] = { L "url", SV_CONF_LIST, NULL, .help = "With LdapGroupsMapping: the servers, ldap://HOST or ldaps://HOST, of which the first that answers is asked." },
    [K_SSL] = { L "ssl", SV_CONF_BOOL, "false", .help = "true: ldap: urls are read as ldaps:." },
    [K_CA] = { "selvedge.group.mapping.ldap.ca-certificates", SV_CONF_STRING, "", .help = "Authorities whose certificates the servers must have, a file in PEM, in the place of a truststore of Java's; empty: those of the machine's ldap.conf." },
    [K_BIND_USER] = { L "bind.user", SV_CONF_STRING, "", .help = "The name (DN) of the account that asks; empty: anonymously." },
    [K_PASSWORD_FILE] = { L "bind.password.file", SV_CONF_STRING, "", .help = "The file of its password, which nobody but its owner may read." },
    [K_BASE] = { L "base", SV_CONF_STRING, "", .help = "The DN below which users and groups are." },
    [K_USER_BASE] = { L "userbase", SV_CONF_STRING, NULL, .help = "The DN below which users are; unset: base." },
    [K_GROUP_BASE] = { L "groupbase", SV_CONF_STRING, NULL, .help = "The DN below which groups are; unset: base." },
    [K_USER_FILTER] = { L "search.filter.user", SV_CONF_STRING, "(&(objectClass=user)(sAMAccountName={0}))", .help = "Finds a user, whose name {0} stands for." },
    [K_GROUP_FILTER] = { L "search.filter.group", SV_CONF_STRING, "(objectClass=group)", .help = "Finds groups; with posixGroup here and posixAccount in the filter of users they are found by the user's numbers." },
    [K_MEMBER_OF] = { L "search.attr.memberof", SV_CONF_STRING, "", .help = "An attribute of users with the DNs of their groups, such as memberOf: groups are not searched then." },
    [K_MEMBER] = { L "search.attr.member", SV_CONF_STRING, "member", .help = "The attribute of groups with their members." },
    [K_GROUP_NAME] = { L "search.attr.group.name", SV_CONF_STRING, "cn", .help = "The attribute of groups with their name." },
    [K_LEVELS] = { L "search.group.hierarchy.levels", SV_CONF_INT, "0", 0, SV_LDAP_LEVELS_MAX, 0, "So many levels of groups of groups are searched, a question a level." },
    [K_POSIX_UID] = { L "posix.attr.uid.name", SV_CONF_STRING, "uidNumber", .help = "Attribute of a user's number." },
    [K_POSIX_GID] = { L "posix.attr.gid.name", SV_CONF_STRING, "gidNumber", .help = "Attribute of a group's number." },
    [K_SEARCH_MS] = { L "directory.search.timeout", SV_CONF_DURATION, "10000", 1, 600000, 1, "Time of one question at the server." },
    [K_CONNECT_MS] = { L "connection.timeout.ms", SV_CONF_DURATION, "60000", 1, 600000, 1, "Time for a connection." },
    [K_READ_MS] = { L "read.timeout.ms", SV_CONF_DURATION, "60000", 1, 600000, 1, "Time for an answer." },
    [K_ATTEMPTS] = { L "num.attempts", SV_CONF_INT, "3", 1, SV_LDAP_ATTEMPTS_MAX, 0, "Attempts to get a user's groups." },
    [K_ATTEMPTS_AT_ONE] = { L "num.attempts.before.failover", SV_CONF_INT, "3", 1, SV_LDAP_ATTEMPTS_MAX, 0, "Attempts at one server before the next one is asked." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *sv_ldap_conf_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int wrong(const struct sv_conf *c, int key, const char *why, struct sv_error *err)
{
    char at[512];

    sv_conf_origin(c, &keys[key], at, sizeof(at));
    return sv_error_set(err, -EINVAL, "%s: %s", at, why);
}

/* ---- Keys of Hadoop's that are not taken ---- */

static int refuse_others(struct sv_conf *c, struct sv_error *err)
{
    static const struct {
        const char *key, *why;
    } refused[] = {
        { L "bind.password", "a password in a file that everybody reads: put it into the file of " L
                             "bind.password.file" },
        { L "bind.password.alias",
          "credential providers are key stores of Java's: put the password "
          "into the file of " L "bind.password.file" },
        { L "bind.users", "there is one account that asks: name it in " L "bind.user" },
        { L "bind.users.alias", "there is one account that asks: name it in " L "bind.user" },
        { L "group.search.filter.pattern",
          "no attributes of a user are put into the filter of groups: write " L
          "search.filter.group without them" },
        { L "ssl.truststore", "a key store of Java's: put the authorities' certificates, in PEM, "
                              "into the file of selvedge.group.mapping.ldap.ca-certificates" },
        { L "ssl.keystore",
          "certificates of this daemon are not shown to LDAP servers: use " L "bind.user" },
        { L "ctx.factory.class", "a class of Java's, which nothing here can load" },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(refused); i++) {
        const char *value = sv_conf_raw(c, refused[i].key);

        if (value && *value && !sv_streq(value, DEFAULT_FACTORY))
            return sv_error_set(err, -EOPNOTSUPP, "%s is not read: %s", refused[i].key,
                                refused[i].why);
    }
    return 0;
}

/* ---- Values ---- */

static int text(struct sv_conf *c, int key, char **ret, struct sv_error *err)
{
    const char *value = NULL;
    int r = sv_conf_string(c, &keys[key], &value, err);

    if (r >= 0 && !value && (key == K_USER_BASE || key == K_GROUP_BASE))
        r = sv_conf_string(c, &keys[K_BASE], &value, err);
    if (r < 0)
        return r;
    *ret = strdup(value ? value : "");
    return *ret ? 0 : sv_error_errno(err, -ENOMEM, "%s", keys[key].name);
}

static int attribute(struct sv_conf *c, int key, char **ret, struct sv_error *err)
{
    int r = text(c, key, ret, err);

    if (r < 0)
        return r;
    for (const char *p = *ret; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.;", *p))
            return wrong(c, key, "not the name of an attribute", err);
    return **ret || key == K_MEMBER_OF ? 0 : wrong(c, key, "empty", err);
}

static int filter(struct sv_conf *c, int key, char **ret, struct sv_error *err)
{
    int r = text(c, key, ret, err);

    if (r < 0 || sv_ldap_filter_valid(*ret, key == K_USER_FILTER))
        return r;
    return wrong(c, key,
                 key == K_USER_FILTER ? "not a filter with {0}, such as (uid={0})"
                                      : "not a filter, such as (objectClass=groupOfNames)",
                 err);
}

/* With `ssl` a url of ldap: becomes one of ldaps:, at its own port. */
static int url(struct sv_conf *c, bool ssl, char **u, struct sv_error *err)
{
    char *secure = NULL;

    if (strncasecmp(*u, "ldaps://", 8) == 0)
        return 0;
    if (strncasecmp(*u, "ldap://", 7) != 0)
        return wrong(c, K_URL, "not ldap://HOST or ldaps://HOST", err);
    if (!ssl)
        return 0;
    if (sv_asprintf(&secure, "ldaps%s", *u + 4) < 0)
        return sv_error_errno(err, -ENOMEM, L "url");
    free(*u);
    *u = secure;
    return 0;
}

static int urls(struct sv_conf *c, struct sv_ldap_conf *ret, struct sv_error *err)
{
    bool ssl = false;
    int r = sv_conf_bool(c, &keys[K_SSL], &ssl, err);

    if (r >= 0)
        r = sv_conf_list(c, &keys[K_URL], &ret->urls, err);
    if (r < 0)
        return r;
    if (sv_strv_len(ret->urls) == 0)
        return sv_error_set(err, -EINVAL,
                            L "url is not set: " SV_LDAP_MAPPING " asks the servers that it names");
    if (sv_strv_len(ret->urls) > SV_LDAP_URLS_MAX)
        return wrong(c, K_URL, "more than 16 servers", err);
    for (char **u = ret->urls; r >= 0 && *u; u++)
        r = url(c, ssl, u, err);
    return r;
}

static int check_file(const char *path, const struct stat *st, struct sv_error *err)
{
    if (!S_ISREG(st->st_mode))
        return sv_error_set(err, -EINVAL, L "bind.password.file: %s is not a file", path);
    if (st->st_mode & (S_IRWXG | S_IRWXO))
        return sv_error_set(err, -EACCES,
                            L "bind.password.file: %s has mode %04o, which lets group or others "
                              "at it: chmod 0400",
                            path, (unsigned)(st->st_mode & 07777));
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return sv_error_set(err, -EACCES,
                            L "bind.password.file: %s belongs to uid %u, not to this daemon's "
                              "account or root",
                            path, st->st_uid);
    return 0;
}

/* The first line; whoever wrote it by echo has an end of line there. */
static int read_password(const char *path, char **ret, struct sv_error *err)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char buf[SV_LDAP_PASSWORD_MAX + 1];
    struct stat st;
    ssize_t n;
    int r;

    if (fd < 0 || fstat(fd, &st) < 0)
        return sv_error_errno(err, -errno, L "bind.password.file: %s", path);
    r = check_file(path, &st, err);
    if (r < 0)
        return r;
    n = read(fd, buf, sizeof(buf));
    if (n < 0)
        return sv_error_errno(err, -errno, L "bind.password.file: %s", path);
    if (n > SV_LDAP_PASSWORD_MAX)
        r = sv_error_set(err, -E2BIG, L "bind.password.file: %s has more than %d bytes", path,
                         SV_LDAP_PASSWORD_MAX);
    buf[SV_MIN((size_t)n, sizeof(buf) - 1)] = 0;
    buf[strcspn(buf, "\r\n")] = 0;
    if (r >= 0 && !*buf)
        r = sv_error_set(err, -EINVAL, L "bind.password.file: %s is empty", path);
    if (r >= 0 && !(*ret = strdup(buf)))
        r = sv_error_errno(err, -ENOMEM, L "bind.password.file");
    explicit_bzero(buf, sizeof(buf));
    return r;
}

/* Without a password a server takes any name for nobody, and says that all is well. */
static int account(struct sv_conf *c, struct sv_ldap_conf *ret, struct sv_error *err)
{
    _cleanup_free_ char *file = NULL;
    int r = text(c, K_BIND_USER, &ret->bind_user, err);

    if (r >= 0)
        r = text(c, K_PASSWORD_FILE, &file, err);
    if (r < 0)
        return r;
    if (*ret->bind_user && !*file)
        return wrong(c, K_BIND_USER, "there is no " L "bind.password.file with its password", err);
    if (*ret->bind_user)
        return read_password(file, &ret->password, err);
    ret->password = strdup("");
    return ret->password ? 0 : sv_error_errno(err, -ENOMEM, L "bind.user");
}

static int numbers(struct sv_conf *c, struct sv_ldap_conf *ret, struct sv_error *err)
{
    int64_t levels = 0, attempts = 0, at_one = 0;
    int r = sv_conf_int(c, &keys[K_LEVELS], &levels, err);

    if (r >= 0)
        r = sv_conf_int(c, &keys[K_ATTEMPTS], &attempts, err);
    if (r >= 0)
        r = sv_conf_int(c, &keys[K_ATTEMPTS_AT_ONE], &at_one, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_SEARCH_MS], &ret->search_ms, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_CONNECT_MS], &ret->connect_ms, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_READ_MS], &ret->read_ms, err);
    ret->levels = (int)levels;
    ret->attempts = (int)attempts;
    ret->attempts_at_one = (int)at_one;
    return r;
}

static int read_all(struct sv_conf *c, struct sv_ldap_conf *ret, struct sv_error *err)
{
    const struct {
        int key;
        char **to;
        int (*read)(struct sv_conf *c, int key, char **ret, struct sv_error *err);
    } all[] = {
        { K_CA, &ret->ca_file, text },
        { K_USER_BASE, &ret->user_base, text },
        { K_GROUP_BASE, &ret->group_base, text },
        { K_USER_FILTER, &ret->user_filter, filter },
        { K_GROUP_FILTER, &ret->group_filter, filter },
        { K_MEMBER_OF, &ret->member_of, attribute },
        { K_MEMBER, &ret->member, attribute },
        { K_GROUP_NAME, &ret->group_name, attribute },
        { K_POSIX_UID, &ret->posix_uid, attribute },
        { K_POSIX_GID, &ret->posix_gid, attribute },
    };
    int r = refuse_others(c, err);

    if (r >= 0)
        r = urls(c, ret, err);
    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(all); i++)
        r = all[i].read(c, all[i].key, all[i].to, err);
    if (r >= 0)
        r = numbers(c, ret, err);
    if (r >= 0)
        r = account(c, ret, err);
    if (r >= 0)
        ret->posix = strstr(ret->group_filter, "posixGroup") != NULL &&
                     strstr(ret->user_filter, "posixAccount") != NULL;
    return r;
}

int sv_ldap_conf_read(struct sv_conf *c, struct sv_ldap_conf *ret, struct sv_error *err)
{
    struct sv_ldap_conf read = { .on = sv_streq(sv_conf_raw(c, MAPPING_KEY), SV_LDAP_MAPPING) };
    int r = read.on ? read_all(c, &read, err) : 0;

    if (r < 0)
        sv_ldap_conf_free(&read);
    else
        *ret = read;
    return r;
}

void sv_ldap_conf_free(struct sv_ldap_conf *c)
{
    char *const all[] = { c->bind_user, c->user_base,  c->group_base, c->user_filter,
                          c->member,    c->group_name, c->posix_uid,  c->group_filter,
                          c->member_of, c->posix_gid,  c->ca_file };

    if (c->password)
        explicit_bzero(c->password, strlen(c->password));
    free(c->password);
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        free(all[i]);
    sv_strv_free(c->urls);
    *c = (struct sv_ldap_conf){ .on = false };
}
