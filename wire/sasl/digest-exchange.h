/* SASL DIGEST-MD5 (RFC 2831) as Hadoop uses it: for tokens on IPC connections, and, as a client, on
 * connections to DataNodes.
 *
 * IPC: realm "default", digest-uri "/default", algorithm md5-sess. The username is the base64 of
 * the token's identifier, the password the base64 of the token's password. */
#ifndef SELVEDGE_WIRE_SASL_DIGEST_EXCHANGE_H
#define SELVEDGE_WIRE_SASL_DIGEST_EXCHANGE_H

#include "common/base.h"
#include "common/error.h"
#include "wire/sasl/sasl.h"
#include "wire/token/token.h"

#define SASL_MECHANISM "DIGEST-MD5"
#define SASL_SERVER_ID "default"

/* Verifies a token identifier that a client presents. On success returns 0, the password bytes (at
 * most 64) and the name that becomes peer.user (at most 255 bytes). On failure -errno with
 * `err->text` the message and *ret_class the Java class, by default
 * org.apache.hadoop.security.token.SecretManager$InvalidToken. -EAGAIN: not known yet; the
 * connection waits, and the verifier runs again when ipc_sasl_server_resume() does, which
 * ipc_server_ask_again() sees to. */
typedef int (*ipc_token_verifier)(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                                  size_t *ret_password_len, char ret_user[SASL_USER_MAX],
                                  const char **ret_class, struct sv_error *err, void *userdata);

/* `qop_mask` (wire/sasl/qop.h): offered qualities; 0 = IPC_QOP_AUTH. The challenge is there at
 * once; the first step is the last. */
int ipc_digest_server_new(ipc_token_verifier verify, void *userdata, uint32_t qop_mask,
                          struct sasl_server **ret) _must_use_;
/* `qop_mask`: accepted qualities; the strongest offered one is chosen. 0 = IPC_QOP_AUTH. First
 * step: the challenge; second: the rspauth text, which proves that the server knows the password.
 */
int ipc_digest_client_new(const struct yarn_token *token, uint32_t qop_mask,
                          struct sasl_client **ret) _must_use_;

/* Another name and service than a token's. The first two texts are copied, the others must outlive
 * the client. */
struct digest_login {
    const char *user, *password; /* without '"' and '\\' */
    const char *realm;           /* a server that names one must name this */
    const char *uri;             /* digest-uri: "hdfs/0" */
    const char *key;             /* of the configuration, that has the qualities; for messages */
};
/* -EINVAL: a text that DIGEST-MD5 would have to quote. Else as above. */
int ipc_digest_client_login(const struct digest_login *login, uint32_t qop_mask,
                            struct sasl_client **ret) _must_use_;
/* The quality that the first step has chosen; 0 before. Only of a client of DIGEST-MD5. */
uint32_t ipc_digest_client_qop(const struct sasl_client *c);

#endif
