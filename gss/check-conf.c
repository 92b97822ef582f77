/* See check-conf.h. */
#include "gss/check-conf.h"

#include <errno.h>
#include <profile.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "gss/findings.h"

#define CLOCKSKEW 300 /* libkrb5's default, seconds */

/* Jobs read it: a Java program of a secure cluster stops without a default realm. False: it is not
 * there. */
static bool check_file(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        sgss_find(SGSS_BAD, SGSS_AREA_CONF, "write it, as on the other machines of the realm",
                  "%s: %s", path, strerror(errno));
        return false;
    }
    if ((st.st_mode & 0004) == 0)
        sgss_find(SGSS_BAD, SGSS_AREA_CONF, "chmod 0644",
                  "%s: mode %04o: daemons and jobs cannot read it", path,
                  (unsigned)(st.st_mode & 07777));
    else if (st.st_uid != 0 || st.st_mode & 0022)
        sgss_find(SGSS_BAD, SGSS_AREA_CONF, "chown root, chmod 0644",
                  "%s: uid %u, mode %04o: others than root can say which KDC is asked", path,
                  st.st_uid, (unsigned)(st.st_mode & 07777));
    return true;
}

/* The realm's KDCs as "a, b"; false: none is named. */
static bool list_kdcs(profile_t profile, const char *realm, char *text, size_t size)
{
    const char *names[] = { "realms", realm, "kdc", NULL };
    char **values = NULL;
    size_t n = 0;

    text[0] = '\0';
    if (profile_get_values(profile, names, &values) != 0)
        return false;
    for (char **v = values; *v && n < size; v++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", v == values ? "" : ", ", *v);
    profile_free_list(values);
    return text[0] != '\0';
}

static bool asks_dns(profile_t profile)
{
    int fallback = 1, lookup = 1;

    if (profile_get_boolean(profile, "libdefaults", "dns_fallback", NULL, 1, &fallback) != 0 ||
        profile_get_boolean(profile, "libdefaults", "dns_lookup_kdc", NULL, fallback, &lookup) != 0)
        return true;
    return lookup != 0;
}

static void check_realm(const char *path, krb5_context k, profile_t profile)
{
    char kdcs[512], *realm = NULL;

    if (krb5_get_default_realm(k, &realm) != 0) {
        sgss_find(SGSS_BAD, SGSS_AREA_CONF, "default_realm = EXAMPLE.COM in [libdefaults]",
                  "%s: no default_realm: the NodeManager does not start, and no Java client does",
                  path);
        return;
    }
    if (list_kdcs(profile, realm, kdcs, sizeof(kdcs)))
        sgss_find(SGSS_FINE, SGSS_AREA_CONF, NULL, "%s: default realm %s, KDC %s", path, realm,
                  kdcs);
    else if (asks_dns(profile))
        sgss_find(SGSS_FINE, SGSS_AREA_CONF, NULL,
                  "%s: default realm %s, KDCs by DNS (_kerberos._udp and _tcp)", path, realm);
    else
        sgss_find(SGSS_BAD, SGSS_AREA_CONF,
                  "kdc = HOST of that realm in [realms], or dns_lookup_kdc = true",
                  "%s: default realm %s: neither [realms] nor DNS tells its KDCs", path, realm);
    krb5_free_default_realm(k, realm);
}

bool sgss_check_conf(const char *path, krb5_context *ret)
{
    profile_t profile;
    krb5_context k;
    krb5_error_code why;

    if (!check_file(path))
        return false;
    why = krb5_init_context(&k);
    if (why) {
        const char *message = krb5_get_error_message(NULL, why);

        sgss_find(SGSS_BAD, SGSS_AREA_CONF, "correct what the text names", "%s: %s", path, message);
        krb5_free_error_message(NULL, message);
        return false;
    }
    if (krb5_get_profile(k, &profile) == 0) {
        check_realm(path, k, profile);
        profile_release(profile);
    }
    *ret = k;
    return true;
}

int sgss_conf_clockskew(krb5_context k)
{
    int seconds = CLOCKSKEW;
    profile_t profile;

    if (krb5_get_profile(k, &profile) != 0)
        return CLOCKSKEW;
    if (profile_get_integer(profile, "libdefaults", "clockskew", NULL, CLOCKSKEW, &seconds) != 0 ||
        seconds <= 0)
        seconds = CLOCKSKEW;
    profile_release(profile);
    return seconds;
}
