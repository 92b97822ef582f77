/* common/web/series.c: each series with its type and help, labels escaped and bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/version.h"
#include "common/web/series.h"

static char text[65536];

static void take(struct sv_buf *b)
{
    assert_true(b->len < sizeof(text));
    memcpy(text, b->data, b->len);
    text[b->len] = 0;
    sv_buf_free(b);
}

static void values(void **state)
{
    struct sv_buf b = SV_BUF_INIT(65536);
    struct sv_series s = { .out = &b };
    struct sv_histogram h = { 0 };
    char labels[SV_SERIES_LABELS];

    (void)state;
    sv_series_one(&s, "a_total", "counter", "All of them.", 9007199254740992.0);
    sv_series_head(&s, "b", "gauge", "Some.");
    sv_series_value(&s, "b", sv_series_labels(labels, "x", "1\"2\\3\n4", "y", NULL, NULL), 0.25);
    sv_series_one_histogram(&s, "c_seconds", "Times.", &h);
    assert_int_equal(s.error, 0);
    take(&b);
    assert_non_null(strstr(text, "# HELP a_total All of them.\n# TYPE a_total counter\n"
                                 "a_total 9.00719925474099e+15\n"
                                 "# HELP b Some.\n# TYPE b gauge\n"
                                 "b{x=\"1\\\"2\\\\3\\n4\",y=\"\"} 0.25\n"
                                 "# HELP c_seconds Times.\n# TYPE c_seconds histogram\n"
                                 "c_seconds_bucket{le=\"0.0005\"} 0\n"));
}

static void bounds(void **state)
{
    struct sv_buf b = SV_BUF_INIT(64);
    struct sv_series s = { .out = &b };
    char labels[SV_SERIES_LABELS], *name = malloc(5000);

    (void)state;
    assert_non_null(name);
    memset(name, '"', 4999);
    name[4999] = 0;
    (void)sv_series_labels(labels, "a", name, "b", name, NULL);
    assert_true(strlen(labels) < SV_SERIES_LABELS);
    assert_int_equal(labels[strlen(labels) - 1], '"');
    sv_series_value(&s, "a", labels, 1);
    sv_series_one(&s, "b", "gauge", "Later.", 1);
    assert_true(s.error < 0);
    sv_buf_free(&b);
    free(name);
}

static void process(void **state)
{
    struct sv_buf b = SV_BUF_INIT(65536);
    struct sv_series s = { .out = &b };
    const char *start;
    double at;

    (void)state;
    sv_series_process(&s, "test");
    take(&b);
    assert_non_null(
        strstr(text, "selvedge_build_info{component=\"test\",version=\"" SV_VERSION "\"} 1\n"));
    start = strstr(text, "\nprocess_start_time_seconds ");
    assert_non_null(start);
    at = strtod(start + strlen("\nprocess_start_time_seconds "), NULL);
    assert_true(at > (double)sv_wall_ms() / 1000 - 3600 && at <= (double)sv_wall_ms() / 1000 + 1);
    assert_non_null(strstr(text, "\nprocess_resident_memory_bytes "));
    assert_non_null(strstr(text, "\nprocess_max_fds "));
}

static void rpc(void **state)
{
    struct sv_buf b = SV_BUF_INIT(65536);
    struct sv_series s = { .out = &b };
    struct sv_rpc_method methods[] = { { .name = "called" }, { .name = "never" } };
    const struct sv_rpc_counters counters = { .errors = 3 };
    const struct sv_series_rpc server = { .service = "P",
                                          .connections = 2,
                                          .open_calls = 1,
                                          .counters = &counters,
                                          .methods = methods,
                                          .n_methods = 2 };

    (void)state;
    sv_histogram_add_us(&methods[0].times, 700);
    sv_series_rpc(&s, &server, 1);
    take(&b);
    assert_non_null(strstr(text, "\nselvedge_rpc_errors_total{service=\"P\"} 3\n"));
    assert_non_null(strstr(
        text, "\nselvedge_rpc_seconds_bucket{service=\"P\",method=\"called\",le=\"0.001\"} 1\n"));
    assert_null(strstr(text, "never"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(bounds),
        cmocka_unit_test(process),
        cmocka_unit_test(rpc),
    };

    return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
