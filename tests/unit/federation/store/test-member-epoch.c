/* Tests federation/store/member-epoch.c: epochs in capabilities, and members that share one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "federation/store/member-epoch.h"

#define OF(epoch) "{\"clusterMetrics\":{\"availableMB\":7,\"selvedgeEpoch\":" epoch "}}"

static void test_texts(void **state)
{
    static const struct {
        const char *text;
        int64_t epoch;
    } cases[] = {
        { OF("0"), 0 },
        { OF("1000"), 1000 },
        { OF("-1"), -1 },
        { OF("\"1\""), -1 },
        { OF("1.5"), -1 },
        { OF("99999999999999999999"), -1 },
        { OF("1,\"selvedgeEpoch\":2"), -1 },
        { "{\"selvedgeEpoch\":1}", -1 },
        { "{\"clusterMetrics\":{\"availableMB\":7}}", -1 }, /* Apache's */
        { "selvedgeEpoch", -1 },
        { "", -1 },
        { NULL, -1 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++)
        if (fed_member_epoch(cases[i].text) != cases[i].epoch)
            fail_msg("case %zu: %s", i, cases[i].text);
}

static char said[128];

static void on_found(const struct fed_member *a, const struct fed_member *b, int64_t epoch,
                     void *userdata)
{
    size_t n = strlen(said);

    assert_ptr_equal(userdata, said);
    (void)snprintf(said + n, sizeof(said) - n, "%s=%s:%d ", a->id, b->id, (int)epoch);
}

static void test_members(void **state)
{
    const struct fed_member members[] = {
        { .id = "A", .state = FED_RUNNING, .capability = OF("1") },
        { .id = "B", .state = FED_LOST, .capability = OF("1") },
        { .id = "C", .state = FED_RUNNING, .capability = "{}" },
        { .id = "D", .state = FED_RUNNING, .capability = OF("2") },
        { .id = "E", .state = FED_RUNNING, .capability = OF("1") },
        { .id = "F", .state = FED_RUNNING, .capability = OF("1") },
        { .id = "G", .state = FED_RUNNING, .capability = "{}" },
    };

    (void)state;
    assert_int_equal(fed_members_with_one_epoch(members, SV_ARRAY_LEN(members), on_found, said), 0);
    assert_string_equal(said, "A=E:1 A=F:1 ");
    assert_int_equal(fed_members_with_one_epoch(NULL, 0, on_found, said), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_texts),
                                        cmocka_unit_test(test_members) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
