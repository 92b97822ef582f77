/* libFuzzer target: credentials of both versions. Accepted input is written in both versions,
 * accepted again and written again to the same bytes. The tokens of file systems among it are
 * gathered within their limits, and those of the same credentials twice are the same. */
#include <errno.h>
#include <stdlib.h>

#include "fs/tokens.h"
#include "wire/token/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct yarn_credentials *c, enum yarn_credentials_format format)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf one = SV_BUF_INIT(0), two = SV_BUF_INIT(0);
    struct yarn_credentials back;
    if (!a)
        return;
    if (yarn_credentials_write_as(c, format, &one) < 0)
        abort();
    if (one.len > YARN_CREDENTIALS_MAX)
        return; /* the versions differ in optional fields */
    if (yarn_credentials_parse(one.data, one.len, a, &back, NULL) < 0 ||
        yarn_credentials_write_as(&back, format, &two) < 0 ||
        !yarn_bytes_equal(one.data, one.len, two.data, two.len))
        abort();
}

static void gather(const uint8_t *data, size_t size)
{
    const struct fs_credentials parts[] = { { data, size }, { data, size } };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_wipe_ struct sv_buf one = SV_BUF_INIT(FS_TOKENS_BYTES_MAX), two = one;
    struct yarn_credentials c;
    int r = a ? fs_tokens_gather(parts, 1, &one, NULL) : -ENOMEM;

    if (r < 0)
        return;
    r = fs_tokens_gather(parts, 2, &two, NULL);
    if (r == -ENOMEM) /* twice the input may be too much */
        return;
    if (r < 0 || !yarn_bytes_equal(one.data, one.len, two.data, two.len) ||
        yarn_credentials_parse(one.data, one.len, a, &c, NULL) < 0 || c.n_tokens > FS_TOKENS_MAX ||
        c.n_secrets > FS_TOKENS_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials c;
    if (!a || yarn_credentials_parse(data, size, a, &c, NULL) < 0)
        return 0;
    again(&c, YARN_CREDENTIALS_WRITABLE);
    again(&c, YARN_CREDENTIALS_PROTOBUF);
    gather(data, size);
    return 0;
}
