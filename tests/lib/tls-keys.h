/* A key and its certificate in a PEM file, for tests of TLS servers. */
#ifndef SELVEDGE_TESTS_LIB_TLS_KEYS_H
#define SELVEDGE_TESTS_LIB_TLS_KEYS_H

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/tls/tls.h"

/* Replaces the file, as an operator would: by a new one of the same name. */
static inline void write_keys(const char *path, long serial)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    char fresh[512];
    FILE *f;

    assert_non_null(key);
    assert_non_null(cert);
    assert_int_equal(X509_set_version(cert, X509_VERSION_3), 1);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(cert), serial), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(cert), -3600));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(cert), 86400));
    assert_int_equal(X509_set_pubkey(cert, key), 1);
    assert_int_equal(X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                                                (const unsigned char *)"localhost", -1, -1, 0),
                     1);
    assert_int_equal(X509_set_issuer_name(cert, X509_get_subject_name(cert)), 1);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    (void)snprintf(fresh, sizeof(fresh), "%s.new", path);
    f = fopen(fresh, "we");
    assert_non_null(f);
    assert_int_equal(fchmod(fileno(f), 0600), 0);
    assert_int_equal(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(PEM_write_X509(f, cert), 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(fresh, path), 0);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static inline struct sv_tls *keys_of(const char *path)
{
    struct sv_tls_conf conf = { .keys = { .key = "ssl.server.keystore.location",
                                          .path = strdup(path),
                                          .password = strdup("") },
                                .tls12 = true,
                                .tls13 = true,
                                .reload_ms = 1000 };
    struct sv_error err = { 0 };
    struct sv_tls *keys = NULL;

    if (sv_tls_new(&conf, &keys, &err) < 0)
        fail_msg("%s", err.text);
    return keys;
}

#endif
