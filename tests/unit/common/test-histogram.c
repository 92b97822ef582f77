/* common/histogram.c: each duration is in one bucket, the text adds them up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/histogram.h"

static void text_of(const struct sv_histogram *h, char *ret, size_t size)
{
    struct sv_buf b = SV_BUF_INIT(65536);

    assert_true(sv_histogram_put(h, "x_seconds", &b) >= 0);
    assert_true(b.len < size);
    memcpy(ret, b.data, b.len);
    ret[b.len] = 0;
    sv_buf_free(&b);
}

static void buckets(void **state)
{
    static const int64_t ms[] = { -3, 0, 5, 6, 10, 1000, 59999, 60000, 60001, 3600000 };
    struct sv_histogram h = { 0 };
    char text[4096];

    (void)state;
    text_of(&h, text, sizeof(text));
    assert_non_null(strstr(text, "\nx_seconds_sum 0.000\nx_seconds_count 0\n"));
    for (size_t i = 0; i < SV_ARRAY_LEN(ms); i++)
        sv_histogram_add(&h, ms[i]);
    text_of(&h, text, sizeof(text));
    assert_string_equal(text, "# TYPE x_seconds histogram\n"
                              "x_seconds_bucket{le=\"0.005\"} 3\n"
                              "x_seconds_bucket{le=\"0.01\"} 5\n"
                              "x_seconds_bucket{le=\"0.025\"} 5\n"
                              "x_seconds_bucket{le=\"0.05\"} 5\n"
                              "x_seconds_bucket{le=\"0.1\"} 5\n"
                              "x_seconds_bucket{le=\"0.25\"} 5\n"
                              "x_seconds_bucket{le=\"0.5\"} 5\n"
                              "x_seconds_bucket{le=\"1\"} 6\n"
                              "x_seconds_bucket{le=\"2.5\"} 6\n"
                              "x_seconds_bucket{le=\"5\"} 6\n"
                              "x_seconds_bucket{le=\"10\"} 6\n"
                              "x_seconds_bucket{le=\"20\"} 6\n"
                              "x_seconds_bucket{le=\"30\"} 6\n"
                              "x_seconds_bucket{le=\"60\"} 8\n"
                              "x_seconds_bucket{le=\"+Inf\"} 10\n"
                              "x_seconds_sum 3781.021\n"
                              "x_seconds_count 10\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets),
    };

    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
