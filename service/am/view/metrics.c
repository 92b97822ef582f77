/* See metrics.h. Names of services and components have no byte that a label would escape. */
#include "service/am/view/metrics.h"

#include <inttypes.h>
#include <stddef.h>

#include "common/loop-guard.h"

static const struct row {
    const char *name, *type, *help;
    size_t at; /* of the counter in the view of a component */
} rows[] = {
#define ROW(name, type, field, help)                                                               \
    {                                                                                              \
        "selvedge_service_" name, type, help, offsetof(struct svc_component_view, field)           \
    }
    ROW("desired_instances", "gauge", desired, "Instances that are wanted"),
    ROW("live_instances", "gauge", live, "Instances that have a container"),
    ROW("ready_instances", "gauge", ready, "Instances that are ready"),
    ROW("pending_instances", "gauge", pending, "Instances without a container"),
    ROW("requested_containers", "gauge", requested, "Containers that are requested"),
    ROW("releasing_containers", "gauge", releasing, "Containers that are being released"),
    ROW("succeeded_instances", "gauge", succeeded, "Instances that ended well for good"),
    ROW("failed_instances", "gauge", failed, "Instances that failed for good"),
    ROW("started_containers_total", "counter", started_total, "Containers that were started"),
    ROW("start_failures_total", "counter", start_failed_total, "Containers that did not start"),
    ROW("completed_containers_total", "counter", completed_total, "Containers that ended"),
    ROW("failed_containers_total", "counter", failed_total, "Containers that failed"),
    ROW("preempted_containers_total", "counter", preempted, "Containers that were preempted"),
    ROW("surplus_containers_total", "counter", surplus, "Containers beyond the wanted ones"),
#undef ROW
};

int svc_metrics_print(const struct svc_engine *e, const char *service, struct sv_buf *out)
{
    struct svc_component_view v;
    int r = 0;

    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(rows); i++) {
        r = sv_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", rows[i].name, rows[i].help,
                          rows[i].name, rows[i].type);
        for (size_t k = 0; r == 0 && k < svc_engine_components(e); k++) {
            svc_engine_component(e, k, &v);
            r = sv_buf_printf(out, "%s{service=\"%s\",component=\"%s\"} %" PRId64 "\n",
                              rows[i].name, service, v.component->name,
                              *(const int64_t *)((const char *)&v + rows[i].at));
        }
    }
    if (r == 0)
        r = sv_buf_printf(out,
                          "# HELP selvedge_loop_slow_total Handlers over 100 ms\n"
                          "# TYPE selvedge_loop_slow_total counter\n"
                          "selvedge_loop_slow_total %" PRIu64 "\n",
                          sv_loop_stats().slow);
    return r;
}
