/* See vint.h. The first byte, signed:
 *
 *   -32 … 127     the number
 *   -72 … -33     + 52, and one byte: the number is up to 20 * 256
 *   -104 … -73    + 88, and two bytes
 *   -120 … -105   + 112, and three bytes
 *   -125 … -121   + 129 bytes of the number follow (4 to 8)
 */
#include "logs/vint.h"

#include <errno.h>

#define LONG_BASE 129

static const struct {
    int8_t bias, limit; /* for forms with 1, 2 and 3 bytes after the first */
} forms[] = { { 52, 20 }, { 88, 16 }, { 112, 8 } };

static size_t put(uint8_t *ret, int first, int64_t v, size_t n)
{
    ret[0] = (uint8_t)first;
    for (size_t i = 0; i < n; i++)
        ret[1 + i] = (uint8_t)((uint64_t)v >> 8 * (n - 1 - i));
    return n + 1;
}

size_t logs_vint_encode(int64_t v, uint8_t ret[LOGS_VINT_MAX])
{
    uint64_t magnitude = v < 0 ? ~(uint64_t)v : (uint64_t)v;
    size_t n = 4;

    if (v >= -32 && v < 128)
        return put(ret, (int)v, 0, 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(forms); i++) {
        int64_t high = v >> 8 * (i + 1);

        if (high >= -forms[i].limit && high < forms[i].limit)
            return put(ret, (int)high - forms[i].bias, v, i + 1);
    }
    while (n < 8 && magnitude >> (8 * n - 1) != 0)
        n++;
    return put(ret, (int)n - LONG_BASE, v, n);
}

int logs_vint_size(uint8_t first)
{
    int b = (int8_t)first;

    if (b >= -32)
        return 1;
    if (b >= -72)
        return 2;
    if (b >= -104)
        return 3;
    if (b >= -120)
        return 4;
    return b >= -125 ? b + LONG_BASE + 1 : -EBADMSG;
}

int64_t logs_vint_decode(const uint8_t *p)
{
    int n = logs_vint_size(p[0]) - 1;
    int64_t v = (int8_t)p[0];

    if (n == 0)
        return v;
    if (n <= 3)
        v += forms[n - 1].bias;
    else
        v = (int8_t)p[1] < 0 ? -1 : 0;
    for (int i = 1; i <= n; i++)
        v = (int64_t)((uint64_t)v << 8 | p[i]);
    return v;
}
