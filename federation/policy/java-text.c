/* Java's hashes, map order and float texts; see java-text.h. Ids are bounded and hostile. */
#include "federation/policy/java-text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TABLE_MIN 16 /* java.util.HashMap: first table, load factor 3/4 */

/* The code point at *s, and *s behind it. */
static uint32_t next_point(const unsigned char **s)
{
    static const uint8_t more_of[8] = { 0, 0, 0, 0, 0, 0, 1, 2 }; /* by the first three bits */
    const unsigned char *p = *s;
    size_t more = *p >= 0xf0 ? 3 : more_of[*p >> 5];
    uint32_t v = more ? *p & (0x3fu >> more) : *p;

    for (size_t i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *s = p + 1;
            return *p;
        }
        v = v << 6 | (p[i] & 0x3f);
    }
    *s = p + 1 + more;
    return v;
}

int32_t fed_java_hash(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    uint32_t h = 0;

    while (*p) {
        uint32_t v = next_point(&p);

        if (v >= 0x10000) {
            h = h * 31 + (0xd800 + ((v - 0x10000) >> 10));
            v = 0xdc00 + ((v - 0x10000) & 0x3ff);
        }
        h = h * 31 + v;
    }
    return (int32_t)h;
}

/* SubClusterId.hashCode(): commons-lang's HashCodeBuilder over the text; then HashMap's spreading.
 */
static uint32_t spread(const char *id)
{
    uint32_t h = 17u * 37u + (uint32_t)fed_java_hash(id);

    return h ^ h >> 16;
}

void fed_java_order(const char *const *ids, size_t n, size_t *order)
{
    size_t table = TABLE_MIN;

    while (table / 4 * 3 < n)
        table *= 2;
    for (size_t i = 0; i < n; i++) {
        size_t bucket = spread(ids[i]) & (table - 1), at = i;

        for (; at > 0 && (spread(ids[order[at - 1]]) & (table - 1)) > bucket; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* The fewest digits of v that read back as v: digits without a point, and the exponent of the
 * first. */
static int shortest(float v, char digits[16])
{
    char text[FED_FLOAT_TEXT];
    int exponent = 0;
    size_t n = 0;

    for (int more = 0; more < 9; more++) {
        (void)snprintf(text, sizeof(text), "%.*e", more, (double)v);
        if (strtof(text, NULL) == v)
            break;
    }
    for (const char *p = text; *p && *p != 'e'; p++)
        if (*p != '.' && *p != '-')
            digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    return exponent;
}

void fed_java_float(float v, char text[FED_FLOAT_TEXT])
{
    const char *sign = signbit(v) ? "-" : "";
    char digits[16];
    int e, n;

    if (v == 0) {
        (void)snprintf(text, FED_FLOAT_TEXT, "%s0.0", sign);
        return;
    }
    e = shortest(v, digits);
    n = (int)strlen(digits);
    if (e < -3 || e >= 7)
        (void)snprintf(text, FED_FLOAT_TEXT, "%s%c.%sE%d", sign, *digits, n > 1 ? digits + 1 : "0",
                       e);
    else if (e < 0)
        (void)snprintf(text, FED_FLOAT_TEXT, "%s0.%.*s%s", sign, -e - 1, "000", digits);
    else if (n <= e + 1)
        (void)snprintf(text, FED_FLOAT_TEXT, "%s%s%.*s.0", sign, digits, e + 1 - n, "000000");
    else
        (void)snprintf(text, FED_FLOAT_TEXT, "%s%.*s.%s", sign, e + 1, digits, digits + e + 1);
}
