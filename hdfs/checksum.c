/* See checksum.h. SSE 4.2's instruction has a latency of three cycles and a throughput of one;
 * chunks are independent, so three are computed at once. */
#include "hdfs/checksum.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define HAVE_SSE42 1
#endif

#define CASTAGNOLI 0x82f63b78u /* reflected */

/* table[k][b]: byte b followed by k zero bytes. */
static uint32_t table[8][256];

static void table_make(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t v = b;

        for (int bit = 0; bit < 8; bit++)
            v = v & 1 ? v >> 1 ^ CASTAGNOLI : v >> 1;
        table[0][b] = v;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t b = 0; b < 256; b++)
            table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

uint32_t hdfs_crc32c_portable(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t crc = ~0u;

    if (!table[0][1])
        table_make(); /* single-threaded */
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v;

        memcpy(&v, p, sizeof(v));
        v = le64toh(v) ^ crc;
        crc = 0;
        for (int k = 0; k < 8; k++)
            crc ^= table[7 - k][v >> 8 * k & 0xff];
    }
    for (; n > 0; n--, p++)
        crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
    return ~crc;
}

#ifdef HAVE_SSE42
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(const uint8_t *p, size_t n)
{
    uint64_t crc = ~0u;

    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v;

        memcpy(&v, p, sizeof(v));
        crc = _mm_crc32_u64(crc, v);
    }
    for (; n > 0; n--, p++)
        crc = _mm_crc32_u8((uint32_t)crc, *p);
    return ~(uint32_t)crc;
}

/* Computes three chunks of n bytes (a multiple of 8), interleaved. */
__attribute__((target("sse4.2"))) static void crc32c_three(const uint8_t *p, size_t n,
                                                           uint32_t ret[3])
{
    uint64_t a = ~0u, b = ~0u, c = ~0u;

    for (size_t i = 0; i < n; i += 8) {
        uint64_t v[3];

        memcpy(&v[0], p + i, 8);
        memcpy(&v[1], p + n + i, 8);
        memcpy(&v[2], p + 2 * n + i, 8);
        a = _mm_crc32_u64(a, v[0]);
        b = _mm_crc32_u64(b, v[1]);
        c = _mm_crc32_u64(c, v[2]);
    }
    ret[0] = ~(uint32_t)a;
    ret[1] = ~(uint32_t)b;
    ret[2] = ~(uint32_t)c;
}

static bool have_sse42(void)
{
    return __builtin_cpu_supports("sse4.2");
}
#endif

uint32_t hdfs_crc32c(const void *p, size_t n)
{
#ifdef HAVE_SSE42
    if (have_sse42())
        return crc32c_sse42(p, n);
#endif
    return hdfs_crc32c_portable(p, n);
}

uint32_t hdfs_crc32(const void *p, size_t n)
{
    return (uint32_t)crc32_z(0, p, n);
}

static uint32_t sum_at(const uint8_t *sums, size_t index)
{
    uint32_t v;

    memcpy(&v, sums + index * HDFS_CHECKSUM_BYTES, sizeof(v));
    return be32toh(v);
}

/* Returns the number of leading full chunks with matching checksums; stops at the first triple with
 * a mismatch. */
static size_t verified_by_threes(size_t chunk, const uint8_t *sums, const uint8_t *data, size_t n)
{
    size_t done = 0;

#ifdef HAVE_SSE42
    if (chunk % 8 != 0 || !have_sse42())
        return 0;
    for (; (n - done * chunk) / chunk >= 3; done += 3) {
        uint32_t is[3];

        crc32c_three(data + done * chunk, chunk, is);
        for (size_t i = 0; i < 3; i++)
            if (is[i] != sum_at(sums, done + i))
                return done;
    }
#else
    (void)chunk, (void)sums, (void)data, (void)n;
#endif
    return done;
}

int hdfs_checksum_verify(enum hdfs_checksum type, size_t chunk, const uint8_t *sums,
                         const uint8_t *data, size_t n, size_t *ret_bad)
{
    size_t i = 0;

    if (type == HDFS_CHECKSUM_NULL)
        return 0;
    if (type == HDFS_CHECKSUM_CRC32C)
        i = verified_by_threes(chunk, sums, data, n);
    for (; i * chunk < n; i++) {
        size_t len = SV_MIN(chunk, n - i * chunk);
        uint32_t is = type == HDFS_CHECKSUM_CRC32C ? hdfs_crc32c(data + i * chunk, len)
                                                   : hdfs_crc32(data + i * chunk, len);

        if (is != sum_at(sums, i)) {
            *ret_bad = i * chunk;
            return -EILSEQ;
        }
    }
    return 0;
}
