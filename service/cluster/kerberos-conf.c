/* See kerberos-conf.h. */
#include "service/cluster/kerberos-conf.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/identity/krb5-conf.h"
#include "common/identity/principal.h"
#include "common/str.h"
#include "common/web/web-login.h"
#include "hdfs/conf.h"
#include "wire/ipc/ipc-conf.h"
#include "wire/sasl/auth-conf.h"

#define OWN "selvedge.services.kerberos."

enum {
    K_PRINCIPAL,
    K_KEYTAB,
    K_RM,
    K_RM_PATTERN,
    K_RM_KEYTAB,
    K_NAMENODE,
    K_NAMENODE_PATTERN,
    K_KRB5_CONF,
    K_HELPER,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_PRINCIPAL] = { OWN "principal", SV_CONF_STRING, NULL, .help = "With Kerberos: who the server is, NAME/_HOST@REALM; _HOST is this machine's name. Unset: yarn.resourcemanager.principal, as Apache's server. ResourceManager and NameNodes must let it act for users (hadoop.proxyuser.…)." },
    [K_KEYTAB] = { OWN "keytab", SV_CONF_STRING, NULL, .help = "Its key, of mode 0400. Unset: yarn.resourcemanager.keytab." },
    [K_RM] = { SVC_RM_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With Kerberos: who the ResourceManager must be, NAME/_HOST@REALM." },
    [K_RM_PATTERN] = { SVC_RM_PRINCIPAL ".pattern", SV_CONF_STRING, NULL, .help = "A glob of principals that it may be instead." },
    [K_RM_KEYTAB] = { "yarn.resourcemanager.keytab", SV_CONF_STRING, "/etc/krb5.keytab", .help = "The server's key, where selvedge.services.kerberos.keytab is not set." },
    [K_NAMENODE] = { SVC_NAMENODE_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With Kerberos: who a NameNode must be, likewise." },
    [K_NAMENODE_PATTERN] = { SVC_NAMENODE_PRINCIPAL ".pattern", SV_CONF_STRING, NULL, .help = "A glob of principals that it may be instead." },
    [K_KRB5_CONF] = { OWN "krb5-conf", SV_CONF_STRING, SV_KRB5_CONF, .help = "krb5.conf of the server and of selvedge-gss." },
    [K_HELPER] = { OWN "helper", SV_CONF_STRING, SELVEDGE_LIBEXECDIR "/selvedge-gss", .help = "selvedge-gss, which the server and each of its requests start." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *svc_kerberos_conf_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* NULL: not set, or empty. */
static int read_text(struct sv_conf *conf, int key, const char **ret, struct sv_error *err)
{
    int r = sv_conf_string(conf, &keys[key], ret, err);

    if (r >= 0 && *ret && !**ret)
        *ret = NULL;
    return r;
}

static int read_path(struct sv_conf *conf, int key, const char **ret, struct sv_error *err)
{
    int r = read_text(conf, key, ret, err);

    if (r >= 0 && *ret && **ret != '/')
        return sv_error_set(err, -EINVAL, "%s=%s: must be an absolute path", keys[key].name, *ret);
    return r;
}

/* The canonical name, as `hostname -f`; at the start, where a look-up may wait. */
static void own_host(char ret[256])
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME };
    struct addrinfo *list = NULL;

    if (gethostname(ret, 256) < 0)
        (void)snprintf(ret, 256, "localhost");
    ret[255] = '\0';
    if (getaddrinfo(ret, NULL, &hints, &list) == 0 && list->ai_canonname &&
        strlen(list->ai_canonname) < 256)
        (void)snprintf(ret, 256, "%s", list->ai_canonname);
    if (list)
        freeaddrinfo(list);
    for (char *c = ret; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

/* A principal of this server, full. */
static int full_name(const struct svc_kerberos_conf *k, const char *key, const char *configured,
                     char ret[IPC_PRINCIPAL_MAX], struct sv_error *err)
{
    char full[SV_PRINCIPAL_MAX + 1];
    struct sv_principal p;
    int r = sv_principal_for_host(configured, k->host, k->host, full, err);

    if (r >= 0)
        r = sv_principal_parse(full, strlen(full), &p, err);
    if (r < 0)
        return sv_error_wrap(err, "%s", key);
    if (sv_streq(p.host, SV_PRINCIPAL_HOST))
        return sv_error_set(err, -EINVAL,
                            "%s=%s: _HOST is replaced in NAME/_HOST@REALM alone: add the realm",
                            key, configured);
    if (!*p.realm)
        (void)snprintf(p.realm, sizeof(p.realm), "%s", k->realm);
    sv_principal_text(&p, full);
    if (strlen(full) >= IPC_PRINCIPAL_MAX)
        return sv_error_set(err, -EINVAL, "%s: longer than %d bytes", key, IPC_PRINCIPAL_MAX - 1);
    memcpy(ret, full, strlen(full) + 1);
    return 0;
}

static int read_own(struct sv_conf *conf, struct svc_kerberos_conf *k, struct sv_error *err)
{
    const char *name, *key = keys[K_PRINCIPAL].name;
    int r = read_text(conf, K_PRINCIPAL, &name, err);

    if (r >= 0)
        r = read_path(conf, K_KEYTAB, &k->keytab, err);
    if (r >= 0 && !k->keytab)
        r = read_path(conf, K_RM_KEYTAB, &k->keytab, err);
    if (r < 0)
        return r;
    if (!name) {
        name = k->rm_principal;
        key = SVC_RM_PRINCIPAL;
    }
    if (!name || !k->keytab)
        return sv_error_set(err, -EINVAL,
                            "hadoop.security.authentication=kerberos: who this server is, and its "
                            "key, are not set: " OWN "principal and " OWN "keytab");
    return full_name(k, key, name, k->principal, err);
}

static int read_services(struct sv_conf *conf, struct svc_kerberos_conf *k, struct sv_error *err)
{
    int r = read_text(conf, K_RM, &k->rm_principal, err);

    if (r >= 0)
        r = read_text(conf, K_RM_PATTERN, &k->rm_pattern, err);
    if (r >= 0)
        r = read_text(conf, K_NAMENODE, &k->namenode_principal, err);
    if (r >= 0)
        r = read_text(conf, K_NAMENODE_PATTERN, &k->namenode_pattern, err);
    if (r >= 0 && !k->rm_principal)
        r = sv_error_set(err, -EINVAL,
                         SVC_RM_PRINCIPAL " is not set: with Kerberos it says who the "
                                          "ResourceManager must be, such as rm/_HOST@REALM");
    return r;
}

/* Callers need a ticket: for a claimed name the server would act with its own. */
static int read_web(struct sv_conf *conf, struct svc_kerberos_conf *k, struct sv_error *err)
{
    const char *type = sv_conf_raw(conf, "hadoop.http.authentication.type");
    const char *name = sv_conf_raw(conf, SV_WEB_PRINCIPAL);

    if (!sv_streq(type, "kerberos"))
        return sv_error_set(err, -EINVAL,
                            "hadoop.security.authentication=kerberos needs "
                            "hadoop.http.authentication.type=kerberos here: the server acts for "
                            "its callers, who must have proved who they are");
    k->web_keytab = sv_conf_raw(conf, SV_WEB_KEYTAB);
    if (!name || !*name || !k->web_keytab || *k->web_keytab != '/')
        return sv_error_set(err, -EINVAL,
                            SV_WEB_PRINCIPAL " and " SV_WEB_KEYTAB
                                             " are needed: who this web server is, such as "
                                             "HTTP/_HOST@REALM, and the path of its key");
    if (sv_streq(name, "*")) {
        memcpy(k->web_principal, "*", 2);
        return 0;
    }
    if (!sv_has_prefix(name, "HTTP/"))
        return sv_error_set(err, -EINVAL, SV_WEB_PRINCIPAL "=%s: begins with HTTP/", name);
    return full_name(k, SV_WEB_PRINCIPAL, name, k->web_principal, err);
}

static int read_all(struct sv_conf *conf, struct svc_kerberos_conf *k, struct sv_error *err)
{
    struct ipc_server_settings settings;
    int r = hdfs_conf_load(conf, err);

    own_host(k->host);
    if (r >= 0)
        r = read_path(conf, K_KRB5_CONF, &k->krb5_conf, err);
    if (r >= 0)
        r = read_path(conf, K_HELPER, &k->helper, err);
    if (r >= 0 && (!k->krb5_conf || !k->helper))
        r = sv_error_set(err, -EINVAL, OWN "krb5-conf and " OWN "helper must not be empty");
    if (r >= 0)
        r = sv_krb5_default_realm(k->krb5_conf, k->realm, err);
    if (r >= 0)
        r = read_services(conf, k, err);
    if (r >= 0)
        r = read_own(conf, k, err);
    if (r >= 0)
        r = read_web(conf, k, err);
    if (r >= 0)
        r = sv_auth_to_local_read(conf, k->realm, &k->rules, err);
    if (r >= 0)
        r = ipc_settings_read(conf, &settings, err);
    if (r >= 0)
        k->qop_mask = settings.qop_mask;
    return r < 0 ? r : 0;
}

int svc_kerberos_conf_read(struct sv_conf *conf, struct svc_kerberos_conf *ret,
                           struct sv_error *err)
{
    struct svc_kerberos_conf k = { .on = false };
    int r = yarn_auth_kerberos(conf, &k.on, err);

    if (r >= 0 && k.on)
        r = read_all(conf, &k, err);
    if (r < 0)
        svc_kerberos_conf_free(&k);
    else
        *ret = k;
    return r < 0 ? r : 0;
}

void svc_kerberos_conf_free(struct svc_kerberos_conf *k)
{
    k->rules = sv_auth_to_local_free(k->rules);
    k->on = false;
}
