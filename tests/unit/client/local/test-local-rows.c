/* Tests client/local/local-rows.c: orders, and rates between two readings of other containers. */
#include "client/local/local-rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

/* Rows of "ID CPU MEMORY" each. */
static struct cli_local_rows rows_of(const char *const *list)
{
    struct cli_local_rows l;
    json_t *all = json_object();
    long long cpu, memory;
    char id[32];

    for (; *list; list++) {
        assert_int_equal(sscanf(*list, "%31s %lld %lld", id, &cpu, &memory), 3);
        json_object_set_new(
            all, id,
            json_pack("{s:s, s:I, s:I}", "Id", id, "CPUUsage", cpu, "MemoryCurrent", memory));
    }
    assert_int_equal(cli_local_rows_of(all, &l), 0);
    json_decref(all);
    return l;
}

static void assert_order(const struct cli_local_rows *l, const char *wanted)
{
    char found[64] = "";

    assert_true(l->n < sizeof(found));
    for (size_t i = 0; i < l->n; i++)
        found[i] = l->rows[i].id[0];
    assert_string_equal(found, wanted);
}

static void rates_and_orders(void **state)
{
    struct cli_local_rows before = rows_of((const char *[]){ "c 5000 1", "a 1000000 1", NULL });
    struct cli_local_rows now =
        rows_of((const char *[]){ "b 9000000 30", "c 4000 30", "a 2000000 20", NULL });

    (void)state;
    assert_order(&now, "abc");
    cli_local_rows_sort(&now, CLI_LOCAL_BY_MEMORY);
    assert_order(&now, "bca");
    before.read_ms = now.read_ms - 500;
    cli_local_rows_sort(&before, CLI_LOCAL_BY_MEMORY);
    cli_local_rows_rate(&now, &before);
    cli_local_rows_sort(&now, CLI_LOCAL_BY_CPU);
    assert_order(&now, "abc");
    assert_true(now.rows[0].cores > 1.99 && now.rows[0].cores < 2.01);
    assert_true(now.rows[1].cores < 0); /* it was not there before */
    assert_true(now.rows[2].cores < 0); /* its counter went back */
    cli_local_rows_free(&before);
    cli_local_rows_free(&now);
}

static void nothing(void **state)
{
    struct cli_local_rows none = rows_of((const char *[]){ NULL }), same = none;

    (void)state;
    cli_local_rows_rate(&none, &same); /* no time has passed */
    cli_local_rows_sort(&none, CLI_LOCAL_BY_CPU);
    assert_int_equal(none.n, 0);
    cli_local_rows_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rates_and_orders),
                                        cmocka_unit_test(nothing) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
