/* Tests client/core/session.h: the default time limits of a command. They are for a person; other
 * tests set limits of their own. */
#include "client/core/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
/* after the three above */
#include <cmocka.h>

static void patience(void **state)
{
    (void)state;
    assert_int_equal(CLI_WAIT_MS, 5000);    /* without an answer of the ResourceManager */
    assert_int_equal(CLI_COMPLETE_MS, 300); /* of a shell's completion as a whole */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(patience) };

    return cmocka_run_group_tests_name("client/session", tests, NULL, NULL);
}
