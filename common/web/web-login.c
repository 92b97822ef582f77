/* See web-login.h. The values are the operator's: trusted, but possibly wrong. */
#include "common/web/web-login.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

#define AUTH "hadoop.http.authentication."
#define DAYS_MAX ((int64_t)365 * 24 * 3600 * 1000)

enum {
    K_VALIDITY,
    K_DOMAIN,
    K_PERSISTENT,
    K_PROVIDER,
    K_ANONYMOUS,
    K_PRINCIPAL,
    K_KEYTAB,
    K_OPEN,
    K_RULES,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_VALIDITY] = { AUTH "token.validity", SV_CONF_DURATION, "36000", 1000, DAYS_MAX, 1000, .help = "Seconds for which the cookie hadoop.auth that this daemon issues is valid." },
    [K_DOMAIN] = { AUTH "cookie.domain", SV_CONF_STRING, NULL, .help = "Domain of that cookie, so that browsers send it to other daemons with the same secret; unset = this host alone." },
    [K_PERSISTENT] = { AUTH "cookie.persistent", SV_CONF_BOOL, "false", .help = "true: browsers keep the cookie when they end." },
    [K_PROVIDER] = { AUTH "signer.secret.provider", SV_CONF_STRING, "file", .help = "file: hadoop.http.authentication.signature.secret.file, or a random secret without one; random: a random one. Others, such as zookeeper, are refused." },
    [K_ANONYMOUS] = { AUTH "simple.anonymous.allowed", SV_CONF_BOOL, "true", .help = "With type simple, false refuses requests without user.name and without a cookie (401)." },
    [K_PRINCIPAL] = { SV_WEB_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With type kerberos, who the web server is to clients with tickets, where the daemon's own spnego-principal is not set: HTTP/_HOST@REALM; _HOST is the daemon's configured host name; * = every HTTP/ key of the keytab." },
    [K_KEYTAB] = { SV_WEB_KEYTAB, SV_CONF_STRING, NULL, .help = "Its key, where the daemon's own spnego-keytab-file is not set." },
    [K_RULES] = { AUTH "kerberos.name.rules", SV_CONF_STRING, NULL, .help = "Refused: hadoop.security.auth_to_local has the rules, for the web server too." },
    [K_OPEN] = { AUTH "kerberos.endpoint.whitelist", SV_CONF_LIST, "", .help = "With type kerberos, paths that need no authentication, such as /metrics: exactly these." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *sv_web_login_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int refuse(struct sv_conf *conf, int key, const char *value, const char *why,
                  struct sv_error *err)
{
    char at[SV_ERROR_TEXT_MAX / 2];

    sv_conf_origin(conf, &keys[key], at, sizeof(at));
    return sv_error_set(err, -EINVAL, "%s is \"%.200s\": %s", at, value, why);
}

/* NULL: not set, or empty. */
static int read_text(struct sv_conf *conf, int key, const char **ret, struct sv_error *err)
{
    int r = sv_conf_string(conf, &keys[key], ret, err);

    if (r >= 0 && *ret && !**ret)
        *ret = NULL;
    return r;
}

static int read_cookie(struct sv_conf *conf, struct sv_web_login *l, struct sv_error *err)
{
    static const char of_domains[] =
        "-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *provider;
    int r = sv_conf_duration_ms(conf, &keys[K_VALIDITY], &l->validity_ms, err);

    if (r >= 0)
        r = read_text(conf, K_DOMAIN, &l->domain, err);
    if (r >= 0 && l->domain && l->domain[strspn(l->domain, of_domains)])
        return refuse(conf, K_DOMAIN, l->domain, "not a name of a domain", err);
    if (r >= 0)
        r = sv_conf_bool(conf, &keys[K_PERSISTENT], &l->persistent, err);
    if (r >= 0)
        r = read_text(conf, K_PROVIDER, &provider, err);
    if (r >= 0 && provider && !sv_streq(provider, "file") && !sv_streq(provider, "random"))
        return refuse(
            conf, K_PROVIDER, provider,
            "this version knows file and random; name a file, the same on all daemons, by " AUTH
            "signature.secret.file",
            err);
    l->random_secret = r >= 0 && sv_streq(provider, "random");
    return r;
}

/* Rules that were not applied would make other accounts of principals than the operator means. */
static int check_rules(struct sv_conf *conf, struct sv_error *err)
{
    const char *rules;
    int r = read_text(conf, K_RULES, &rules, err);

    if (r >= 0 && rules)
        return refuse(conf, K_RULES, rules,
                      "the web server has no rules of its own: set hadoop.security.auth_to_local",
                      err);
    return r;
}

static int read_open_paths(struct sv_conf *conf, struct sv_web_login *l, struct sv_error *err)
{
    int r = sv_conf_list(conf, &keys[K_OPEN], &l->open_paths, err);

    for (char **p = l->open_paths; r >= 0 && p && *p; p++)
        if (**p != '/')
            r = refuse(conf, K_OPEN, *p, "not a path, which begins with /", err);
    return r;
}

int sv_web_login_read(struct sv_conf *conf, struct sv_web_login *ret, struct sv_error *err)
{
    int r;

    *ret = (struct sv_web_login){ 0 };
    r = read_cookie(conf, ret, err);
    if (r >= 0)
        r = sv_conf_bool(conf, &keys[K_ANONYMOUS], &ret->anonymous, err);
    if (r >= 0)
        r = check_rules(conf, err);
    if (r >= 0)
        r = read_text(conf, K_PRINCIPAL, &ret->principal, err);
    if (r >= 0)
        r = read_text(conf, K_KEYTAB, &ret->keytab, err);
    return r < 0 ? r : read_open_paths(conf, ret, err);
}

void sv_web_login_free(struct sv_web_login *l)
{
    l->open_paths = sv_strv_free(l->open_paths);
}
