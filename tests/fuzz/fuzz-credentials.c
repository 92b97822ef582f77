/* libFuzzer target: credentials of both versions. What is accepted is written as version 0, accepted
 * again and written again to the same bytes. */
#include <stdlib.h>

#include "wire/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf one = SV_BUF_INIT(0), two = SV_BUF_INIT(0);
    struct yarn_credentials c, again;
    if (!a || yarn_credentials_parse(data, size, a, &c, NULL) < 0)
        return 0;
    if (yarn_credentials_write(&c, &one) < 0)
        abort();
    if (one.len > YARN_CREDENTIALS_MAX)
        return 0; /* version 1 leaves out what version 0 writes */
    if (yarn_credentials_parse(one.data, one.len, a, &again, NULL) < 0 ||
        yarn_credentials_write(&again, &two) < 0 ||
        !yarn_bytes_equal(one.data, one.len, two.data, two.len))
        abort();
    return 0;
}
