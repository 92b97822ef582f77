/* Keys of the web server: HTTP or HTTPS, and Hadoop's filters. See conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#include "common/log.h"
#include "common/str.h"
#include "gss/daemon-web-conf.h"

#define NM "yarn.nodemanager."
#define WEB NM "webapp."

enum { K_POLICY = SV_FILTER_N, K_HTTPS, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [SV_FILTER_CORS] = { WEB "cross-origin.enabled", SV_CONF_BOOL, "false", .help = "Lets pages of other origins ask, as hadoop.http.cross-origin.* says; needs hadoop.http.filter.initializers, too." },
    [SV_FILTER_CSRF] = { WEB "rest-csrf.enabled", SV_CONF_BOOL, "false", .help = "A browser's request without the header of the next key is refused (400)." },
    [SV_FILTER_HEADER] = { WEB "rest-csrf.custom-header", SV_CONF_STRING, "X-XSRF-Header", .help = "Name of that header." },
    [SV_FILTER_METHODS] = { WEB "rest-csrf.methods-to-ignore", SV_CONF_LIST, "GET,OPTIONS,HEAD", .help = "Methods that need no such header." },
    [SV_FILTER_AGENTS] = { WEB "rest-csrf.browser-useragents-regex", SV_CONF_LIST, "^Mozilla.*,^Opera.*", .help = "User agents that are browsers: text with .* for any; other expressions are refused." },
    [SV_FILTER_FRAME] = { WEB "xfs-filter.xframe-options", SV_CONF_STRING, "DENY", .help = "X-Frame-Options of every answer: DENY (Hadoop's default: SAMEORIGIN), SAMEORIGIN or ALLOW-FROM URL." },
    [K_POLICY] = { "yarn.http.policy", SV_CONF_STRING, "HTTP_ONLY", .help = "HTTPS_ONLY: pages, REST and logs by TLS alone, with the keys of ssl-server.xml. HTTP_AND_HTTPS is HTTP_ONLY, as in Hadoop's YARN." },
    [K_HTTPS] = { WEB "https.address", SV_CONF_ADDRESS, "0.0.0.0:8044", .help = "Instead of webapp.address with HTTPS_ONLY." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_web_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

int nm_conf_web_read(struct nm_conf *c, struct sv_error *err)
{
    static const char *const policies[] = { "HTTP_ONLY", "HTTPS_ONLY", "HTTP_AND_HTTPS" };
    const char *host;
    size_t policy;
    int r =
        sv_conf_choice(c->conf, &keys[K_POLICY], policies, SV_ARRAY_LEN(policies), &policy, err);

    if (r == 0)
        r = sv_http_filters_read(c->conf, keys, NULL, &c->web.filters, err);
    if (r < 0)
        return r;
    if (policy == 2)
        sv_log_warning("yarn.http.policy=HTTP_AND_HTTPS: HTTP alone is served, as by Hadoop; "
                       "HTTPS_ONLY serves HTTPS");
    c->web.https = policy == 1;
    if (!c->web.https)
        return 0;
    r = sv_conf_address(c->conf, &keys[K_HTTPS], &host, &c->web_port, err);
    if (r == 0 && !c->web_host_bound)
        c->web_host = host;
    return r;
}

/* ---- Identities ---- */

int nm_conf_web_login_read(struct nm_conf *c, struct sv_error *err)
{
    int r = sv_web_login_read(c->conf, &c->web.login, err);

    if (r >= 0)
        r = sv_web_auth_read(c->conf, &c->web.login, &c->web.auth, err);
    if (r < 0)
        return r;
    c->web.tickets = c->kerberos.own.on && sv_streq(c->web.auth.auth_type, "kerberos");
    if (c->web.tickets)
        return sgss_conf_read_web(&c->kerberos.own, nm_conf_kerberos_own_keys(), &c->web.login,
                                  &c->web.principal, err);
    r = sv_web_auth_check_cookies(&c->web.auth, err);
    if (r >= 0 && c->kerberos.own.on)
        sv_log_warning("hadoop.security.authentication=kerberos, and the web port is open: "
                       "hadoop.http.authentication.type=simple lets clients choose their user name "
                       "without proof; set kerberos, and a principal HTTP/_HOST@REALM");
    return r;
}
