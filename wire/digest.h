/* DIGEST-MD5 (RFC 2831): its directives and its formula, as sasl.c needs them for both sides.
 * Directives are a peer's and hostile. */
#ifndef SELVEDGE_WIRE_DIGEST_H
#define SELVEDGE_WIRE_DIGEST_H

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
    char text[IPC_SASL_RESPONSE_MAX + 1]; /* names and values are cut out of it */
    struct digest_directive d[DIGEST_DIRECTIVES_MAX];
    size_t n;
};

/* Takes n ≤ max bytes apart. -EBADMSG: empty, a NUL, a violation of the grammar, a backslash
 * (nothing that Hadoop puts into a directive needs one), a directive that comes twice, too many. */
int digest_parse(struct digest_directives *ds, const uint8_t *p, size_t n, size_t max) _must_use_;
/* NULL = absent. */
const char *digest_get(const struct digest_directives *ds, const char *name);
/* True if every directive has a name from the list, which ends with NULL. */
bool digest_known(const struct digest_directives *ds, const char *const *names);

/* What both sides know after the client's answer. */
struct digest_input {
    const char *user, *realm;
    const char *password; /* the text that is hashed: base64 of the token's password */
    const char *nonce, *cnonce;
    const char *authzid; /* NULL or "" = none */
    const char *qop;     /* "auth" … */
    const char *uri;
};

struct digest_output {
    uint8_t ha1[DIGEST_MD5_LEN];   /* H(A1) of md5-sess: what a layer's keys are made of. Secret */
    char response[DIGEST_HEX_LEN]; /* what the client proves itself with */
    char rspauth[DIGEST_HEX_LEN];  /* what the server proves itself with */
};

/* nc is 00000001. -EIO when libcrypto has no MD5. */
int digest_compute(const struct digest_input *in, struct digest_output *ret) _must_use_;
int digest_md5(uint8_t ret[DIGEST_MD5_LEN], const void *a, size_t a_len, const void *b,
               size_t b_len) _must_use_;

#endif
