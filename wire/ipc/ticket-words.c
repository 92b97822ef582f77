/* See ticket-words.h. */
#include "wire/ipc/ticket-words.h"

#include <errno.h>
#include <gssapi/gssapi.h>
#include <krb5.h>
#include <string.h>
#include <time.h>

#include "common/str.h"

static const char *realm_of(const char *principal)
{
    const char *at = principal ? strrchr(principal, '@') : NULL;

    return at ? at + 1 : NULL;
}

/* The server's realm is another one, and the KDCs have no way from the user's to it. */
static bool is_wrong_realm(const struct ipc_ticket_failure *f)
{
    const char *own = realm_of(f->principal), *other = realm_of(f->target);

    return own && other && !sv_streq(own, other) &&
           ((krb5_error_code)f->minor == KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN ||
            (krb5_error_code)f->minor == KRB5_REALM_UNKNOWN ||
            (krb5_error_code)f->minor == KRB5KDC_ERR_PATH_NOT_ACCEPTED);
}

static int none(const struct ipc_ticket_failure *f, struct sv_error *err)
{
    return sv_error_set(err, -ENOKEY, "no Kerberos ticket (%s): run kinit%s%s, or name a keytab",
                        f->text, f->principal ? " " : "", f->principal ? f->principal : "");
}

static int ended(const struct ipc_ticket_failure *f, struct sv_error *err)
{
    return f->principal
               ? sv_error_set(err, -EKEYEXPIRED, "the Kerberos ticket of %s has ended: run kinit",
                              f->principal)
               : sv_error_set(err, -EKEYEXPIRED,
                              "the Kerberos ticket has ended (klist): run kinit");
}

static int skew(const struct ipc_ticket_failure *f, struct sv_error *err)
{
    char here[64] = "";
    time_t now = time(NULL);
    struct tm utc;

    if (gmtime_r(&now, &utc))
        (void)strftime(here, sizeof(here), "%F %T UTC", &utc); /* it fits, ignoring */
    return sv_error_set(err, -EACCES,
                        "Kerberos: %s; the clock here says %s, and KDC or server differ: set the "
                        "clocks (chronyc tracking), then run kinit",
                        f->text, here);
}

static int unknown_server(const struct ipc_ticket_failure *f, struct sv_error *err)
{
    return sv_error_set(err, -EACCES,
                        "the KDC knows no server %s: %s must be the server's principal, and kinit "
                        "of the realm that has it",
                        f->target ? f->target : "of that name", f->key ? f->key : "the key");
}

static int bad_keytab(const struct ipc_ticket_failure *f, struct sv_error *err)
{
    return sv_error_set(err, -EACCES,
                        "keytab %s: it gives no ticket for %s: %s; klist -k shows its principals, "
                        "kadmin ktadd writes a new key",
                        f->keytab, f->principal ? f->principal : "it", f->text);
}

static int by_number(const struct ipc_ticket_failure *f, struct sv_error *err)
{
    switch ((krb5_error_code)f->minor) {
    case KRB5_FCC_NOFILE:
    case KRB5_CC_NOTFOUND:
    case KRB5_CC_FORMAT:
    case KRB5_CC_UNKNOWN_TYPE:
    case KRB5_NO_TKT_SUPPLIED:
        return f->keytab ? bad_keytab(f, err) : none(f, err);
    case KRB5KRB_AP_ERR_TKT_EXPIRED:
    case KRB5KDC_ERR_NEVER_VALID:
        return ended(f, err);
    case KRB5KRB_AP_ERR_SKEW:
    case KRB5KRB_AP_ERR_TKT_NYV:
        return skew(f, err);
    case KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN:
        return unknown_server(f, err);
    case KRB5_KDC_UNREACH:
        return sv_error_set(err, -EAGAIN, "no KDC answers (%s): krb5.conf names them", f->text);
    default:
        return sv_error_set(err, -EACCES,
                            "Kerberos%s%s: %s; klist shows the tickets, kinit gets new ones",
                            f->target ? ", login to " : "", f->target ? f->target : "", f->text);
    }
}

static bool is_of_keytab(uint32_t minor)
{
    static const krb5_error_code codes[] = { KRB5_KT_NOTFOUND,
                                             KRB5_KT_KVNONOTFOUND,
                                             KRB5KDC_ERR_PREAUTH_FAILED,
                                             KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN,
                                             KRB5KRB_AP_ERR_BAD_INTEGRITY,
                                             KRB5KDC_ERR_ETYPE_NOSUPP,
                                             ENOENT,
                                             EACCES };

    for (size_t i = 0; i < SV_ARRAY_LEN(codes); i++)
        if ((krb5_error_code)minor == codes[i])
            return true;
    return false;
}

int ipc_ticket_words(const struct ipc_ticket_failure *f, struct sv_error *err)
{
    if (is_wrong_realm(f))
        return sv_error_set(err, -EACCES,
                            "the Kerberos ticket is of %s, and the server is %s, of another "
                            "realm: run kinit with a principal of %s (%s)",
                            f->principal, f->target, realm_of(f->target), f->text);
    if (f->keytab && is_of_keytab(f->minor))
        return bad_keytab(f, err);
    if (GSS_ROUTINE_ERROR(f->major) == GSS_S_CREDENTIALS_EXPIRED)
        return ended(f, err);
    if (GSS_ROUTINE_ERROR(f->major) == GSS_S_NO_CRED && !f->keytab &&
        (krb5_error_code)f->minor != KRB5_KDC_UNREACH)
        return none(f, err);
    return by_number(f, err);
}
