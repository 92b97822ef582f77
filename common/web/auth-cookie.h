/* The hadoop.auth cookie, as issued by the authentication filter of Hadoop's web servers:
 * "u=USER&p=PRINCIPAL&t=TYPE&e=EXPIRES&s=SIGNATURE", quoted or not. SIGNATURE is the base64 text of
 * the HMAC-SHA-256 of everything before "&s=", with the bytes of
 * hadoop.http.authentication.signature.secret.file as key. Hostile: the whole header. */
#ifndef SELVEDGE_COMMON_WEB_AUTH_COOKIE_H
#define SELVEDGE_COMMON_WEB_AUTH_COOKIE_H

#include "common/base.h"

#define SV_AUTH_USER_MAX 256

/* Returns the user of the first hadoop.auth in `header`, a Cookie header. -ENODATA: no such cookie;
 * -EBADMSG: malformed, not signed with the secret, or of another type; -ETIME: expired. */
int sv_auth_cookie_verify(const char *header, const void *secret, size_t secret_len,
                          const char *type, int64_t now_ms, char ret_user[SV_AUTH_USER_MAX])
    _must_use_;

#endif
