/* Tests hdfs/checksum.c: published vectors, both implementations against each other, and failed
 * verification. */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/checksum.h"

/* RFC 3720, B.4, and the check value of the catalogues of CRCs. */
static void test_vectors(void **state)
{
    uint8_t zeros[32] = { 0 }, ones[32], up[32], down[32];

    (void)state;
    memset(ones, 0xff, sizeof(ones));
    for (uint8_t i = 0; i < 32; i++) {
        up[i] = i;
        down[i] = 31 - i;
    }
    for (int portable = 0; portable < 2; portable++) {
        uint32_t (*crc)(const void *, size_t) = portable ? hdfs_crc32c_portable : hdfs_crc32c;

        assert_int_equal(crc("123456789", 9), 0xe3069283);
        assert_int_equal(crc(zeros, 32), 0x8a9136aa);
        assert_int_equal(crc(ones, 32), 0x62a8ab43);
        assert_int_equal(crc(up, 32), 0x46dd794e);
        assert_int_equal(crc(down, 32), 0x113fdb5c);
        assert_int_equal(crc("", 0), 0);
    }
    assert_int_equal(hdfs_crc32("123456789", 9), 0xcbf43926);
}

static void fill(uint8_t *p, size_t n)
{
    uint32_t v = 12345;

    for (size_t i = 0; i < n; i++) {
        v = v * 1103515245u + 12345u;
        p[i] = (uint8_t)(v >> 16);
    }
}

static void test_implementations_agree(void **state)
{
    static uint8_t data[4096 + 8];

    (void)state;
    fill(data, sizeof(data));
    for (size_t n = 0; n < 300; n++)
        for (size_t at = 0; at < 8; at++)
            assert_int_equal(hdfs_crc32c(data + at, n), hdfs_crc32c_portable(data + at, n));
    assert_int_equal(hdfs_crc32c(data, 4096), hdfs_crc32c_portable(data, 4096));
}

static size_t sums_of(enum hdfs_checksum type, size_t chunk, const uint8_t *data, size_t n,
                      uint8_t *sums)
{
    size_t k = 0;

    for (size_t at = 0; at < n; at += chunk, k++) {
        size_t len = SV_MIN(chunk, n - at);
        uint32_t v = htobe32(type == HDFS_CHECKSUM_CRC32C ? hdfs_crc32c_portable(data + at, len)
                                                          : hdfs_crc32(data + at, len));

        memcpy(sums + 4 * k, &v, 4);
    }
    return k;
}

/* Every chunk in turn is spoilt, in its first and in its last byte and in its checksum. */
static void test_verify(void **state)
{
    static uint8_t data[10 * 512], sums[4 * 1024];
    static const size_t chunks[] = { 1, 7, 8, 512, 513, 4096 };
    static const size_t lengths[] = { 1, 511, 512, 513, 1536, 1537, 4 * 512, 10 * 512 - 1 };

    (void)state;
    fill(data, sizeof(data));
    for (int type = HDFS_CHECKSUM_CRC32; type <= HDFS_CHECKSUM_CRC32C; type++)
        for (size_t c = 0; c < SV_ARRAY_LEN(chunks); c++)
            for (size_t l = 0; l < SV_ARRAY_LEN(lengths); l++) {
                size_t chunk = chunks[c], n = SV_MIN(lengths[l], chunk * 1000), bad = 99999;
                size_t k = sums_of((enum hdfs_checksum)type, chunk, data, n, sums);

                assert_int_equal(
                    hdfs_checksum_verify((enum hdfs_checksum)type, chunk, sums, data, n, &bad), 0);
                assert_int_equal(bad, 99999);
                for (size_t i = 0; i < k; i++) {
                    size_t last = SV_MIN(n, (i + 1) * chunk) - 1;
                    uint8_t *spoilt[] = { data + i * chunk, data + last, sums + 4 * i + 3 };

                    for (size_t s = 0; s < SV_ARRAY_LEN(spoilt); s++) {
                        *spoilt[s] ^= 0x10;
                        assert_int_equal(hdfs_checksum_verify((enum hdfs_checksum)type, chunk, sums,
                                                              data, n, &bad),
                                         -EILSEQ);
                        assert_int_equal(bad, i * chunk);
                        *spoilt[s] ^= 0x10;
                    }
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_implementations_agree),
        cmocka_unit_test(test_verify),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
