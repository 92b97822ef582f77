/* Reads a file of keys or certificates: PKCS12, as keytool writes it since Java 9, or PEM, detected
 * by content regardless of ssl.server.*.type. The files are the operator's; error texts name a
 * remedy. */
#ifndef SELVEDGE_COMMON_TLS_TLS_STORE_H
#define SELVEDGE_COMMON_TLS_TLS_STORE_H

#include <openssl/x509.h>
#include <sys/stat.h>

#include "common/base.h"
#include "common/error.h"
#include "common/tls/tls-conf.h"

struct sv_tls_store {
    EVP_PKEY *key; /* NULL: none */
    X509 *cert;    /* the key's */
    STACK_OF(X509) * others;
    struct stat st; /* status of the file that was read */
};

/* `dir` and `name` locate conf->path, so that the file can be read again inside the sandbox.
 * `secret`: the file must be inaccessible to other accounts. */
int sv_tls_store_read(int dir, const char *name, const struct sv_tls_store_conf *conf, bool secret,
                      struct sv_tls_store *ret, struct sv_error *err) _must_use_;
void sv_tls_store_free(struct sv_tls_store *s);

#endif
