/* See utf8.h. */
#include "common/utf8.h"

#include <string.h>

size_t sv_utf8_at(const void *text, size_t n, uint32_t *ret)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *p = text;
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t c = len == 1 ? p[0] : len > 0 ? p[0] & (0xffu >> (len + 1)) : 0;

    if (len == 0 || p[0] > 0xf4 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *ret = c;
    return len;
}

size_t sv_utf8_cut(const char *text, size_t max)
{
    size_t n = strnlen(text, max + 1);

    if (n <= max)
        return n;
    for (n = max; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

size_t sv_utf8_copy(char *dst, size_t size, const void *p, size_t n)
{
    const char *text = p;
    size_t at = 0, i = 0;

    while (i < n) {
        uint32_t c = 0;
        size_t len = sv_utf8_at(text + i, n - i, &c);
        bool good = len > 0 && c > 0;
        size_t out = good ? len : strlen(SV_UTF8_REPLACEMENT);

        if (at + out >= size)
            break;
        memcpy(dst + at, good ? text + i : SV_UTF8_REPLACEMENT, out);
        at += out;
        i += good ? len : 1;
    }
    dst[at] = '\0';
    return i;
}
