/* Names of metrics, patterns of beans, and both forms of the answer. */
#include "common/web/jmx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_names(void **state)
{
    static const char *const rows[][3] = {
        { "ClusterMetrics", "NumActiveNMs", "cluster_metrics_num_active_n_ms" },
        { "QueueMetrics", "AllocatedMB", "queue_metrics_allocated_mb" },
        { "QueueMetrics", "running_60", "queue_metrics_running_60" },
        { "QueueMetrics", "AMResourceLimitMB", "queue_metrics_am_resource_limit_mb" },
        { "NodeManagerMetrics", "ContainersLaunched", "node_manager_metrics_containers_launched" },
        { "A b", "x-y", "a_b_x_y" },
    };
    char name[256], big[600];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        sv_prometheus_name(rows[i][0], rows[i][1], name);
        assert_string_equal(name, rows[i][2]);
    }
    memset(big, 'A', sizeof(big) - 1);
    big[sizeof(big) - 1] = 0;
    sv_prometheus_name(big, big, name);
    assert_true(strlen(name) < sizeof(name));
}

static void test_patterns(void **state)
{
    static const char name[] = "Hadoop:service=ResourceManager,name=QueueMetrics,q0=root";
    char hostile[400];

    (void)state;
    assert_true(sv_jmx_matches(name, name));
    assert_true(sv_jmx_matches("Hadoop:*", name));
    assert_true(sv_jmx_matches("*:*name=Queue?etrics*", name));
    assert_true(sv_jmx_matches("*", name));
    assert_false(sv_jmx_matches("Hadoop:service=NodeManager*", name));
    assert_false(sv_jmx_matches("", name));
    assert_false(sv_jmx_matches("Hadoop:service=ResourceManager", name));
    for (size_t i = 0; i + 1 < sizeof(hostile); i++)
        hostile[i] = i % 2 ? 'e' : '*';
    hostile[sizeof(hostile) - 1] = 0;
    assert_false(sv_jmx_matches(hostile, name)); /* and soon */
}

static json_t *beans(void)
{
    static const char *const queues[] = { "root", "root.\"a\\\n" };
    json_t *list = json_array();

    for (size_t i = 0; i < SV_ARRAY_LEN(queues); i++) {
        json_t *b =
            sv_jmx_bean("ResourceManager", i ? "QueueMetrics,q0=root,q1=a" : "QueueMetrics,q0=root",
                        "QueueMetrics", "yarn");

        sv_jmx_tag(b, "Queue", queues[i]);
        sv_jmx_num(b, "AppsRunning", (int64_t)i + 1);
        sv_jmx_real(b, "UsedCapacity", 0.5);
        assert_int_equal(json_array_append_new(list, b), 0);
    }
    return list;
}

static void test_prometheus(void **state)
{
    struct sv_http_response a = { 0 };
    struct sv_buf more = SV_BUF_INIT(100);
    char *text;

    (void)state;
    assert_true(sv_buf_put_str(&more, "own_total 7\n") >= 0);
    assert_true(sv_prometheus_answer(beans(), &more, &a) >= 0);
    assert_int_equal(a.status, 200);
    text = strndup(a.body, a.body_len);
    assert_non_null(text);
    assert_non_null(strstr(text, "# TYPE queue_metrics_apps_running gauge\n"
                                 "queue_metrics_apps_running{context=\"yarn\",hostname=\""));
    assert_non_null(strstr(text, ",queue=\"root\"} 1\n"));
    assert_non_null(strstr(text, ",queue=\"root.\\\"a\\\\\\n\"} 2\n"));
    assert_ptr_equal(strstr(strstr(text, "# TYPE queue_metrics_apps_running") + 1,
                            "# TYPE queue_metrics_apps_running"),
                     NULL);
    assert_non_null(strstr(text, "\nown_total 7\n"));
    assert_null(strstr(text, "\n\n"));
    free(text);
    free(a.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_prometheus),
    };

    return cmocka_run_group_tests_name("jmx", tests, NULL, NULL);
}
