/* resources/elastic-memory.c: the order in which containers are killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/resources/elastic-memory.h"

static void order(void **state)
{
    /* In the order in which they are killed. */
    static const struct nm_elastic_row rows[] = {
        { .opportunistic = true, .used = 200, .asked = 100, .launch_ms = 1 },
        { .opportunistic = true, .used = 50, .asked = 100, .launch_ms = 9 },
        { .opportunistic = true, .used = 50, .asked = 100, .launch_ms = 8 },
        { .used = 101, .asked = 100, .launch_ms = 3 },
        { .used = 900, .asked = 100, .launch_ms = 2 },
        { .used = 100, .asked = 100, .launch_ms = 7 },
        { .used = 10, .asked = 100, .launch_ms = 6 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++)
            assert_int_equal(nm_elastic_before(&rows[i], &rows[j]), i < j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
