/* Tests common/str.c: strict numbers, durations, sizes, lists, escaping, base64. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"

static void test_u64(void **state)
{
    static const char *const bad[] = { "",    " 1",  "1 ",  "+1",  "-1", "0x10",
                                       "1e3", "1.0", "abc", "1\n", "-",  "1,0" };
    uint64_t v = 77;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(sv_parse_u64(bad[i], 0, UINT64_MAX, &v), -EINVAL);
    assert_int_equal(sv_parse_u64(NULL, 0, UINT64_MAX, &v), -EINVAL);
    assert_int_equal(sv_parse_u64("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
    assert_int_equal(sv_parse_u64("99999999999999999999999999", 0, UINT64_MAX, &v), -ERANGE);
    assert_int_equal(sv_parse_u64("11", 0, 10, &v), -ERANGE);
    assert_int_equal(sv_parse_u64("2", 3, 10, &v), -ERANGE);
    assert_int_equal(v, 77);
    assert_int_equal(sv_parse_u64("18446744073709551615", 0, UINT64_MAX, &v), 0);
    assert_true(v == UINT64_MAX);
    assert_int_equal(sv_parse_u64("0007", 0, 10, &v), 0);
    assert_int_equal(v, 7);
}

static void test_i64(void **state)
{
    int64_t v = 77;

    (void)state;
    assert_int_equal(sv_parse_i64("-", INT64_MIN, INT64_MAX, &v), -EINVAL);
    assert_int_equal(sv_parse_i64("--1", INT64_MIN, INT64_MAX, &v), -EINVAL);
    assert_int_equal(sv_parse_i64("+1", INT64_MIN, INT64_MAX, &v), -EINVAL);
    assert_int_equal(sv_parse_i64(NULL, INT64_MIN, INT64_MAX, &v), -EINVAL);
    assert_int_equal(sv_parse_i64("9223372036854775808", INT64_MIN, INT64_MAX, &v), -ERANGE);
    assert_int_equal(sv_parse_i64("-9223372036854775809", INT64_MIN, INT64_MAX, &v), -ERANGE);
    assert_int_equal(v, 77);
    assert_int_equal(sv_parse_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &v), 0);
    assert_true(v == INT64_MIN);
    assert_int_equal(sv_parse_i64("-1", 0, 5, &v), -ERANGE);
}

static void test_bool(void **state)
{
    bool v = false;

    (void)state;
    assert_int_equal(sv_parse_bool("TRUE", &v), 0);
    assert_true(v);
    assert_int_equal(sv_parse_bool("False", &v), 0);
    assert_false(v);
    assert_int_equal(sv_parse_bool("yes", &v), -EINVAL);
    assert_int_equal(sv_parse_bool("1", &v), -EINVAL);
    assert_int_equal(sv_parse_bool("", &v), -EINVAL);
    assert_int_equal(sv_parse_bool(NULL, &v), -EINVAL);
}

static void test_duration(void **state)
{
    static const struct {
        const char *text;
        int64_t unit, ms;
    } good[] = {
        { "10", 1, 10 },       { "10", 1000, 10000 }, { "10ms", 1000, 10 },  { "5s", 1, 5000 },
        { "3m", 1, 180000 },   { "2h", 1, 7200000 },  { "1d", 1, 86400000 }, { "7000us", 1, 7 },
        { "9000000ns", 1, 9 }, { "7us", 1, 0 },       { "0", 1000, 0 },      { "-1", 1000, -1000 },
        { "5S", 1, 5000 },
    };
    static const char *const bad[] = { "", "s", "1.5s", "1 s", "5w", "1ss", "-", "ms5", "0x5" };
    int64_t v = 42;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(good); i++) {
        assert_int_equal(sv_parse_duration_ms(good[i].text, good[i].unit, &v), 0);
        assert_true(v == good[i].ms);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(sv_parse_duration_ms(bad[i], 1, &v), -EINVAL);
    assert_int_equal(sv_parse_duration_ms("9223372036854775807d", 1, &v), -ERANGE);
    assert_int_equal(sv_parse_duration_ms("9223372036854775807", 1000, &v), -ERANGE);
    assert_int_equal(sv_parse_duration_ms("99999999999999999999", 1, &v), -ERANGE);
    assert_int_equal(sv_parse_duration_ms(NULL, 1, &v), -EINVAL);
}

static void test_size(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        { "4096", 4096 },     { "128k", 128 << 10 }, { "64M", 64 << 20 },
        { "2g", 2ull << 30 }, { "1t", 1ull << 40 },  { "3mb", 3 << 20 },
        { "3MiB", 3 << 20 },  { "7b", 7 },           { "15e", 15ull << 60 },
    };
    static const char *const bad[] = { "", "k", "-1", "1 k", "1kk", "1x", "1mbb", "1ib", "1.5g" };
    uint64_t v;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(good); i++) {
        assert_int_equal(sv_parse_size(good[i].text, &v), 0);
        assert_true(v == good[i].bytes);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(sv_parse_size(bad[i], &v), -EINVAL);
    assert_int_equal(sv_parse_size("16e", &v), -ERANGE);
    assert_int_equal(sv_parse_size("18446744073709551616", &v), -ERANGE);
}

static void test_strv(void **state)
{
    _cleanup_strv_ char **v = NULL;

    (void)state;
    assert_int_equal(sv_strv_split(" a , b,, ,c d\t,\n", ',', &v), 0);
    assert_int_equal(sv_strv_len(v), 3);
    assert_string_equal(v[0], "a");
    assert_string_equal(v[1], "b");
    assert_string_equal(v[2], "c d");
    v = sv_strv_free(v);
    assert_int_equal(sv_strv_split("", ',', &v), 0);
    assert_int_equal(sv_strv_len(v), 0);
    assert_int_equal(sv_strv_len(NULL), 0);
}

static void test_small_ones(void **state)
{
    _cleanup_free_ char *s = NULL;

    (void)state;
    assert_true(sv_streq(NULL, NULL));
    assert_false(sv_streq("", NULL));
    assert_true(sv_streq("a", "a"));
    assert_true(sv_has_prefix("abc", "ab"));
    assert_false(sv_has_prefix("a", "ab"));
    assert_true(sv_has_suffix("abc", "bc"));
    assert_false(sv_has_suffix("c", "bc"));
    assert_int_equal(sv_asprintf(&s, "%s/%d", "x", 4), 0);
    assert_string_equal(s, "x/4");
}

static void test_escape(void **state)
{
    char out[64];

    (void)state;
    sv_escape(out, sizeof(out), "a\nb\x1b[0m\xc3\xa9");
    assert_string_equal(out, "a\\x0ab\\x1b[0m\\xc3\\xa9");
    for (size_t n = 1; n < 12; n++) { /* cut, terminated, without a partial escape */
        memset(out, 'z', sizeof(out));
        sv_escape(out, n, "ab\nc");
        assert_true(strlen(out) < n);
        assert_int_equal(out[n], 'z');
        if (strchr(out, '\\'))
            assert_non_null(strstr(out, "\\x0a"));
    }
}

static void test_base64(void **state)
{
    static const struct {
        const char *raw, *text;
    } good[] = { { "", "" },        { "f", "Zg==" },        { "fo", "Zm8=" },
                 { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" } };
    static const char *const bad[] = { "Z",    "Zg",   "Zg=",      "Zg===",     "=Zg=",
                                       "Zh==", "Zm9=", "Zm 9v",    "Zm9v\n",    "Z-==",
                                       " Zm9", "====", "Zg==Zg==", "\xc3\xa9zz" };
    uint8_t *raw;
    size_t n;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(good); i++) {
        char *text;

        assert_int_equal(sv_base64_encode(good[i].raw, strlen(good[i].raw), &text), 0);
        assert_string_equal(text, good[i].text);
        free(text);
        assert_int_equal(sv_base64_decode(good[i].text, strlen(good[i].text), 100, &raw, &n), 0);
        assert_int_equal(n, strlen(good[i].raw));
        assert_memory_equal(raw, good[i].raw, n);
        free(raw);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(sv_base64_decode(bad[i], strlen(bad[i]), 100, &raw, &n), -EINVAL);
    assert_int_equal(sv_base64_decode("Zm9v", 4, 2, &raw, &n), -EMSGSIZE);
    assert_int_equal(sv_base64_decode("Zg==", 4, 1, &raw, &n), 0);
    free(raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u64),    cmocka_unit_test(test_i64),
        cmocka_unit_test(test_bool),   cmocka_unit_test(test_duration),
        cmocka_unit_test(test_size),   cmocka_unit_test(test_strv),
        cmocka_unit_test(test_escape), cmocka_unit_test(test_small_ones),
        cmocka_unit_test(test_base64),
    };
    return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
