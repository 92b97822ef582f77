/* See conf-kerberos.h. The files are the operator's. */
#include "router/conf-kerberos.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/identity/krb5-conf.h"
#include "common/str.h"

#define ROUTER "yarn.router."
#define OWN "selvedge.router.kerberos."

enum {
    K_PRINCIPAL,
    K_KEYTAB,
    K_HOST,
    K_MEMBERS,
    K_MEMBERS_PATTERN,
    K_KRB5_CONF,
    K_HELPER,
    K_SOCKET,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_PRINCIPAL] = { ROUTER "kerberos.principal", SV_CONF_STRING, NULL, .help = "With Kerberos: who the Router is, NAME/_HOST@REALM." },
    [K_KEYTAB] = { ROUTER "keytab.file", SV_CONF_STRING, "/etc/krb5.keytab", .help = "Its key, of mode 0400, for a selvedge-gss that the Router starts." },
    [K_HOST] = { ROUTER "kerberos.principal.hostname", SV_CONF_STRING, NULL, .help = "What _HOST means in the Router's principal; this machine's name where it is not set." },
    [K_MEMBERS] = { RTR_RM_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With Kerberos: who a member's ResourceManager must be, NAME/_HOST@REALM; _HOST is its host as the state store has it, where a numeric address is nobody's name." },
    [K_MEMBERS_PATTERN] = { RTR_RM_PRINCIPAL ".pattern", SV_CONF_STRING, NULL, .help = "A glob of principals that it may be instead, such as rm/*@REALM." },
    [K_KRB5_CONF] = { OWN "krb5-conf", SV_CONF_STRING, SV_KRB5_CONF, .help = "krb5.conf of the daemon and of a selvedge-gss that it starts; its default_realm is that of hadoop.security.auth_to_local." },
    [K_HELPER] = { OWN "helper", SV_CONF_STRING, LIBEXECDIR "/selvedge-gss", .help = "selvedge-gss, which the Router starts where the next key is empty." },
    [K_SOCKET] = { OWN "socket", SV_CONF_STRING, NULL, .help = "Socket of a unit that starts selvedge-gss under an account of its own, as selvedge-gss.socket does for the NodeManager." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

/* The web server has /metrics alone, which needs no tickets. */
static const struct sgss_conf_keys own_keys = {
    .principal = &keys[K_PRINCIPAL],
    .keytab = &keys[K_KEYTAB],
    .krb5_conf = &keys[K_KRB5_CONF],
    .helper = &keys[K_HELPER],
    .socket = &keys[K_SOCKET],
    .who = "this Router, such as router/_HOST@REALM",
};

const struct sv_conf_key *rtr_conf_kerberos_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

const struct sgss_conf_keys *rtr_conf_kerberos_own_keys(void)
{
    return &own_keys;
}

static int own_host(struct sv_conf *c, char **ret, struct sv_error *err)
{
    char name[HOST_NAME_MAX + 1] = "";
    const char *host = NULL;
    int r = sv_conf_string(c, &keys[K_HOST], &host, err);

    if (r < 0)
        return r;
    if (!host || !*host) {
        if (gethostname(name, sizeof(name) - 1) < 0)
            return sv_error_errno(err, -errno, "this machine's name");
        host = name;
    }
    *ret = strdup(host);
    return *ret ? 0 : sv_error_errno(err, -ENOMEM, "configuration");
}

/* Without a name every service of the realm could take the callers' calls. */
static int read_members(struct sv_conf *c, struct rtr_conf_kerberos *k, struct sv_error *err)
{
    int r = sgss_conf_pattern(c, &keys[K_MEMBERS_PATTERN], &k->members_pattern, err);

    if (r >= 0)
        r = sgss_conf_service(c, &keys[K_MEMBERS], &k->members, err);
    if (r < 0 || k->members || k->members_pattern)
        return r;
    return sgss_conf_refuse(c, &keys[K_MEMBERS], err,
                            "not set: with Kerberos it says who a member's ResourceManager must "
                            "be, such as rm/_HOST@REALM, or its .pattern does, such as "
                            "rm/*@REALM");
}

static int read_account(struct sv_conf *c, struct rtr_conf_kerberos *k, struct sv_error *err)
{
    struct sv_error why = { 0 };
    char text[SV_ERROR_TEXT_MAX];

    if (sv_auth_to_local(k->own.rules, k->own.principal, strlen(k->own.principal), k->account,
                         &why) >= 0)
        return 0;
    (void)snprintf(text, sizeof(text), "%.256s has no account: %.512s", k->own.principal, why.text);
    return sgss_conf_refuse(c, &keys[K_PRINCIPAL], err, text);
}
_Static_assert(SASL_USER_MAX == SV_LOCAL_NAME_MAX + 1, "a name of the rules fits");

int rtr_conf_kerberos_read(struct sv_conf *c, struct rtr_conf_kerberos *ret, struct sv_error *err)
{
    struct rtr_conf_kerberos k = { .own.on = false };
    int r = own_host(c, &k.own_host, err);

    if (r >= 0)
        r = sgss_conf_read(c, &own_keys, k.own_host, &k.own, err);
    if (r >= 0 && k.own.on)
        r = read_members(c, &k, err);
    if (r >= 0 && k.own.on)
        r = read_account(c, &k, err);
    if (r < 0 || !k.own.on)
        rtr_conf_kerberos_free(&k);
    if (r >= 0)
        *ret = k;
    return r < 0 ? r : 0;
}

void rtr_conf_kerberos_free(struct rtr_conf_kerberos *k)
{
    sgss_conf_free(&k->own);
    free(k->own_host);
    *k = (struct rtr_conf_kerberos){ .own.on = false };
}
