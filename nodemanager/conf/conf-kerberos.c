/* See conf-kerberos.h. Keys have no effect without hadoop.security.authentication=kerberos. */
#include "nodemanager/conf/conf-kerberos.h"

#include "common/identity/krb5-conf.h"

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

static const struct sgss_conf_keys own_keys = {
    .principal = &keys[K_PRINCIPAL],
    .keytab = &keys[K_KEYTAB],
    .web_principal = &keys[K_WEB_PRINCIPAL],
    .web_keytab = &keys[K_WEB_KEYTAB],
    .krb5_conf = &keys[K_KRB5_CONF],
    .helper = &keys[K_HELPER],
    .socket = &keys[K_SOCKET],
    .who = "this node, such as nm/_HOST@REALM",
};

const struct sgss_conf_keys *nm_conf_kerberos_own_keys(void)
{
    return &own_keys;
}

static int read_services(struct sv_conf *c, struct nm_conf_kerberos *k, struct sv_error *err)
{
    int r = sgss_conf_service(c, &keys[K_RM], &k->rm_principal, err);

    if (r >= 0)
        r = sgss_conf_pattern(c, &keys[K_RM_PATTERN], &k->rm_pattern, err);
    if (r >= 0)
        r = sgss_conf_service(c, &keys[K_NAMENODE], &k->namenode_principal, err);
    if (r >= 0)
        r = sgss_conf_pattern(c, &keys[K_NAMENODE_PATTERN], &k->namenode_pattern, err);
    if (r >= 0 && !k->rm_principal && !k->rm_pattern)
        return sgss_conf_refuse(c, &keys[K_RM], err,
                                "not set: with Kerberos it says who the ResourceManager must be, "
                                "such as rm/_HOST@REALM");
    return r;
}

int nm_conf_kerberos_read(struct sv_conf *c, const char *own_host, struct nm_conf_kerberos *ret,
                          struct sv_error *err)
{
    struct nm_conf_kerberos k = { .own.on = false };
    int r = sgss_conf_read(c, &own_keys, own_host, &k.own, err);

    if (r < 0)
        return r;
    if (k.own.on)
        r = read_services(c, &k, err);
    if (r < 0)
        nm_conf_kerberos_free(&k);
    else
        *ret = k;
    return r < 0 ? r : 0;
}

void nm_conf_kerberos_free(struct nm_conf_kerberos *k)
{
    sgss_conf_free(&k->own);
    *k = (struct nm_conf_kerberos){ .own.on = false };
}
