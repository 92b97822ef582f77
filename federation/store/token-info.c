/* See token-info.h. The bytes: VInt length, password, eight bytes of the end; as base64url. */
#include "federation/store/token-info.h"

#include <errno.h>
#include <string.h>

#include "common/buf.h"
#include "federation/store/base64url.h"
#include "wire/token/token.h"
#include "wire/token/writable.h"

#define BYTES_MAX (YARN_TOKEN_PASSWORD_MAX + 16)

const char *fed_token_info_write(struct sv_arena *a, const struct fed_token_info *info)
{
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(BYTES_MAX);
    int r = sv_buf_reserve(&b, BYTES_MAX); /* at once: growing would leave copies behind */

    if (r >= 0)
        r = ipc_writable_put_bytes(&b, info->password, info->password_len);
    if (r >= 0)
        r = sv_buf_put_u64(&b, (uint64_t)info->renew_ms);
    return r < 0 ? NULL : fed_base64url_encode(a, b.data, b.len);
}

int fed_token_info_read(struct sv_arena *a, const char *text, struct fed_token_info *ret)
{
    struct fed_token_info info;
    struct sv_buf b = { 0 };
    const uint8_t *p;
    uint64_t renew;
    size_t n;
    int r = fed_base64url_decode(a, text, strlen(text), BYTES_MAX, &p, &n);

    if (r < 0)
        return r == -ENOMEM ? r : -EBADMSG;
    b.data = (uint8_t *)(uintptr_t)p;
    b.len = n;
    if (ipc_writable_get_bytes(&b, a, &info.password, &info.password_len) < 0 ||
        sv_buf_get_u64(&b, &renew) < 0 || sv_buf_left(&b) > 0)
        return -EBADMSG;
    if (info.password_len == 0 || info.password_len > YARN_TOKEN_PASSWORD_MAX || renew > INT64_MAX)
        return -EBADMSG;
    info.renew_ms = (int64_t)renew;
    *ret = info;
    return 0;
}
