/* Reads a file of keys or certificates: PKCS12, as keytool writes it since Java 9, or PEM, detected
 * by content regardless of ssl.server.*.type. The files are the operator's; error texts name a
 * remedy. */
#ifndef SELVEDGE_SHUFFLE_TLS_STORE_H
#define SELVEDGE_SHUFFLE_TLS_STORE_H

#include <openssl/x509.h>
#include <sys/stat.h>

#include "common/base.h"
#include "common/error.h"
#include "shuffle/tls-conf.h"

struct shf_store {
    EVP_PKEY *key; /* NULL: none */
    X509 *cert;    /* the key's */
    STACK_OF(X509) * others;
    struct stat st; /* status of the file that was read */
};

/* `dir` and `name` locate conf->path, so that the file can be read again inside the sandbox.
 * `secret`: the file must be inaccessible to other accounts. */
int shf_store_read(int dir, const char *name, const struct shf_store_conf *conf, bool secret,
                   struct shf_store *ret, struct sv_error *err) _must_use_;
void shf_store_free(struct shf_store *s);

#endif
