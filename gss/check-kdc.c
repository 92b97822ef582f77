/* See check-kdc.h. */
#include "gss/check-kdc.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/error.h"
#include "gss/check-conf.h"
#include "gss/check-key-list.h"
#include "gss/findings.h"

#define WEAK_CLOCK 60 /* seconds; the limit is krb5.conf's clockskew */
#define SLOW_MS 1000

struct exchange {
    krb5_context k;
    krb5_principal who;
    krb5_keytab keytab;
    const char *principal, *path; /* of its keytab */
    krb5_creds creds;             /* empty: no ticket */
    int64_t took_ms;
    int64_t kdc_time, time; /* at the answer, seconds since 1970; kdc_time 0: not told */
    char words[400];        /* why there is no ticket */
};

/* Before the next call: the library keeps the text of the last failure alone. */
static void keep_words(struct exchange *x, krb5_error_code why)
{
    const char *message = krb5_get_error_message(x->k, why);

    snprintf(x->words, sizeof(x->words), "%s", message);
    krb5_free_error_message(x->k, message);
}

/* 32 bits, which Kerberos takes for unsigned from 2038 on. */
static int64_t seconds_of(krb5_timestamp t)
{
    return (int64_t)(uint32_t)t;
}

/* The action after a login that failed; NULL: the text says all that is known. */
static const char *remedy_for(krb5_error_code why)
{
    static const struct {
        krb5_error_code why;
        const char *remedy;
    } remedies[] = {
        { KRB5_KDC_UNREACH, "see that krb5kdc runs, and that its port 88, TCP and UDP, can be "
                            "reached from this machine" },
        { KRB5_REALM_CANT_RESOLVE, "correct the KDCs' names in [realms] of krb5.conf, or DNS" },
        { KRB5_REALM_UNKNOWN, "kdc = HOST in [realms] of krb5.conf, or dns_lookup_kdc = true" },
        { KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN, "kadmin: addprinc -randkey PRINCIPAL, then ktadd" },
        { KRB5KDC_ERR_PREAUTH_FAILED, "the KDC has a newer key: kadmin: ktadd -k FILE PRINCIPAL, "
                                      "and the new file on every machine that needs it" },
        { KRB5KRB_AP_ERR_BAD_INTEGRITY, "the KDC has a newer key: kadmin: ktadd -k FILE PRINCIPAL, "
                                        "and the new file on every machine that needs it" },
        { KRB5_KT_KVNONOTFOUND, "the KDC has a newer key: kadmin: ktadd -k FILE PRINCIPAL, and the "
                                "new file on every machine that needs it" },
        { KRB5KDC_ERR_ETYPE_NOSUPP, "kadmin: ktadd -k FILE -e aes256-cts:normal,aes128-cts:normal "
                                    "PRINCIPAL; permitted_enctypes of krb5.conf must have them" },
        { KRB5_KT_NOTFOUND, "kadmin: ktadd -k FILE -e aes256-cts:normal,aes128-cts:normal "
                            "PRINCIPAL; permitted_enctypes of krb5.conf must have them" },
        { KRB5KDC_ERR_CLIENT_REVOKED, "kadmin: getprinc PRINCIPAL; modprinc -unlock PRINCIPAL" },
        { KRB5KDC_ERR_NAME_EXP, "kadmin: modprinc -expire never PRINCIPAL" },
        { KRB5KDC_ERR_KEY_EXP, "kadmin: modprinc -pwexpire never PRINCIPAL" },
        { KRB5KRB_AP_ERR_SKEW, "set this machine's clock, by chrony or systemd-timesyncd" },
        { KRB5_KDCREP_SKEW, "set this machine's clock, by chrony or systemd-timesyncd" },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(remedies); i++)
        if (remedies[i].why == why)
            return remedies[i].remedy;
    return NULL;
}

/* ---- The login ---- */

/* An error has the KDC's clock to the microsecond, an answer to the second. */
static void note_error(struct exchange *x, krb5_init_creds_context login)
{
    krb5_error *answer = NULL;

    if (krb5_init_creds_get_error(x->k, login, &answer) != 0 || !answer)
        return;
    x->kdc_time = seconds_of(answer->stime);
    krb5_free_error(x->k, answer);
}

static krb5_error_code log_in(struct exchange *x)
{
    krb5_init_creds_context login;
    krb5_error_code why = krb5_init_creds_init(x->k, x->who, NULL, NULL, 0, NULL, &login);
    int64_t began;

    if (why) {
        keep_words(x, why);
        return why;
    }
    why = krb5_init_creds_set_keytab(x->k, login, x->keytab);
    began = sv_now_ms();
    if (!why)
        why = krb5_init_creds_get(x->k, login);
    x->took_ms = sv_now_ms() - began;
    x->time = (int64_t)time(NULL);
    if (!why)
        why = krb5_init_creds_get_creds(x->k, login, &x->creds);
    if (why) {
        keep_words(x, why);
        note_error(x, login);
    } else {
        x->kdc_time = seconds_of(x->creds.times.authtime);
    }
    krb5_init_creds_free(x->k, login);
    return why;
}

static void report_login(const struct exchange *x)
{
    int64_t life = seconds_of(x->creds.times.endtime) - x->kdc_time;

    if (x->took_ms >= SLOW_MS)
        sgss_find(SGSS_WEAK, SGSS_AREA_KDC,
                  "a KDC that does not answer is asked first, or UDP is lost: see kdc and "
                  "udp_preference_limit in krb5.conf",
                  "%s: a ticket after %" PRId64 " ms", x->principal, x->took_ms);
    else
        sgss_find(SGSS_FINE, SGSS_AREA_KDC, NULL,
                  "%s: a ticket after %" PRId64 " ms, for %" PRId64 " minutes", x->principal,
                  x->took_ms, life / 60);
}

static void report_failure(const struct exchange *x, krb5_error_code why)
{
    sgss_find(SGSS_BAD, SGSS_AREA_KDC, remedy_for(why),
              "%s with %s: no ticket after %" PRId64 " ms: %s", x->principal, x->path, x->took_ms,
              x->words);
}

static void report_clock(const struct exchange *x)
{
    static const char remedy[] = "set the clocks of both by one time server (chrony)";
    int64_t ahead = x->kdc_time - x->time, off = ahead < 0 ? -ahead : ahead;
    int limit = sgss_conf_clockskew(x->k);
    const char *way = ahead < 0 ? "behind" : "ahead of";

    if (x->kdc_time == 0)
        return;
    if (off > limit)
        sgss_find(SGSS_BAD, SGSS_AREA_KDC, remedy,
                  "the KDC's clock is %" PRId64 " s %s this machine's: more than clockskew, %d s: "
                  "tickets of clients are refused here",
                  off, way, limit);
    else if (off > SV_MIN(WEAK_CLOCK, limit))
        sgss_find(SGSS_WEAK, SGSS_AREA_KDC, remedy,
                  "the KDC's clock is %" PRId64 " s %s this machine's; the limit, clockskew, is "
                  "%d s",
                  off, way, limit);
    else if (off > 1)
        sgss_find(SGSS_FINE, SGSS_AREA_KDC, NULL,
                  "the KDC's clock is %" PRId64 " s %s this machine's", off, way);
    else
        sgss_find(SGSS_FINE, SGSS_AREA_KDC, NULL,
                  "the KDC's clock is this machine's, to the second");
}

/* ---- The key of clients' tickets ---- */

static krb5_error_code ticket_to_itself(struct exchange *x, krb5_ccache cache, krb5_ticket **ret)
{
    krb5_creds wanted = { .client = x->who, .server = x->who }, *got;
    krb5_error_code why = krb5_cc_initialize(x->k, cache, x->who);

    if (!why)
        why = krb5_cc_store_cred(x->k, cache, &x->creds);
    if (!why)
        why = krb5_get_credentials(x->k, 0, cache, &wanted, &got);
    if (!why) {
        why = krb5_decode_ticket(&got->ticket, ret);
        krb5_free_creds(x->k, got);
    }
    return why;
}

static void compare_key(const struct exchange *x, const krb5_ticket *ticket)
{
    krb5_kvno version = ticket->enc_part.kvno;
    krb5_enctype type = ticket->enc_part.enctype;
    krb5_keytab_entry entry;
    char text[80];

    (void)sgss_enctype_text(type, text, sizeof(text));
    if (krb5_kt_get_entry(x->k, x->keytab, x->who, version, type, &entry) == 0) {
        (void)krb5_free_keytab_entry_contents(x->k, &entry); /* frees, ignoring */
        sgss_find(SGSS_FINE, SGSS_AREA_KEYTAB, NULL,
                  "%s: has the key of tickets for %s: kvno %u, %s", x->path, x->principal, version,
                  text);
        return;
    }
    sgss_find(SGSS_BAD, SGSS_AREA_KEYTAB,
              "kadmin: ktadd -k FILE PRINCIPAL, and the new file on every machine that needs it",
              "%s: the KDC gives tickets for %s by kvno %u, %s, and this key is not there: clients "
              "are refused",
              x->path, x->principal, version, text);
}

static void check_key(struct exchange *x)
{
    krb5_ticket *ticket = NULL;
    krb5_ccache cache;
    krb5_error_code why = krb5_cc_new_unique(x->k, "MEMORY", NULL, &cache);

    if (why)
        return;
    why = ticket_to_itself(x, cache, &ticket);
    if (why) {
        const char *message = krb5_get_error_message(x->k, why);

        sgss_find(SGSS_WEAK, SGSS_AREA_KDC, "kadmin: getprinc PRINCIPAL; +allow_svr +allow_tgs_req",
                  "%s: the KDC gives no ticket for it, so no client reaches it: %s", x->principal,
                  message);
        krb5_free_error_message(x->k, message);
    } else {
        compare_key(x, ticket);
        krb5_free_ticket(x->k, ticket);
    }
    (void)krb5_cc_destroy(x->k, cache); /* memory, ignoring */
}

/* ---- */

static void check(struct exchange *x)
{
    char name[PATH_MAX + 8];
    krb5_error_code why;

    snprintf(name, sizeof(name), "FILE:%s", x->path);
    why = krb5_kt_resolve(x->k, name, &x->keytab);
    if (why)
        keep_words(x, why);
    else
        why = log_in(x);
    if (why)
        report_failure(x, why);
    else
        report_login(x);
    report_clock(x);
    if (!why)
        check_key(x);
    krb5_free_cred_contents(x->k, &x->creds);
    if (x->keytab)
        (void)krb5_kt_close(x->k, x->keytab); /* frees, ignoring */
}

void sgss_check_kdc(const struct sgss_keytabs *keytabs, const char *principal, krb5_context k)
{
    struct exchange x = { .k = k, .principal = principal };
    struct sv_error err = { 0 };
    int r = sgss_keytab_find(keytabs, principal, &x.path, &err);

    if (r == -ENOKEY || r == -EINVAL)
        sgss_find(SGSS_BAD, SGSS_AREA_KEYTAB,
                  "kadmin: ktadd -k FILE PRINCIPAL; the KDC was not asked without it", "%s",
                  err.text);
    if (r < 0)
        return; /* what is wrong with the file, its own line says */
    if (krb5_parse_name(k, principal, &x.who) != 0)
        return; /* sgss_keytab_find() has parsed it */
    check(&x);
    krb5_free_principal(k, x.who);
}
