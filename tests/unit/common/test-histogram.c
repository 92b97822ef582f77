/* common/histogram.c: each duration is in one bucket, the text adds them up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/histogram.h"

static void text_of(const struct sv_histogram *h, const char *labels, char *ret, size_t size)
{
    struct sv_buf b = SV_BUF_INIT(65536);

    assert_true(sv_histogram_put(h, "x_seconds", labels, &b) >= 0);
    assert_true(b.len < size);
    memcpy(ret, b.data, b.len);
    ret[b.len] = 0;
    sv_buf_free(&b);
}

static void buckets(void **state)
{
    static const int64_t ms[] = { -3, 0, 5, 6, 10, 1000, 59999, 60000, 60001, 3600001 };
    struct sv_histogram h = { 0 };
    char text[4096];

    (void)state;
    text_of(&h, "", text, sizeof(text));
    assert_non_null(strstr(text, "\nx_seconds_sum 0.000000\nx_seconds_count 0\n"));
    for (size_t i = 0; i < SV_ARRAY_LEN(ms); i++)
        sv_histogram_add(&h, ms[i]);
    sv_histogram_add_us(&h, 501);
    assert_int_equal(sv_histogram_count(&h), 11);
    text_of(&h, "", text, sizeof(text));
    assert_string_equal(text, "x_seconds_bucket{le=\"0.0005\"} 2\n"
                              "x_seconds_bucket{le=\"0.001\"} 3\n"
                              "x_seconds_bucket{le=\"0.005\"} 4\n"
                              "x_seconds_bucket{le=\"0.01\"} 6\n"
                              "x_seconds_bucket{le=\"0.025\"} 6\n"
                              "x_seconds_bucket{le=\"0.05\"} 6\n"
                              "x_seconds_bucket{le=\"0.1\"} 6\n"
                              "x_seconds_bucket{le=\"0.25\"} 6\n"
                              "x_seconds_bucket{le=\"0.5\"} 6\n"
                              "x_seconds_bucket{le=\"1\"} 7\n"
                              "x_seconds_bucket{le=\"2.5\"} 7\n"
                              "x_seconds_bucket{le=\"5\"} 7\n"
                              "x_seconds_bucket{le=\"10\"} 7\n"
                              "x_seconds_bucket{le=\"20\"} 7\n"
                              "x_seconds_bucket{le=\"30\"} 7\n"
                              "x_seconds_bucket{le=\"60\"} 9\n"
                              "x_seconds_bucket{le=\"300\"} 10\n"
                              "x_seconds_bucket{le=\"900\"} 10\n"
                              "x_seconds_bucket{le=\"3600\"} 10\n"
                              "x_seconds_bucket{le=\"+Inf\"} 11\n"
                              "x_seconds_sum 3781.022501\n"
                              "x_seconds_count 11\n");
}

static void labels(void **state)
{
    struct sv_histogram h = { 0 };
    char text[4096];

    (void)state;
    sv_histogram_add(&h, INT64_MAX);
    text_of(&h, "a=\"b\"", text, sizeof(text));
    assert_non_null(strstr(text, "x_seconds_bucket{a=\"b\",le=\"3600\"} 0\n"));
    assert_non_null(strstr(text, "x_seconds_bucket{a=\"b\",le=\"+Inf\"} 1\n"));
    assert_non_null(strstr(text, "\nx_seconds_count{a=\"b\"} 1\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets),
        cmocka_unit_test(labels),
    };

    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
