/* Tests shuffle/spill-index.c and index-cache.c: indexes as map tasks write them, and lying ones.
 */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "shuffle/index-cache.h"
#include "shuffle/spill-index.h"

static uint8_t bytes[24 * 4 + 8];

/* The index of these records, with its checksum; returns its length. */
static size_t make(const struct shf_segment *s, size_t n)
{
    uint64_t v[3 * 4];

    for (size_t i = 0; i < n; i++) {
        v[3 * i] = htobe64(s[i].start);
        v[3 * i + 1] = htobe64(s[i].raw);
        v[3 * i + 2] = htobe64(s[i].part);
    }
    memcpy(bytes, v, n * 24);
    v[0] = htobe64(crc32(0, bytes, (unsigned)(n * 24)));
    memcpy(bytes + n * 24, v, 8);
    return n * 24 + 8;
}

static int check(const struct shf_segment *s, size_t n)
{
    return shf_spill_index_check(bytes, make(s, n), NULL);
}

static void test_good(void **state)
{
    const struct shf_segment s[] = { { 0, 17, 10 }, { 10, 9, 0 }, { 10, 2, 5 }, { 20, 2, 6 } };
    struct shf_segment got;

    (void)state;
    assert_int_equal(check(s, 4), 0);
    assert_int_equal(shf_spill_index_get(bytes, sizeof(bytes), 3, &got), 0);
    assert_true(got.start == 20 && got.raw == 2 && got.part == 6);
    assert_int_equal(shf_spill_index_get(bytes, sizeof(bytes), 4, &got), -ERANGE);
    assert_int_equal(shf_spill_index_get(bytes, sizeof(bytes), UINT32_MAX, &got), -ERANGE);
    /* an empty part may point anywhere: Tez writes zeros */
    assert_int_equal(check((const struct shf_segment[]){ { 5, 1, 9 }, { 0, 0, 0 } }, 2), 0);
}

static void test_lies(void **state)
{
    (void)state;
    assert_int_equal(check((const struct shf_segment[]){ { 0, 1, 10 }, { 9, 1, 10 } }, 2),
                     -EBADMSG);
    assert_int_equal(check((const struct shf_segment[]){ { 9, 1, 10 }, { 0, 1, 9 } }, 2), -EBADMSG);
    assert_int_equal(check((const struct shf_segment[]){ { (uint64_t)-1, 1, 1 } }, 1), -EBADMSG);
    assert_int_equal(check((const struct shf_segment[]){ { 0, (uint64_t)-1, 1 } }, 1), -EBADMSG);
    assert_int_equal(check((const struct shf_segment[]){ { 0, 1, (uint64_t)-1 } }, 1), -EBADMSG);
    assert_int_equal(check((const struct shf_segment[]){ { INT64_MAX, 1, 1 } }, 1), -EBADMSG);
    assert_int_equal(check((const struct shf_segment[]){ { INT64_MAX - 1, 1, 1 } }, 1), 0);
}

static void test_length_and_checksum(void **state)
{
    const struct shf_segment s[] = { { 0, 17, 10 }, { 10, 9, 3 } };
    size_t len = make(s, 2);

    (void)state;
    for (size_t n = 0; n < len; n++)
        assert_int_equal(shf_spill_index_check(bytes, n, NULL), -EBADMSG);
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= 0x80;
        assert_int_equal(shf_spill_index_check(bytes, len, NULL), -EBADMSG);
        bytes[i] ^= 0x80;
    }
    assert_int_equal(shf_spill_index_check(bytes, len, NULL), 0);
}

static uint8_t *copy(const struct shf_segment *s, size_t n)
{
    size_t len = make(s, n);
    uint8_t *p = malloc(len);

    assert_non_null(p);
    memcpy(p, bytes, len);
    return p;
}

static void test_cache(void **state)
{
    struct shf_index_cache *c = shf_index_cache_new(100); /* of three indexes of 32 bytes */
    const struct shf_segment s = { 1, 2, 3 };
    struct stat file = { .st_ino = 1, .st_size = 32 };
    struct shf_segment got;

    (void)state;
    assert_non_null(c);
    assert_int_equal(shf_index_cache_get(c, &file, 0, &got), -ENOENT);
    for (file.st_ino = 1; file.st_ino <= 3; file.st_ino++)
        shf_index_cache_put(c, &file, copy(&s, 1), 32);
    file.st_ino = 1;
    assert_int_equal(shf_index_cache_get(c, &file, 0, &got), 0);
    assert_true(got.start == 1 && got.raw == 2 && got.part == 3);
    assert_int_equal(shf_index_cache_get(c, &file, 1, &got), -ERANGE);
    file.st_ctim.tv_nsec = 1; /* written again */
    assert_int_equal(shf_index_cache_get(c, &file, 0, &got), -ENOENT);
    shf_index_cache_put(c, &file, copy(&s, 1), 32); /* 2 was not used for longest */
    file = (struct stat){ .st_ino = 2, .st_size = 32 };
    assert_int_equal(shf_index_cache_get(c, &file, 0, &got), -ENOENT);
    file.st_ino = 1;
    assert_int_equal(shf_index_cache_get(c, &file, 0, &got), 0);
    shf_index_cache_put(c, &file, copy(&s, 1), 32);  /* another thread read it, too */
    shf_index_cache_put(c, &file, copy(&s, 1), 101); /* more than the cache holds */
    assert_int_equal(shf_index_cache_get(c, &file, 0, &got), 0);
    assert_null(shf_index_cache_free(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_length_and_checksum),
        cmocka_unit_test(test_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
