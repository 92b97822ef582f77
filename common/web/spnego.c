/* See spnego.h. */
#include "common/web/spnego.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "common/web/web-acceptor.h"

#define BLANKS " \t"
#define NTLM "NTLMSSP"

int sv_spnego_token(const char *header, uint8_t **ret, size_t *ret_len)
{
    _cleanup_free_ uint8_t *token = NULL;
    const size_t scheme = strlen(SV_SPNEGO_SCHEME);
    size_t len, n;
    int r;

    header += strspn(header, BLANKS);
    if (strncasecmp(header, SV_SPNEGO_SCHEME, scheme) != 0 ||
        (header[scheme] && !strchr(BLANKS, header[scheme])))
        return -ENODATA;
    header += scheme;
    header += strspn(header, BLANKS);
    len = strlen(header);
    while (len > 0 && strchr(BLANKS, header[len - 1]))
        len--;
    if (len == 0)
        return -EBADMSG;
    r = sv_base64_decode(header, len, SV_WEB_TOKEN_MAX, &token, &n);
    if (r < 0)
        return r == -EINVAL ? -EBADMSG : r;
    if (n >= sizeof(NTLM) && memcmp(token, NTLM, sizeof(NTLM)) == 0) /* with the NUL */
        return -EPROTONOSUPPORT;
    *ret = SV_TAKE(token);
    *ret_len = n;
    return 0;
}

int sv_spnego_challenge(const uint8_t *token, size_t len, char **ret)
{
    _cleanup_free_ char *text = NULL;
    int r = sv_base64_encode(token, len, &text);

    if (r < 0)
        return r;
    return sv_asprintf(ret, "%s%s%s", SV_SPNEGO_SCHEME, len > 0 ? " " : "", text);
}
