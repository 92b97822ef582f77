/* web/amrm-bean.c: Hadoop's names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/web/amrm-bean.h"

static void names(void **state)
{
    struct nm_amrm_counters c = { .failed_starts = 1, .failed = { 2, 3, 4 } };
    json_t *b;

    (void)state;
    sv_rate_add(&c.answered[NM_AMRM_ALLOCATE], 12, 1000);
    b = nm_amrm_bean("NodeManager", &c, 1001);
    assert_non_null(b);
    assert_string_equal(json_string_value(json_object_get(b, "name")),
                        "Hadoop:service=NodeManager,name=AMRMProxyMetrics");
    assert_int_equal(json_integer_value(json_object_get(b, "FailedAppStartRequests")), 1);
    assert_int_equal(json_integer_value(json_object_get(b, "FailedRegisterAMRequests")), 2);
    assert_int_equal(json_integer_value(json_object_get(b, "FailedAllocateRequests")), 3);
    assert_int_equal(json_integer_value(json_object_get(b, "FailedFinishAMRequests")), 4);
    assert_int_equal(json_integer_value(json_object_get(b, "TotalSucceededAllocateRequestsNumOps")),
                     1);
    json_decref(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(names) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
