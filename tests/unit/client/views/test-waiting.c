/* client/views/waiting.c: the reason in the diagnostics of Hadoop's ResourceManager and of ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "client/views/waiting.h"

#define ADDED                                                                                      \
    "[Sat Nov 28 10:00:00 +0000 2026] Application is added to the scheduler and is not yet "       \
    "activated. "
#define ACTIVE                                                                                     \
    "[Sat Nov 28 10:00:00 +0000 2026] Application is Activated, waiting for resources to be "      \
    "assigned for AM. "

static void says(enum cli_app_state state, const char *diagnostics, const char *wanted)
{
    char text[CLI_WAITING_MAX];

    assert_string_equal(cli_waiting_text(state, diagnostics, text), wanted);
}

static void test_reasons(void **state)
{
    (void)state;
    says(CLI_APP_ACCEPTED,
         ADDED
         "Queue's AM resource limit exceeded.  Details : AM Partition = <DEFAULT_PARTITION>; ",
         "Queue's AM resource limit exceeded.");
    says(CLI_APP_ACCEPTED,
         ACTIVE "Every node is full.  Last Node which was processed for the application : n:1 ( "
                "Partition : [] ). Details : AM Partition",
         "Every node is full.");
    says(CLI_APP_RUNNING, "Waiting for 2 containers. Every node is full. ",
         "Waiting for 2 containers. Every node is full.");
}

/* The state alone is a reason too. */
static void test_state_alone(void **state)
{
    (void)state;
    says(CLI_APP_ACCEPTED, ACTIVE " Details : AM Partition = x",
         "Application is Activated, waiting for resources to be assigned for AM.");
}

static void test_no_reason(void **state)
{
    (void)state;
    says(CLI_APP_ACCEPTED, NULL, "");
    says(CLI_APP_ACCEPTED, "", "");
    says(CLI_APP_ACCEPTED, "[", "");
    says(CLI_APP_RUNNING, "Attempt recovered after RM restart", "");
    says(CLI_APP_FAILED, ADDED "Queue's AM resource limit exceeded. ", "");
    says(CLI_APP_ACCEPTED, "AM container is launched, waiting for AM container to Register with RM",
         "");
}

static void test_long(void **state)
{
    char text[CLI_WAITING_MAX], long_text[4 * CLI_WAITING_MAX] = "Waiting for ";

    (void)state;
    memset(long_text + strlen(long_text), 'x', sizeof(long_text) - 20);
    assert_int_equal(strlen(cli_waiting_text(CLI_APP_RUNNING, long_text, text)),
                     CLI_WAITING_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_state_alone),
        cmocka_unit_test(test_no_reason),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
