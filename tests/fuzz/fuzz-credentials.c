/* libFuzzer target: credentials of both versions. Accepted input is written in both versions,
 * accepted again and written again to the same bytes. */
#include <stdlib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials c;
    if (!a || yarn_credentials_parse(data, size, a, &c, NULL) < 0)
        return 0;
    again(&c, YARN_CREDENTIALS_WRITABLE);
    again(&c, YARN_CREDENTIALS_PROTOBUF);
    return 0;
}
