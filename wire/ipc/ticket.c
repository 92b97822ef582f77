/* See ticket.h. Finds the ticket; ticket-step.c uses it. */
#include "wire/ipc/ticket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "wire/ipc/ticket-internal.h"

/* 1.2.840.113554.1.2.2, and below it the type of a principal's name: exact, without DNS. */
static const gss_OID_desc krb5 = { 9, (void *)(uintptr_t) "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02" };
static const gss_OID_desc exact_name = {
    10, (void *)(uintptr_t) "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01"
};

const gss_OID_desc *ipc_ticket_mechanism(void)
{
    return &krb5;
}

/* ---- Errors ---- */

/* The library keeps the text of a thread's last failure: read before the next call. */
static void display(const struct gss_ticket_library *gss, OM_uint32 status, int type, char *dst,
                    size_t size)
{
    gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
    OM_uint32 minor, more = 0;

    dst[0] = 0;
    if (gss->display_status(&minor, status, type, (gss_OID)(uintptr_t)&krb5, &more, &text) ==
        GSS_S_COMPLETE)
        (void)snprintf(dst, size, "%.*s", (int)SV_MIN(text.length, size - 1),
                       (const char *)text.value);
    (void)gss->release_buffer(&minor, &text); /* always succeeds */
}

int ipc_ticket_error(const struct ipc_ticket_name *n, OM_uint32 major, OM_uint32 minor,
                     const char *target, const char *key, struct sv_error *err)
{
    char text[400];
    struct ipc_ticket_failure f = { .major = major,
                                    .minor = minor,
                                    .text = text,
                                    .principal = *n->principal ? n->principal : NULL,
                                    .target = target,
                                    .key = key,
                                    .keytab = *n->keytab ? n->keytab : NULL };

    display(n->gss, minor, GSS_C_MECH_CODE, text, sizeof(text));
    if (minor == 0 || !text[0])
        display(n->gss, major, GSS_C_GSS_CODE, text, sizeof(text));
    return ipc_ticket_words(&f, err);
}

/* ---- Names and credentials ---- */

int ipc_ticket_import(const struct ipc_ticket_name *n, const char *principal, gss_name_t *ret,
                      struct sv_error *err)
{
    gss_buffer_desc name = { .length = strlen(principal), .value = (void *)(uintptr_t)principal };
    OM_uint32 major, minor;

    major = n->gss->import_name(&minor, &name, (gss_OID)(uintptr_t)&exact_name, ret);
    return major == GSS_S_COMPLETE ? 0 : ipc_ticket_error(n, major, minor, principal, NULL, err);
}

int ipc_ticket_acquire(const struct ipc_ticket_name *n, gss_cred_id_t *ret, struct sv_error *err)
{
    gss_key_value_element_desc elements[2];
    gss_key_value_set_desc store = { .count = 0, .elements = elements };
    gss_OID_set_desc mechanisms = { .count = 1, .elements = (gss_OID)(uintptr_t)&krb5 };
    gss_name_t name = GSS_C_NO_NAME;
    OM_uint32 major, minor, ignored;
    int r = *n->principal ? ipc_ticket_import(n, n->principal, &name, err) : 0;

    if (r < 0)
        return r;
    if (*n->cache)
        elements[store.count++] = (gss_key_value_element_desc){ "ccache", n->cache };
    if (*n->keytab)
        elements[store.count++] = (gss_key_value_element_desc){ "client_keytab", n->keytab };
    major =
        n->gss->acquire_cred_from(&minor, name, GSS_C_INDEFINITE, &mechanisms, GSS_C_INITIATE,
                                  store.count > 0 ? &store : GSS_C_NO_CRED_STORE, ret, NULL, NULL);
    if (major != GSS_S_COMPLETE)
        r = ipc_ticket_error(n, major, minor, NULL, NULL, err);
    if (name != GSS_C_NO_NAME)
        (void)n->gss->release_name(&ignored, &name); /* frees, ignoring */
    return r;
}

/* ---- The user's ticket ---- */

static int take_name(struct ipc_ticket_name *n, gss_name_t name, struct sv_error *err)
{
    gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
    struct sv_principal p;
    OM_uint32 major, minor;
    int r = 0;

    major = n->gss->display_name(&minor, name, &text, NULL);
    if (major != GSS_S_COMPLETE)
        return ipc_ticket_error(n, major, minor, NULL, NULL, err);
    r = sv_principal_parse(text.value, text.length, &p, err);
    if (r == 0 && text.length >= IPC_PRINCIPAL_MAX)
        r = sv_error_set(err, -EINVAL, "Kerberos: the ticket's principal is longer than %d bytes",
                         IPC_PRINCIPAL_MAX - 1);
    if (r == 0)
        (void)snprintf(n->principal, sizeof(n->principal), "%.*s", (int)text.length,
                       (const char *)text.value);
    (void)n->gss->release_buffer(&minor, &text); /* always succeeds */
    return r;
}

/* A ticket that ends now is none. */
static int inquire(struct ipc_ticket_name *n, gss_cred_id_t credential, struct sv_error *err)
{
    gss_name_t name = GSS_C_NO_NAME;
    OM_uint32 major, minor, lifetime = 0;
    int r;

    major = n->gss->inquire_cred(&minor, credential, &name, &lifetime, NULL, NULL);
    if (major != GSS_S_COMPLETE)
        return ipc_ticket_error(n, major, minor, NULL, NULL, err);
    r = take_name(n, name, err);
    if (name != GSS_C_NO_NAME)
        (void)n->gss->release_name(&minor, &name); /* frees, ignoring */
    if (r < 0 || lifetime > 0)
        return r;
    return ipc_ticket_error(n, GSS_S_CREDENTIALS_EXPIRED, 0, NULL, NULL, err);
}

static int find_ticket(struct ipc_ticket_name *n, struct sv_error *err)
{
    gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
    OM_uint32 minor;
    int r = ipc_ticket_acquire(n, &credential, err);

    if (r < 0)
        return r;
    r = inquire(n, credential, err);
    (void)n->gss->release_cred(&minor, &credential); /* frees, ignoring */
    return r;
}

/* The principal gets krb5.conf's default realm where it has none. */
static int complete_name(struct ipc_ticket_name *n, struct sv_error *err)
{
    gss_name_t name = GSS_C_NO_NAME, full = GSS_C_NO_NAME;
    OM_uint32 major, minor;
    int r = ipc_ticket_import(n, n->principal, &name, err);

    if (r < 0)
        return r;
    major = n->gss->canonicalize_name(&minor, name, (gss_OID)(uintptr_t)&krb5, &full);
    r = major == GSS_S_COMPLETE ? take_name(n, full, err)
                                : ipc_ticket_error(n, major, minor, NULL, NULL, err);
    (void)n->gss->release_name(&minor, &name); /* frees, ignoring */
    if (full != GSS_C_NO_NAME)
        (void)n->gss->release_name(&minor, &full); /* as above */
    return r;
}

/* The first handshake asks the KDC. */
static int check_keytab(struct ipc_ticket_name *n, struct sv_error *err)
{
    if (access(n->keytab, R_OK) < 0)
        return sv_error_errno(err, -errno, "keytab %s", n->keytab);
    return complete_name(n, err);
}

static int set(char *dst, size_t size, const char *from, const char *what, struct sv_error *err)
{
    int n = snprintf(dst, size, "%s", from ? from : "");

    return n < (int)size
               ? 0
               : sv_error_set(err, -ENAMETOOLONG, "%s: longer than %zu bytes", what, size - 1);
}

static int configure(struct ipc_ticket_name *n, const struct ipc_ticket_config *cfg,
                     struct sv_error *err)
{
    static unsigned number;
    int r = set(n->principal, sizeof(n->principal), cfg->principal, "principal", err);

    if (r == 0)
        r = set(n->keytab, sizeof(n->keytab), cfg->keytab, "keytab", err);
    if (r == 0)
        r = set(n->cache, sizeof(n->cache), cfg->cache, "Kerberos cache", err);
    if (r == 0 && *n->keytab && !*n->principal)
        r = sv_error_set(err, -EINVAL, "keytab %s: whose key is to be used? Name the principal",
                         n->keytab);
    if (r == 0 && *n->keytab) /* of this object alone */
        (void)snprintf(n->cache, sizeof(n->cache), "MEMORY:selvedge-%u", ++number);
    return r;
}

int ipc_ticket_new(const struct ipc_ticket_config *cfg, struct ipc_ticket **ret,
                   struct sv_error *err)
{
    _cleanup_(ipc_ticket_freep) struct ipc_ticket *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return sv_error_errno(err, -ENOMEM, "Kerberos");
    r = ipc_gss_ticket_library(&t->name.gss, err);
    if (r == 0)
        r = configure(&t->name, cfg, err);
    if (r == 0)
        r = *t->name.keytab ? check_keytab(&t->name, err) : find_ticket(&t->name, err);
    if (r == 0)
        *ret = SV_TAKE(t);
    return r;
}

struct ipc_ticket *ipc_ticket_free(struct ipc_ticket *t)
{
    free(t);
    return NULL;
}

const char *ipc_ticket_principal(const struct ipc_ticket *t)
{
    return t->name.principal;
}

const char *ipc_ticket_cache(const struct ipc_ticket *t)
{
    return *t->name.cache ? t->name.cache : NULL;
}
