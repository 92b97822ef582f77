/* Tests hdfs/crypto.c against key streams of `openssl enc`: three lengths of keys, counters that
 * carry into each half, and every offset. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/crypto.h"

#define LEN 80

/* head -c 80 /dev/zero | openssl enc -aes-N-ctr -K 000102… -iv IV */
static const struct {
    size_t key; /* bytes: 0, 1, 2, … */
    const char *iv, *stream;
} vectors[] = {
    { 16, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
      "66a7c7e8345231489751de073316adadb281d700b79e3cada4ad73bb6e9c1fead27192567c5beb9dfb818b594f92"
      "557170d8665a3cbf5847576d03184f60379a6b01a2282d9653628482d912fffe813d" },
    { 16, "fffffffffffffffffffffffffffffffe", /* back to 0 */
      "b6b5c2d82d8bd40fcf4ed8f4ae6e97ee3c441f32ce07822364d7a2990e50bb13c6a13b37878f5b826f4f8162a1c8"
      "d8797346139595c0b41e497bbde365f42d0a49d68753999ba68ce3897a686081b09d" },
    { 16, "0011223344556677ffffffffffffffff", /* into the upper half */
      "2108558ac4b2c2d5cc66cea51d6210e057066b76720dc3cc9e18578622bda406e28c60406bac0adb3e4f5c7032a1"
      "33c0cb05b561a478bd5a12986606b45ae223f8dd15a7453c3984e33db8700a681025" },
    { 24, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
      "2b82485254f26990b3d93602f0e5a8f3db082b83c994f731876f88c42bc1a904df7a7bc642ca1ce6bbad5db6f280"
      "4dcdba4ebfebb74b7d0776bf57f0d7d11cec2befa2c4532fbcde69195a72075002de" },
    { 32, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
      "9200cd8d239680cb5a69e65440326314ca5f7b40f12a34c16ea755214a77868e996c215b1418f598788520109554"
      "f28f4968c32dd6f0e722131bdcf4fc6358a4b6047bd9797cfae2fa8d1fd967963597" },
    { 32, "0011223344556677ffffffffffffffff",
      "c1fa4b4934a0b65322a757bb0d1efb8d40a665b00d51caef9d0ef4ca2a935efaf38cbcca7f63f823b1e44183a40f"
      "2c0e9c3b253b75a90f04b4f4afd5014d1cb5c32cbb9e3422aeaf9c9df0c75f50eaed" },
};

static uint8_t key[HDFS_KEY_MAX];

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void from_hex(const char *s, uint8_t *ret, size_t n)
{
    assert_int_equal(strlen(s), 2 * n);
    for (size_t i = 0; i < n; i++)
        ret[i] = (uint8_t)(digit(s[2 * i]) << 4 | digit(s[2 * i + 1]));
}

static struct hdfs_crypto *open_at(size_t n, const uint8_t iv[HDFS_IV], uint64_t offset)
{
    struct hdfs_crypto *c = NULL;

    assert_int_equal(hdfs_crypto_new(key, n, iv, offset, &c), 0);
    return c;
}

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(key); i++)
        key[i] = (uint8_t)i;
    return 0;
}

/* From each offset, in one piece and in pieces of each size. */
static void test_vectors(void **state)
{
    static const uint8_t zeros[LEN];
    uint8_t iv[HDFS_IV], stream[LEN], got[LEN];

    (void)state;
    for (size_t v = 0; v < SV_ARRAY_LEN(vectors); v++) {
        from_hex(vectors[v].iv, iv, sizeof(iv));
        from_hex(vectors[v].stream, stream, sizeof(stream));
        for (size_t from = 0; from < LEN; from++) {
            struct hdfs_crypto *c = open_at(vectors[v].key, iv, from);

            for (size_t at = from, n; at < LEN; at += n) {
                n = SV_MIN(from % 7 + 1, LEN - at);
                assert_int_equal(hdfs_crypto_next(c, zeros, got + at, n), 0);
            }
            assert_memory_equal(got + from, stream + from, LEN - from);
            assert_null(hdfs_crypto_free(c));
        }
    }
}

/* Encrypted and decrypted again, in place. */
static void test_both_ways(void **state)
{
    static uint8_t data[100001], got[sizeof(data)];
    const uint8_t iv[HDFS_IV] = { 1, 2, 3 };
    struct hdfs_crypto *c = open_at(32, iv, 0);

    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 2654435761u >> 11);
    memcpy(got, data, sizeof(got));
    assert_int_equal(hdfs_crypto_next(c, got, got, sizeof(got)), 0);
    assert_memory_not_equal(got, data, sizeof(got));
    hdfs_crypto_free(c);
    for (size_t at = 0, n; at < sizeof(data); at += n) {
        n = SV_MIN((size_t)33333, sizeof(data) - at);
        c = open_at(32, iv, at);
        assert_int_equal(hdfs_crypto_next(c, got + at, got + at, n), 0);
        hdfs_crypto_free(c);
    }
    assert_memory_equal(got, data, sizeof(got));
}

/* Offsets whose count of blocks has more than 32 bits. */
static void test_far(void **state)
{
    const uint8_t none[HDFS_IV] = { 0 }, far[HDFS_IV] = { [10] = 0x10 };
    struct hdfs_crypto *a = open_at(16, none, (UINT64_C(1) << 48) + 5),
                       *b = open_at(16, far, (UINT64_C(1) << 47) + 5);
    uint8_t of_a[40] = { 0 }, of_b[40] = { 0 };

    (void)state;
    assert_int_equal(hdfs_crypto_next(a, of_a, of_a, sizeof(of_a)), 0);
    assert_int_equal(hdfs_crypto_next(b, of_b, of_b, sizeof(of_b)), 0);
    assert_memory_not_equal(of_a, of_b, sizeof(of_a));
    hdfs_crypto_free(b);
    b = open_at(16, far, 5); /* 2^44 blocks: byte 10 has the weight 2^40 */
    memset(of_b, 0, sizeof(of_b));
    assert_int_equal(hdfs_crypto_next(b, of_b, of_b, sizeof(of_b)), 0);
    assert_memory_equal(of_a, of_b, sizeof(of_a));
    hdfs_crypto_free(a);
    hdfs_crypto_free(b);
}

static void test_refused(void **state)
{
    const uint8_t iv[HDFS_IV] = { 0 };
    struct hdfs_crypto *c = NULL;

    (void)state;
    for (size_t n = 0; n <= HDFS_KEY_MAX; n++)
        if (n != 16 && n != 24 && n != 32)
            assert_int_equal(hdfs_crypto_new(key, n, iv, 0, &c), -EINVAL);
    assert_null(c);
    assert_null(hdfs_crypto_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
