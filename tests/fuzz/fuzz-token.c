/* libFuzzer target: token identifiers. What decodes must survive being written and decoded again
 * unchanged. */
#include <stdlib.h>
#include <string.h>

#include "wire/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROUND_TRIP(name)                                                                           \
    static void name(const uint8_t *p, size_t n)                                                   \
    {                                                                                              \
        struct yarn_##name t, again;                                                               \
        const uint8_t *id;                                                                         \
        size_t len;                                                                                \
        if (yarn_##name##_decode(p, n, &t, NULL) < 0)                                              \
            return;                                                                                \
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);                                      \
        if (!a || yarn_##name##_encode(a, &t, &id, &len) < 0 ||                                    \
            yarn_##name##_decode(id, len, &again, NULL) < 0 || memcmp(&t, &again, sizeof t) != 0)  \
            abort();                                                                               \
    }
ROUND_TRIP(container_token)
ROUND_TRIP(nm_token)
ROUND_TRIP(amrm_token)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    container_token(data, size);
    nm_token(data, size);
    amrm_token(data, size);
    return 0;
}
