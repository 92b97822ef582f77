/* The hadoop.auth cookie, as issued by the authentication filter of Hadoop's web servers:
 * "u=USER&p=PRINCIPAL&t=TYPE&e=EXPIRES&s=SIGNATURE", quoted or not. SIGNATURE is the base64 text of
 * the HMAC-SHA-256 of everything before "&s=", with the bytes of
 * hadoop.http.authentication.signature.secret.file as key. Hostile: the whole header; of a cookie
 * that is issued, the user and the principal. */
#ifndef SELVEDGE_COMMON_WEB_AUTH_COOKIE_H
#define SELVEDGE_COMMON_WEB_AUTH_COOKIE_H

#include "common/base.h"

#define SV_AUTH_USER_MAX 256

struct sv_auth_names {
    char user[SV_AUTH_USER_MAX];
    char principal[SV_AUTH_USER_MAX]; /* "": none, or a longer one */
};
/* Returns the names of the first hadoop.auth in `header`, a Cookie header. -ENODATA: no such
 * cookie; -EBADMSG: malformed, not signed with the secret, or of another type; -ETIME: expired. */
int sv_auth_cookie_names(const char *header, const void *secret, size_t secret_len,
                         const char *type, int64_t now_ms, struct sv_auth_names *ret) _must_use_;
/* As above: the user alone. */
int sv_auth_cookie_verify(const char *header, const void *secret, size_t secret_len,
                          const char *type, int64_t now_ms, char ret_user[SV_AUTH_USER_MAX])
    _must_use_;

struct sv_auth_cookie {
    const char *user, *principal;
    const char *type;   /* simple or kerberos */
    int64_t expires_ms; /* wall clock */
};
/* The cookie's value, signed, without quotes; malloc'd. -EINVAL: a user or principal that a cookie
 * cannot hold. */
int sv_auth_cookie_sign(const struct sv_auth_cookie *c, const void *secret, size_t secret_len,
                        char **ret) _must_use_;

struct sv_auth_cookie_header {
    const char *value;  /* NULL: the cookie is taken away */
    const char *domain; /* NULL: of the host alone */
    int64_t expires_ms; /* below 0: ends with the browser's session */
    bool secure;
};
/* The text of Set-Cookie, as Hadoop writes it; malloc'd. */
int sv_auth_cookie_header(const struct sv_auth_cookie_header *h, char **ret) _must_use_;

#endif
