/* Strict parsers for external text. Hostile: every input string. */
#include "common/str.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Reads decimal digits up to the first other character. -EINVAL without a digit, -ERANGE when the
 * number does not fit. */
static int digits(const char **s, uint64_t *ret)
{
    const char *p = *s;
    uint64_t v = 0;

    if (*p < '0' || *p > '9')
        return -EINVAL;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return -ERANGE;
    *s = p;
    *ret = v;
    return 0;
}

/* True if the rest consists of digits only. Decides between -EINVAL and -ERANGE. */
static bool all_digits(const char *s)
{
    return *s && s[strspn(s, "0123456789")] == '\0';
}

int sv_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret)
{
    uint64_t v;
    int r;

    if (!s || !all_digits(s))
        return -EINVAL;
    r = digits(&s, &v);
    if (r < 0)
        return r;
    if (v < min || v > max)
        return -ERANGE;
    *ret = v;
    return 0;
}

int sv_parse_i64(const char *s, int64_t min, int64_t max, int64_t *ret)
{
    bool negative = s && *s == '-';
    uint64_t magnitude;
    int64_t v;
    int r;

    if (negative)
        s++;
    if (!s || !all_digits(s))
        return -EINVAL;
    r = digits(&s, &magnitude);
    if (r < 0)
        return r;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return -ERANGE;
    v = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    if (v < min || v > max)
        return -ERANGE;
    *ret = v;
    return 0;
}

int sv_parse_bool(const char *s, bool *ret)
{
    if (s && strcasecmp(s, "true") == 0)
        *ret = true;
    else if (s && strcasecmp(s, "false") == 0)
        *ret = false;
    else
        return -EINVAL;
    return 0;
}

/* Hadoop's TimeUnit suffixes, in nanoseconds. */
static const struct {
    const char *suffix;
    int64_t ns;
} time_units[] = {
    { "ns", 1 },
    { "us", 1000 },
    { "ms", 1000000 },
    { "s", 1000000000 },
    { "m", 60 * INT64_C(1000000000) },
    { "h", 3600 * INT64_C(1000000000) },
    { "d", 86400 * INT64_C(1000000000) },
};

int sv_parse_duration_ms(const char *s, int64_t plain_unit_ms, int64_t *ret)
{
    bool negative = s && *s == '-';
    uint64_t magnitude;
    int64_t v;
    int r;

    if (!s)
        return -EINVAL;
    if (negative)
        s++;
    r = digits(&s, &magnitude);
    if (r == -EINVAL)
        return r;
    if (r == -ERANGE || magnitude > INT64_MAX)
        return -ERANGE;
    v = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    if (!*s) {
        if (__builtin_mul_overflow(v, plain_unit_ms ? plain_unit_ms : 1, &v))
            return -ERANGE;
        *ret = v;
        return 0;
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(time_units); i++) {
        if (strcasecmp(s, time_units[i].suffix) != 0)
            continue;
        if (time_units[i].ns < 1000000)
            v /= 1000000 / time_units[i].ns;
        else if (__builtin_mul_overflow(v, time_units[i].ns / 1000000, &v))
            return -ERANGE;
        *ret = v;
        return 0;
    }
    return -EINVAL;
}

int sv_parse_size(const char *s, uint64_t *ret)
{
    static const char units[] = "kmgtpe";
    const char *unit;
    unsigned shift = 0;
    uint64_t v;
    int r;

    if (!s)
        return -EINVAL;
    r = digits(&s, &v);
    if (r < 0)
        return r;
    unit = *s ? strchr(units, *s | 0x20) : NULL;
    if (unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        s++;
        if (strcasecmp(s, "ib") == 0)
            s += 2;
    }
    if (*s == 'b' || *s == 'B')
        s++;
    if (*s)
        return -EINVAL;
    if (v > UINT64_MAX >> shift)
        return -ERANGE;
    *ret = v << shift;
    return 0;
}

static bool blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int sv_strv_split(const char *s, char sep, char ***ret)
{
    _cleanup_strv_ char **v = NULL;
    size_t n = 1, used = 0;

    for (const char *p = s; *p; p++)
        n += *p == sep;
    v = calloc(n + 1, sizeof(*v));
    if (!v)
        return -ENOMEM;
    for (const char *p = s;;) {
        const char *end = strchrnul(p, sep), *next = *end ? end + 1 : NULL;

        while (p < end && blank(*p))
            p++;
        while (end > p && blank(end[-1]))
            end--;
        if (end > p) {
            v[used] = strndup(p, (size_t)(end - p));
            if (!v[used++])
                return -ENOMEM;
        }
        if (!next)
            break;
        p = next;
    }
    *ret = SV_TAKE(v);
    return 0;
}

char **sv_strv_free(char **v)
{
    for (char **p = v; p && *p; p++)
        free(*p);
    free(v);
    return NULL;
}

size_t sv_strv_len(char *const *v)
{
    size_t n = 0;

    while (v && v[n])
        n++;
    return n;
}

int sv_asprintf(char **ret, const char *fmt, ...)
{
    va_list ap;
    char *s;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0)
        return -ENOMEM;
    *ret = s;
    return 0;
}

bool sv_streq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool sv_has_prefix(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool sv_has_suffix(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);

    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

void sv_escape(char *dst, size_t size, const char *src)
{
    static const char hex[] = "0123456789abcdef";

    if (!size)
        return;
    for (; *src; src++) {
        unsigned char c = (unsigned char)*src;

        if (c >= ' ' && c < 0x7f) {
            if (size < 2)
                break;
            *dst++ = (char)c;
            size--;
        } else {
            if (size < 5)
                break;
            dst[0] = '\\';
            dst[1] = 'x';
            dst[2] = hex[c >> 4];
            dst[3] = hex[c & 15];
            dst += 4;
            size -= 4;
        }
    }
    *dst = '\0';
}

int sv_base64_encode(const void *p, size_t n, char **ret)
{
    char *s;

    if (n > (size_t)INT_MAX / 4 * 3 - 3)
        return -EMSGSIZE;
    s = malloc((n + 2) / 3 * 4 + 1);
    if (!s)
        return -ENOMEM;
    s[0] = '\0';
    if (n)
        (void)EVP_EncodeBlock((unsigned char *)s, p, (int)n); /* cannot fail */
    *ret = s;
    return 0;
}

/* True if canonical: whole quads, the alphabet only, '=' only at the end, unused bits zero. OpenSSL
 * itself skips blanks and accepts several texts for the same bytes. */
static bool base64_canonical(const char *s, size_t len, size_t pad)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *last;

    for (size_t i = 0; i < len - pad; i++)
        if (!s[i] || !strchr(alphabet, s[i]))
            return false;
    if (!pad)
        return true;
    last = strchr(alphabet, s[len - pad - 1]);
    return ((size_t)(last - alphabet) & (pad == 1 ? 3u : 15u)) == 0;
}

int sv_base64_decode(const char *s, size_t len, size_t max, uint8_t **ret, size_t *ret_len)
{
    _cleanup_free_ uint8_t *data = NULL;
    size_t pad = 0, n;

    if (len % 4 != 0)
        return -EINVAL;
    if (len > INT_MAX || len / 4 * 3 > (size_t)INT_MAX)
        return -EMSGSIZE;
    if (len && s[len - 1] == '=')
        pad = s[len - 2] == '=' ? 2 : 1;
    n = len / 4 * 3 - pad;
    if (n > max)
        return -EMSGSIZE;
    if (!base64_canonical(s, len, pad))
        return -EINVAL;
    data = malloc(len / 4 * 3 + 1); /* OpenSSL writes the padding as zero bytes */
    if (!data)
        return -ENOMEM;
    if (len && EVP_DecodeBlock(data, (const unsigned char *)s, (int)len) < 0)
        return -EINVAL;
    data[n] = '\0';
    *ret = SV_TAKE(data);
    *ret_len = n;
    return 0;
}
