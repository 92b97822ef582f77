/* The secret shared by the ResourceManager and the NodeManagers of a cluster, and the token that a
 * NodeManager derives from it for the ResourceTracker (8031).
 *
 * Without Kerberos, anyone who reaches 8031 could register as a node and would get the keys of
 * every container token. The secret is a file of the daemons' account: containers cannot read it.
 *
 * The token's identifier is text, "SELVEDGE_NODE_TOKEN 1 SECRET-ID HOST"; its password is
 * HMAC-SHA256(secret, identifier). SECRET-ID, 16 hexadecimal digits, distinguishes a wrong secret
 * from a forged token in messages, and reveals nothing of 32 random bytes. */
#ifndef SELVEDGE_WIRE_TOKEN_NODE_SECRET_H
#define SELVEDGE_WIRE_TOKEN_NODE_SECRET_H

#include "common/conf.h"
#include "wire/token/token.h"

#define YARN_KIND_NODE "SELVEDGE_NODE_TOKEN"
#define YARN_NODE_SECRET_MIN 32   /* bytes, without white space at the end */
#define YARN_NODE_SECRET_MAX 1024 /* bytes */
#define YARN_NODE_TOKEN_ID_MAX 320

struct yarn_node_secret {
    uint8_t bytes[YARN_NODE_SECRET_MAX];
    size_t len; /* 0: no secret */
    char id[17];
};

/* Reads selvedge.node-secret.file: a regular file of the process' account, readable by nobody else.
 * A missing file, or an empty key, means no secret (len 0), unless the key is set: then it is
 * -ENOENT. Clear the result with yarn_node_secret_clear. */
int yarn_node_secret_load(struct sv_conf *conf, struct yarn_node_secret *ret, struct sv_error *err)
    _must_use_;
void yarn_node_secret_clear(struct yarn_node_secret *s);
const struct sv_conf_key *yarn_node_secret_key(void); /* the key's row, for printing */

struct yarn_node_token {
    struct yarn_token token; /* points into this struct */
    char id[YARN_NODE_TOKEN_ID_MAX];
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
};
/* Makes the token of the node `host`. -EINVAL: not a host name. */
int yarn_node_token_make(const struct yarn_node_secret *s, const char *host,
                         struct yarn_node_token *ret) _must_use_;
/* Returns the password of an identifier that a peer presents, and the host in it. Hostile bytes.
 * -EACCES and a text: malformed, or made with another secret. */
int yarn_node_token_verify(const struct yarn_node_secret *s, const uint8_t *id, size_t id_len,
                           uint8_t ret_password[YARN_TOKEN_PASSWORD_MAX], size_t *ret_password_len,
                           char ret_host[256], struct sv_error *err) _must_use_;

#endif
