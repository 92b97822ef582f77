/* Tests common/buf.c: the length checks of every wire parser. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"

static void test_round_trip(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    char text[6];

    (void)state;
    assert_int_equal(sv_buf_put_u8(&b, 0x12), 0);
    assert_int_equal(sv_buf_put_u16(&b, 0x3456), 0);
    assert_int_equal(sv_buf_put_u32(&b, 0x789abcde), 0);
    assert_int_equal(sv_buf_put_u64(&b, 0x0102030405060708), 0);
    assert_int_equal(sv_buf_put_str(&b, "hi"), 0);
    assert_int_equal(sv_buf_printf(&b, "%03d", 7), 0);
    assert_int_equal(b.len, 1 + 2 + 4 + 8 + 2 + 3);
    assert_memory_equal(b.data, "\x12\x34\x56\x78\x9a\xbc\xde\1\2\3\4\5\6\7\x08hi007", b.len);
    assert_int_equal(sv_buf_get_u8(&b, &u8), 0);
    assert_int_equal(sv_buf_get_u16(&b, &u16), 0);
    assert_int_equal(sv_buf_get_u32(&b, &u32), 0);
    assert_int_equal(sv_buf_get_u64(&b, &u64), 0);
    assert_int_equal(u8, 0x12);
    assert_int_equal(u16, 0x3456);
    assert_int_equal(u32, 0x789abcde);
    assert_true(u64 == 0x0102030405060708);
    assert_int_equal(sv_buf_get(&b, text, 5), 0);
    assert_memory_equal(text, "hi007", 5);
    assert_int_equal(sv_buf_left(&b), 0);
}

static void test_short_reads_change_nothing(void **state)
{
    struct sv_buf v = SV_BUF_VIEW("abc", 3);
    uint64_t u64 = 42;
    uint32_t u32 = 42;
    const uint8_t *p = NULL;

    (void)state;
    assert_int_equal(sv_buf_get_u64(&v, &u64), -EBADMSG);
    assert_int_equal(sv_buf_get_u32(&v, &u32), -EBADMSG);
    assert_int_equal(sv_buf_get_ref(&v, &p, SIZE_MAX), -EBADMSG);
    assert_int_equal(u64, 42);
    assert_int_equal(u32, 42);
    assert_null(p);
    assert_int_equal(v.pos, 0);
    assert_int_equal(sv_buf_get_ref(&v, &p, 3), 0);
    assert_memory_equal(p, "abc", 3);
    assert_int_equal(sv_buf_get_ref(&v, &p, 0), 0);
    assert_int_equal(sv_buf_get_ref(&v, &p, 1), -EBADMSG);
}

static void test_maximum(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1000);
    static char big[2000];

    (void)state;
    assert_int_equal(sv_buf_put(&b, big, 1001), -EMSGSIZE);
    assert_int_equal(b.len, 0);
    assert_int_equal(sv_buf_put(&b, big, 999), 0);
    assert_int_equal(sv_buf_put_u16(&b, 1), -EMSGSIZE);
    assert_int_equal(sv_buf_reserve(&b, SIZE_MAX), -EMSGSIZE);
    assert_int_equal(sv_buf_put_u8(&b, 1), 0);
    assert_int_equal(sv_buf_put_u8(&b, 1), -EMSGSIZE);
    assert_int_equal(b.len, 1000);
    assert_true(b.cap <= 1000);
    assert_int_equal(sv_buf_printf(&b, "x"), -EMSGSIZE);
}

static void test_exact_printf(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(3);

    (void)state;
    assert_int_equal(sv_buf_printf(&b, "%s", "abc"), 0); /* the NUL does not count */
    assert_memory_equal(b.data, "abc", 3);
}

static void test_compact_and_views(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct sv_buf v = SV_BUF_VIEW("abc", 3), empty = SV_BUF_INIT(0);
    uint8_t c;

    (void)state;
    assert_int_equal(sv_buf_put_str(&b, "abcdef"), 0);
    assert_int_equal(sv_buf_get_u8(&b, &c), 0);
    assert_int_equal(sv_buf_get_u8(&b, &c), 0);
    sv_buf_compact(&b);
    assert_int_equal(b.pos, 0);
    assert_int_equal(b.len, 4);
    assert_memory_equal(b.data, "cdef", 4);
    assert_int_equal(sv_buf_put_u8(&v, 1), -EMSGSIZE); /* read-only */
    assert_int_equal(sv_buf_get_u8(&v, &c), 0);
    sv_buf_compact(&v);
    assert_int_equal(sv_buf_left(&v), 2);
    sv_buf_free(&v); /* must not free memory that it does not own */
    assert_int_equal(sv_buf_get_u8(&empty, &c), -EBADMSG);
    sv_buf_compact(&empty);
    sv_buf_free(&empty);
    sv_buf_free(&b);
    assert_int_equal(sv_buf_put_u8(&b, 1), 0); /* usable again */
}

/* A buffer's bytes are overwritten, those that a view shows are not. */
static void test_wipe(void **state)
{
    struct sv_buf b = SV_BUF_INIT(64), v = SV_BUF_VIEW("abc", 3);
    const uint8_t *seen = v.data;

    (void)state;
    assert_int_equal(sv_buf_put(&b, "secret", 6), 0);
    sv_buf_wipe(&b);
    assert_null(b.data);
    assert_int_equal(b.len, 0);
    assert_int_equal(b.max, 64);
    sv_buf_wipe(&b);
    sv_buf_wipe(&v);
    assert_memory_equal(seen, "abc", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),        cmocka_unit_test(test_short_reads_change_nothing),
        cmocka_unit_test(test_maximum),           cmocka_unit_test(test_exact_printf),
        cmocka_unit_test(test_compact_and_views), cmocka_unit_test(test_wipe),
    };
    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
