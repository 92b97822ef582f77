/* Tests service/am/view/metrics.c. */
#include "service/am/view/metrics.h"

#include "tests/unit/service/am-fixture.h"

static void counters(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct am_fixture f;

    (void)state;
    am_fixture_new(&f, "{\"name\":\"shop\",\"version\":\"1\",\"components\":[{\"name\":\"web\","
                       "\"number_of_containers\":2,\"launch_command\":\"web\","
                       "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}");
    assert_int_equal(svc_metrics_print(f.engine, "shop", &b), 0);
    assert_int_equal(sv_buf_put_u8(&b, 0), 0);
    assert_non_null(strstr((char *)b.data, "# TYPE selvedge_service_ready_instances gauge\n"));
    assert_non_null(strstr((char *)b.data, "selvedge_service_ready_instances{service=\"shop\","
                                           "component=\"web\"} 2\n"));
    assert_non_null(strstr((char *)b.data, "selvedge_service_started_containers_total{service="
                                           "\"shop\",component=\"web\"} 2\n"));
    am_fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(counters) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
