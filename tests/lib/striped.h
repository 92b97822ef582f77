/* A slow encoder of HDFS' erasure codes for tests, which shares nothing with hdfs/erasure-code.c:
 * the field by logarithms, the inverse by trial. */
#ifndef SELVEDGE_TESTS_LIB_STRIPED_H
#define SELVEDGE_TESTS_LIB_STRIPED_H

#include <stdlib.h>
#include <string.h>

#include "hdfs/limits.h"
#include "hdfs/striped-layout.h"

static inline uint8_t slow_times(uint8_t a, uint8_t b)
{
    static int logs[256], powers[255], made;

    for (int i = 0, x = 1; !made && i < 255; i++) {
        powers[i] = x;
        logs[x] = i;
        x = x * 2 >= 256 ? (x * 2) ^ 285 : x * 2;
    }
    made = 1;
    return a && b ? (uint8_t)powers[(logs[a] + logs[b]) % 255] : 0;
}

static inline uint8_t slow_inverse(uint8_t a)
{
    for (int b = 1; b < 256; b++)
        if (slow_times(a, (uint8_t)b) == 1)
            return (uint8_t)b;
    return 0;
}

/* The blocks of a group with `length` bytes of data: each calloc'ed, `size` bytes with zeros at the
 * end. */
static inline void encode_group(const struct hdfs_stripes *s, const uint8_t *data, size_t length,
                                uint8_t *units[HDFS_UNITS_MAX], size_t size)
{
    for (unsigned u = 0; u < s->data + s->parity; u++)
        units[u] = calloc(1, size);
    for (size_t i = 0; i < length; i++) {
        size_t cell = i / s->cell;

        units[cell % s->data][cell / s->data * s->cell + i % s->cell] = data[i];
    }
    for (unsigned p = s->data; p < s->data + s->parity; p++)
        for (unsigned u = 0; u < s->data; u++) {
            uint8_t factor = s->codec == HDFS_CODEC_XOR ? 1 : slow_inverse((uint8_t)(p ^ u));

            for (size_t i = 0; i < size; i++)
                units[p][i] ^= slow_times(factor, units[u][i]);
        }
}

static inline void free_units(uint8_t *units[HDFS_UNITS_MAX])
{
    for (unsigned u = 0; u < HDFS_UNITS_MAX; u++) {
        free(units[u]);
        units[u] = NULL;
    }
}

#endif
