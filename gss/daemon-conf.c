/* See daemon-conf.h. The files are the operator's. */
#include "gss/daemon-conf.h"

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

struct reader {
    struct sv_conf *conf;
    const struct sgss_conf_keys *keys;
    struct sgss_conf *k;
    size_t n_owned;
};

int sgss_conf_refuse(struct sv_conf *c, const struct sv_conf_key *key, struct sv_error *err,
                     const char *why)
{
    char at[SV_ERROR_TEXT_MAX / 2];

    snprintf(at, sizeof(at), "%s", key->name);
    if (sv_conf_raw(c, key->name))
        sv_conf_origin(c, key, at, sizeof(at));
    return sv_error_set(err, -EINVAL, "%s: %s", at, why);
}

/* NULL: not set, or empty. */
static int read_text(struct sv_conf *c, const struct sv_conf_key *key, const char **ret,
                     struct sv_error *err)
{
    int r = sv_conf_string(c, key, ret, err);

    if (r >= 0 && *ret && !**ret)
        *ret = NULL;
    return r;
}

static int read_path(struct sv_conf *c, const struct sv_conf_key *key, const char **ret,
                     struct sv_error *err)
{
    int r = read_text(c, key, ret, err);

    if (r >= 0 && *ret && **ret != '/')
        return sgss_conf_refuse(c, key, err, "must be an absolute path");
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

/* A principal of the daemon's. Without a realm it is one of default_realm, as for kinit; _HOST is
 * replaced in a full name alone, as in Hadoop. */
static int read_own(struct reader *d, const struct sv_conf_key *key, const char **ret,
                    struct sv_error *err)
{
    char full[SV_PRINCIPAL_MAX + 1], at[SV_ERROR_TEXT_MAX / 2];
    struct sv_principal p;
    const char *text;
    int r = read_text(d->conf, key, &text, err);

    if (r < 0 || !text) {
        *ret = NULL;
        return r;
    }
    sv_conf_origin(d->conf, key, at, sizeof(at));
    r = sv_principal_for_host(text, d->k->own_host, d->k->own_host, full, err);
    if (r >= 0)
        r = sv_principal_parse(full, strlen(full), &p, err);
    if (r < 0)
        return sv_error_wrap(err, "%s", at);
    if (!*p.realm && sv_streq(p.host, SV_PRINCIPAL_HOST))
        return sgss_conf_refuse(d->conf, key, err,
                                "_HOST is replaced in NAME/_HOST@REALM alone: add the realm");
    if (!*p.realm)
        snprintf(p.realm, sizeof(p.realm), "%s", d->k->realm);
    if (strlen(p.name) + strlen(p.host) + strlen(p.realm) + 2 >= IPC_PRINCIPAL_MAX)
        return sgss_conf_refuse(d->conf, key, err, "the principal is longer than 255 bytes");
    sv_principal_text(&p, full);
    return own_text(d, full, ret, err);
}
_Static_assert(IPC_PRINCIPAL_MAX == 256, "the refusal above says so");

int sgss_conf_service(struct sv_conf *c, const struct sv_conf_key *key, const char **ret,
                      struct sv_error *err)
{
    struct sv_principal p;
    char at[SV_ERROR_TEXT_MAX / 2];
    int r = read_text(c, key, ret, err);

    if (r < 0 || !*ret)
        return r;
    r = sv_principal_parse(*ret, strlen(*ret), &p, err);
    if (r < 0) {
        sv_conf_origin(c, key, at, sizeof(at));
        return sv_error_wrap(err, "%s", at);
    }
    if (!*p.host || !*p.realm)
        return sgss_conf_refuse(c, key, err,
                                "not a service's principal, NAME/_HOST@REALM or NAME/HOST@REALM");
    return 0;
}

int sgss_conf_pattern(struct sv_conf *c, const struct sv_conf_key *key, const char **ret,
                      struct sv_error *err)
{
    char at[SV_ERROR_TEXT_MAX / 2];
    int r = read_text(c, key, ret, err);

    if (r < 0 || !*ret || sv_glob_match(*ret, "nm/host@R", err) >= 0)
        return r;
    sv_conf_origin(c, key, at, sizeof(at));
    (void)sv_error_wrap(err, "%s", at);
    return -EINVAL;
}

static int read_own_names(struct reader *d, struct sv_error *err)
{
    const struct sv_conf_key *web = d->keys->web_principal;
    struct sgss_conf *k = d->k;
    const char *text = NULL;
    int r = read_own(d, d->keys->principal, &k->principal, err);

    if (r >= 0 && web)
        r = read_text(d->conf, web, &text, err);
    if (r >= 0 && sv_streq(text, "*"))
        k->web_principal = text;
    else if (r >= 0 && web)
        r = read_own(d, web, &k->web_principal, err);
    return r;
}

/* ---- Files ---- */

static int read_files(struct reader *d, struct sv_error *err)
{
    const struct sgss_conf_keys *keys = d->keys;
    struct sgss_conf *k = d->k;
    int r = read_path(d->conf, keys->socket, &k->socket, err);

    if (r >= 0)
        r = read_path(d->conf, keys->helper, &k->helper, err);
    if (r >= 0)
        r = read_path(d->conf, keys->krb5_conf, &k->krb5_conf, err);
    if (r >= 0)
        r = read_path(d->conf, keys->keytab, &k->keytab, err);
    if (r >= 0 && keys->web_keytab)
        r = read_path(d->conf, keys->web_keytab, &k->web_keytab, err);
    return r;
}

/* Finds what would be missing only with the first login. */
static int check_files(const struct reader *d, struct sv_error *err)
{
    const struct sgss_conf_keys *keys = d->keys;
    const struct sgss_conf *k = d->k;
    char why[128];

    if (!k->socket && !k->helper) {
        snprintf(why, sizeof(why), "empty, and so is %.64s: nobody would log in",
                 keys->socket->name);
        return sgss_conf_refuse(d->conf, keys->helper, err, why);
    }
    if (!k->socket && !k->keytab)
        return sgss_conf_refuse(d->conf, keys->keytab, err,
                                "empty: there is no key to log in with");
    if (!k->krb5_conf)
        return sgss_conf_refuse(d->conf, keys->krb5_conf, err, "empty");
    return 0;
}

static int check_principal(const struct reader *d, struct sv_error *err)
{
    const struct sv_conf_key *key = d->keys->principal;
    const char *own;
    char why[128];
    int r = read_text(d->conf, key, &own, err);

    if (r < 0 || own)
        return r;
    snprintf(why, sizeof(why), "not set: with Kerberos it says who is %s", d->keys->who);
    return sgss_conf_refuse(d->conf, key, err, why);
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
        r = check_files(d, err);
    if (r >= 0)
        r = check_principal(d, err);
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

int sgss_conf_read(struct sv_conf *c, const struct sgss_conf_keys *keys, const char *own_host,
                   struct sgss_conf *ret, struct sv_error *err)
{
    struct sgss_conf k = { .on = false };
    struct reader d = { .conf = c, .keys = keys, .k = &k };
    int r = yarn_auth_kerberos(c, &k.on, err);

    if (r >= 0 && k.on) {
        k.own_host = own_host;
        r = read_all(&d, err);
    }
    if (r < 0)
        sgss_conf_free(&k);
    else
        *ret = k;
    return r < 0 ? r : 0;
}

void sgss_conf_free(struct sgss_conf *k)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(k->owned); i++)
        free(k->owned[i]);
    k->rules = sv_auth_to_local_free(k->rules);
    *k = (struct sgss_conf){ .on = false };
}
