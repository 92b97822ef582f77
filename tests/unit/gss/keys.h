/* Keytabs and a krb5.conf for unit tests, without a KDC. */
#ifndef SELVEDGE_TESTS_UNIT_GSS_KEYS_H
#define SELVEDGE_TESTS_UNIT_GSS_KEYS_H

#include <fcntl.h>
#include <krb5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"

/* A directory with krb5.conf: realm R, whose KDC nobody serves. */
static inline const char *keys_dir(void)
{
    static char dir[] = "/tmp/test-gss-XXXXXX";
    static const char conf[] = "[libdefaults]\ndefault_realm = R\ndns_lookup_kdc = false\n"
                               "dns_canonicalize_hostname = false\n"
                               "[realms]\nR = {\nkdc = 127.0.0.1:1\n}\n";
    char path[64];
    int fd;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/krb5.conf", dir);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    assert_int_equal(write(fd, conf, sizeof(conf) - 1), sizeof(conf) - 1);
    close(fd);
    assert_int_equal(setenv("KRB5_CONFIG", path, 1), 0);
    return dir;
}

static inline void keys_remove(const char *dir)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(sv_remove_tree_at(tmp, strrchr(dir, '/') + 1), 0);
    close(tmp);
}

/* Adds a key, of no use with any KDC; the file gets mode 0400. */
static inline void keys_add(const char *path, const char *principal)
{
    krb5_context k;
    krb5_keytab keytab;
    krb5_keytab_entry e = { .vno = 1 };
    char name[128];
    uint8_t key[32] = { 1, 2, 3 };

    snprintf(name, sizeof(name), "WRFILE:%s", path);
    assert_int_equal(krb5_init_context(&k), 0);
    assert_int_equal(krb5_kt_resolve(k, name, &keytab), 0);
    assert_int_equal(krb5_parse_name(k, principal, &e.principal), 0);
    e.key.enctype = ENCTYPE_AES256_CTS_HMAC_SHA1_96;
    e.key.length = sizeof(key);
    e.key.contents = key;
    assert_int_equal(krb5_kt_add_entry(k, keytab, &e), 0);
    krb5_free_principal(k, e.principal);
    assert_int_equal(krb5_kt_close(k, keytab), 0);
    krb5_free_context(k);
    assert_int_equal(chmod(path, 0400), 0);
}

#endif
