/* See amrm-bean.h. Hadoop's quantiles are not there. */
#include "nodemanager/web/amrm-bean.h"

#include "common/web/jmx-daemon.h"
#include "common/web/jmx.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"

json_t *nm_amrm_bean(const char *service, const struct nm_amrm_counters *c, int64_t now_ms)
{
    json_t *b = sv_jmx_bean(service, "AMRMProxyMetrics", "AMRMProxyMetrics", "fedr");

    sv_jmx_num(b, "FailedAppStartRequests", (int64_t)c->failed_starts);
    sv_jmx_num(b, "FailedRegisterAMRequests", (int64_t)c->failed[NM_AMRM_REGISTER]);
    sv_jmx_num(b, "FailedFinishAMRequests", (int64_t)c->failed[NM_AMRM_FINISH]);
    sv_jmx_num(b, "FailedAllocateRequests", (int64_t)c->failed[NM_AMRM_ALLOCATE]);
    sv_jmx_num(b, "FailedAppRecoveryCount", (int64_t)c->failed_recoveries);
    sv_jmx_rate(b, "TotalSucceededAppStartRequests", &c->starts, now_ms);
    sv_jmx_rate(b, "TotalSucceededRegisterAMRequests", &c->answered[NM_AMRM_REGISTER], now_ms);
    sv_jmx_rate(b, "TotalSucceededFinishAMRequests", &c->answered[NM_AMRM_FINISH], now_ms);
    sv_jmx_rate(b, "TotalSucceededAllocateRequests", &c->answered[NM_AMRM_ALLOCATE], now_ms);
    return b;
}
