/* See conf-web.h. The files are the operator's. */
#include "rm-lite/conf/conf-web.h"

#include "common/log.h"
#include "common/str.h"
#include "gss/daemon-web-conf.h"
#include "rm-lite/conf/rm-conf.h"

#define WEB "yarn.resourcemanager.webapp."

enum { K_POLICY = SV_FILTER_N, K_HTTPS, K_TOKENS, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [SV_FILTER_CORS] = { WEB "cross-origin.enabled", SV_CONF_BOOL, "false", .help = "Lets pages of other origins ask, as hadoop.http.cross-origin.* says; needs hadoop.http.filter.initializers, too." },
    [SV_FILTER_CSRF] = { WEB "rest-csrf.enabled", SV_CONF_BOOL, "false", .help = "A browser's request without the header of the next key is refused (400)." },
    [SV_FILTER_HEADER] = { WEB "rest-csrf.custom-header", SV_CONF_STRING, "X-XSRF-Header", .help = "Name of that header." },
    [SV_FILTER_METHODS] = { WEB "rest-csrf.methods-to-ignore", SV_CONF_LIST, "GET,OPTIONS,HEAD", .help = "Methods that need no such header." },
    [SV_FILTER_AGENTS] = { WEB "rest-csrf.browser-useragents-regex", SV_CONF_LIST, "^Mozilla.*,^Opera.*", .help = "User agents that are browsers: text with .* for any; other expressions are refused." },
    [SV_FILTER_FRAME] = { WEB "xfs-filter.xframe-options", SV_CONF_STRING, "DENY", .help = "X-Frame-Options of every answer: DENY (Hadoop's default: SAMEORIGIN), SAMEORIGIN or ALLOW-FROM URL." },
    [K_POLICY] = { "yarn.http.policy", SV_CONF_STRING, "HTTP_ONLY", .help = "HTTPS_ONLY: pages and REST by TLS alone, with the keys of ssl-server.xml, and links to nodes with https:. HTTP_AND_HTTPS is HTTP_ONLY, as in Hadoop's YARN." },
    [K_HTTPS] = { WEB "https.address", SV_CONF_ADDRESS, "${yarn.resourcemanager.hostname}:8090", .help = "Instead of webapp.address with HTTPS_ONLY." },
    [K_TOKENS] = { WEB "delegation-token-auth-filter.enabled", SV_CONF_BOOL, "true", .help = "Where callers prove who they are, a delegation token of this ResourceManager does, too (X-Hadoop-Delegation-Token, ?delegation=), and proxy users act for others by ?doAs=. false: tickets and cookies alone." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *rm_conf_web_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

static int read_port(struct sv_conf *c, struct rm_address *address, struct rm_conf_web *w,
                     struct sv_error *err)
{
    static const char *const policies[] = { "HTTP_ONLY", "HTTPS_ONLY", "HTTP_AND_HTTPS" };
    size_t policy;
    int r = sv_conf_choice(c, &keys[K_POLICY], policies, SV_ARRAY_LEN(policies), &policy, err);

    if (r < 0)
        return r;
    if (policy == 2)
        sv_log_warning("yarn.http.policy=HTTP_AND_HTTPS: HTTP alone is served, as by Hadoop; "
                       "HTTPS_ONLY serves HTTPS");
    w->https = policy == 1;
    return w->https ? sv_conf_address(c, &keys[K_HTTPS], &address->host, &address->port, err) : 0;
}

static int read_login(struct sv_conf *c, struct rm_conf_kerberos *k, struct sv_web_auth *auth,
                      struct rm_conf_web *w, struct sv_error *err)
{
    int r = sv_web_login_read(c, &w->login, err);

    if (r >= 0)
        r = sv_web_auth_read(c, &w->login, auth, err);
    if (r < 0)
        return r;
    auth->proven_only = k->own.on;
    w->tickets = k->own.on && sv_streq(auth->auth_type, "kerberos");
    if (w->tickets)
        return sgss_conf_read_web(&k->own, rm_conf_kerberos_own_keys(), &w->login, &w->principal,
                                  err);
    return sv_web_auth_check_cookies(auth, err);
}

int rm_conf_web_read(struct sv_conf *c, struct rm_conf_kerberos *kerberos,
                     struct rm_address *address, struct sv_web_auth *auth, struct rm_conf_web *ret,
                     struct sv_error *err)
{
    /* Filters of tokens and of proxy users, whose work the gate does. */
    static const char *const also[] = {
        "org.apache.hadoop.yarn.server.security.http.RMAuthenticationFilterInitializer",
        "org.apache.hadoop.security.authentication.server.ProxyUserAuthenticationFilterInitializer",
        NULL
    };
    int r;

    *ret = (struct rm_conf_web){ .https = false };
    r = read_port(c, address, ret, err);
    if (r >= 0)
        r = sv_http_filters_read(c, keys, also, &ret->filters, err);
    if (r >= 0)
        r = sv_conf_bool(c, &keys[K_TOKENS], &ret->tokens, err);
    if (r >= 0)
        r = read_login(c, kerberos, auth, ret, err);
    /* Names that are only claimed act for nobody in a secure cluster. */
    ret->tokens = ret->tokens && (ret->tickets || !kerberos->own.on);
    return r;
}

void rm_conf_web_free(struct rm_conf_web *w)
{
    sv_http_filters_free(&w->filters);
    sv_web_login_free(&w->login);
    free(w->principal);
    w->principal = NULL;
}
