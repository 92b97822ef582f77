/* Reports of the state of uploads to the ResourceManager; see log-aggregation.h. A report is
 * repeated until a heartbeat or registration with it was answered. As with Hadoop's NodeManager the
 * end takes two: RUNNING with the diagnostics, then SUCCEEDED or FAILED. */
#include <stdio.h>
#include <utlist.h>

#include "nodemanager/logs/log-internal.h"

#define REPORTS_MAX 2000 /* per message */

void nm_upload_report(struct nm_upload *u, int status, int final_status, const char *text)
{
    u->status = status;
    u->final_status = final_status;
    u->in_flight = false;
    (void)snprintf(u->diagnostics, sizeof u->diagnostics, "%s", text);
}

static Hadoop__Yarn__LogAggregationReportProto *
report(struct sv_arena *a, const struct nm_upload *u, int status, const char *diagnostics)
{
    Hadoop__Yarn__LogAggregationReportProto *m = sv_new(a, Hadoop__Yarn__LogAggregationReportProto);

    if (!m)
        return NULL;
    hadoop__yarn__log_aggregation_report_proto__init(m);
    m->application_id = yarn_app_id_to(a, u->app);
    m->has_log_aggregation_status = true;
    m->log_aggregation_status = (Hadoop__Yarn__LogAggregationStatusProto)status;
    m->diagnostics = sv_arena_strdup(a, diagnostics);
    return m->application_id && m->diagnostics ? m : NULL;
}

Hadoop__Yarn__LogAggregationReportProto **nm_aggregation_reports(struct nm_log_aggregation *g,
                                                                 struct sv_arena *a, size_t *ret_n)
{
    Hadoop__Yarn__LogAggregationReportProto **list =
        sv_newn(a, Hadoop__Yarn__LogAggregationReportProto *, REPORTS_MAX + 2);
    struct nm_upload *u;
    size_t n = 0;

    if (!list)
        return NULL;
    DL_FOREACH (g->list, u) {
        if (!u->status || n >= REPORTS_MAX)
            continue;
        list[n] = report(a, u, u->status, u->diagnostics);
        if (!list[n++])
            return NULL;
        if (u->final_status) {
            list[n] = report(a, u, u->final_status, "");
            if (!list[n++])
                return NULL;
        }
        u->in_flight = true;
    }
    *ret_n = n;
    return list;
}
