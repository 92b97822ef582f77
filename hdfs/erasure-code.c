/* See erasure-code.h. No library (ADR 44): a lookup in a table of 256 bytes for each unit and byte
 * keeps up with the network and the checksums. */
#include "hdfs/erasure-code.h"

#include <errno.h>
#include <string.h>

#define PIECE 4096 /* bytes of each unit at a time, which stay in the processor's first cache */

/* ---- GF(256) ---- */

static uint8_t times(uint8_t a, uint8_t b)
{
    unsigned x = a, sum = 0;

    for (; b; b >>= 1) {
        if (b & 1)
            sum ^= x;
        x = x & 0x80 ? x << 1 ^ 0x11d : x << 1;
    }
    return (uint8_t)sum;
}

/* a to the power of 254; that of 0 is 0. */
static uint8_t inverse(uint8_t a)
{
    uint8_t power = a, product = 1;

    for (int i = 0; i < 7; i++) {
        power = times(power, power);
        product = times(product, power);
    }
    return product;
}

/* ---- Matrices ---- */

/* The unit as a sum of data units. */
static void row_of(const struct hdfs_stripes *s, unsigned unit, uint8_t row[HDFS_UNITS_MAX])
{
    for (unsigned j = 0; j < s->data; j++)
        row[j] = unit < s->data ? unit == j : inverse((uint8_t)(unit ^ j));
}

static void scale(uint8_t *row, size_t n, uint8_t by)
{
    for (size_t j = 0; j < n; j++)
        row[j] = times(row[j], by);
}

static void subtract(uint8_t *from, const uint8_t *row, size_t n, uint8_t by)
{
    for (size_t j = 0; j < n; j++)
        from[j] ^= times(row[j], by);
}

/* Gauss and Jordan on the n rows of `m`, each a row of the matrix and one of the identity. */
static bool invert(uint8_t m[][2 * HDFS_UNITS_MAX], unsigned n)
{
    for (unsigned c = 0; c < n; c++) {
        unsigned pivot = c;

        while (pivot < n && !m[pivot][c])
            pivot++;
        if (pivot == n)
            return false;
        if (pivot != c) {
            uint8_t kept[2 * HDFS_UNITS_MAX];

            memcpy(kept, m[c], sizeof(kept));
            memcpy(m[c], m[pivot], sizeof(kept));
            memcpy(m[pivot], kept, sizeof(kept));
        }
        scale(m[c], 2ul * n, inverse(m[c][c]));
        for (unsigned r = 0; r < n; r++)
            if (r != c && m[r][c])
                subtract(m[r], m[c], 2ul * n, m[r][c]);
    }
    return true;
}

/* The wanted unit as a sum of those that are there. */
static bool solve(const struct hdfs_stripes *s, const struct hdfs_units *have, unsigned wanted,
                  uint8_t ret[HDFS_UNITS_MAX])
{
    uint8_t m[HDFS_UNITS_MAX][2 * HDFS_UNITS_MAX] = { 0 };

    for (unsigned r = 0; r < s->data; r++) {
        row_of(s, have->number[r], m[r]);
        m[r][s->data + r] = 1;
    }
    if (!invert(m, s->data))
        return false;
    memcpy(ret, m[wanted] + s->data, s->data);
    return true;
}

/* ---- Bytes ---- */

static void add(uint8_t *to, const uint8_t *from, size_t n, const uint8_t table[256])
{
    for (size_t i = 0; i < n; i++)
        to[i] ^= table[from[i]];
}

int hdfs_erasure_decode(const struct hdfs_stripes *s, const struct hdfs_units *have,
                        unsigned wanted, uint8_t *ret, size_t len)
{
    uint8_t factors[HDFS_UNITS_MAX], tables[HDFS_UNITS_MAX][256];

    if (s->data == 0 || s->data + s->parity > HDFS_UNITS_MAX || wanted >= s->data)
        return -EINVAL;
    if (s->codec == HDFS_CODEC_XOR && s->parity == 1)
        memset(factors, 1, sizeof(factors));
    else if (s->codec != HDFS_CODEC_RS || !solve(s, have, wanted, factors))
        return -EINVAL;
    for (unsigned u = 0; u < s->data; u++)
        for (unsigned b = 0; b < 256; b++)
            tables[u][b] = times(factors[u], (uint8_t)b);
    for (size_t at = 0; at < len; at += PIECE) {
        size_t n = SV_MIN(len - at, (size_t)PIECE);

        memset(ret + at, 0, n);
        for (unsigned u = 0; u < s->data; u++)
            if (factors[u])
                add(ret + at, have->bytes[u] + at, n, tables[u]);
    }
    return 0;
}
