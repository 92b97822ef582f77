/* DIGEST-MD5 (RFC 2831): parser of directives and computation of responses, for both sides in
 * sasl.c. Directives come from a peer and are hostile. */
#ifndef SELVEDGE_WIRE_SASL_DIGEST_H
#define SELVEDGE_WIRE_SASL_DIGEST_H

#include "common/base.h"
#include "wire/frame.h"

#define DIGEST_DIRECTIVES_MAX 16
#define DIGEST_MD5_LEN 16
#define DIGEST_HEX_LEN 33 /* with the NUL */

struct digest_directive {
    char *name;
    char *value;
};

struct digest_directives {
    char text[IPC_SASL_RESPONSE_MAX + 1]; /* holds the names and values */
    struct digest_directive d[DIGEST_DIRECTIVES_MAX];
    size_t n;
};

/* Parses n ≤ max bytes. -EBADMSG: empty, a NUL, a violation of the grammar, a backslash (no
 * directive of Hadoop needs one), a duplicate directive, too many directives. */
int ipc_digest_parse(struct digest_directives *ds, const uint8_t *p, size_t n, size_t max)
    _must_use_;
/* NULL = absent. */
const char *ipc_digest_get(const struct digest_directives *ds, const char *name);
/* True if every directive has a name from the list, which ends with NULL. */
bool ipc_digest_known(const struct digest_directives *ds, const char *const *names);

/* Known to both sides after the client's response. */
struct digest_input {
    const char *user, *realm;
    const char *password; /* the text that is hashed: base64 of the token's password */
    const char *nonce, *cnonce;
    const char *authzid; /* NULL or "" = none */
    const char *qop;     /* "auth" … */
    const char *uri;
};

struct digest_output {
    uint8_t ha1[DIGEST_MD5_LEN];   /* H(A1) of md5-sess, input of a layer's keys. Secret */
    char response[DIGEST_HEX_LEN]; /* proof of the client */
    char rspauth[DIGEST_HEX_LEN];  /* proof of the server */
};

/* nc is 00000001. -EIO when libcrypto has no MD5. */
int ipc_digest_compute(const struct digest_input *in, struct digest_output *ret) _must_use_;
int ipc_digest_md5(uint8_t ret[DIGEST_MD5_LEN], const void *a, size_t a_len, const void *b,
                   size_t b_len) _must_use_;

#endif
