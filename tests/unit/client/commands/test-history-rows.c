/* Tests client/commands/history-rows.c: hours out of seconds, what is hidden, texts of users, and
 * the order of sums. */
#include "client/commands/history-rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static json_t *load(const char *text)
{
    json_t *o = json_loads(text, 0, NULL);

    assert_non_null(o);
    return o;
}

static void row_is(const char *sent, const char *wanted)
{
    json_t *app = load(sent), *row = cli_history_row(app), *good = load(wanted);

    if (!json_equal(row, good))
        fail_msg("%s", json_dumps(row, JSON_COMPACT));
    json_decref(app);
    json_decref(row);
    json_decref(good);
}

static void rows(void **state)
{
    (void)state;
    row_is("{\"id\":\"application_1_0001\",\"user\":\"ann\",\"queue\":\"root.a\",\"name\":\"x\","
           "\"applicationType\":\"SPARK\",\"state\":\"FINISHED\",\"finalStatus\":\"SUCCEEDED\","
           "\"startedTime\":1000,\"finishedTime\":61000,\"elapsedTime\":60000,\"attempts\":2,"
           "\"memorySeconds\":3686400,\"vcoreSeconds\":5402,\"diagnostics\":\"\","
           "\"resourceSecondsMap\":{\"entry\":[{\"key\":\"vcores\",\"value\":\"5402\"},"
           "{\"key\":\"yarn.io/gpu\",\"value\":\"900\"}]}}",
           "{\"id\":\"application_1_0001\",\"user\":\"ann\",\"queue\":\"root.a\",\"name\":\"x\","
           "\"type\":\"SPARK\",\"state\":\"FINISHED\",\"finalStatus\":\"SUCCEEDED\","
           "\"startedTime\":1000,\"finishedTime\":61000,\"elapsedMs\":60000,\"attempts\":2,"
           "\"memoryMbSeconds\":3686400,\"vcoreSeconds\":5402,\"diagnostics\":\"\","
           "\"coreHours\":1.501,\"gibHours\":1.0,\"gpuHours\":0.25}");
}

/* Members that the caller may not see, and members of other types. */
static void hidden(void **state)
{
    (void)state;
    row_is("{\"id\":\"application_1_0001\",\"user\":7,\"name\":\"a\\u001b[2J\",\"queue\":null,"
           "\"vcoreSeconds\":\"5\",\"resourceSecondsMap\":{\"entry\":[4,{\"key\":\"yarn.io/gpu\","
           "\"value\":\"x\"}]}}",
           "{\"id\":\"application_1_0001\",\"user\":null,\"queue\":null,\"name\":\"a\\u001b[2J\","
           "\"type\":null,\"state\":null,\"finalStatus\":null,\"startedTime\":null,"
           "\"finishedTime\":null,\"elapsedMs\":null,\"attempts\":null,\"memoryMbSeconds\":null,"
           "\"vcoreSeconds\":null,\"diagnostics\":null,\"coreHours\":null,\"gibHours\":null,"
           "\"gpuHours\":null}");
}

static void sums(void **state)
{
    json_t *sent = load("[{\"user\":\"ann\",\"apps\":1,\"memorySeconds\":5,\"vcoreSeconds\":3600},"
                        "{\"user\":\"bob\",\"apps\":2,\"memorySeconds\":9,\"vcoreSeconds\":7200},"
                        "{\"user\":null,\"apps\":4,\"memorySeconds\":6,\"vcoreSeconds\":3600}]");
    json_t *list = cli_history_sums(sent, "user"), *first = json_array_get(list, 0);

    (void)state;
    assert_int_equal(json_array_size(list), 3);
    assert_string_equal(json_string_value(json_object_get(first, "user")), "bob");
    assert_int_equal(json_integer_value(json_object_get(first, "applications")), 2);
    assert_true(json_real_value(json_object_get(first, "coreHours")) == 2.0);
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "user")));
    json_decref(list);
    json_decref(sent);
    list = cli_history_sums(NULL, "queue"); /* an answer without them */
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rows), cmocka_unit_test(hidden),
                                        cmocka_unit_test(sums) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
