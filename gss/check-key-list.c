/* See check-key-list.h. */
#include "gss/check-key-list.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/str.h"
#include "gss/findings.h"

#define KEYS_MAX 256      /* of a keytab; further ones are not listed */
#define PRINCIPALS_MAX 16 /* with a line each */

struct key {
    char *principal; /* owned */
    krb5_kvno version;
    krb5_enctype type;
};

struct keys {
    struct key all[KEYS_MAX];
    size_t n;
};

/* DES, triple DES and RC4. KDCs of today and Java since 17 refuse them unless they are told
 * otherwise. */
static bool is_weak(krb5_enctype type)
{
    return (type >= ENCTYPE_DES_CBC_CRC && type <= ENCTYPE_DES_HMAC_SHA1) ||
           type == ENCTYPE_DES3_CBC_SHA1 || type == ENCTYPE_ARCFOUR_HMAC ||
           type == ENCTYPE_ARCFOUR_HMAC_EXP;
}

const char *sgss_enctype_text(krb5_enctype type, char *buf, size_t size)
{
    if (krb5_enctype_to_name(type, 0, buf, size) != 0)
        (void)snprintf(buf, size, "encryption type %d", (int)type);
    return buf;
}

static void keys_clear(struct keys *keys)
{
    for (size_t i = 0; i < keys->n; i++)
        free(keys->all[i].principal);
}

/* Copies name and numbers, not the key. */
static void add_key(krb5_context k, const krb5_keytab_entry *entry, struct keys *keys)
{
    struct key *key = &keys->all[keys->n];
    char *principal;

    if (krb5_unparse_name(k, entry->principal, &principal) != 0)
        return;
    *key = (struct key){ strdup(principal), entry->vno, entry->key.enctype };
    keys->n += key->principal != NULL;
    krb5_free_unparsed_name(k, principal);
}

static krb5_error_code read_keys(krb5_context k, const char *path, struct keys *keys)
{
    char name[PATH_MAX + 8];
    krb5_keytab keytab;
    krb5_keytab_entry entry;
    krb5_kt_cursor at;
    krb5_error_code why;

    snprintf(name, sizeof(name), "FILE:%s", path);
    why = krb5_kt_resolve(k, name, &keytab);
    if (why)
        return why;
    why = krb5_kt_start_seq_get(k, keytab, &at);
    if (!why) {
        while (keys->n < KEYS_MAX && (why = krb5_kt_next_entry(k, keytab, &entry, &at)) == 0) {
            add_key(k, &entry, keys);
            (void)krb5_free_keytab_entry_contents(k, &entry); /* frees, ignoring */
        }
        (void)krb5_kt_end_seq_get(k, keytab, &at); /* closes, ignoring */
        why = why == KRB5_KT_END ? 0 : why;
    }
    (void)krb5_kt_close(k, keytab); /* frees, ignoring */
    return why;
}

/* The newest version's types count: older ones open tickets that were given out before. */
static void list_principal(const char *path, const struct keys *keys, const char *principal)
{
    char text[600] = "", type[80];
    krb5_kvno newest = 0, last = 0;
    bool weak = true;
    size_t n = 0;

    for (size_t i = 0; i < keys->n; i++)
        if (sv_streq(keys->all[i].principal, principal))
            newest = SV_MAX(newest, keys->all[i].version);
    for (size_t i = 0; i < keys->n && n < sizeof(text); i++) {
        const struct key *key = &keys->all[i];

        if (!sv_streq(key->principal, principal))
            continue;
        if (key->version != last || n == 0)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%skvno %u: ", n ? "; " : "",
                                  key->version);
        else
            n += (size_t)snprintf(text + n, sizeof(text) - n, ", ");
        if (n < sizeof(text))
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
                                  sgss_enctype_text(key->type, type, sizeof(type)));
        last = key->version;
        weak = weak && (key->version != newest || is_weak(key->type));
    }
    if (weak)
        sgss_find(SGSS_WEAK, SGSS_AREA_KEYTAB,
                  "kadmin: ktadd -k FILE -e aes256-cts:normal,aes128-cts:normal PRINCIPAL",
                  "%s: %s has keys of weak ciphers alone, which KDCs and Java refuse by default: "
                  "%s",
                  path, principal, text);
    else
        sgss_find(SGSS_FINE, SGSS_AREA_KEYTAB, NULL, "%s: %s, %s", path, principal, text);
}

static bool is_listed(const struct keys *keys, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (sv_streq(keys->all[j].principal, keys->all[i].principal))
            return true;
    return false;
}

static void list_all(const char *path, const struct keys *keys)
{
    size_t listed = 0, others = 0;

    for (size_t i = 0; i < keys->n; i++) {
        if (is_listed(keys, i))
            continue;
        if (listed++ < PRINCIPALS_MAX)
            list_principal(path, keys, keys->all[i].principal);
        else
            others++;
    }
    if (others)
        sgss_find(SGSS_NOTE, SGSS_AREA_KEYTAB, NULL, "%s: and %zu principals more", path, others);
    if (keys->n == 0)
        sgss_find(SGSS_BAD, SGSS_AREA_KEYTAB, "kadmin: ktadd -k FILE PRINCIPAL", "%s: has no key",
                  path);
}

/* False: nothing can be read there; the finding says why. */
static bool check_file(const struct sgss_keytabs *keytabs, const char *path)
{
    struct sv_error err = { 0 };
    struct stat st;

    if (sgss_keytab_check(keytabs, path, &err) < 0) {
        sgss_find(SGSS_BAD, SGSS_AREA_KEYTAB,
                  "a file of root's or of the helper's account, mode 0400, below no directory of "
                  "jobs",
                  "%s", err.text);
        return false;
    }
    if (access(path, R_OK) < 0 || stat(path, &st) < 0) {
        sgss_find(SGSS_BAD, SGSS_AREA_KEYTAB,
                  "chown it to the account that selvedge-gss has, or have systemd pass a copy "
                  "(selvedge-gss.socket)",
                  "%s: cannot be read by uid %u: %s", path, geteuid(), strerror(errno));
        return false;
    }
    sgss_find(SGSS_FINE, SGSS_AREA_KEYTAB, NULL,
              "%s: mode %04o, uid %u, below no directory of jobs", path,
              (unsigned)(st.st_mode & 07777), st.st_uid);
    return true;
}

void sgss_check_key_list(const struct sgss_keytabs *keytabs, const char *path, krb5_context k)
{
    _cleanup_free_ struct keys *keys = calloc(1, sizeof(*keys));
    krb5_error_code why;

    if (!keys || !check_file(keytabs, path))
        return;
    why = read_keys(k, path, keys);
    if (why) {
        const char *message = krb5_get_error_message(k, why);

        sgss_find(SGSS_BAD, SGSS_AREA_KEYTAB, "make it anew: kadmin, ktadd -k FILE PRINCIPAL",
                  "%s: %s", path, message);
        krb5_free_error_message(k, message);
    } else {
        list_all(path, keys);
    }
    keys_clear(keys);
}
