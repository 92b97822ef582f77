/* web/container-series.c: the series of all containers, and what is left without their cgroup; the
 * counters behind them. */
#include "nodemanager/web/container-series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"

static const char *text_of(const struct nm_counters *n, const struct cg_usage *all)
{
    static char text[32768];
    struct sv_buf b = SV_BUF_INIT(sizeof(text) - 1);

    assert_true(nm_container_series(n, all, &b) >= 0);
    memcpy(text, b.data, b.len);
    text[b.len] = 0;
    sv_buf_free(&b);
    return text;
}

static void all_series(void **state)
{
    struct nm_counters n = { .throttled_periods = 3,
                             .throttled_usec = 4000005,
                             .ended[SV_END_MEMORY] = 2 };
    const struct cg_usage u = { .n_throttled = 7,
                                .throttled_usec = 8,
                                .oom_kills = 9,
                                .cpu_stall = { .some_usec = 1500000, .full_usec = 250000 },
                                .io_stall.full_usec = 1 };
    const char *text;

    (void)state;
    sv_histogram_add(&n.launch_times, 30);
    text = text_of(&n, &u);
    for (const char *const *line =
             (const char *const[]){
                 "# TYPE selvedge_containers_cpu_throttled_periods_total counter\n"
                 "selvedge_containers_cpu_throttled_periods_total{limit=\"container\"} 3\n"
                 "selvedge_containers_cpu_throttled_periods_total{limit=\"node\"} 7\n",
                 "selvedge_containers_cpu_throttled_seconds_total{limit=\"container\"} 4.000005\n"
                 "selvedge_containers_cpu_throttled_seconds_total{limit=\"node\"} 8e-06\n",
                 "selvedge_containers_pressure_waiting_seconds_total{resource=\"cpu\"} 1.5\n"
                 "selvedge_containers_pressure_waiting_seconds_total{resource=\"memory\"} "
                 "0\n",
                 "selvedge_containers_pressure_stalled_seconds_total{resource=\"cpu\"} 0.25\n",
                 "selvedge_containers_pressure_stalled_seconds_total{resource=\"io\"} 1e-06\n",
                 "\nselvedge_containers_oom_kills_total 9\n",
                 "\nselvedge_container_launch_seconds_bucket{le=\"0.05\"} 1\n",
                 "\nselvedge_container_launch_seconds_count 1\n",
                 "# HELP selvedge_heartbeat_seconds From a heartbeat",
                 "\nselvedge_containers_ended_total{reason=\"memory\"} 2\n", NULL };
         *line; line++)
        if (!strstr(text, *line))
            fail_msg("%s is not in: %s", *line, text);
    text = text_of(&n, NULL);
    assert_null(strstr(text, "pressure"));
    assert_null(strstr(text, "oom_kills"));
    assert_null(strstr(text, "limit=\"node\""));
    assert_non_null(strstr(text, "limit=\"container\"} 3\n"));
}

/* Readings are sums: each adds what is new, and one that is missing nothing. */
static void throttling(void **state)
{
    struct nm_context ctx = { 0 };
    struct nm_container c = { .ctx = &ctx };

    (void)state;
    nm_container_take_usage(&c, &(struct cg_usage){ .n_throttled = 2, .throttled_usec = 10 });
    nm_container_take_usage(&c, &(struct cg_usage){ .n_throttled = 5, .throttled_usec = 10 });
    nm_container_take_usage(&c, &(struct cg_usage){ .n_throttled = 5, .throttled_usec = 30 });
    nm_container_take_usage(&c, &(struct cg_usage){ .cpu_usec = 1 });
    assert_int_equal(ctx.counters.throttled_periods, 5);
    assert_int_equal(ctx.counters.throttled_usec, 30);
    assert_int_equal(c.usage.last.cpu_usec, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_series),
        cmocka_unit_test(throttling),
    };

    return cmocka_run_group_tests_name("container-series", tests, NULL, NULL);
}
