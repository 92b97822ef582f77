/* See conf-kerberos.h. The files are the operator's. */
#include "rm-lite/conf/conf-kerberos.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/identity/krb5-conf.h"
#include "common/str.h"

#define RM "yarn.resourcemanager."
#define OWN "selvedge.rm.kerberos."

enum {
    K_PRINCIPAL,
    K_KEYTAB,
    K_WEB_PRINCIPAL,
    K_WEB_KEYTAB,
    K_NODES,
    K_NAMENODE,
    K_NAMENODE_PATTERN,
    K_WEB,
    K_KRB5_CONF,
    K_HELPER,
    K_SOCKET,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_PRINCIPAL] = { RM "principal", SV_CONF_STRING, NULL, .help = "With Kerberos: who the ResourceManager is, NAME/_HOST@REALM; _HOST is the host of yarn.resourcemanager.address in lower case, as configured, without a look-up, and this machine's name where that is 0.0.0.0." },
    [K_KEYTAB] = { RM "keytab", SV_CONF_STRING, "/etc/krb5.keytab", .help = "Its key, of mode 0400, for a selvedge-gss that the ResourceManager starts; with selvedge.rm.kerberos.socket selvedge-gss-rm@.service names the keytab, LoadCredential=." },
    [K_WEB_PRINCIPAL] = { RM "webapp.spnego-principal", SV_CONF_STRING, NULL, .help = "With Kerberos: who the web server is for browsers with tickets, HTTP/_HOST@REALM; * = every HTTP/ key of the keytab." },
    [K_WEB_KEYTAB] = { RM "webapp.spnego-keytab-file", SV_CONF_STRING, NULL, .help = "Its key, as yarn.resourcemanager.keytab." },
    [K_NODES] = { "yarn.nodemanager.principal", SV_CONF_STRING, NULL, .help = "With Kerberos: who a node must be, NAME/_HOST@REALM; nobody else is served on 8031, whatever hadoop.security.authorization is, and the host must be that of the NodeId." },
    [K_NAMENODE] = { RM_NAMENODE_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With Kerberos: who a NameNode must be, NAME/_HOST@REALM, that renews the tokens of jobs; _HOST is its host as its address has it." },
    [K_NAMENODE_PATTERN] = { RM_NAMENODE_PRINCIPAL ".pattern", SV_CONF_STRING, NULL, .help = "A glob of principals that it may be instead. Apache's default, *, admits every service of the realm; here none but the key above, unless this one is set." },
    [K_WEB] = { RM_WEB_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With Kerberos: who the web servers of NameNodes and the key servers must be, that renew tokens of WebHDFS and KMS; HTTP/_HOST of the ResourceManager's realm where it is not set, or *." },
    [K_KRB5_CONF] = { OWN "krb5-conf", SV_CONF_STRING, SV_KRB5_CONF, .help = "krb5.conf of the daemon and of a selvedge-gss that it starts; its default_realm is that of hadoop.security.auth_to_local." },
    [K_HELPER] = { OWN "helper", SV_CONF_STRING, LIBEXECDIR "/selvedge-gss", .help = "selvedge-gss, which the ResourceManager starts where the next key is empty." },
    [K_SOCKET] = { OWN "socket", SV_CONF_STRING, NULL, .help = "Socket of selvedge-gss-rm.socket, by which systemd starts selvedge-gss under an account of its own, so that the ResourceManager cannot read the keytab; selvedge-rm.service sets it." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

static const struct sgss_conf_keys own_keys = {
    .principal = &keys[K_PRINCIPAL],
    .keytab = &keys[K_KEYTAB],
    .web_principal = &keys[K_WEB_PRINCIPAL],
    .web_keytab = &keys[K_WEB_KEYTAB],
    .krb5_conf = &keys[K_KRB5_CONF],
    .helper = &keys[K_HELPER],
    .socket = &keys[K_SOCKET],
    .who = "this ResourceManager, such as rm/_HOST@REALM",
};

const struct sv_conf_key *rm_conf_kerberos_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

const struct sgss_conf_keys *rm_conf_kerberos_own_keys(void)
{
    return &own_keys;
}

static int own_host(const char *address_host, char **ret, struct sv_error *err)
{
    char name[HOST_NAME_MAX + 1] = "";

    if (sv_streq(address_host, "0.0.0.0") || sv_streq(address_host, "::")) {
        if (gethostname(name, sizeof(name) - 1) < 0)
            return sv_error_errno(err, -errno, "this machine's name");
        address_host = name;
    }
    *ret = strdup(address_host);
    return *ret ? 0 : sv_error_errno(err, -ENOMEM, "configuration");
}

/* A name without a host would be every node's. */
static int read_nodes(struct sv_conf *c, struct rm_conf_kerberos *k, struct sv_error *err)
{
    int r = sgss_conf_service(c, &keys[K_NODES], &k->nodes, err);

    if (r < 0 || k->nodes)
        return r;
    return sgss_conf_refuse(c, &keys[K_NODES], err,
                            "not set: with Kerberos it says who a node must be, such as "
                            "nm/_HOST@REALM");
}

int rm_conf_kerberos_read(struct sv_conf *c, const char *address_host, struct rm_conf_kerberos *ret,
                          struct sv_error *err)
{
    struct rm_conf_kerberos k = { .own.on = false };
    int r = own_host(address_host, &k.own_host, err);

    if (r >= 0)
        r = sgss_conf_read(c, &own_keys, k.own_host, &k.own, err);
    if (r >= 0 && k.own.on)
        r = read_nodes(c, &k, err);
    if (r < 0)
        rm_conf_kerberos_free(&k);
    else
        *ret = k;
    return r < 0 ? r : 0;
}

int rm_conf_kerberos_read_namenodes(struct sv_conf *c, struct rm_conf_kerberos *k,
                                    struct sv_error *err)
{
    int r = sgss_conf_service(c, &keys[K_NAMENODE], &k->namenode, err);

    if (r >= 0)
        r = sgss_conf_pattern(c, &keys[K_NAMENODE_PATTERN], &k->namenode_pattern, err);
    if (r >= 0 && !sv_streq(sv_conf_raw(c, RM_WEB_PRINCIPAL), "*")) /* every key of a keytab */
        r = sgss_conf_service(c, &keys[K_WEB], &k->web, err);
    return r;
}

void rm_conf_kerberos_free(struct rm_conf_kerberos *k)
{
    sgss_conf_free(&k->own);
    free(k->own_host);
    *k = (struct rm_conf_kerberos){ .own.on = false };
}
