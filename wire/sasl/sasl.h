/* SASL DIGEST-MD5 (RFC 2831) as Hadoop uses it for tokens.
 *
 * Realm "default", digest-uri "/default", algorithm md5-sess. The username is the base64 of the
 * token's identifier, the password the base64 of the token's password. One object serves one
 * connection once. With a quality above `auth` it yields a layer (sasl-layer.h) for all later bytes
 * of the connection. */
#ifndef SELVEDGE_WIRE_SASL_SASL_H
#define SELVEDGE_WIRE_SASL_SASL_H

#include "common/base.h"
#include "common/error.h"
#include "wire/sasl/qop.h"
#include "wire/sasl/sasl-layer.h"
#include "wire/token/token.h"

#define SASL_MECHANISM "DIGEST-MD5"
#define SASL_SERVER_ID "default"
#define JAVA_SASL_EXCEPTION "javax.security.sasl.SaslException"

struct sasl_server;
struct sasl_client;

/* Verifies a token identifier that a client presents. On success returns 0, the password bytes (at
 * most 64) and the name that becomes peer.user (at most 255 bytes). On failure -errno with
 * `err->text` the message and *ret_class the Java class, by default
 * org.apache.hadoop.security.token.SecretManager$InvalidToken. */
typedef int (*ipc_token_verifier)(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                                  size_t *ret_password_len, char ret_user[256],
                                  const char **ret_class, struct sv_error *err, void *userdata);

/* `qop_mask` (wire/sasl/qop.h): offered qualities; 0 = IPC_QOP_AUTH. */
int ipc_sasl_server_new(ipc_token_verifier verify, void *userdata, uint32_t qop_mask,
                        struct sasl_server **ret) _must_use_;
struct sasl_server *ipc_sasl_server_free(struct sasl_server *s);
static inline void sasl_server_freep(struct sasl_server **s)
{
    *s = ipc_sasl_server_free(*s);
}
/* The challenge; owned by the server object. */
const char *ipc_sasl_server_challenge(const struct sasl_server *s);
/* The client's answer. 0 = authenticated, *ret is the rspauth text (owned by the object). -EACCES:
 * err->text and *ret_class hold the reason, which may be shown to the peer. */
int ipc_sasl_server_step(struct sasl_server *s, const uint8_t *p, size_t n, const char **ret,
                         const char **ret_class, struct sv_error *err) _must_use_;
/* After success. */
const char *ipc_sasl_server_user(const struct sasl_server *s);
const uint8_t *ipc_sasl_server_token_id(const struct sasl_server *s, size_t *ret_len);
/* NULL with qop auth; else owned by the caller from now on. */
struct sasl_layer *ipc_sasl_server_take_layer(struct sasl_server *s);

/* `qop_mask`: accepted qualities; the strongest offered one is chosen. 0 = IPC_QOP_AUTH. */
int ipc_sasl_client_new(const struct yarn_token *token, uint32_t qop_mask, struct sasl_client **ret)
    _must_use_;
struct sasl_client *ipc_sasl_client_free(struct sasl_client *c);
static inline void sasl_client_freep(struct sasl_client **c)
{
    *c = ipc_sasl_client_free(*c);
}
/* First the challenge: *ret is the response (owned by the object). Then the rspauth text: *ret is
 * "" and the server is proven to know the password. -EACCES with err->text. */
int ipc_sasl_client_step(struct sasl_client *c, const uint8_t *p, size_t n, const char **ret,
                         struct sv_error *err) _must_use_;
bool ipc_sasl_client_done(const struct sasl_client *c);
struct sasl_layer *ipc_sasl_client_take_layer(struct sasl_client *c);

#endif
