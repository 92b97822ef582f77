/* Keys of the web server: HTTP or HTTPS, and Hadoop's filters. See conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/identity/principal.h"
#include "common/log.h"
#include "common/str.h"

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
        r = sv_http_filters_read(c->conf, keys, &c->web.filters, err);
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

/* In a cluster without Kerberos nobody here judges tickets: another daemon's cookies are left. */
static int check_cookies(const struct nm_conf *c, struct sv_error *err)
{
    if (c->web.auth.own_secret)
        return sv_error_set(err, -EINVAL,
                            "hadoop.http.authentication.type=kerberos, and "
                            "hadoop.security.authentication is simple: this node has no tickets, "
                            "and accepts only cookies that another daemon has signed; set "
                            "hadoop.http.authentication.signature.secret.file");
    return 0;
}

/* The one of all daemons: _HOST is this node's configured name, whatever address is listened on;
 * Hadoop takes that address, and then nobody has a ticket for it. */
static int own_principal(struct nm_conf *c, const char *configured, struct sv_error *err)
{
    char full[SV_PRINCIPAL_MAX + 1];
    struct sv_principal p;
    int r = sv_principal_for_host(configured, c->kerberos.own.own_host, c->kerberos.own.own_host,
                                  full, err);

    if (r >= 0)
        r = sv_principal_parse(full, strlen(full), &p, err);
    if (r >= 0 && !*p.realm && sv_streq(p.host, SV_PRINCIPAL_HOST))
        r = sv_error_set(err, -EINVAL, "\"%s\": _HOST is replaced in HTTP/_HOST@REALM alone",
                         configured);
    if (r < 0)
        return sv_error_wrap(err, SV_WEB_PRINCIPAL);
    if (!*p.realm)
        (void)snprintf(p.realm, sizeof(p.realm), "%s", c->kerberos.own.realm);
    if (strlen(p.name) + strlen(p.host) + strlen(p.realm) + 2 > SV_PRINCIPAL_MAX)
        return sv_error_set(err, -EINVAL, SV_WEB_PRINCIPAL ": longer than %d bytes",
                            SV_PRINCIPAL_MAX);
    sv_principal_text(&p, full);
    c->kerberos.own.web_principal = c->web.principal = strdup(full);
    return c->web.principal ? 0 : sv_error_errno(err, -ENOMEM, "configuration");
}

/* The NodeManager's own keys, else those of all daemons. */
static int read_principal(struct nm_conf *c, struct sv_error *err)
{
    struct nm_conf_kerberos *k = &c->kerberos;
    const char *of_all = c->web.login.principal;
    int r = 0;

    if (!k->own.web_keytab)
        k->own.web_keytab = c->web.login.keytab;
    if (!k->own.web_principal && !of_all)
        return sv_error_set(err, -EINVAL,
                            "hadoop.http.authentication.type=kerberos: who the web server is, is "
                            "not set: " WEB
                            "spnego-principal, such as HTTP/_HOST@REALM, or " SV_WEB_PRINCIPAL);
    if (!k->own.web_principal && sv_streq(of_all, "*"))
        k->own.web_principal = of_all;
    else if (!k->own.web_principal)
        r = own_principal(c, of_all, err);
    if (r < 0)
        return r;
    if (!sv_streq(k->own.web_principal, "*") && !sv_has_prefix(k->own.web_principal, "HTTP/"))
        return sv_error_set(
            err, -EINVAL,
            "the web server's principal is %s: it begins with HTTP/, which browsers "
            "ask for, and is no other service's",
            k->own.web_principal);
    if (k->own.web_keytab && *k->own.web_keytab != '/')
        return sv_error_set(err, -EINVAL, "%s, keytab of %s: not an absolute path",
                            k->own.web_keytab, k->own.web_principal);
    if (!k->own.socket && !k->own.web_keytab)
        return sv_error_set(
            err, -EINVAL,
            "hadoop.http.authentication.type=kerberos: the keytab of %s is not set: " WEB
            "spnego-keytab-file, or " SV_WEB_KEYTAB,
            k->own.web_principal);
    return 0;
}

int nm_conf_web_login_read(struct nm_conf *c, struct sv_error *err)
{
    int r = sv_web_login_read(c->conf, &c->web.login, err);

    if (r >= 0)
        r = sv_web_auth_read(c->conf, &c->web.login, &c->web.auth, err);
    if (r < 0)
        return r;
    c->web.tickets = c->kerberos.own.on && sv_streq(c->web.auth.auth_type, "kerberos");
    if (c->web.tickets)
        return read_principal(c, err);
    if (sv_streq(c->web.auth.auth_type, "kerberos"))
        return check_cookies(c, err);
    if (c->kerberos.own.on)
        sv_log_warning("hadoop.security.authentication=kerberos, and the web port is open: "
                       "hadoop.http.authentication.type=simple lets clients choose their user name "
                       "without proof; set kerberos, and a principal HTTP/_HOST@REALM");
    return 0;
}
