/* Tests client/commands/usage.c: sums over the containers of several nodes, and orders. */
#include "client/commands/usage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#define ID(app, n) "container_1700000000000_000" app "_01_00000" n
#define APP(n) "application_1700000000000_000" n

static json_t *row(const char *id, const char *state, int64_t bytes, double cores, double wait)
{
    return json_pack("{s:s, s:s, s:I, s:f, s:f}", "id", id, "state", state, "memoryBytes",
                     (json_int_t)bytes, "cpuCores", cores, "cpuPressure", wait);
}

static json_t *silent(const char *id) /* from a node without usage */
{
    return json_pack("{s:s, s:s, s:n, s:n}", "id", id, "state", "RUNNING", "memoryBytes",
                     "cpuCores");
}

static struct cli_usage two_apps(void)
{
    struct cli_usage u;

    assert_int_equal(cli_usage_init(&u), 0);
    cli_usage_add_app(&u, json_pack("{s:s}", "id", APP("1")));
    cli_usage_add_app(&u, json_pack("{s:s}", "id", APP("2")));
    cli_usage_add_node(&u,
                       json_pack("[o,o,o,o]", row(ID("1", "2"), "RUNNING", 100, 0.5, 0.1),
                                 row(ID("2", "2"), "RUNNING", 10, 3, 0.4),
                                 row(ID("1", "3"), "DONE", 1000, 9, 0.9),
                                 row("nonsense", "RUNNING", 1, 1, 1)),
                       NULL);
    cli_usage_add_node(&u,
                       json_pack("[o,o,o]", row(ID("1", "4"), "RUNNING", 50, 0.25, 0.2),
                                 row(ID("3", "2"), "RUNNING", 5, 0, 0), silent(ID("2", "3"))),
                       NULL);
    return u;
}

static const json_t *app(const struct cli_usage *u, const char *id)
{
    return json_object_get(u->by_id, id);
}

static void sums(void **state)
{
    struct cli_usage u = two_apps();

    (void)state;
    assert_int_equal(json_integer_value(json_object_get(app(&u, APP("1")), "memoryBytes")), 150);
    assert_true(json_real_value(json_object_get(app(&u, APP("1")), "cpuCores")) == 0.75);
    assert_true(json_real_value(json_object_get(app(&u, APP("1")), "cpuPressure")) == 0.2);
    assert_true(json_is_null(json_object_get(app(&u, APP("1")), "ioPressure")));
    assert_int_equal(json_array_size(u.apps), 2);
    assert_int_equal(json_array_size(u.containers), 5); /* also of one that is not listed */
    cli_usage_free(&u);
}

static void assert_order(const json_t *rows, enum cli_usage_order order, const char *wanted)
{
    json_t *sorted = cli_usage_sorted(rows, order);
    char found[16] = "";

    assert_true(json_array_size(sorted) < sizeof(found));
    for (size_t i = 0; i < json_array_size(sorted); i++) {
        const char *id = json_string_value(json_object_get(json_array_get(sorted, i), "id"));

        found[i] = id[strlen("container_1700000000000_000")];
    }
    assert_string_equal(found, wanted);
    json_decref(sorted);
}

static void orders(void **state)
{
    struct cli_usage u = two_apps();

    (void)state;
    assert_order(u.containers, CLI_USAGE_BY_CPU, "21132"); /* the unknown one last */
    assert_order(u.containers, CLI_USAGE_BY_MEMORY, "11232");
    cli_usage_free(&u);
}

static void one_application(void **state)
{
    struct cli_usage u;

    (void)state;
    assert_int_equal(cli_usage_init(&u), 0);
    cli_usage_add_node(&u,
                       json_pack("[o,o]", row(ID("1", "2"), "RUNNING", 1, 1, 0),
                                 row(ID("2", "2"), "RUNNING", 1, 1, 0)),
                       APP("2"));
    assert_int_equal(json_array_size(u.containers), 1);
    cli_usage_free(&u);
}

/* Figures of a hostile node: no overflow, nothing below zero, no infinity. */
static void out_of_range(void **state)
{
    struct cli_usage u;

    (void)state;
    assert_int_equal(cli_usage_init(&u), 0);
    cli_usage_add_app(&u, json_pack("{s:s}", "id", APP("1")));
    cli_usage_add_node(&u,
                       json_pack("[o,o,o]", row(ID("1", "2"), "RUNNING", INT64_MAX, 1e308, 0),
                                 row(ID("1", "3"), "RUNNING", INT64_MAX, 1e308, 0),
                                 row(ID("1", "4"), "RUNNING", -5, -1, -1)),
                       NULL);
    assert_true(json_integer_value(json_object_get(app(&u, APP("1")), "memoryBytes")) == INT64_MAX);
    assert_true(json_real_value(json_object_get(app(&u, APP("1")), "cpuCores")) == 1e308);
    cli_usage_free(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(orders),
        cmocka_unit_test(one_application),
        cmocka_unit_test(out_of_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
