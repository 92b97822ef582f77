/* See daemon-web-conf.h. */
#include "gss/daemon-web-conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/identity/principal.h"
#include "common/str.h"

#define TICKETS "hadoop.http.authentication.type=kerberos: "

/* Reads the principal of all daemons: _HOST is the daemon's configured name, whatever address is
 * listened on; Hadoop takes that address, and then nobody has a ticket for it. */
static int read_common(struct sgss_conf *own, const char *configured, char **ret_owned,
                       struct sv_error *err)
{
    char full[SV_PRINCIPAL_MAX + 1];
    struct sv_principal p;
    int r = sv_principal_for_host(configured, own->own_host, own->own_host, full, err);

    if (r >= 0)
        r = sv_principal_parse(full, strlen(full), &p, err);
    if (r >= 0 && !*p.realm && sv_streq(p.host, SV_PRINCIPAL_HOST))
        r = sv_error_set(err, -EINVAL, "\"%s\": _HOST is replaced in HTTP/_HOST@REALM alone",
                         configured);
    if (r < 0)
        return sv_error_wrap(err, SV_WEB_PRINCIPAL);
    if (!*p.realm)
        (void)snprintf(p.realm, sizeof(p.realm), "%s", own->realm);
    if (strlen(p.name) + strlen(p.host) + strlen(p.realm) + 2 > SV_PRINCIPAL_MAX)
        return sv_error_set(err, -EINVAL, SV_WEB_PRINCIPAL ": longer than %d bytes",
                            SV_PRINCIPAL_MAX);
    sv_principal_text(&p, full);
    own->web_principal = *ret_owned = strdup(full);
    return *ret_owned ? 0 : sv_error_errno(err, -ENOMEM, "configuration");
}

static int check_principal(const struct sgss_conf *own, struct sv_error *err)
{
    if (sv_streq(own->web_principal, "*") || sv_has_prefix(own->web_principal, "HTTP/"))
        return 0;
    return sv_error_set(err, -EINVAL,
                        "the web server's principal is %s: it begins with HTTP/, which browsers "
                        "ask for, and is no other service's",
                        own->web_principal);
}

static int check_keytab(const struct sgss_conf *own, const struct sgss_conf_keys *keys,
                        struct sv_error *err)
{
    if (own->web_keytab && *own->web_keytab != '/')
        return sv_error_set(err, -EINVAL, "%s, keytab of %s: not an absolute path", own->web_keytab,
                            own->web_principal);
    if (!own->socket && !own->web_keytab)
        return sv_error_set(err, -EINVAL,
                            TICKETS "the keytab of %s is not set: %s, or " SV_WEB_KEYTAB,
                            own->web_principal, keys->web_keytab->name);
    return 0;
}

int sgss_conf_read_web(struct sgss_conf *own, const struct sgss_conf_keys *keys,
                       const struct sv_web_login *login, char **ret_owned, struct sv_error *err)
{
    int r = 0;

    *ret_owned = NULL;
    if (!own->web_keytab)
        own->web_keytab = login->keytab;
    if (!own->web_principal && !login->principal)
        return sv_error_set(err, -EINVAL,
                            TICKETS "who the web server is, is not set: %s, such as "
                                    "HTTP/_HOST@REALM, or " SV_WEB_PRINCIPAL,
                            keys->web_principal->name);
    if (!own->web_principal && sv_streq(login->principal, "*"))
        own->web_principal = login->principal;
    else if (!own->web_principal)
        r = read_common(own, login->principal, ret_owned, err);
    if (r >= 0)
        r = check_principal(own, err);
    return r < 0 ? r : check_keytab(own, keys, err);
}
