/* The header "Authorization: Negotiate TOKEN" of RFC 4559: the token's bytes. Pure. Hostile: the
 * header. */
#ifndef SELVEDGE_COMMON_WEB_SPNEGO_H
#define SELVEDGE_COMMON_WEB_SPNEGO_H

#include "common/base.h"

#define SV_SPNEGO_SCHEME "Negotiate"

/* The token, malloc'd, at most SV_WEB_TOKEN_MAX bytes. -ENODATA: another scheme; -EBADMSG: no
 * base64, or empty; -EMSGSIZE; -EPROTONOSUPPORT: a token of NTLM, which a browser sends that has no
 * ticket. */
int sv_spnego_token(const char *header, uint8_t **ret, size_t *ret_len) _must_use_;
/* "Negotiate TOKEN" for WWW-Authenticate, or "Negotiate" for none; malloc'd. */
int sv_spnego_challenge(const uint8_t *token, size_t len, char **ret) _must_use_;

#endif
