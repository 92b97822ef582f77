/* Tests client/http/peer-answer.c: REST answers of our daemons and of Apache's, and hostile ones.
 */
#include "client/http/peer-answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static json_t *container(const char *body)
{
    return cli_answer_container(body, strlen(body));
}

static void ours(void **state)
{
    json_t *c =
        container("{\"container\":{\"id\":\"container_1_0001_01_000002\",\"state\":\"RUNNING\","
                  "\"exitCode\":-1000,\"totalMemoryNeededMB\":256,\"containerLogFiles\":"
                  "[\"stdout\",7],\"selvedge\":{\"memoryBytes\":4096,\"cpuCores\":1.5,"
                  "\"limitsNotEnforced\":[],\"usage\":{\"pressure\":{\"cpu\":"
                  "{\"some\":25.0}}}}}}");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(c, "state")), "RUNNING");
    assert_int_equal(json_integer_value(json_object_get(c, "exitCode")), -1000);
    assert_int_equal(json_integer_value(json_object_get(c, "memoryMb")), 256);
    assert_int_equal(json_array_size(json_object_get(c, "logFiles")), 1);
    assert_true(json_real_value(json_object_get(c, "cpuPressure")) == 0.25);
    assert_true(json_is_null(json_object_get(c, "pids"))); /* absent */
    assert_int_equal(json_array_size(json_object_get(c, "limitsNotEnforced")), 0);
    json_decref(c);
}

/* No object "selvedge"; a list of one may come without its brackets. */
static void apaches(void **state)
{
    static const char one[] =
        "{\"containers\":{\"container\":{\"id\":\"a\",\"state\":\"RUNNING\"}}}";
    static const char none[] = "{\"containers\":{}}", null[] = "{\"containers\":null}";
    json_t *list = cli_answer_containers(one, sizeof(one) - 1);
    const json_t *first = json_array_get(list, 0);

    (void)state;
    assert_int_equal(json_array_size(list), 1);
    assert_true(json_is_null(json_object_get(first, "memoryBytes")));
    assert_true(json_is_null(json_object_get(first, "limitsNotEnforced")));
    json_decref(list);
    list = cli_answer_containers(none, sizeof(none) - 1);
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
    list = cli_answer_containers(null, sizeof(null) - 1); /* Apache's, of a node without any */
    assert_non_null(list);
    json_decref(list);
}

/* Other types are null, other answers NULL. */
static void hostile(void **state)
{
    static const char *const wrong[] = { "",
                                         "[]",
                                         "7",
                                         "{}",
                                         "{\"container\":[]}",
                                         "{\"container\":",
                                         "<html>",
                                         "{\"container\":{\"exitCode\":1e999}}",
                                         "{\"container\":{\"exitCode\":99999999999999999999}}" };
    json_t *c =
        container("{\"container\":{\"id\":7,\"state\":{},\"exitCode\":\"1\",\"selvedge\":[],"
                  "\"totalMemoryNeededMB\":1.5,\"containerLogFiles\":\"x\"}}");
    const char *key;
    json_t *value;

    (void)state;
    assert_non_null(c);
    json_object_foreach(c, key, value) assert_true(json_is_null(value));
    json_decref(c);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_null(container(wrong[i]));
}

static void deep(void **state)
{
    enum { DEPTH = 1000000 };
    static char body[2 * DEPTH];
    char start[] = "{\"containers\":{\"container\":";

    (void)state;
    memset(body, '[', sizeof(body));
    memcpy(body, start, strlen(start));
    assert_null(cli_answer_containers(body, sizeof(body)));
}

/* More containers than any node has: the rest is left out. */
static void many(void **state)
{
    enum { N = CLI_ANSWER_ITEMS_MAX + 5 };
    static char body[32 + 3 * N];
    json_t *list;
    size_t n;

    (void)state;
    n = (size_t)snprintf(body, sizeof(body), "{\"containers\":{\"container\":[{}");
    for (int i = 1; i < N; i++) {
        memcpy(body + n, ",{}", 3);
        n += 3;
    }
    memcpy(body + n, "]}}", 3);
    list = cli_answer_containers(body, n + 3);
    assert_int_equal(json_array_size(list), CLI_ANSWER_ITEMS_MAX);
    json_decref(list);
}

static void other_answers(void **state)
{
    static const char app[] = "{\"app\":{\"priority\":3,\"memorySeconds\":12}}";
    static const char info[] =
        "{\"clusterInfo\":{\"hadoopVersion\":\"3.4.2\",\"haState\":\"ACTIVE\"}}";
    static const char node[] =
        "{\"nodeInfo\":{\"nodeHealthy\":true,\"selvedge\":{\"containers\":null}}}";
    json_t *a = cli_answer_app(app, sizeof(app) - 1),
           *i = cli_answer_cluster(info, sizeof(info) - 1);
    json_t *n = cli_answer_node(node, sizeof(node) - 1);

    (void)state;
    assert_int_equal(json_integer_value(json_object_get(a, "priority")), 3);
    assert_string_equal(json_string_value(json_object_get(i, "hadoopVersion")), "3.4.2");
    assert_true(json_is_true(json_object_get(n, "healthy")));
    assert_true(json_is_null(json_object_get(n, "memoryBytes")));
    json_decref(a);
    json_decref(i);
    json_decref(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours), cmocka_unit_test(apaches), cmocka_unit_test(hostile),
        cmocka_unit_test(deep), cmocka_unit_test(many),    cmocka_unit_test(other_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
