/* See java-utf.h. */
#include "logs/java-utf.h"

#include <string.h>

#define REPLACEMENT 0xfffdu

/* Decodes one character of UTF-8, shortest form only; returns 0 if malformed. */
static size_t decode(const uint8_t *p, size_t n, uint32_t *ret)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = p[0] < 0x80             ? 1
                 : (p[0] & 0xe0) == 0xc0 ? 2
                 : (p[0] & 0xf0) == 0xe0 ? 3
                 : (p[0] & 0xf8) == 0xf0 ? 4
                                         : 0;
    uint32_t c = len == 1 ? p[0] : p[0] & (0x7fu >> len);

    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *ret = c;
    return len;
}

static size_t encode(uint32_t c, uint8_t ret[4], bool modified)
{
    if (c < 0x80 && !(modified && c == 0)) {
        ret[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        ret[0] = (uint8_t)(0xc0 | c >> 6);
        ret[1] = (uint8_t)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        ret[0] = (uint8_t)(0xe0 | c >> 12);
        ret[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
        ret[2] = (uint8_t)(0x80 | (c & 0x3f));
        return 3;
    }
    ret[0] = (uint8_t)(0xf0 | c >> 18);
    ret[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
    ret[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    ret[3] = (uint8_t)(0x80 | (c & 0x3f));
    return 4;
}

static int put_character(struct sv_buf *b, uint32_t c)
{
    uint8_t bytes[4];
    int r;

    if (c < 0x10000)
        return sv_buf_put(b, bytes, encode(c, bytes, true));
    c -= 0x10000;
    r = sv_buf_put(b, bytes, encode(0xd800 | c >> 10, bytes, true));
    return r < 0 ? r : sv_buf_put(b, bytes, encode(0xdc00 | (c & 0x3ff), bytes, true));
}

int logs_utf_put(struct sv_buf *b, const char *s)
{
    _cleanup_buf_ struct sv_buf text = SV_BUF_INIT(LOGS_UTF_MAX);
    size_t n = strlen(s);
    int r = 0;

    for (size_t at = 0; r == 0 && at < n;) {
        uint32_t c = REPLACEMENT;
        size_t len = decode((const uint8_t *)s + at, n - at, &c);

        r = put_character(&text, c);
        at += SV_MAX(len, (size_t)1);
    }
    if (r == 0)
        r = sv_buf_put_u16(b, (uint16_t)text.len);
    return r < 0 ? r : sv_buf_put(b, text.data, text.len);
}

/* Decodes one UTF-16 unit; returns 0 if malformed. */
static size_t decode_unit(const uint8_t *p, size_t n, uint32_t *ret)
{
    if (p[0] < 0x80) {
        *ret = p[0];
        return 1;
    }
    if ((p[0] & 0xe0) == 0xc0 && n >= 2 && (p[1] & 0xc0) == 0x80) {
        *ret = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
        return 2;
    }
    if ((p[0] & 0xf0) == 0xe0 && n >= 3 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80) {
        *ret = (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
        return 3;
    }
    return 0;
}

void logs_utf_text(const uint8_t *p, size_t n, char *ret)
{
    size_t out = 0;

    for (size_t at = 0; at < n;) {
        uint32_t c = 0, low = 0;
        size_t len = decode_unit(p + at, n - at, &c), next;

        if (c >= 0xd800 && c < 0xdc00 && at + len < n) {
            next = decode_unit(p + at + len, n - at - len, &low);
            if (next > 0 && low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
                len += next;
            }
        }
        if (len == 0 || c == 0 || (c >= 0xd800 && c < 0xe000))
            c = '?';
        /* output never exceeds the bytes read, except for '?' in place of a malformed byte */
        out += encode(c, (uint8_t *)ret + out, false);
        at += SV_MAX(len, (size_t)1);
    }
    ret[out] = 0;
}
