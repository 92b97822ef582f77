/* conf-launch.c: the niceness of jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/nodemanager/conf/conf-fixture.h"

static void niceness(void **state)
{
    static const char key[] = "yarn.nodemanager.container-executor.os.sched.priority.adjustment";
    static const struct {
        const char *value, *refused; /* NULL: taken */
        int niceness;
    } rows[] = {
        { NULL, NULL, 0 },
        { "0", NULL, 0 },
        { "19", NULL, 19 },
        { "20", "expected a whole number from -20 to 19", 0 },
        { "-21", "expected a whole number from -20 to 19", 0 },
        { "five", "expected a whole number from -20 to 19", 0 },
        { "-1", "is \"-1\": a job's priority can only be lowered, by 0 to 19", 0 },
        { "-20", "raise CPUWeight= of the unit", 0 },
    };
    char text[128];
    struct nm_conf c;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        (void)snprintf(text, sizeof(text), "%s=%s", key, rows[i].value ? rows[i].value : "");
        if (rows[i].refused) {
            expect_refused(SET(text), rows[i].refused);
            continue;
        }
        expect_ok(rows[i].value ? SET(text) : SET(NULL), &c);
        assert_int_equal(c.niceness, rows[i].niceness);
        nm_conf_free(&c);
    }
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(niceness) };

    return cmocka_run_group_tests(tests, setup, teardown);
}
