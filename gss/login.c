/* See login.h. Hostile: the answers of the KDC, which libkrb5 parses; principals are the daemon's.
 */
#include "gss/login.h"

#include <errno.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "gss/words.h"

int sgss_import_name(const char *principal, gss_name_t *ret, struct sv_error *err)
{
    gss_buffer_desc text = { .length = strlen(principal), .value = (void *)(uintptr_t)principal };
    OM_uint32 major, minor;

    major = gss_import_name(&minor, &text, GSS_KRB5_NT_PRINCIPAL_NAME, ret);
    if (major != GSS_S_COMPLETE)
        return sgss_gss_error(err, -EINVAL, major, minor, "principal %s", principal);
    return 0;
}

/* A handle for the cache: GSS looks into no other one, and into no environment. */
static int credential(const char *principal, const char *cache, gss_cred_id_t *ret,
                      struct sv_error *err)
{
    gss_key_value_element_desc element = { .key = "ccache", .value = cache };
    gss_key_value_set_desc store = { .count = 1, .elements = &element };
    gss_OID_set_desc krb5 = { .count = 1, .elements = (gss_OID)(uintptr_t)gss_mech_krb5 };
    gss_name_t name = GSS_C_NO_NAME;
    OM_uint32 major, minor, ignored;
    int r = sgss_import_name(principal, &name, err);

    if (r < 0)
        return r;
    major = gss_acquire_cred_from(&minor, name, GSS_C_INDEFINITE, &krb5, GSS_C_INITIATE, &store,
                                  ret, NULL, NULL);
    if (major != GSS_S_COMPLETE)
        r = sgss_gss_error(err, -EIO, major, minor, "ticket of %s", principal);
    (void)gss_release_name(&ignored, &name); /* frees, ignoring */
    return r;
}

/* Neither forwarded nor renewed at the KDC: the key makes a new ticket at any time. */
static krb5_error_code ask_kdc(krb5_context k, krb5_principal who, krb5_keytab keytab,
                               krb5_creds *ret)
{
    krb5_get_init_creds_opt *options;
    krb5_error_code why = krb5_get_init_creds_opt_alloc(k, &options);

    if (why)
        return why;
    krb5_get_init_creds_opt_set_forwardable(options, 0);
    krb5_get_init_creds_opt_set_proxiable(options, 0);
    krb5_get_init_creds_opt_set_renew_life(options, 0);
    why = krb5_get_init_creds_keytab(k, ret, who, keytab, 0, NULL, options);
    krb5_get_init_creds_opt_free(k, options);
    return why;
}

static krb5_error_code store(krb5_context k, krb5_creds *creds, char **ret)
{
    krb5_ccache cache;
    char *name;
    krb5_error_code why = krb5_cc_new_unique(k, "MEMORY", NULL, &cache);

    if (why)
        return why;
    why = krb5_cc_initialize(k, cache, creds->client);
    if (!why)
        why = krb5_cc_store_cred(k, cache, creds);
    if (!why)
        why = krb5_cc_get_full_name(k, cache, &name);
    if (why) {
        (void)krb5_cc_destroy(k, cache); /* the first failure counts, ignoring */
        return why;
    }
    *ret = strdup(name);
    krb5_free_string(k, name);
    (void)krb5_cc_close(k, cache); /* the cache stays, ignoring */
    return *ret ? 0 : ENOMEM;
}

static krb5_error_code get_ticket(krb5_context k, const char *principal, const char *path,
                                  struct sgss_login *ret)
{
    char keytab_name[PATH_MAX + 8];
    krb5_principal who = NULL;
    krb5_keytab keytab = NULL;
    krb5_creds creds = { 0 };
    krb5_error_code why = krb5_parse_name(k, principal, &who);

    snprintf(keytab_name, sizeof(keytab_name), "FILE:%s", path);
    if (!why)
        why = krb5_kt_resolve(k, keytab_name, &keytab);
    if (!why)
        why = ask_kdc(k, who, keytab, &creds);
    if (!why)
        why = store(k, &creds, &ret->cache);
    if (!why) {
        ret->begins = creds.times.starttime ? creds.times.starttime : creds.times.authtime;
        ret->until = creds.times.endtime;
    }
    krb5_free_cred_contents(k, &creds);
    if (keytab)
        (void)krb5_kt_close(k, keytab); /* frees, ignoring */
    krb5_free_principal(k, who);
    return why;
}

int sgss_login(const struct sgss_keytabs *k, const char *principal, struct sgss_login *ret,
               struct sv_error *err)
{
    struct sgss_login l = { .credential = GSS_C_NO_CREDENTIAL };
    krb5_context context;
    krb5_error_code why;
    const char *path;
    int r = sgss_keytab_find(k, principal, &path, err);

    if (r < 0)
        return r;
    why = krb5_init_context(&context); /* each time: it reads krb5.conf */
    if (why)
        return sgss_krb5_error(err, -EIO, NULL, why, "krb5.conf");
    why = get_ticket(context, principal, path, &l);
    if (why)
        r = sgss_krb5_error(err, -EIO, context, why, "login of %s with keytab %s", principal, path);
    krb5_free_context(context);
    if (r == 0)
        r = credential(principal, l.cache, &l.credential, err);
    if (r < 0)
        sgss_login_end(&l);
    else
        *ret = l;
    return r;
}

void sgss_login_end(struct sgss_login *l)
{
    krb5_context context;
    krb5_ccache cache;
    OM_uint32 minor;

    if (l->credential != GSS_C_NO_CREDENTIAL)
        (void)gss_release_cred(&minor, &l->credential); /* frees, ignoring */
    if (l->cache && krb5_init_context(&context) == 0) {
        if (krb5_cc_resolve(context, l->cache, &cache) == 0)
            (void)krb5_cc_destroy(context, cache); /* memory, ignoring */
        krb5_free_context(context);
    }
    free(SV_TAKE(l->cache));
}
