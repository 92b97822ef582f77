/* See conf-kerberos.h. Keys have no effect without hadoop.security.authentication=kerberos. */
#include "nodemanager/conf/conf-kerberos.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/identity/glob.h"
#include "common/identity/krb5-conf.h"
#include "common/identity/principal.h"
#include "common/str.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-conf.h"
#include "wire/sasl/auth-conf.h"

#define NM "yarn.nodemanager."
#define OWN "selvedge.nodemanager.kerberos."

enum {
    K_PRINCIPAL,
    K_KEYTAB,
    K_RM,
    K_RM_PATTERN,
    K_NAMENODE,
    K_NAMENODE_PATTERN,
    K_WEB_PRINCIPAL,
    K_WEB_KEYTAB,
    K_KRB5_CONF,
    K_HELPER,
    K_SOCKET,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_PRINCIPAL] = { NM "principal", SV_CONF_STRING, NULL, .help = "With Kerberos: who the NodeManager is, NAME/_HOST@REALM; _HOST is yarn.nodemanager.hostname in lower case, as configured, without a look-up." },
    [K_KEYTAB] = { NM "keytab", SV_CONF_STRING, "/etc/krb5.keytab", .help = "Its key, of mode 0400, for a selvedge-gss that the NodeManager starts; with selvedge.nodemanager.kerberos.socket selvedge-gss@.service names the keytab, LoadCredential=." },
    [K_RM] = { NM_RM_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With Kerberos: who the ResourceManager must be, NAME/_HOST@REALM; _HOST is its host as its address has it." },
    [K_RM_PATTERN] = { NM_RM_PRINCIPAL ".pattern", SV_CONF_STRING, NULL, .help = "A glob of principals that it may be instead." },
    [K_NAMENODE] = { NM_NAMENODE_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With Kerberos: who a NameNode must be, likewise." },
    [K_NAMENODE_PATTERN] = { NM_NAMENODE_PRINCIPAL ".pattern", SV_CONF_STRING, NULL, .help = "A glob of principals that it may be instead. Apache's default, *, admits every service of the realm; here none but the key above, unless this one is set." },
    [K_WEB_PRINCIPAL] = { NM "webapp.spnego-principal", SV_CONF_STRING, NULL, .help = "Who the web server is for browsers with tickets, HTTP/_HOST@REALM; * = every HTTP/ key of the keytab." },
    [K_WEB_KEYTAB] = { NM "webapp.spnego-keytab-file", SV_CONF_STRING, NULL, .help = "Its key, as yarn.nodemanager.keytab." },
    [K_KRB5_CONF] = { OWN "krb5-conf", SV_CONF_STRING, SV_KRB5_CONF, .help = "krb5.conf of the daemon and of a selvedge-gss that it starts; its default_realm is that of hadoop.security.auth_to_local." },
    [K_HELPER] = { OWN "helper", SV_CONF_STRING, LIBEXECDIR "/selvedge-gss", .help = "selvedge-gss, which the NodeManager starts where the next key is empty." },
    [K_SOCKET] = { OWN "socket", SV_CONF_STRING, NULL, .help = "Socket of selvedge-gss.socket, by which systemd starts selvedge-gss under an account of its own, so that the NodeManager cannot read the keytab; selvedge-nodemanager.service sets it." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_kerberos_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

struct reader {
    struct sv_conf *conf;
    struct nm_conf_kerberos *k;
    size_t n_owned;
};

static int refuse(const struct reader *d, int key, struct sv_error *err, const char *why)
{
    char at[SV_ERROR_TEXT_MAX / 2];

    snprintf(at, sizeof(at), "%s", keys[key].name);
    if (sv_conf_raw(d->conf, keys[key].name))
        sv_conf_origin(d->conf, &keys[key], at, sizeof(at));
    return sv_error_set(err, -EINVAL, "%s: %s", at, why);
}

/* NULL: not set, or empty. */
static int read_text(const struct reader *d, int key, const char **ret, struct sv_error *err)
{
    int r = sv_conf_string(d->conf, &keys[key], ret, err);

    if (r >= 0 && *ret && !**ret)
        *ret = NULL;
    return r;
}

static int read_path(const struct reader *d, int key, const char **ret, struct sv_error *err)
{
    int r = read_text(d, key, ret, err);

    if (r >= 0 && *ret && **ret != '/')
        return refuse(d, key, err, "must be an absolute path");
    return r;
}

static int own_text(struct reader *d, const char *text, const char **ret, struct sv_error *err)
{
    char *copy = strdup(text);

    if (!copy)
        return sv_error_errno(err, -ENOMEM, "configuration");
    *ret = d->k->owned[d->n_owned++] = copy;
    return 0;
}

/* ---- Principals ---- */

/* A principal of this node. Without a realm it is one of default_realm, as for kinit; _HOST is
 * replaced in a full name alone, as in Hadoop. */
static int read_own(struct reader *d, int key, const char **ret, struct sv_error *err)
{
    char full[SV_PRINCIPAL_MAX + 1], at[SV_ERROR_TEXT_MAX / 2];
    struct sv_principal p;
    const char *text;
    int r = read_text(d, key, &text, err);

    if (r < 0 || !text) {
        *ret = NULL;
        return r;
    }
    sv_conf_origin(d->conf, &keys[key], at, sizeof(at));
    r = sv_principal_for_host(text, d->k->own_host, d->k->own_host, full, err);
    if (r >= 0)
        r = sv_principal_parse(full, strlen(full), &p, err);
    if (r < 0)
        return sv_error_wrap(err, "%s", at);
    if (!*p.realm && sv_streq(p.host, SV_PRINCIPAL_HOST))
        return refuse(d, key, err, "_HOST is replaced in NAME/_HOST@REALM alone: add the realm");
    if (!*p.realm)
        snprintf(p.realm, sizeof(p.realm), "%s", d->k->realm);
    if (strlen(p.name) + strlen(p.host) + strlen(p.realm) + 2 >= IPC_PRINCIPAL_MAX)
        return refuse(d, key, err, "the principal is longer than 255 bytes");
    sv_principal_text(&p, full);
    return own_text(d, full, ret, err);
}
_Static_assert(IPC_PRINCIPAL_MAX == 256, "the refusal above says so");

/* A service's, whose host each connection replaces. */
static int read_service(const struct reader *d, int key, const char **ret, struct sv_error *err)
{
    struct sv_principal p;
    char at[SV_ERROR_TEXT_MAX / 2];
    int r = read_text(d, key, ret, err);

    if (r < 0 || !*ret)
        return r;
    r = sv_principal_parse(*ret, strlen(*ret), &p, err);
    if (r < 0) {
        sv_conf_origin(d->conf, &keys[key], at, sizeof(at));
        return sv_error_wrap(err, "%s", at);
    }
    if (!*p.host || !*p.realm)
        return refuse(d, key, err,
                      "not a service's principal, NAME/_HOST@REALM or NAME/HOST@REALM");
    return 0;
}

static int read_pattern(const struct reader *d, int key, const char **ret, struct sv_error *err)
{
    char at[SV_ERROR_TEXT_MAX / 2];
    int r = read_text(d, key, ret, err);

    if (r < 0 || !*ret || sv_glob_match(*ret, "nm/host@R", err) >= 0)
        return r;
    sv_conf_origin(d->conf, &keys[key], at, sizeof(at));
    (void)sv_error_wrap(err, "%s", at);
    return -EINVAL;
}

static int read_services(struct reader *d, struct sv_error *err)
{
    struct nm_conf_kerberos *k = d->k;
    const char *own;
    int r = read_text(d, K_PRINCIPAL, &own, err);

    if (r >= 0 && !own)
        return refuse(d, K_PRINCIPAL, err,
                      "not set: with Kerberos it says who this node is, such as nm/_HOST@REALM");
    if (r >= 0)
        r = read_service(d, K_RM, &k->rm_principal, err);
    if (r >= 0)
        r = read_pattern(d, K_RM_PATTERN, &k->rm_pattern, err);
    if (r >= 0)
        r = read_service(d, K_NAMENODE, &k->namenode_principal, err);
    if (r >= 0)
        r = read_pattern(d, K_NAMENODE_PATTERN, &k->namenode_pattern, err);
    if (r >= 0 && !k->rm_principal && !k->rm_pattern)
        return refuse(d, K_RM, err,
                      "not set: with Kerberos it says who the ResourceManager must be, such as "
                      "rm/_HOST@REALM");
    return r;
}

static int read_own_names(struct reader *d, struct sv_error *err)
{
    struct nm_conf_kerberos *k = d->k;
    const char *text;
    int r = read_own(d, K_PRINCIPAL, &k->principal, err);

    if (r >= 0)
        r = read_text(d, K_WEB_PRINCIPAL, &text, err);
    if (r >= 0 && sv_streq(text, "*"))
        k->web_principal = text;
    else if (r >= 0)
        r = read_own(d, K_WEB_PRINCIPAL, &k->web_principal, err);
    return r;
}

/* ---- Files ---- */

static int read_files(struct reader *d, struct sv_error *err)
{
    struct nm_conf_kerberos *k = d->k;
    int r = read_path(d, K_SOCKET, &k->socket, err);

    if (r >= 0)
        r = read_path(d, K_HELPER, &k->helper, err);
    if (r >= 0)
        r = read_path(d, K_KRB5_CONF, &k->krb5_conf, err);
    if (r >= 0)
        r = read_path(d, K_KEYTAB, &k->keytab, err);
    if (r >= 0)
        r = read_path(d, K_WEB_KEYTAB, &k->web_keytab, err);
    if (r < 0)
        return r;
    if (!k->socket && !k->helper)
        return refuse(d, K_HELPER, err, "empty, and so is " OWN "socket: nobody would log in");
    if (!k->socket && !k->keytab)
        return refuse(d, K_KEYTAB, err, "empty: the node has no key to log in with");
    if (!k->krb5_conf)
        return refuse(d, K_KRB5_CONF, err, "empty");
    return 0;
}

static int read_realm(struct reader *d, struct sv_error *err)
{
    char realm[SV_REALM_MAX + 1];
    int r = sv_krb5_default_realm(d->k->krb5_conf, realm, err);

    if (r < 0)
        return sv_error_wrap(err, "hadoop.security.authentication is kerberos, and "
                                  "there is no Kerberos realm");
    return own_text(d, realm, &d->k->realm, err);
}

static int read_all(struct reader *d, struct sv_error *err)
{
    struct ipc_server_settings settings;
    int r = read_files(d, err);

    if (r >= 0)
        r = read_services(d, err);
    if (r >= 0)
        r = read_realm(d, err);
    if (r >= 0)
        r = read_own_names(d, err);
    if (r >= 0)
        r = sv_auth_to_local_read(d->conf, d->k->realm, &d->k->rules, err);
    if (r >= 0)
        r = ipc_settings_read(d->conf, &settings, err);
    if (r >= 0)
        d->k->qop_mask = settings.qop_mask;
    return r;
}

int nm_conf_kerberos_read(struct sv_conf *c, const char *own_host, struct nm_conf_kerberos *ret,
                          struct sv_error *err)
{
    struct nm_conf_kerberos k = { .on = false };
    struct reader d = { .conf = c, .k = &k };
    int r = yarn_auth_kerberos(c, &k.on, err);

    if (r >= 0 && k.on) {
        k.own_host = own_host;
        r = read_all(&d, err);
    }
    if (r < 0)
        nm_conf_kerberos_free(&k);
    else
        *ret = k;
    return r < 0 ? r : 0;
}

void nm_conf_kerberos_free(struct nm_conf_kerberos *k)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(k->owned); i++)
        free(k->owned[i]);
    k->rules = sv_auth_to_local_free(k->rules);
    *k = (struct nm_conf_kerberos){ .on = false };
}
